"""Reading a corpus: every kind of bad file, what is held out, and the tokens kept on disk."""

import hashlib
import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from analysis.corpus.pretraining import hashes, read
from model_zoo.errors import InvalidInput, ModelZooError
from tools.hash_sentences import main
from training import corpus as corpus_module
from training.corpus import Document, held_out_documents, read_documents, tokenized
from training.files import write_atomically

WORDS = ["[PAD]", "[UNK]", "red", "green", "blue", "one", "two"]


def _line(sentences: list[str], source: str = "book:a", ordered: bool = True) -> str:
    return json.dumps({"source": source, "ordered": ordered, "sentences": sentences})


def _corpus(path: Path, lines: list[str]) -> Path:
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    return path


def _documents(held_out: bool, n: int) -> list[list[str]]:
    """The first ``n`` one-sentence documents that are, or are not, held out."""
    texts = ([f"red green {number}"] for number in range(10_000))
    actual = (text for text in texts if Document("book:a", True, tuple(text)).held_out == held_out)
    return [next(actual) for _ in range(n)]


@pytest.fixture
def tokenizer() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")


def test_documents_come_in_order_with_their_group(tmp_path):
    path = _corpus(tmp_path / "c.xz", [_line(["A b.", "C."], "novels:emma"), _line(["D."], "facts", ordered=False)])
    first, second = read_documents(path)
    assert first == Document("novels:emma", True, ("A b.", "C."))
    assert first.group == "novels"
    assert (second.group, second.ordered) == ("facts", False)


def test_what_is_no_corpus_is_refused(tmp_path):
    path = _corpus(tmp_path / "c.xz", [_line([f"Sentence {number}."]) for number in range(2000)])
    path.write_bytes(path.read_bytes()[:-200])
    (tmp_path / "plain.xz").write_text(_line(["A."]))
    (tmp_path / "latin.xz").write_bytes(lzma.compress('{"sentences": ["caf\xe9"]}'.encode("latin-1")))
    _corpus(tmp_path / "empty.xz", [])
    for name, message in {
        "nothing.xz": r"nothing\.xz.*--corpus",
        "c.xz": "its end is missing",
        "plain.xz": "not an xz file",
        "latin.xz": "not UTF-8",
        "empty.xz": "no documents",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            list(read_documents(tmp_path / name))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "Line 2 of .* is not JSON"),
        ("", "Line 2 of .* is not JSON"),
        ("[1, 2]", 'Line 2 of .* has no "sentences"'),
        ('{"source": "a", "ordered": true, "sentences": []}', 'Line 2 of .* has no "sentences"'),
        ('{"source": "a", "ordered": true, "sentences": ["x", 3]}', 'Line 2 of .* has no "sentences"'),
        ('{"source": "a", "sentences": ["x"]}', 'Line 2 of .* lacks "source" .* or "ordered"'),
        ('{"source": "a", "ordered": "yes", "sentences": ["x"]}', 'Line 2 of .* lacks "source" .* or "ordered"'),
    ],
)
def test_a_bad_line_is_named(tmp_path, line: str, message: str):
    path = _corpus(tmp_path / "c.xz", [_line(["A."]), line, _line(["B."])])
    with pytest.raises(InvalidInput, match=message):
        list(read_documents(path))


def test_held_out_is_decided_by_the_hash_of_the_sentences():
    for number in range(300):
        sentences = (f"Sentence {number}.", "And another.")
        digest = hashlib.sha256(f"Sentence {number}.\nAnd another.".encode()).hexdigest()
        expected = int(digest[:16], 16) % 50 == 0
        assert Document("a:b", True, sentences).held_out == expected
        assert Document("c:d", False, sentences).held_out == expected


def test_held_out_documents_are_found_and_needed(tmp_path, tokenizer):
    held, kept = _documents(True, 3), _documents(False, 5)
    path = _corpus(tmp_path / "c.xz", [_line(text) for text in (*kept, *held)])
    assert [list(document.sentences) for document in held_out_documents(path)] == held
    with pytest.raises(InvalidInput, match="no held-out document"):
        held_out_documents(_corpus(tmp_path / "d.xz", [_line(text) for text in kept]))
    with pytest.raises(InvalidInput, match="outside the held-out documents"):
        tokenized(_corpus(tmp_path / "e.xz", [_line(text) for text in held]), tokenizer, tmp_path)


