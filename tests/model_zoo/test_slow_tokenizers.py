"""Tokenizers that transformers has in Python only: their ids are its own, and every piece stands where its text is."""

import importlib.util
import json
import string
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import slow_tokenizers
from transformers import BertConfig, BertTokenizer, PreTrainedTokenizerBase
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy
from tried_texts import texts

from model_zoo import Engine, alignment, checkpoint, confined, sources, tokenizer_sandbox
from model_zoo.encoding import as_bad_checkpoint, encode
from model_zoo.errors import BadCheckpoint
from model_zoo.tokenizer import read_tokenizer

_PACKAGES = {"sacremoses": ("BioGptTokenizer", "FSMTTokenizer", "FlaubertTokenizer", "XLMTokenizer")}
# MyT5's leaves its file open, Marian's recommends a package that it does not need.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning", "ignore:Recommended"
)

_REFUSED = {"RoCBertTokenizer": "input_pronunciation_ids, input_shape_ids", "TapasTokenizer": "a table"}
READ = [kind for kind in slow_tokenizers.WRITERS if kind not in _REFUSED]
# What tokenizers of the kind write for what stands in the text, beside what Unicode says is the same.
_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "`": "'"})
_DROPPED = set(string.punctuation)


def needed(kind: str) -> None:
    for package, kinds in _PACKAGES.items():
        if kind in kinds and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], PreTrainedTokenizerBase]:
    known: dict[str, PreTrainedTokenizerBase] = {}

    def of(kind: str) -> PreTrainedTokenizerBase:
        needed(kind)
        if kind not in known:
            folder = slow_tokenizers.write(kind, tmp_path_factory.mktemp("slow"))
            known[kind] = read_tokenizer(folder, BertConfig(), kind, listed=True)
        return known[kind]

    return of


