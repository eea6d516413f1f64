"""Bigram shift: have two neighbouring words been swapped?"""

from __future__ import annotations

import numpy as np

from analysis.probing.data import Task
from analysis.probing.grammar import Sentence, Side, labelled_sentences, pick, tagged_sentence

LABELS = ("intact", "swapped")
# Neighbours that are wrong the other way round; adverbs may stand on either side of a verb and are not moved.
SWAPPED_IS_WRONG = {
    ("DET", "ADJ"),
    ("DET", "NOUN"),
    ("ADJ", "NOUN"),
    ("ADP", "DET"),
    ("CCONJ", "DET"),
    ("NOUN", "VERB"),
    ("NOUN", "CCONJ"),
}


def _make(rng: np.random.Generator, side: Side, wanted: dict[str, str]) -> Sentence:
    tagged = tagged_sentence(rng, side, int(rng.integers(6, 15)), None)
    if wanted["order"] == "swapped":
        places = [i for i in range(1, len(tagged) - 1) if (tagged[i][1], tagged[i + 1][1]) in SWAPPED_IS_WRONG]
        i = pick(rng, places)
        tagged[i], tagged[i + 1] = tagged[i + 1], tagged[i]
    return Sentence(tuple(word for word, _ in tagged), {})


TASKS = (
    Task(
        name="bigram_shift",
        title="Bigram shift",
        level="sentence",
        kind="syntax",
        question="Have two neighbouring words been swapped?",
        build=labelled_sentences("bigram_shift", "order", {"order": LABELS}, _make),
    ),
)
