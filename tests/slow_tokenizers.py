"""Files of tokenizers that transformers has written in Python only, as models are published with them: tiny ones."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sentencepiece
from checkpoints import SENTENCES
from transformers import PreTrainedTokenizer
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

_WORDS = sorted({word.strip(".,!?;%:") for sentence in SENTENCES for word in sentence.split()} - {""})
_SIGNS = sorted({sign for sentence in SENTENCES for sign in sentence if not sign.isspace()} | set("'&\"@#-"))
BRACKETED = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_RESIDUES = "LAGVSERTIDPKQNFYMHWC"


def slow_kinds() -> Iterator[str]:
    """The classes without a fast one, of all that the installed transformers has for a kind of network."""
    for name in dict.fromkeys(name for name in TOKENIZER_MAPPING_NAMES.values() if name):
        kind_class = tokenizer_class_from_name(name)
        if isinstance(kind_class, type) and issubclass(kind_class, PreTrainedTokenizer):
            yield name


def class_of(kind: str) -> type[PreTrainedTokenizer]:
    """A class by its name."""
    kind_class: type[PreTrainedTokenizer] = tokenizer_class_from_name(kind)
    return kind_class


def _write(file: Path, content: Any) -> None:
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def _lines(*rows: str) -> str:
    return "".join(f"{row}\n" for row in rows)


def _merges(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Merges that make whole words of every second word, from the left, and all pieces that they may leave."""
    merges: dict[tuple[str, str], None] = {}
    pieces = dict.fromkeys([*_SIGNS, *(f"{sign}</w>" for sign in _SIGNS)])
    for word in words[::2]:
        parts = [*word[:-1], word[-1] + "</w>"]
        while len(parts) > 1:
            merges[parts[0], parts[1]] = None
            parts[:2] = ["".join(parts[:2])]
            pieces[parts[0]] = None
    return list(merges), list(pieces)


def _wordpiece(folder: Path, name: str = "vocab.txt", lower: bool = True) -> None:
    words = [word.lower() if lower else word for word in _WORDS]
    signs = sorted({sign.lower() if lower else sign for sign in _SIGNS})
    _write(
        folder / name,
        _lines(*dict.fromkeys([*BRACKETED, "[X_SEP]", *signs, *(f"##{sign}" for sign in signs), *words[::2]])),
    )


def _pieces(*files: str) -> Callable[[Path], dict[str, Any]]:
    def write(folder: Path) -> dict[str, Any]:
        for number, file in enumerate(files):
            with (folder / file).open("wb") as written:
                sentencepiece.SentencePieceTrainer.train(
                    sentence_iterator=iter(SENTENCES * 3),
                    model_writer=written,
                    vocab_size=150 + number,
                    minloglevel=2,
                    pad_id=3 if file == "spiece.model" else -1,
                )
        return {}

    return write


def _vocabulary(folder: Path, file: str) -> list[str]:
    read = sentencepiece.SentencePieceProcessor(model_file=str(folder / file))
    return [read.IdToPiece(number) for number in range(len(read))]


def _marian(folder: Path) -> dict[str, Any]:
    _pieces("source.spm", "target.spm")(folder)
    pieces = dict.fromkeys(["</s>", "<unk>", *_vocabulary(folder, "source.spm"), "<pad>"])
    _write(folder / "vocab.json", {piece: number for number, piece in enumerate(pieces)})
    return {"source_lang": "en", "target_lang": "de"}


def _with_vocabulary(folder: Path) -> dict[str, Any]:
    _pieces("sentencepiece.bpe.model")(folder)
    pieces = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *_vocabulary(folder, "sentencepiece.bpe.model")])
    _write(folder / "vocab.json", {piece: number for number, piece in enumerate(pieces)})
    _write(folder / "dict.txt", _lines(*(f"{piece} 1" for piece in [*pieces][4:])))
    return {}


def _subword_nmt(folder: Path) -> dict[str, Any]:
    """BERTweet's and PhoBERT's: pieces with "@@" where a word goes on."""
    merges, pieces = _merges(_WORDS)
    _write(folder / "bpe.codes", _lines(*(f"{a} {b} 1" for a, b in merges)))
    names = dict.fromkeys(p.removesuffix("</w>") if p.endswith("</w>") else f"{p}@@" for p in pieces)
    _write(folder / "vocab.txt", _lines(*(f"{name} 1" for name in [*names, "@USER", "HTTPURL"])))
    return {}


