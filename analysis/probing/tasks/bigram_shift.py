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
        tags = [tag for _, tag in tagged]
        # "The burned cart" is a good noun phrase; with a second verb after it, it is wrong.
        wrong = SWAPPED_IS_WRONG if tags.count("VERB") > 1 else SWAPPED_IS_WRONG - {("NOUN", "VERB")}
        places = [i for i in range(1, len(tags) - 1) if (tags[i], tags[i + 1]) in wrong]
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
