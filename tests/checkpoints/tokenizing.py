"""Tokenizers of the classes that families have, trained on a few sentences."""

import json
import math
from functools import cache
from pathlib import Path

import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

SENTENCES = tuple((Path(__file__).parent / "sentences.txt").read_text(encoding="utf-8").splitlines())


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
def tokenizer_of(kind: str) -> PreTrainedTokenizerBase:
    """A tokenizer of the class that ``AutoTokenizer`` takes for the family, trained on ``SENTENCES``."""
    if kind == "PreTrainedTokenizerFast":
        return _modernbert_tokenizer()
    size = _VOCABULARY.get(kind, 200)
    trained = getattr(transformers, kind)().train_new_from_iterator(SENTENCES, size, show_progress=False)
    _make_deterministic(trained.backend_tokenizer, size)
    return trained


def _make_deterministic(tokenizer: Tokenizer, size: int) -> None:
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
