"""Tiny checkpoints with random weights, one for each family of models, saved the way a hub checkpoint is.

Real config classes, real head classes, real tokenizer classes trained on a few sentences, safetensors on
disk: ``from_pretrained(build(name, folder))`` takes the path that it takes for a downloaded model. Weights
are drawn with a fixed seed and wide enough that attention is far from uniform; biases are random too, so that
a forgotten one shows.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoConfig, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from model_zoo.types import ModelSpec

SENTENCES = (
    "The cat sat on the mat because it was tired of the long day.",
    "It was late, and the children were walking home with the dog.",
    "She did not open the door, so he could not come into the house.",
    "The old keys to the cabinet are on the kitchen table.",
    "A man in a dark coat asked the woman where the station was.",
    "My sister plays the piano and sings in the evening.",
    "Jack Black quickly fixed five boxes of zinc for Ms. Vogel in Quebec!",
    "We were waiting for the train when the rain started again.",
    "Who wrote this letter, and why did you not answer it?",
    "The river is wide here, but the water is not deep.",
    "He drank a cup of hot coffee in a small café near the bridge.",
    "They said that the meeting would start at 10:30 on Monday.",
    "Unhappy people are working in the unlikely building.",
    "The teacher explained the question, and the students answered it.",
    "New York and London are larger than Zürich, Kiev or Oslo.",
    "Birds fly south in the winter and return in the spring.",
    "If it rains tomorrow, we will stay at home and read.",
    "The bank raised its rates; prices fell by 2.5% in 1987 and 46 more.",
    "Every morning the baker walks along the river to the market.",
    "I think that you are right, said the doctor to the lawyer.",
    "An apple, an orange and 3 pears were lying under the tree.",
    "Nobody knew the answer to the first question of the test.",
    "The mat was on the floor, and the cat was sleeping on it.",
    "George Harris, Emma Tully, Xavier Ruiz, Dan Young, Paul West.",
)

TEXT = "The cat sat on the mat because it was tired, and the dog was waiting."
TEXT_PAIR = "She walked home."


N_LAYERS, N_HEADS, WIDTH = 3, 4, 32
POSITIONS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How one tiny checkpoint is made, and what it can do.

    ``head`` is the class of transformers that is saved. ``mlm`` and ``nsp`` tell the heads whose weights are
    in the file; ``cross_attention`` that there is a decoder; ``causal`` that no token sees a later one.
    ``interface`` is True where attention runs through transformers' AttentionInterface; ``maps`` says what
    eager ``output_attentions`` gives: weights (queries, keys) that sum to 1, "scores" before softmax, or
    "window": weights of the keys in a window around each query. ``max_tokens`` is None where nothing but the memory
    bounds the input.
    """

    model_type: str
    head: str
    tokenizer: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    mlm: bool = False
    nsp: Literal["NSP", "SOP"] | None = None
    cross_attention: bool = False
    causal: bool = False
    interface: bool = True
    maps: Literal["weights", "scores", "window"] = "weights"
    max_tokens: int | None = POSITIONS