def _bpe(marks: bool, *special: str, lower: bool = False, version: bool = False) -> Callable[[Path], dict[str, Any]]:
    def write(folder: Path) -> dict[str, Any]:
        words = [word.lower() if lower else word for word in _WORDS]
        merges, pieces = _merges(words)
        _write(folder / "merges.txt", _lines(*(["#version: 0.2"] * version), *(f"{a} {b} 1" for a, b in merges)))
        if marks:
            pieces = [p.removesuffix("</w>") if p.endswith("</w>") else f"{p}@@" for p in pieces]
        known = {piece: number for number, piece in enumerate(dict.fromkeys([*special, *pieces]))}
        for file in ("vocab.json", "vocab-src.json", "vocab-tgt.json"):
            _write(folder / file, known)
        return {}

    return write


def _japanese(subword: str) -> Callable[[Path], dict[str, Any]]:
    def write(folder: Path) -> dict[str, Any]:
        _wordpiece(folder, lower=False)
        return {"word_tokenizer_type": "basic", "subword_tokenizer_type": subword, "do_lower_case": False}

    return write


def _prophet(folder: Path) -> dict[str, Any]:
    _wordpiece(folder, "prophetnet.tokenizer")
    return {}


def _tables(folder: Path) -> dict[str, Any]:
    _wordpiece(folder)
    return {}


def _shapes(folder: Path) -> dict[str, Any]:
    _wordpiece(folder)
    known = (folder / "vocab.txt").read_text("utf-8").splitlines()
    for file in ("word_shape.json", "word_pronunciation.json"):
        _write(folder / file, {token: number for number, token in enumerate(known)})
    return {}


def _residues(folder: Path) -> dict[str, Any]:
    _write(folder / "vocab.txt", _lines("<cls>", "<pad>", "<eos>", "<unk>", *_RESIDUES, "<null_1>", "<mask>"))
    return {}


def _no_file(_folder: Path) -> dict[str, Any]:
    return {}


def _maps(folder: Path) -> dict[str, Any]:
    _write(folder / "byte_maps.json", {"decompose_map": {}, "merge_map": {}})
    return {}


_XLM = ("<s>", "</s>", "<pad>", "<unk>", *(f"<special{number}>" for number in range(10)))
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")

# What writes the files of a class, and what its settings say. By name, and what comes after "/" is a variant.
WRITERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "BartphoTokenizer": _with_vocabulary,
    "BertGenerationTokenizer": _pieces("spiece.model"),
    "BertJapaneseTokenizer": _japanese("wordpiece"),
    "BertJapaneseTokenizer/character": _japanese("character"),
    "BertweetTokenizer": _subword_nmt,
    "BertweetTokenizer/normalized": lambda folder: {**_subword_nmt(folder), "normalization": True},
    "BioGptTokenizer": _bpe(False, *_FAIRSEQ),
    "BlenderbotSmallTokenizer": _bpe(True, "__null__", "__start__", "__end__", "__unk__", lower=True, version=True),
    "ByT5Tokenizer": _no_file,
    "CTRLTokenizer": _bpe(True, "<unk>", version=True),
    "CanineTokenizer": _no_file,
    "EsmTokenizer": _residues,
    "FSMTTokenizer": lambda folder: {**_bpe(False, *_FAIRSEQ)(folder), "langs": ["en", "de"]},
    "FlaubertTokenizer": _bpe(False, *_XLM),
    "GPTSw3Tokenizer": _pieces("spiece.model"),
    "M2M100Tokenizer": _with_vocabulary,
    "MarianTokenizer": _marian,
    "MyT5Tokenizer": _maps,
    "PLBartTokenizer": _pieces("sentencepiece.bpe.model"),
    "PerceiverTokenizer": _no_file,
    "PhobertTokenizer": _subword_nmt,
    "ProphetNetTokenizer": _prophet,
    "RoCBertTokenizer": _shapes,
    "Speech2TextTokenizer": _with_vocabulary,
    "SiglipTokenizer": _pieces("spiece.model"),
    "TapasTokenizer": _tables,
    "XLMTokenizer": _bpe(False, *_XLM, lower=True),
}
# Of speech and pictures, of a package that no test has, or of two tokenizers.
OTHERS = {
    "ClvpTokenizer",
    "CpmAntTokenizer",
    "CpmTokenizer",
    "DiaTokenizer",
    "GPTNeoXJapaneseTokenizer",
    "MgpstrTokenizer",
    "SpeechT5Tokenizer",
    "VitsTokenizer",
    "Wav2Vec2CTCTokenizer",
    "Wav2Vec2PhonemeCTCTokenizer",
}


def write(kind: str, folder: Path) -> Path:
    """A folder with all that the tokenizer of a class needs."""
    folder.mkdir(exist_ok=True)
    settings = WRITERS[kind](folder)
    _write(folder / "tokenizer_config.json", {"tokenizer_class": kind.partition("/")[0], **settings})
    return folder
