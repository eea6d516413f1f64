"""Fields of the page "Layers" that no view has alone: what is probed, and which results are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis.probing.classifier import ProbeKind
from analysis.probing.features import Pieces, Pooling
from analysis.probing.structural import RANK as DEFAULT_RANK
from analysis.probing.structural import Kind
from ui import SWITCH, Field, count, how_read, names, one_of, optional, view_field, within

_PAGE = "layers"

SHOWN_VIEW = view_field(_PAGE, "layers")

# What is probed, and how.
TASKS: Field[tuple[str, ...]] = Field(
    "tasks",
    ("sentence_length", "word_content", "bigram_shift"),
    names("[a-z][a-z_]{0,39}", "is not the name of a task. Write names as in tense,negation."),
    of=_PAGE,
)
SENTENCES: Field[int] = Field("sentences", 400, within("the number of sentences", 20, 100_000, step=100), of=_PAGE)
SEED: Field[int] = Field("seed", 0, within("the seed", 0, 999_999), of=_PAGE)
SEEDS: Field[int] = Field("seeds", 1, within("the number of seeds", 1, 20), of=_PAGE)
_POOLINGS: dict[Pooling, str] = {"mean": "Mean of its tokens", "cls": "The [CLS] token", "max": "Maximum of its tokens"}
_PIECES: dict[Pieces, str] = {"mean": "Mean of its pieces", "first": "First piece"}
_PROBES: dict[ProbeKind, str] = {"linear": "Linear", "mlp": "With a hidden layer"}
POOLING: Field[Pooling] = Field("pooling", "mean", one_of("the vector of a sentence", _POOLINGS), of=_PAGE)
PIECES: Field[Pieces] = Field("pieces", "mean", one_of("the vector of a word", _PIECES), of=_PAGE)
PROBE: Field[ProbeKind] = Field("probe", "linear", one_of("the probe", _PROBES), of=_PAGE)
CONTROL_TASK: Field[bool] = Field("control_task", True, SWITCH, of=_PAGE)
UNTRAINED: Field[bool] = Field("untrained", True, SWITCH, of=_PAGE)
MDL: Field[bool] = Field("mdl", False, SWITCH, of=_PAGE)
OF_SETTINGS: Mapping[str, Field[Any]] = {
    "sentences": SENTENCES,
    "seed": SEED,
    "seeds": SEEDS,
    "pooling": POOLING,
    "pieces": PIECES,
    "kind": PROBE,
    "control": CONTROL_TASK,
    "untrained": UNTRAINED,
    "mdl": MDL,
}
"""The fields of ``Settings`` by their names there."""
ASKED = (TASKS, *OF_SETTINGS.values())

# The visitor's own data; the rank is that of the structural probe.
_FORMATS = {"table": "Labelled texts", "conllu": "Treebank (CoNLL-U)"}
_FORMAT = one_of("the format", _FORMATS)
# Links of earlier versions told SentEval's tables from others.
_SENTEVAL = "senteval"
_TARGETS = {
    "upos": "Part of speech",
    "deprel": "Dependency relation",
    "head_distance": "Distance to the head",
    "trees": "Syntax trees",
}
FORMAT: Field[str] = Field(
    "format",
    "table",
    replace(_FORMAT, read=lambda text: _FORMAT.read("table" if text == _SENTEVAL else text)),
    of=_PAGE,
)
TARGET: Field[str] = Field("target", "upos", one_of("the target", _TARGETS), of=_PAGE)
RANK: Field[int] = Field("rank", DEFAULT_RANK, within("the rank", 1, 99_999), of=_PAGE)
DATA: Field[str] = Field("data", "", of=_PAGE)
READ = how_read.choices_field("read", _PAGE)
OWN_DATA = (FORMAT, TARGET, RANK, DATA, READ)

# Which results are looked at. Layer 0 is the embeddings; with no layer of a tree, the best one is shown.
TASK: Field[str] = Field("task", "", of=_PAGE)
LAYER: Field[int] = Field("layer", 0, within("the layer", 0, 999), of=_PAGE)
_TREE_PROBES: dict[Kind, str] = {"distance": "Distances between words", "depth": "Depths of words"}
TREE_PROBE: Field[Kind] = Field("tree_probe", "distance", one_of("the probe of trees", _TREE_PROBES), of=_PAGE)
TREE_LAYER: Field[int | None] = Field("tree_layer", None, optional(within("the layer", 0, 999)), of=_PAGE)
TREE_SENTENCE: Field[int] = Field("tree_sentence", 1, count("sentence"), of=_PAGE)
LOOKED_AT = (TASK, LAYER, TREE_PROBE, TREE_LAYER, TREE_SENTENCE)