_BERT_SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": N_LAYERS,
    "num_attention_heads": N_HEADS,
    "intermediate_size": 2 * WIDTH,
    "max_position_embeddings": POSITIONS,
    "initializer_range": 0.3,
}
# These count positions from the padding id on, which is 0 in their tiny tokenizers of RoBERTa's kind: 66 less 1.
_ROBERTA_TOKENS = POSITIONS + 1
_ROBERTA_SIZES = _BERT_SIZES | {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
_DEBERTA_SIZES = _BERT_SIZES | {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["c2p", "p2c"],
    "type_vocab_size": 0,
    "max_relative_positions": -1,
}
_DEBERTA_V2_SIZES = _DEBERTA_SIZES | {"position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"}

FAMILIES: dict[str, Family] = {
    "bert": Family(
        model_type="bert",
        head="BertForPreTraining",
        tokenizer="BertTokenizer",
        sizes=_BERT_SIZES,
        mlm=True,
        nsp="NSP",
    ),
    "bert_mlm_only": Family(
        model_type="bert", head="BertForMaskedLM", tokenizer="BertTokenizer", sizes=_BERT_SIZES, mlm=True
    ),
    "bert_headless": Family(model_type="bert", head="BertModel", tokenizer="BertTokenizer", sizes=_BERT_SIZES),
    "roberta": Family(
        model_type="roberta",
        head="RobertaForMaskedLM",
        tokenizer="RobertaTokenizer",
        sizes=_ROBERTA_SIZES,
        mlm=True,
        max_tokens=_ROBERTA_TOKENS,
    ),
    "roberta_headless": Family(
        model_type="roberta",
        head="RobertaModel",
        tokenizer="RobertaTokenizer",
        sizes=_ROBERTA_SIZES,
        max_tokens=_ROBERTA_TOKENS,
    ),
    "xlm-roberta": Family(
        model_type="xlm-roberta",
        head="XLMRobertaForMaskedLM",
        tokenizer="XLMRobertaTokenizer",
        sizes=_ROBERTA_SIZES,
        mlm=True,
    ),
    "xlm-roberta-xl": Family(
        model_type="xlm-roberta-xl",
        head="XLMRobertaXLForMaskedLM",
        tokenizer="XLMRobertaTokenizer",
        sizes=_ROBERTA_SIZES,
        mlm=True,
    ),
    "camembert": Family(
        model_type="camembert",
        head="CamembertForMaskedLM",
        tokenizer="CamembertTokenizer",
        sizes=_ROBERTA_SIZES,
        mlm=True,
    ),
    "distilbert": Family(
        model_type="distilbert",
        head="DistilBertForMaskedLM",
        tokenizer="BertTokenizer",
        sizes={
            "dim": WIDTH,
            "n_layers": N_LAYERS,
            "n_heads": N_HEADS,
            "hidden_dim": 2 * WIDTH,
            "max_position_embeddings": POSITIONS,
            "initializer_range": 0.3,
        },
        mlm=True,
    ),
    "albert": Family(
        model_type="albert",
        head="AlbertForPreTraining",
        tokenizer="AlbertTokenizer",
        sizes=_BERT_SIZES | {"embedding_size": 16},
        mlm=True,
        nsp="SOP",
    ),
    "albert_mlm_only": Family(
        model_type="albert",
        head="AlbertForMaskedLM",
        tokenizer="AlbertTokenizer",
        sizes=_BERT_SIZES | {"embedding_size": 16},
        mlm=True,
    ),
    "electra_generator": Family(
        model_type="electra",
        head="ElectraForMaskedLM",
        tokenizer="BertTokenizer",
        sizes=_BERT_SIZES | {"embedding_size": 16},
        mlm=True,
    ),
    "electra_discriminator": Family(
        model_type="electra",
        head="ElectraForPreTraining",
        tokenizer="BertTokenizer",
        sizes=_BERT_SIZES | {"embedding_size": 16},
    ),
    "deberta": Family(
        model_type="deberta",
        head="DebertaForMaskedLM",
        tokenizer="DebertaTokenizer",
        sizes=_DEBERTA_SIZES,
        mlm=True,
        interface=False,
    ),
    "deberta_headless": Family(
        model_type="deberta",
        head="DebertaModel",
        tokenizer="DebertaTokenizer",
        sizes=_DEBERTA_SIZES,
        interface=False,
    ),
    "deberta-v2": Family(
        model_type="deberta-v2",
        head="DebertaV2ForMaskedLM",
        tokenizer="DebertaV2Tokenizer",
        sizes=_DEBERTA_V2_SIZES,
        mlm=True,
        interface=False,
    ),
    "deberta-v2_headless": Family(
        model_type="deberta-v2",
        head="DebertaV2Model",
        tokenizer="DebertaV2Tokenizer",
        sizes=_DEBERTA_V2_SIZES,
        interface=False,
    ),
    "modernbert": Family(
        model_type="modernbert",
        head="ModernBertForMaskedLM",
        tokenizer="PreTrainedTokenizerFast",
        # One full layer, then two that see 4 tokens to each side.
        sizes=_BERT_SIZES | {"global_attn_every_n_layers": 3, "local_attention": 8},
        mlm=True,
    ),
    "mpnet": Family(
        model_type="mpnet",
        head="MPNetForMaskedLM",
        tokenizer="MPNetTokenizer",
        sizes=_BERT_SIZES | {"max_position_embeddings": POSITIONS + 2},
        mlm=True,
        interface=False,
    ),
    "xlnet": Family(
        model_type="xlnet",
        head="XLNetLMHeadModel",
        tokenizer="XLNetTokenizer",
        sizes={
            "d_model": WIDTH,
            "n_layer": N_LAYERS,
            "n_head": N_HEADS,
            "d_inner": 2 * WIDTH,
            "initializer_range": 0.5,
        },
        interface=False,
        max_tokens=None,
    ),
    "mobilebert": Family(
        model_type="mobilebert",
        head="MobileBertForPreTraining",
        tokenizer="BertTokenizer",
        # It normalizes little inside, so that wider weights would grow from layer to layer.
        sizes=_BERT_SIZES | {"embedding_size": 16, "intra_bottleneck_size": 16, "initializer_range": 0.2},
        mlm=True,
        nsp="NSP",
    ),
    "squeezebert": Family(
        model_type="squeezebert",
        head="SqueezeBertForMaskedLM",
        tokenizer="BertTokenizer",
        sizes=_BERT_SIZES | {"embedding_size": WIDTH},
        mlm=True,
        interface=False,
        maps="scores",
    ),
    "gpt2": Family(
        model_type="gpt2",
        head="GPT2LMHeadModel",
        tokenizer="GPT2Tokenizer",
        sizes={
            "n_embd": WIDTH,
            "n_layer": N_LAYERS,
            "n_head": N_HEADS,
            "n_positions": POSITIONS,
            "initializer_range": 0.3,
        },
        causal=True,
    ),
    "bart": Family(
        model_type="bart",
        head="BartForConditionalGeneration",
        tokenizer="RobertaTokenizer",
        sizes={
            "d_model": WIDTH,
            "encoder_layers": N_LAYERS,
            "decoder_layers": N_LAYERS - 1,
            "encoder_attention_heads": N_HEADS,
            "decoder_attention_heads": N_HEADS,
            "encoder_ffn_dim": 2 * WIDTH,
            "decoder_ffn_dim": 2 * WIDTH,
            "max_position_embeddings": POSITIONS,
            "init_std": 0.2,
        },
        mlm=True,
        cross_attention=True,
    ),
    "t5": Family(
        model_type="t5",
        head="T5ForConditionalGeneration",
        tokenizer="T5Tokenizer",
        sizes={
            "d_model": WIDTH,
            "d_kv": WIDTH // N_HEADS,
            "d_ff": 2 * WIDTH,
            "num_layers": N_LAYERS,
            "num_decoder_layers": N_LAYERS - 1,
            "num_heads": N_HEADS,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 16,
            "initializer_factor": 1.5,
        },
        cross_attention=True,
        max_tokens=None,
    ),
    "longformer": Family(
        model_type="longformer",
        head="LongformerForMaskedLM",
        tokenizer="RobertaTokenizer",
        # Each token sees 4 tokens to each side.
        sizes=_ROBERTA_SIZES | {"attention_window": 8},
        mlm=True,
        interface=False,
        maps="window",
        max_tokens=_ROBERTA_TOKENS,
    ),
}


def spec(name: str, model: str) -> ModelSpec:
    """The entry that the registry would have for a tiny checkpoint that is found as ``model``."""
    family = FAMILIES[name]
    return ModelSpec(
        id=model,
        hub_id=None,
        name=name,
        family=family.model_type,
        layers=N_LAYERS,
        heads=N_HEADS,
        width=WIDTH,
        parameters=0,
        vocabulary=0,
        max_tokens=family.max_tokens,
        mlm=family.mlm,
        nsp=family.nsp,
        cross_attention=family.cross_attention,
        causal=family.causal,
        licence="",
        note="",
    )


def build(name: str, folder: Path) -> Path:
    """Write the checkpoint of one family (weights, config, tokenizer) into ``folder`` and return it."""
    family = FAMILIES[name]
    tokenizer = _tokenizer(family.tokenizer)
    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.cls_token_id
    last = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.sep_token_id
    config = AutoConfig.for_model(
        family.model_type,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=first,
        eos_token_id=last,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        # Encoder-decoders start to decode from this one; the others have no use for it.
        decoder_start_token_id=tokenizer.pad_token_id,
        **family.sizes,
    )
    _draw(name, config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def varied(name: str, original: Path, folder: Path, **settings: Any) -> Path:
    """The tiny checkpoint of a family once more, with other settings in its config and weights drawn for them."""
    shutil.copytree(original, folder)
    known = AutoConfig.from_pretrained(folder).to_dict()
    derived = ("model_type", "d_head")  # follow from the rest
    config = AutoConfig.for_model(
        known["model_type"], **{key: value for key, value in (known | settings).items() if key not in derived}
    )
    _draw(name, config).save_pretrained(folder)
    return folder


def _draw(name: str, config: Any) -> Any:
    """The network of a family with random weights and biases, always the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(sum(name.encode()))
        model = getattr(transformers, FAMILIES[name].head)(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model


def _modernbert_tokenizer() -> PreTrainedTokenizerBase:
    """Byte-level BPE with BERT's special tokens; there is no class of its own for it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "attention_mask"],
    )


# Byte-level BPE starts from 256 bytes; T5 keeps 100 places for its sentinels.
_VOCABULARY = {"RobertaTokenizer": 400, "GPT2Tokenizer": 400, "DebertaTokenizer": 400, "T5Tokenizer": 300}


@cache
def _tokenizer(kind: str) -> PreTrainedTokenizerBase:
    """A tokenizer of the class that ``AutoTokenizer`` takes for the family, trained on ``SENTENCES``."""
    if kind == "PreTrainedTokenizerFast":
        return _modernbert_tokenizer()
    size = _VOCABULARY.get(kind, 200)
    trained = getattr(transformers, kind)().train_new_from_iterator(SENTENCES, size, show_progress=False)
    _settle(trained.backend_tokenizer, size)
    return trained


def _settle(tokenizer: Tokenizer, size: int) -> None:
    """Make the vocabulary the same in every process: the trainers break ties by a random hash."""
    model = tokenizer.model
    if isinstance(model, models.WordPiece):
        # Equal counts go by id. Every letter gets its id beforehand, by being called a special token here.
        letters = sorted({letter for sentence in SENTENCES for letter in sentence.lower() if not letter.isspace()})
        known = [tokenizer.id_to_token(number) for number in sorted(tokenizer.get_added_tokens_decoder())]
        known += [mark + letter for mark in ("", "##") for letter in letters]
        again = Tokenizer(models.WordPiece(unk_token=model.unk_token))
        again.normalizer, again.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
        again.train_from_iterator(
            SENTENCES, trainers.WordPieceTrainer(vocab_size=size, special_tokens=known, show_progress=False)
        )
        tokenizer.model = models.WordPiece(again.get_vocab(with_added_tokens=False), unk_token=model.unk_token)
    elif isinstance(model, models.Unigram):
        # The pieces are the same ones, their scores are not: a piece scores by how often it occurs instead.
        described = json.loads(tokenizer.to_str())["model"]
        normalizer, pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
        words = [
            word
            for sentence in SENTENCES
            for word, _ in pre_tokenizer.pre_tokenize_str(
                normalizer.normalize_str(sentence) if normalizer else sentence
            )
        ]
        fixed = 1 + max(tokenizer.get_added_tokens_decoder())
        pieces = sorted(piece for piece, _ in described["vocab"][fixed:])
        occurrences = {piece: max(1, sum(word.count(piece) for word in words)) for piece in pieces}
        total = sum(occurrences.values())
        vocabulary = [(piece, score) for piece, score in described["vocab"][:fixed]]
        vocabulary += [(piece, math.log(occurrences[piece] / total)) for piece in pieces]
        tokenizer.model = models.Unigram(vocabulary, described["unk_id"], described["byte_fallback"])
