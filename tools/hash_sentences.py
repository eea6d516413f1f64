"""``python -m tools.hash_sentences CORPUS.jsonl.xz``: hashes of the sentences that the bundled models were trained
on, for ``analysis.corpus.pretraining``, which tells by them when somebody brings such sentences.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from analysis.corpus import pretraining
from model_zoo.errors import ModelZooError
from training.corpus import read_documents

LEFT_OUT: Final = ("litbank", "openstax", "standardebooks", "wordnet-3.0")
"""Books and a dictionary: six sevenths of the sentences, and not what people measure heads on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when done, 2 when the corpus could not be used."""
    parser = argparse.ArgumentParser(prog="python -m tools.hash_sentences", description="Hash a corpus' sentences.")
    parser.add_argument("corpus", type=Path, metavar="CORPUS.jsonl.xz", help="what the bundled models were trained on")
    parser.add_argument("--out", type=Path, default=pretraining.FILE, help="where to write them")
    options = parser.parse_args(arguments)
    try:
        documents = [
            document
            for document in read_documents(options.corpus)
            if not document.held_out and document.group not in LEFT_OUT
        ]
    except ModelZooError as error:
        parser.exit(2, f"{error}\n")
    pretraining.write((text for document in documents for text in document.sentences), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
