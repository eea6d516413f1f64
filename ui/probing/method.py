"""How the numbers of the page "Layers" come about, in plain words and with sources."""

from __future__ import annotations

from typing import Final

MEANING: Final = (
    "**What it means.** Each cell is the share of unseen sentences (or words) whose label a linear probe reads off the "
    "vectors of that layer: above the majority baseline, the layer holds that information in linear form."
)
NOT_MEANING: Final = (
    "**What it does not mean.** It does not say that the model *uses* the information, and a low number does not say "
    "that it is missing: it may be there in a form no linear probe can read."
)

METHOD: Final = """
**The probe** is a multinomial logistic regression (L2, C = 1) on each layer's standardized vectors, from the embeddings
up; the model itself is not changed. 30% of the sentences are held out and judge it. The idea of probing sentence
vectors with such tasks is that of Conneau et al. 2018; that surface features lie low, syntax in the middle and meaning
high in BERT was found by Jawahar et al. 2019 and Tenney et al. 2019.

**The interval** is a 95% bootstrap over the held-out sentences, whole sentences at a time. It says how much the test
sample matters, not how much another training sample would. An accuracy of exactly 100% gets an interval of width
zero, which is too narrow: no draw from the test set can hold a mistake.

**The baselines.** *Majority* always gives the label most frequent in training. *Word only*, for tasks about words,
gives each word its most frequent label in training and sees no context.

**The built-in sentences** are made by grammars. *Tense* and *negation* ask about the main clause, while the other
clause always has the opposite, so that no word gives the answer away. The sentences of *clause depth* all use the same
kinds and numbers of words; only their arrangement differs.

**The control task** (Hewitt & Liang 2019) gives each word a label at random and asks the same probe to learn it;
selectivity is the accuracy minus the accuracy on that control. In a sentence the word is its longest one. Control
tasks are split at random by sentence, because training and test sentences have different words and a word never met
could not be learned. So selectivity compares two splits, and it can be negative.

**Description length** (online coding, Voita & Titov 2020) is how many bits the training labels take when each portion
is coded by a probe trained on the portions before it. *Times shorter* compares it with the uniform code, which spends
log2(number of labels) on each.

**Depth as one number.** The expected layer weighs the gains of the best single layer so far, with the embeddings as
baseline. The centre of gravity weighs each layer by its accuracy above the majority. Both follow Tenney et al. 2019 in
spirit, but neither is their trained mix of layers.

**Likeness of layers** is linear CKA (Kornblith et al. 2019): 1 for the same vectors up to rotation, shift and scale.
With fewer vectors than dimensions it comes out too high, also for layers that have nothing in common.

Conneau et al. 2018, *What you can cram into a single \\$&!#\\* vector*, ACL ·
Hewitt & Liang 2019, *Designing and interpreting probes with control tasks*, EMNLP ·
Voita & Titov 2020, *Information-theoretic probing with minimum description length*, EMNLP ·
Tenney et al. 2019, *BERT rediscovers the classical NLP pipeline*, ACL ·
Jawahar et al. 2019, *What does BERT learn about the structure of language?*, ACL ·
Kornblith et al. 2019, *Similarity of neural network representations revisited*, ICML
"""