def folded(text: str) -> str:
    """Letters and signs alone, by Unicode's own rules for what looks the same."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold().translate(_SAME))
    return "".join(sign for sign in decomposed if unicodedata.category(sign)[0] not in "MZC")


def bare(piece: str) -> str:
    return piece.removeprefix("##").removesuffix("@@").removesuffix("</w>").replace("▁", "")


def test_every_slow_class_is_tried_or_said_to_be_of_no_text() -> None:
    tried = {kind.partition("/")[0] for kind in slow_tokenizers.WRITERS}
    assert tried | slow_tokenizers.OTHERS == set(slow_tokenizers.slow_kinds())
    assert not tried & slow_tokenizers.OTHERS


@pytest.mark.slow
@pytest.mark.parametrize("kind", READ)
def test_ids_and_types_are_those_of_transformers(kind: str, made: Callable[[str], Any]) -> None:
    ours = made(kind)
    for number, text in enumerate(texts()):
        pair = "It was late." if number % 10 == 0 else None
        expected = ours(text, pair, return_token_type_ids=True, verbose=False)
        encoding = encode(ours, text, pair, 10**6)
        assert list(encoding.ids) == expected["input_ids"], text
        assert list(encoding.type_ids or ()) == expected["token_type_ids"], text
        assert len(set(encoding.segment_ids)) == 1 + (pair is not None) or not text.strip()


def is_of(piece: str, written: str, unknown: str) -> bool:
    """Whether a piece may stand for what is written: the same letters, a part of one sign, or other quotation marks."""
    if piece == unknown or len(written) == 1:
        return True
    letters = folded(bare(piece))
    return folded(written) in (letters, "") or not any(map(str.isalnum, written + letters)) or letters == "&"


# How much of the text has no piece: punctuation that SigLIP drops, emoji and links that are put into other words, and
# all of it where bytes are written anew.
_UNCOVERED = {"SiglipTokenizer": 0.05, "BertweetTokenizer/normalized": 0.02, "MyT5Tokenizer": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", READ)
def test_pieces_stand_where_their_text_is(kind: str, made: Callable[[str], Any]) -> None:
    ours = made(kind)
    n_signs = n_covered = 0
    for text in texts():
        pieces, covered = ours.tokenize(text), set[int]()
        before = (0, 0)
        for piece, span in zip(pieces, alignment.spans(text, pieces, ours.unk_token), strict=True):
            if span is None:
                continue
            assert before[0] <= span[0] <= span[1] <= len(text), (text, piece)
            shared = range(span[0], min(span[1], before[1]))
            assert len(shared) <= 1, (text, piece)  # the parts of one sign
            written = "".join(sign for sign in text[slice(*span)] if kind != "SiglipTokenizer" or sign not in _DROPPED)
            assert is_of(piece, written, ours.unk_token), (text, piece, written)
            covered |= {*range(*span)}
            before = span if span[1] > span[0] else before
        known = {place for place, sign in enumerate(text) if folded(sign)}
        n_signs, n_covered = n_signs + len(known), n_covered + len(covered & known)
    assert 1 - n_covered / n_signs <= _UNCOVERED.get(kind, 0.01)


@pytest.mark.slow
def test_pieces_stand_where_a_fast_tokenizer_of_the_same_kind_says(tmp_path: Path) -> None:
    slow_tokenizers.write("BertJapaneseTokenizer", tmp_path)
    known = [word for word in (tmp_path / "vocab.txt").read_text("utf-8").splitlines() if word == word.lower()]
    (tmp_path / "vocab.txt").write_text("\n".join([*slow_tokenizers.BRACKETED, *known]), "utf-8")
    slow = BertTokenizerLegacy(str(tmp_path / "vocab.txt"))
    fast = BertTokenizer(str(tmp_path / "vocab.txt"))
    for text in texts():
        mine, theirs = encode(slow, text, "It was late.", 10**6), encode(fast, text, "It was late.", 10**6)
        assert mine == theirs, text


@pytest.mark.parametrize("kind", ["ByT5Tokenizer", pytest.param("CanineTokenizer", marks=pytest.mark.slow)])
def test_bytes_and_characters_need_no_file(kind: str, tmp_path: Path) -> None:
    ours = read_tokenizer(slow_tokenizers.write(kind, tmp_path), BertConfig(), kind, listed=False)
    (tmp_path / "tokenizer_config.json").unlink()
    bare_config = BertConfig(tokenizer_class=kind)
    assert read_tokenizer(tmp_path, bare_config, kind, listed=False)("a b").input_ids == ours("a b").input_ids
    encoding = encode(ours, "é a", None, 99)
    assert [
        encoding.text[slice(*span)]
        for span, special in zip(encoding.offsets, encoding.special, strict=True)
        if not special
    ] == (["é", "é", "", "a"] if kind == "ByT5Tokenizer" else ["é", "", "a"])
    assert all(token.isprintable() for token in encoding.tokens)
    if kind == "CanineTokenizer":
        assert encoding.tokens == ("[CLS]", "é", " ", "a", "[SEP]")


def test_what_a_tokenizer_rewrote_has_no_place_and_no_word() -> None:
    pieces = ["Hi", "@@@", "US@@", "ER", "!"]
    assert alignment.spans("Hi @bob!", pieces, "<unk>") == [(0, 2), (3, 4), None, None, (7, 8)]
    assert alignment.spans("Hi @bob!", ["Hi", "@USER", "!"], "<unk>") == [(0, 2), (3, 7), (7, 8)]
    assert alignment.spans("a 中文 b", ["a", "[UNK]", "[UNK]", "b"], "[UNK]") == [(0, 1), (2, 3), (3, 4), (5, 6)]
    assert alignment.spans("xay a is", ["[UNK]", "a", "is"], "[UNK]") == [(0, 3), (4, 5), (6, 8)]
    assert alignment.spans("xya", ["[UNK]", "y", "a"], "[UNK]") == [(0, 1), (1, 2), (2, 3)]
    assert alignment.spans("\u0939\u093f a", ["\u0939@@", "\u093f", "A"], "<unk>") == [(0, 1), (1, 2), (3, 4)]


def test_a_pair_is_cut_and_its_texts_are_told_apart(made: Callable[[str], Any]) -> None:
    encoding = encode(made("PhobertTokenizer"), "The cat sat on the mat", "It was late", 10)
    assert len(encoding) == 10
    assert encoding.n_dropped > 0
    assert encoding.tokens[0] == "<s>"
    assert encoding.tokens.count("</s>") == 3
    assert {0, 1} == set(encoding.segment_ids)


def test_a_network_with_such_a_tokenizer_answers(copied: Path) -> None:
    """Masks, words and cuts as ever, whatever made the tokens."""
    for file in copied.glob("*token*"):
        file.unlink()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz."]
    (copied / "vocab.txt").write_text("\n".join(words), "utf-8")
    settings = {"tokenizer_class": "BertJapaneseTokenizer", "subword_tokenizer_type": "character"}
    (copied / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    engine = Engine()
    run = engine.attend(str(copied), "a cat [MASK] .").encoding
    assert run.tokens == ("[CLS]", "a", "c", "a", "t", "[MASK]", ".", "[SEP]")
    assert run.word_ids == (None, 0, 1, 1, 1, 2, 3, None)
    assert run.unplaced == ()
    (answer,) = engine.fill_mask(str(copied), "a cat [MASK] .", top_k=3)
    assert answer.position == 5


@pytest.mark.parametrize(("kind", "more"), _REFUSED.items())
def test_networks_that_read_more_than_tokens_are_refused(kind: str, more: str, tmp_path: Path) -> None:
    slow_tokenizers.write(kind, tmp_path)
    with pytest.raises(BadCheckpoint, match=f"reads more than the tokens of a text \\({more}\\)"):
        read_tokenizer(tmp_path, BertConfig(), kind, listed=True)


@pytest.mark.parametrize(
    ("kind", "package"),
    [("XLMTokenizer", "sacremoses"), ("BertJapaneseTokenizer", "fugashi"), ("CpmAntTokenizer", "rjieba")],
)
def test_a_missing_package_is_named(kind: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # to Python it is not there
    slow_tokenizers.write(kind if kind in slow_tokenizers.WRITERS else "EsmTokenizer", tmp_path)
    settings = {"tokenizer_class": kind, "word_tokenizer_type": "mecab", "mecab_kwargs": {"mecab_dic": "ipadic"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(BadCheckpoint, match=f"needs the Python package {package}, which is not installed here"):
        read_tokenizer(tmp_path, BertConfig(), kind, listed=True)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (slow_tokenizers.write("BertweetTokenizer", tmp_path) / "bpe.codes").unlink()
    with pytest.raises(BadCheckpoint, match=r"lacks its tokenizer's files \(bpe.codes\)"):
        read_tokenizer(tmp_path, BertConfig(), "tweets", listed=True)


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "BertModel"}),
        ("tokenizer_config.json", {"mecab_kwargs": {"mecab_option": "-d /etc"}}),
        ("tokenizer_config.json", {"sudachi_kwargs": {"sudachi_config_path": "/etc/passwd"}}),
        ("special_tokens_map.json", {"source_spm": "/etc/passwd"}),
    ],
)
def test_nothing_elsewhere_is_opened(file: str, settings: dict[str, Any], tmp_path: Path) -> None:
    slow_tokenizers.write("EsmTokenizer", tmp_path)
    (tmp_path / file).write_text(json.dumps({"tokenizer_class": "EsmTokenizer", **settings}), "utf-8")
    with pytest.raises(BadCheckpoint, match=r"names a file to read|none this app reads"):
        read_tokenizer(tmp_path, BertConfig(), "odd", listed=True)


def test_time_is_bounded(made: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    ours = made("PhobertTokenizer")
    monkeypatch.setattr(tokenizer_sandbox, "_PYTHON_SECONDS", -1)
    with as_bad_checkpoint("slow"), pytest.raises(RuntimeError, match="was not done after"):
        encode(ours, "The cat sat.", None, 99)
    with pytest.raises(BadCheckpoint), as_bad_checkpoint("slow"):
        encode(ours, "The cat sat.", None, 99)


def test_files_of_sentencepiece_are_tried_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_tokenizers.write("MarianTokenizer", tmp_path)
    assert tokenizer_sandbox._tried((tmp_path / "source.spm").read_bytes(), "sentencepiece").failure is None
    assert tokenizer_sandbox._tried(b"no such file", "sentencepiece").failure is None
    monkeypatch.setattr(tokenizer_sandbox, "_passed", {})
    monkeypatch.setattr(tokenizer_sandbox, "_tried", lambda *_: confined.Outcome("memory"))
    with pytest.raises(BadCheckpoint, match="needed more than"):
        read_tokenizer(tmp_path, BertConfig(), "odd", listed=False)


def test_every_file_of_theirs_is_downloaded_and_looked_at() -> None:
    for kind in slow_tokenizers.slow_kinds():
        if kind in {*slow_tokenizers.OTHERS, *_REFUSED}:
            continue
        for name in slow_tokenizers.class_of(kind).vocab_files_names.values():
            assert checkpoint._is_read(name), name
            assert sources._has([name], sources._SMALL_FILES), name
