"""The command that hashes a corpus' sentences: which documents it takes, and what it cannot use."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from analysis.corpus.pretraining import hashes, read
from tools.hash_sentences import main
from training.corpus import read_documents


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
