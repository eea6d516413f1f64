"""Sentences told again by their hashes: in what was written here, and in what the bundled models were pretrained on."""

from pathlib import Path

import numpy as np

from analysis.corpus.pretraining import hashes, n_pretrained, read, write
from analysis.corpus.reading import built_in

LONG = "The old dog ran after it."
SHORT = "The dog ran after it."


def test_what_is_written_is_read(tmp_path: Path) -> None:
    texts = [f"This is the sentence with number {number}." for number in range(3000)]
    write([*texts, *texts, SHORT], tmp_path / "hashes.xz")
    np.testing.assert_array_equal(read(tmp_path / "hashes.xz"), np.unique(hashes(texts)))
    assert len(read(tmp_path / "hashes.xz")) == 3000
    first, again, other = hashes([LONG, SHORT, f"  {LONG.upper()}\n".replace("DOG", " DOG "), f"{LONG}!"])
    assert first == again != other


def test_the_bundled_models_were_trained_on_a_treebank_and_not_on_our_sentences() -> None:
    of_the_treebank = "What are really good programs for smooth crisp Black & White editing?"
    ours = built_in().texts
    assert n_pretrained([of_the_treebank, "Yes.", *ours]) == (1, 1 + sum(len(text.split()) > 5 for text in ours))
    assert n_pretrained([]) == (0, 0)