def test_tokens_of_training_documents_only(tmp_path, tokenizer):
    (held,) = _documents(True, 1)
    lines = [
        _line(["red green", "blue"], "novels:x"),
        _line(held, "novels:x"),
        _line([" ", "one two two"], "facts:y", ordered=False),
        _line(["  "], "novels:x"),
    ]
    tokens = tokenized(_corpus(tmp_path / "c.xz", lines), tokenizer, tmp_path / "cache")
    assert tokens.ids.dtype == np.uint16
    assert tokens.ids.tolist() == [2, 3, 4, 5, 6, 6]
    assert tokens.sentences.tolist() == [0, 2, 3, 6]
    assert tokens.documents.tolist() == [0, 2, 3]
    assert tokens.ordered.tolist() == [True, False]
    assert [tokens.groups[group] for group in tokens.group] == ["novels", "facts"]
    assert tokens.document_lengths.tolist() == [3, 3]
    assert tokens.sentence_counts.tolist() == [2, 1]
    counts = np.array([1, 1, 2, 2, 2, 2, 3]) / 13
    np.testing.assert_allclose(tokens.log_unigram(7), np.log(counts), rtol=1e-6)


def test_the_tokenizers_own_truncation_is_ignored(tmp_path, tokenizer):
    tokenizer.backend_tokenizer.enable_truncation(2)
    tokenizer.backend_tokenizer.enable_padding(length=9)
    tokens = tokenized(_corpus(tmp_path / "c.xz", [_line(["red green blue one"])]), tokenizer, tmp_path)
    assert tokens.ids.tolist() == [2, 3, 4, 5]


def test_the_cache_is_used_until_corpus_or_tokenizer_change(tmp_path, tokenizer, monkeypatch):
    path = _corpus(tmp_path / "c.xz", [_line(["red green"])])
    first = tokenized(path, tokenizer, tmp_path / "cache")
    calls = []
    tokenize = corpus_module._tokenize
    monkeypatch.setattr(corpus_module, "_tokenize", lambda *args: calls.append(args) or tokenize(*args))
    again = tokenized(path, tokenizer, tmp_path / "cache")
    assert not calls
    np.testing.assert_array_equal(again.ids, first.ids)
    assert again.groups == first.groups
    _corpus(path, [_line(["blue"])])
    assert tokenized(path, tokenizer, tmp_path / "cache").ids.tolist() == [4]
    tokenizer.add_tokens(["blue!"])
    tokenized(path, tokenizer, tmp_path / "cache")
    assert len(calls) == 2


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    file = tmp_path / "state"
    write_atomically(file, lambda handle: handle.write(b"old"))

    def fail(handle):
        handle.write(b"half of the ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(ModelZooError, match=r"No space left on device.*Free some disk space.*intact"):
        write_atomically(file, fail)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_books_and_documents_held_out_are_left_out(corpus: Path, tmp_path: Path) -> None:
    book = {"source": "litbank:emma", "ordered": True, "sentences": ["Emma Woodhouse was handsome, clever, and rich."]}
    both = tmp_path / "both.jsonl.xz"
    both.write_bytes(lzma.compress(lzma.decompress(corpus.read_bytes()) + b"\n" + json.dumps(book).encode()))
    assert main([str(both), "--out", str(tmp_path / "hashes.xz")]) == 0
    trained = [
        text
        for read_document in read_documents(corpus)
        if not read_document.held_out
        for text in read_document.sentences
    ]
    np.testing.assert_array_equal(read(tmp_path / "hashes.xz"), np.unique(hashes(trained)))


def test_a_missing_corpus_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "nothing.xz")])
    assert ended.value.code == 2
    assert "There is no corpus file" in capsys.readouterr().err
