"""The literature that lessons cite, in the order of its authors' names."""

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


BA: Final = Source("Ba et al.", 2016, "Layer Normalization")
CLARK: Final = Source("Clark et al.", 2019, "What Does BERT Look At?")
CONNEAU: Final = Source("Conneau et al.", 2018, "What you can cram into a single $&!#* vector")
DEVLIN: Final = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
ETHAYARAJH: Final = Source("Ethayarajh", 2019, "How Contextual are Contextualized Word Representations?")
GEVA: Final = Source("Geva et al.", 2021, "Transformer Feed-Forward Layers Are Key-Value Memories")
HE: Final = Source("He et al.", 2016, "Deep Residual Learning for Image Recognition")
HINTON: Final = Source("Hinton et al.", 2015, "Distilling the Knowledge in a Neural Network")
HOWARD: Final = Source("Howard & Ruder", 2018, "Universal Language Model Fine-tuning for Text Classification")
JAWAHAR: Final = Source("Jawahar et al.", 2019, "What Does BERT Learn about the Structure of Language?")
KOBAYASHI: Final = Source("Kobayashi et al.", 2020, "Attention is Not Only a Weight")
KOVALEVA: Final = Source("Kovaleva et al.", 2019, "Revealing the Dark Secrets of BERT")
LAN: Final = Source("Lan et al.", 2020, "ALBERT: A Lite BERT for Self-supervised Learning")
LEWIS: Final = Source("Lewis et al.", 2020, "BART: Denoising Sequence-to-Sequence Pre-training")
LIU: Final = Source("Liu et al.", 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach")
MERCHANT: Final = Source("Merchant et al.", 2020, "What Happens To BERT Embeddings During Fine-tuning?")
MICHEL: Final = Source("Michel et al.", 2019, "Are Sixteen Heads Really Better than One?")
MIKOLOV: Final = Source("Mikolov et al.", 2013, "Efficient Estimation of Word Representations in Vector Space")
PETERS: Final = Source("Peters et al.", 2018, "Deep contextualized word representations")
RADFORD: Final = Source("Radford et al.", 2019, "Language Models are Unsupervised Multitask Learners")
RAFFEL: Final = Source("Raffel et al.", 2020, "Exploring the Limits of Transfer Learning (T5)")
RUMELHART: Final = Source("Rumelhart et al.", 1986, "Learning representations by back-propagating errors")
SALAZAR: Final = Source("Salazar et al.", 2020, "Masked Language Model Scoring")
SANH: Final = Source("Sanh et al.", 2019, "DistilBERT, a distilled version of BERT")
SCHUSTER: Final = Source("Schuster & Nakajima", 2012, "Japanese and Korean Voice Search")
SENNRICH: Final = Source("Sennrich et al.", 2016, "Neural Machine Translation of Rare Words with Subword Units")
SHAW: Final = Source("Shaw et al.", 2018, "Self-Attention with Relative Position Representations")
SU: Final = Source("Su et al.", 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding")
TAYLOR: Final = Source("Taylor", 1953, "Cloze Procedure")
TENNEY: Final = Source("Tenney et al.", 2019, "BERT Rediscovers the Classical NLP Pipeline")
VASWANI: Final = Source("Vaswani et al.", 2017, "Attention Is All You Need")
WARNER: Final = Source("Warner et al.", 2024, "Smarter, Better, Faster, Longer (ModernBERT)")
WU: Final = Source("Wu et al.", 2016, "Google’s Neural Machine Translation System")
XIONG: Final = Source("Xiong et al.", 2020, "On Layer Normalization in the Transformer Architecture")
