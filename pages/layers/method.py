"""How the numbers of the page "Layers" come about, in plain words and with sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analysis.probing.classifier import ProbeKind

_PROBES: Final[Mapping[ProbeKind, tuple[str, str]]] = {
    "linear": ("a linear probe", "in linear form"),
    "mlp": ("a probe with a hidden layer", "in a form such a probe can read"),
}


def meaning(kind: ProbeKind) -> str:
    """What a number on the page says and what it does not, for a probe of this kind."""
    probe, form = _PROBES[kind]
    return (
        f"**What it means.** Each cell is the percentage of unseen sentences (or words) whose label {probe} reads "
        "correctly off the vectors of that layer. Where it beats the baselines by more than chance, the layer holds "
        f"that information {form}.\n\n**What it does not mean.** It does not show that the model *uses* the "
        f"information, and a low number does not show that it is missing: it may be there in a form {probe} cannot "
        "read."
    )


METHOD: Final = """
**The probe** is a multinomial logistic regression with an L2 penalty on each layer's standardized vectors, from the
embeddings up; the model itself is not changed. 60% of the sentences train it, 10% choose its regularization, and the
remaining 30% test it; a file with a split of its own keeps it. All layers of a task have the same C (0.01, 0.1 or 1):
the one that is best on the sentences that choose, over all layers together. *With a hidden layer* it is a small
network of 64 units, which can read out more, and learn more by itself. The idea of probing sentence vectors with such
tasks is that of Conneau et al. 2018. Jawahar et al. 2019 found surface features low, syntax in the middle and meaning
high in BERT; Tenney et al. 2019, too, found syntax below meaning.

**The best layer** is the one that is best on the sentences that also choose the regularization. Chosen on the test
items it would be the luckiest of many. A paired randomization test on the test items says which other layers do not
differ significantly from it, at 5% over all layers (Holm).

**The interval** is a 95% interval over the held-out sentences, left out one by one as wholes (jackknife, on the
log-odds); at exactly 0% or 100% it is Wilson's. It says how much other sentences of the same kind would change the
number, not how much another training sample would: for that, run several seeds. Nor does it speak for other
constructions: in the built-in sentences, training and test share their frames (what is left when content words are
blanked) and differ in words. Of 300 test sentences a task has 46 to 292 frames; counted by frame, the intervals would
be up to 1.4 times as wide, those of *negation* and *clause depth* up to 2.1 times, and those of *coordination
inversion*, which has only 8, up to 2.9 times.

**The baselines** need no model. *Majority* always gives the label most frequent in training. *Word only*, for tasks
about words, gives each word its most frequent label in training; where no word of the test occurs in training there is
no such baseline. *Bag of words*, *word bigrams* (of a word: its neighbours) and *position* are logistic regressions on
counts of words, on pairs of neighbours, and on a word's place. *Random weights* is a model of the same shape that was
never trained, with the same probes: what it reaches comes from the shape and the tokens alone.

**The built-in sentences** are made by grammars. *Tense* and *negation* ask about the main clause, while the other
clause always has the opposite. The sentences of *clause depth* all use the same kinds and numbers of words; only their
arrangement differs. In these, in *coordination inversion* and in the tasks about the subject, the baselines on words
and pairs of words stay near the majority. They do not for *sentence length*, *word content*, *bigram shift* and *part
of speech*, where words or pairs of words show what is asked for.

**The control task** (Hewitt & Liang 2019) gives each word a label at random and asks the same probe to learn it;
selectivity is the accuracy minus the accuracy on that control. For a sentence, it is its longest word that counts.
Control tasks are split at random by sentence, because training and test sentences have different words and a word never
seen could not be learned. So selectivity compares two splits, and it can be negative.

**Description length** (online coding, Voita & Titov 2020) is how many bits the training labels take when each portion
is coded by a probe trained on the portions before it. *Times shorter* compares it with the uniform code, which spends
log2(number of labels) on each. It depends much on C, and selectivity does a little: compare layers, which share theirs,
and other tasks or models only where C is the same.

**Depth as one number.** The expected layer weighs the gains of the best single layer so far over the embeddings. The
highest of several noisy accuracies is too high, so one half of the test sentences (with those that choose the layer)
says which layers set a record, and the other half what they gain, over 200 halvings, both ways: what noise gains is 0
in the mean. So noise can also put a task that is solved in layer 1 a little below 1. The centre of gravity weighs each
layer by its accuracy above the majority. Both are given only where the best layer is better than every baseline, than
the embeddings and, where they were measured, than random weights, each by a paired test at 5%. The intervals are 95%
jackknife intervals over the sentences that choose and those that test. Both follow the idea of Tenney et al. 2019, but
neither is their trained mix of layers.

**The structural probe** (Hewitt & Manning 2019), for trees of your own, fits a matrix B so that ‖B(x − y)‖² is the
number of edges between the words x and y in the tree, and a second one so that ‖Bx‖² is the depth of x. The loss is
the mean absolute error of a sentence; Adam lowers it at a constant rate, a running mean of B is kept, and training ends
when the loss of that mean no longer falls on the development sentences. A word's distance to itself is not counted in
Spearman's correlation. The authors' program counts it, so theirs comes out higher.
Both correlations are means over sentences of one length, and then over the lengths from 5 to 50 words. Sentences of
fewer than three words besides punctuation are left out.

**Similarity of layers** is linear CKA (Kornblith et al. 2019): 1 for the same vectors up to rotation, shift and scale.
With fewer vectors than dimensions it comes out too high, also for layers that have nothing in common.

Conneau et al. 2018, *What you can cram into a single \\$&!#\\* vector*, ACL ·
Hewitt & Liang 2019, *Designing and interpreting probes with control tasks*, EMNLP ·
Voita & Titov 2020, *Information-theoretic probing with minimum description length*, EMNLP ·
Hewitt & Manning 2019, *A structural probe for finding syntax in word representations*, NAACL ·
Tenney et al. 2019, *BERT rediscovers the classical NLP pipeline*, ACL ·
Jawahar et al. 2019, *What does BERT learn about the structure of language?*, ACL ·
Kornblith et al. 2019, *Similarity of neural network representations revisited*, ICML
"""
