"""The literature that lessons and the glossary cite, in the order of its authors' names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Source:
    """Where a claim comes from: who, when, and the title."""

    authors: str
    year: int
    title: str

    def __str__(self) -> str:
        return f"{self.authors} {self.year}, “{self.title}”"


ABNAR: Final = Source("Abnar & Zuidema", 2020, "Quantifying Attention Flow in Transformers")
BA: Final = Source("Ba et al.", 2016, "Layer Normalization")
BAHDANAU: Final = Source(
    "Bahdanau et al.", 2015, "Neural Machine Translation by Jointly Learning to Align and Translate"
)
BELROSE: Final = Source("Belrose et al.", 2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens")
BELTAGY: Final = Source("Beltagy et al.", 2019, "SciBERT: A Pretrained Language Model for Scientific Text")
BENGIO: Final = Source("Bengio et al.", 1994, "Learning Long-Term Dependencies with Gradient Descent is Difficult")
CER: Final = Source("Cer et al.", 2017, "SemEval-2017 Task 1: Semantic Textual Similarity")
CHALKIDIS: Final = Source("Chalkidis et al.", 2020, "LEGAL-BERT: The Muppets straight out of Law School")
CHO: Final = Source("Cho et al.", 2014, "On the Properties of Neural Machine Translation: Encoder–Decoder Approaches")
CLARK: Final = Source("Clark et al.", 2019, "What Does BERT Look At?")
CLARK_2020: Final = Source(
    "Clark et al.", 2020, "ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators"
)
CONNEAU: Final = Source("Conneau et al.", 2018, "What you can cram into a single $&!#* vector")
CONNEAU_2020: Final = Source("Conneau et al.", 2020, "Unsupervised Cross-lingual Representation Learning at Scale")
DAO: Final = Source("Dao et al.", 2022, "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness")
DE_MARNEFFE: Final = Source("de Marneffe et al.", 2021, "Universal Dependencies")
DEVLIN: Final = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
ELHAGE: Final = Source("Elhage et al.", 2021, "A Mathematical Framework for Transformer Circuits")
ELMAN: Final = Source("Elman", 1990, "Finding Structure in Time")
ETHAYARAJH: Final = Source("Ethayarajh", 2019, "How Contextual are Contextualized Word Representations?")
FENG: Final = Source("Feng et al.", 2020, "CodeBERT: A Pre-Trained Model for Programming and Natural Languages")
FERRANDO: Final = Source("Ferrando et al.", 2022, "Measuring the Mixing of Contextual Information in the Transformer")
GAO: Final = Source("Gao et al.", 2021, "SimCSE: Simple Contrastive Learning of Sentence Embeddings")
GEVA: Final = Source("Geva et al.", 2021, "Transformer Feed-Forward Layers Are Key-Value Memories")
GEVA_2023: Final = Source(
    "Geva et al.", 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models"
)
GU: Final = Source(
    "Gu et al.", 2021, "Domain-Specific Language Model Pretraining for Biomedical Natural Language Processing"
)
GU_2025: Final = Source("Gu et al.", 2025, "When Attention Sink Emerges in Language Models: An Empirical View")
GUO: Final = Source("Guo et al.", 2017, "On Calibration of Modern Neural Networks")
GURURANGAN: Final = Source(
    "Gururangan et al.", 2020, "Don’t Stop Pretraining: Adapt Language Models to Domains and Tasks"
)
HAVIV: Final = Source(
    "Haviv et al.", 2022, "Transformer Language Models without Positional Encodings Still Learn Positional Information"
)
HE: Final = Source("He et al.", 2016, "Deep Residual Learning for Image Recognition")
HENDRYCKS: Final = Source("Hendrycks & Gimpel", 2016, "Gaussian Error Linear Units (GELUs)")
HEWITT_LIANG: Final = Source("Hewitt & Liang", 2019, "Designing and Interpreting Probes with Control Tasks")
HEWITT_MANNING: Final = Source(
    "Hewitt & Manning", 2019, "A Structural Probe for Finding Syntax in Word Representations"
)
HE_2023: Final = Source(
    "He et al.",
    2023,
    "DeBERTaV3: Improving DeBERTa using ELECTRA-Style Pre-Training with Gradient-Disentangled Embedding Sharing",
)
HE_DEBERTA: Final = Source("He et al.", 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention")
HINTON: Final = Source("Hinton et al.", 2015, "Distilling the Knowledge in a Neural Network")
HOCHREITER: Final = Source("Hochreiter & Schmidhuber", 1997, "Long Short-Term Memory")
HOWARD: Final = Source("Howard & Ruder", 2018, "Universal Language Model Fine-tuning for Text Classification")
JACOVI: Final = Source("Jacovi & Goldberg", 2020, "Towards Faithfully Interpretable NLP Systems")
JAIN: Final = Source("Jain & Wallace", 2019, "Attention is not Explanation")
JAWAHAR: Final = Source("Jawahar et al.", 2019, "What Does BERT Learn about the Structure of Language?")
JIAO: Final = Source("Jiao et al.", 2020, "TinyBERT: Distilling BERT for Natural Language Understanding")
KOBAYASHI: Final = Source("Kobayashi et al.", 2020, "Attention is Not Only a Weight")
KORNBLITH: Final = Source("Kornblith et al.", 2019, "Similarity of Neural Network Representations Revisited")
KOVALEVA: Final = Source("Kovaleva et al.", 2019, "Revealing the Dark Secrets of BERT")
KUDO: Final = Source(
    "Kudo", 2018, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates"
)
LAN: Final = Source("Lan et al.", 2020, "ALBERT: A Lite BERT for Self-supervised Learning")
LASRI: Final = Source("Lasri et al.", 2023, "EconBERTa: Towards Robust Extraction of Named Entities in Economics")
LEWIS: Final = Source("Lewis et al.", 2020, "BART: Denoising Sequence-to-Sequence Pre-training")
LIU: Final = Source("Liu et al.", 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach")
LOSHCHILOV: Final = Source("Loshchilov & Hutter", 2019, "Decoupled Weight Decay Regularization")
LUONG: Final = Source("Luong et al.", 2015, "Effective Approaches to Attention-based Neural Machine Translation")
MCCLOSKEY: Final = Source("McCloskey & Cohen", 1989, "Catastrophic Interference in Connectionist Networks")
MCGRATH: Final = Source("McGrath et al.", 2023, "The Hydra Effect: Emergent Self-repair in Language Model Computations")
MERCHANT: Final = Source("Merchant et al.", 2020, "What Happens To BERT Embeddings During Fine-tuning?")
MICHEL: Final = Source("Michel et al.", 2019, "Are Sixteen Heads Really Better than One?")
MIKOLOV: Final = Source("Mikolov et al.", 2013, "Efficient Estimation of Word Representations in Vector Space")
MODARRESSI_2023: Final = Source(
    "Modarressi et al.", 2023, "DecompX: Explaining Transformers Decisions by Propagating Token Decomposition"
)
MOHEBBI: Final = Source("Mohebbi et al.", 2023, "Quantifying Context Mixing in Transformers")
NANGIA: Final = Source(
    "Nangia et al.",
    2020,
    "CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language Models",
)
NOSTALGEBRAIST: Final = Source("nostalgebraist", 2020, "interpreting GPT: the logit lens")
PEARSON: Final = Source("Pearson", 1901, "On Lines and Planes of Closest Fit to Systems of Points in Space")
PETERS: Final = Source("Peters et al.", 2018, "Deep contextualized word representations")
PHANG: Final = Source(
    "Phang et al.", 2018, "Sentence Encoders on STILTs: Supplementary Training on Intermediate Labeled-data Tasks"
)
PRECHELT: Final = Source("Prechelt", 1998, "Early Stopping – But When?")
RADFORD: Final = Source("Radford et al.", 2019, "Language Models are Unsupervised Multitask Learners")
RAFFEL: Final = Source("Raffel et al.", 2020, "Exploring the Limits of Transfer Learning (T5)")
RAJPURKAR: Final = Source("Rajpurkar et al.", 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text")
RAJPURKAR_2018: Final = Source("Rajpurkar et al.", 2018, "Know What You Don’t Know: Unanswerable Questions for SQuAD")
RAMSHAW: Final = Source("Ramshaw & Marcus", 1995, "Text Chunking using Transformation-Based Learning")
REIMERS: Final = Source("Reimers & Gurevych", 2019, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks")
RUMELHART: Final = Source("Rumelhart et al.", 1986, "Learning representations by back-propagating errors")
SALAZAR: Final = Source("Salazar et al.", 2020, "Masked Language Model Scoring")
SANH: Final = Source("Sanh et al.", 2019, "DistilBERT, a distilled version of BERT")
SCHUSTER: Final = Source("Schuster & Nakajima", 2012, "Japanese and Korean Voice Search")
SENNRICH: Final = Source("Sennrich et al.", 2016, "Neural Machine Translation of Rare Words with Subword Units")
SHANNON: Final = Source("Shannon", 1948, "A Mathematical Theory of Communication")
SHAW: Final = Source("Shaw et al.", 2018, "Self-Attention with Relative Position Representations")
SHRIKUMAR: Final = Source(
    "Shrikumar et al.", 2017, "Learning Important Features Through Propagating Activation Differences"
)
SRIVASTAVA: Final = Source(
    "Srivastava et al.", 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting"
)
SU: Final = Source("Su et al.", 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding")
SUN: Final = Source("Sun et al.", 2024, "Massive Activations in Large Language Models")
SUNDARARAJAN: Final = Source("Sundararajan et al.", 2017, "Axiomatic Attribution for Deep Networks")
SUTSKEVER: Final = Source("Sutskever et al.", 2014, "Sequence to Sequence Learning with Neural Networks")
TAYLOR: Final = Source("Taylor", 1953, "Cloze Procedure")
TENNEY: Final = Source("Tenney et al.", 2019, "BERT Rediscovers the Classical NLP Pipeline")
TJONG: Final = Source(
    "Tjong Kim Sang & De Meulder", 2003, "Introduction to the CoNLL-2003 Shared Task: Named Entity Recognition"
)
VASWANI: Final = Source("Vaswani et al.", 2017, "Attention Is All You Need")
VIG: Final = Source("Vig et al.", 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis")
WANG_GLUE: Final = Source(
    "Wang et al.", 2018, "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language Understanding"
)
WANG_IOI: Final = Source(
    "Wang et al.", 2023, "Interpretability in the Wild: a Circuit for Indirect Object Identification in GPT-2 small"
)
WARNER: Final = Source("Warner et al.", 2024, "Smarter, Better, Faster, Longer (ModernBERT)")
WARSTADT: Final = Source("Warstadt et al.", 2020, "BLiMP: The Benchmark of Linguistic Minimal Pairs for English")
WIEGREFFE: Final = Source("Wiegreffe & Pinter", 2019, "Attention is not not Explanation")
WU: Final = Source("Wu et al.", 2016, "Google’s Neural Machine Translation System")
XIAO: Final = Source("Xiao et al.", 2024, "Efficient Streaming Language Models with Attention Sinks")
XIONG: Final = Source("Xiong et al.", 2020, "On Layer Normalization in the Transformer Architecture")
YANG: Final = Source("Yang et al.", 2019, "XLNet: Generalized Autoregressive Pretraining for Language Understanding")
ZEILER: Final = Source("Zeiler & Fergus", 2014, "Visualizing and Understanding Convolutional Networks")
