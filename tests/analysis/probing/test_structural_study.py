"""The structural probe over layers, on an encoder whose last layer has the trees of the file, and the others noise."""

import doctest
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import builders
import numpy as np
import pytest
from drawn_trees import TREE, embedded
from own_files import trees

from analysis.probing import StructuralLayer, StructuralTask, Treebank, structural_probe, structural_study
from analysis.probing.data import TEST
from analysis.probing.results import Failed, Progress
from analysis.probing.settings import Settings
from analysis.probing.template_trees import template_conllu
from model_zoo.errors import InvalidInput
from model_zoo.types import HiddenStates

pytestmark = pytest.mark.slow


class Parsing:
    """An encoder of three layers, of pieces of up to four characters; the last layer has each word's place in the tree.

    A word's pieces lie ``apart`` from each other about the word's own vector, so that only their mean is right.
    """

    def __init__(self, treebank: Treebank, apart: float = 0.0, limit: int = 10**6, knows: bool = True) -> None:
        self.treebank, self.apart, self.limit, self.knows = treebank, apart, limit, knows

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        words = self.treebank.words
        for index, text in enumerate(texts):
            rng = np.random.default_rng(crc32(text.encode()))
            items = np.flatnonzero(words.text_of == words.texts.index(text))
            tree = self.treebank.trees[text]
            points = embedded(tree.heads)[tree.written]
            offsets, states = [], []
            for item, point in zip(items[: self.limit], points, strict=False):
                start, end = words.spans[item]
                cuts = [*range(start, end, 4), end]
                offsets += [(int(a), int(b)) for a, b in pairwise(cuts)]
                n = len(cuts) - 1
                off = self.apart * rng.normal(size=40)
                for piece in range(n):
                    state = rng.normal(size=(3, 40))
                    if self.knows:
                        state[2] = 0
                        state[2, : len(point)] = point
                    if n > 1:  # the pieces cancel each other out
                        state[2] += off if piece == 0 else -off / (n - 1)
                    states.append(state)
            every = np.zeros((3, len(offsets) + 2, 40), dtype=np.float32)
            every[:, 1:-1] = np.array(states).transpose(1, 0, 2)
            encoding = builders.encoding(["x"] * len(offsets), text=text, offsets=((0, 0), *offsets, (0, 0)))
            yield index, HiddenStates(encoding, every)


@pytest.fixture(scope="module")
def treebank() -> object:
    return trees(template_conllu(220).encode(), "own")


def test_the_layer_that_has_the_trees_is_the_best_one(treebank: Treebank) -> None:
    knows = Parsing(treebank)
    study = structural_probe(
        knows, treebank, untrained=True, untrained_encode=Parsing(treebank, knows=False), bootstrap_draws=200
    )
    noise, last = study.layers[0], study.layers[2]
    assert study.best.layer == 2
    assert study.as_good == (2,)
    assert last.scores.uuas.value == 1
    assert last.scores.distance_spearman.value > 0.95
    assert last.scores.root_accuracy.value == 1
    assert last.scores.depth_spearman.value > 0.95
    assert noise.scores.uuas.value < 0.35
    assert abs(noise.scores.distance_spearman.value) < 0.15
    assert last.untrained.uuas.value < 0.35
    assert last.p_chain < 0.01
    assert last.p_untrained < 0.01
    assert (study.n_train, study.n_development, study.n_test) == (132, 22, 66)
    # The chain, counted anew: neighbours that are no punctuation.
    part = treebank.words.split
    trees = [treebank.trees[text] for text in np.array(treebank.words.texts)[part == TEST]]
    right = total = 0
    for tree in trees:
        words = np.flatnonzero(~tree.punctuation)
        next_to = {(a, b) for a, b in pairwise(words)}
        right += len(next_to & {tuple(edge) for edge in tree.edges.tolist()})
        total += len(tree.edges)
    assert study.chain.uuas.value == pytest.approx(right / total)
    assert study.chain.uuas.low < study.chain.uuas.value < study.chain.uuas.high
    table = study.to_frame()
    assert table["uuas"].tolist() == [layer.scores.uuas.value for layer in study.layers]
    assert set(table["chain_uuas"]) == {study.chain.uuas.value}
    for sentence in study.sentences:
        assert set(sentence.recovered[2]) == set(sentence.edges)
        assert sentence.right(2) == len(sentence.edges)
        assert sentence.roots[2] == sentence.root
        assert len(sentence.words) == len(sentence.punctuation)


def test_the_vector_of_a_word_is_the_mean_of_its_pieces(treebank: Treebank) -> None:
    encode = Parsing(treebank, apart=3.0)
    settings = {"bootstrap_draws": 10, "rank": None}
    mean = structural_probe(encode, treebank, **settings).layers[2].scores.uuas.value
    first = structural_probe(encode, treebank, pieces="first", **settings).layers[2].scores.uuas.value
    assert mean == 1
    assert first < 0.9
    # The same seed gives the same numbers and another one another split.
    encode = Parsing(treebank)
    study = structural_probe(encode, treebank, seeds=2, bootstrap_draws=20, rank=8)
    again = structural_probe(encode, treebank, seeds=2, bootstrap_draws=20, rank=8)
    assert study == again
    assert len(study.uuas_of_seeds) == 2
    assert study.uuas_of_seeds[0] == tuple(layer.scores.uuas.value for layer in study.layers)
    assert study.uuas_of_seeds[0] != study.uuas_of_seeds[1]


def test_sentences_beyond_the_models_limit_are_left_out_and_counted(treebank: Treebank) -> None:
    long = sum(len(tree) > 15 for tree in treebank.trees.values())
    assert 0 < long < 200
    study = structural_probe(Parsing(treebank, limit=15), treebank, bootstrap_draws=10)
    assert study.skipped == long
    assert any(note.startswith(f"{long} sentences were left out") for note in study.notes)
    assert study.n_train + study.n_development + study.n_test == 220 - long
    with pytest.raises(InvalidInput, match="No sentence of own is read in full"):
        structural_probe(Parsing(treebank, limit=1), treebank)


def test_events_come_in_order_and_failures_are_told(treebank: Treebank) -> None:
    settings = Settings(bootstrap_draws=10)
    task = StructuralTask(treebank, rank=4)
    events = list(structural_study.run(Parsing(treebank), [task], settings))
    assert [event.layer for event in events if isinstance(event, StructuralLayer)] == [0, 1, 2]
    stages = [event.stage for event in events if isinstance(event, Progress)]
    assert stages == sorted(stages)  # encoding, then probing
    assert stages.count("probing") > 20  # an event an epoch, so that a run can be left
    assert isinstance(events[-1], structural_study.StructuralResult)

    def broken(_: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        raise InvalidInput("No.")
        yield

    assert list(structural_study.run(broken, [task], settings))[-1] == Failed("own", "No.")
    # No punctuation is taken for the root.
    assert structural_study._least(np.array([2.0, 1.5, 0.4, 2.0, 1.0, 3.0, 2.0, 0.1]), TREE) == 2
    with pytest.raises(InvalidInput, match="whole number of at least 1"):
        StructuralTask(treebank, rank=0)


def test_the_docstrings_example_is_true() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(structural_probe, "structural_probe")
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert runner.summarize(verbose=False).failed == 0
