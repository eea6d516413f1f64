"""The structural probe on every layer of a model, beside what words alone and random weights reach.

``run`` is a generator of events, as that of ``study``; ``structural_probe`` is the same for notebooks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.intervals import of_right
from analysis.paired import paired_p, pairwise_p
from analysis.probing.classifier import NETWORK_BYTES
from analysis.probing.data import DEV, TEST, TRAIN
from analysis.probing.features import Encode, Plan, VectorStore, as_events
from analysis.probing.results import Failed, Progress
from analysis.probing.settings import Settings
from analysis.probing.structural import (
    RANK,
    Sentences,
    StructuralProbe,
    distance_spearman,
    edges_found,
    mean_over_lengths,
    mean_over_lengths_interval,
    ordering,
    spanning_tree,
    training,
)
from analysis.probing.structural_results import (
    Edges,
    Estimate,
    ParsedSentence,
    Scores,
    StructuralLayer,
    StructuralResult,
)
from analysis.probing.study import encoded
from analysis.probing.trees import Tree, Treebank, chain
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.types import BoolArray, DoubleArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class StructuralTask:
    """The structural probe asked of a treebank; ``rank`` None is as many rows of B as the vectors are wide."""

    treebank: Treebank = field(repr=False)
    rank: int | None = RANK

    def __post_init__(self) -> None:
        if self.rank is not None and self.rank < 1:
            raise InvalidInput("The rank of a structural probe must be a whole number of at least 1.")

    @property
    def name(self) -> str:
        return self.treebank.name


StructuralEvent = Progress | StructuralLayer | StructuralResult | Failed


def run(
    encode: Encode,
    tasks: Iterable[StructuralTask],
    settings: Settings | None = None,
    *,
    untrained: Encode | None = None,
) -> Iterator[StructuralEvent]:
    """Fit the structural probe to every layer for every task; yields each result as soon as it is there.

    ``encode`` and ``untrained`` as in ``study.run``; of the settings those named ``sentences``, ``pieces``,
    ``untrained``, ``seed``, ``seeds``, ``bootstrap_draws`` and ``map_items`` (sentences kept with their trees) count.
    For each task come a ``StructuralLayer`` per layer, then the ``StructuralResult``; ``Failed`` instead where its data
    or the model do not allow it. ``Progress`` comes after each epoch, so that a run can be left soon.
    """
    settings = settings or Settings()
    for task in tasks:
        try:
            yield from _task(encode, untrained, task, settings)
        except ModelZooError as error:
            yield Failed(task.name, str(error))


def structural_probe(
    encode: Encode,
    treebank: Treebank,
    *,
    rank: int | None = RANK,
    untrained_encode: Encode | None = None,
    **settings: object,
) -> StructuralResult:
    """Fit the structural probe to every layer; ``settings`` are the fields of ``Settings``. Raises InvalidInput.

    >>> from functools import partial
    >>> from analysis.probing import readers, structural_probe
    >>> from analysis.probing.template_trees import template_conllu
    >>> from model_zoo import Engine
    >>> from reading import read
    >>> encode = partial(Engine().iter_hidden_states, "embedded/bert")
    >>> treebank = readers.treebank(read(template_conllu(200).encode(), "trees", name="templates"))
    >>> result = structural_probe(encode, treebank, rank=32)
    >>> result.best.scores.uuas.low > result.chain.uuas.high
    True
    >>> result.to_frame()[["layer", "rank", "n_test"]].head(2)
       layer  rank  n_test
    0      0    32      60
    1      1    32      60
    """
    chosen = Settings(**settings)  # type: ignore[arg-type]
    for event in _task(encode, untrained_encode, StructuralTask(treebank, rank), chosen):
        if isinstance(event, StructuralResult):
            return event
    raise AssertionError("a task ends with its result or an error")


@dataclass(frozen=True, slots=True)
class _Judged:
    """A round's results for a layer: the scores, which edges of the test were found, and the trees themselves."""

    scores: Scores
    right: BoolArray
    development_uuas: float
    epochs: int
    rank: int
    recovered: tuple[Edges, ...]
    roots: tuple[int, ...]


class _Subject:
    """Sentences whose words all have vectors, and what their trees are scored on."""

    def __init__(self, treebank: Treebank, rows: IntArray, n_tokens: IntArray, settings: Settings) -> None:
        """``rows`` of the store hold the words' vectors; ``n_tokens`` are those of each row's text, 0 without any.
        Raises InvalidInput where too few sentences are left.
        """
        words = treebank.words
        lost = np.zeros(len(words.texts), dtype=bool)
        lost[words.text_of[n_tokens[rows] == 0]] = True
        self.skipped = int(lost.sum())
        if self.skipped:
            rows = rows[~lost[words.text_of]]
            note = f"{self.skipped} sentences were left out: the model's token limit cut words off."
            kept = words.select(~lost) if not lost.all() else words
            if lost.all():
                raise InvalidInput(f"No sentence of {words.name} is read in full by this model. Use shorter sentences.")
            treebank = replace(treebank, words=replace(kept, notes=(*kept.notes, note))).checked()
            words = treebank.words
        self.settings, self.rows, self.words = settings, rows, words
        self.places = treebank.places()
        self.trees: list[Tree] = [treebank.trees[text] for text in words.texts]
        self.of_split = {split: np.flatnonzero(words.split == split) for split in (TRAIN, DEV, TEST)}
        self.longest = int(n_tokens[rows].max())
        test = [self.trees[i] for i in self.of_split[TEST]]
        self.lengths = np.array([len(tree) for tree in test], dtype=np.int64)
        self.edge_of = np.repeat(np.arange(len(test)), [len(tree.edges) for tree in test])
        chains = [chain(len(tree)) for tree in test]
        starts = [np.arange(len(tree), dtype=np.float64) for tree in test]
        self.chain_right, self.chain = self.judged(self.of_split[TEST], chains, starts)[:2]

    def sentences(self, vectors: FloatArray, split: int, kind: str) -> Sentences:
        """What a probe of this kind is trained or stopped on."""
        chosen = self.of_split[split]
        trees = [self.trees[i] for i in chosen]
        targets = [tree.distances if kind == "distance" else tree.depths for tree in trees]
        return Sentences(vectors, [self.places[i] for i in chosen], targets)

    def judged(
        self, chosen: IntArray, distances: Sequence[DoubleArray], depths: Sequence[DoubleArray]
    ) -> tuple[BoolArray, Scores, tuple[Edges, ...], tuple[int, ...]]:
        """Edges found, scores, trees and roots of these distances and depths of the test sentences."""
        trees = [self.trees[i] for i in chosen]
        edges = [spanning_tree(d, ~tree.punctuation) for d, tree in zip(distances, trees, strict=True)]
        right = np.concatenate([edges_found(tree.edges, of) for tree, of in zip(trees, edges, strict=True)])
        roots = [_least(d, tree) for d, tree in zip(depths, trees, strict=True)]
        can = np.array([tree.root is not None for tree in trees])
        rooted = np.array([root == tree.root for root, tree in zip(roots, trees, strict=True)])[can]
        by_distance = [distance_spearman(d, tree.distances) for d, tree in zip(distances, trees, strict=True)]
        by_depth = [ordering(d[None], tree.depths[None]) for d, tree in zip(depths, trees, strict=True)]
        scores = Scores(
            uuas=Estimate(float(right.mean()), *of_right(right, self.edge_of)),
            distance_spearman=self._correlation(by_distance),
            root_accuracy=Estimate(float(rooted.mean()), *of_right(rooted, np.arange(len(rooted))))
            if len(rooted)
            else None,
            depth_spearman=self._correlation(by_depth),
        )
        return right, scores, tuple(tuple(map(tuple, of.tolist())) for of in edges), tuple(roots)

    def _correlation(self, values: Sequence[DoubleArray]) -> Estimate | None:
        mean = mean_over_lengths(values, self.lengths)
        interval = mean_over_lengths_interval(
            values, self.lengths, draws=self.settings.bootstrap_draws, seed=self.settings.seed
        )
        return None if mean is None or interval is None else Estimate(mean, *interval)

    def layer(
        self, store: VectorStore, layer: int, rank: int | None, seed: int, progress: Progress
    ) -> Generator[Progress, None, _Judged]:
        """Train and score both probes on a layer; yields the progress after each epoch."""
        n_bytes = 4 * len(self.rows) * store.width
        if n_bytes > NETWORK_BYTES:
            raise InvalidInput(
                f"The structural probe takes at most {NETWORK_BYTES // (4 * store.width):,} words "
                f"of this model's vectors, and there are {len(self.rows):,}. Use fewer sentences."
            )
        vectors = np.concatenate(list(store.layer(layer).blocks(self.rows)))
        probes: dict[str, StructuralProbe] = {}
        for kind in ("distance", "depth"):
            train, development = (self.sentences(vectors, split, kind) for split in (TRAIN, DEV))
            steps = training(train, development, rank=rank, seed=seed)
            probes[kind] = yield from as_events(steps, lambda _loss: progress)
        test, held = self.of_split[TEST], self.of_split[DEV]
        near, deep = probes["distance"], probes["depth"]
        right, scores, edges, roots = self.judged(
            test,
            [near.distances(vectors[self.places[i]]) for i in test],
            [deep.depths(vectors[self.places[i]]) for i in test],
        )
        of_development = [
            edges_found(tree.edges, spanning_tree(near.distances(vectors[self.places[i]]), ~tree.punctuation))
            for i, tree in ((i, self.trees[i]) for i in held)
        ]
        return _Judged(
            scores=scores,
            right=right,
            development_uuas=float(np.concatenate(of_development).mean()),
            epochs=near.epochs,
            rank=len(near.projection),
            recovered=edges,
            roots=roots,
        )


def _least(depths: DoubleArray, tree: Tree) -> int:
    """The word of least depth that is not punctuation."""
    return int(np.where(tree.punctuation, np.inf, depths).argmin())


def _task(
    encode: Encode, untrained: Encode | None, task: StructuralTask, settings: Settings
) -> Iterator[StructuralEvent]:
    """All rounds of a task: with random weights, as it is, and with the other seeds."""
    if settings.untrained and untrained is None:
        raise ValueError("random weights are asked for, but nothing encodes with them")
    treebank = task.treebank.prepared(settings.sentences, settings.seed, again=False).checked()
    by_chance: list[_Judged] = []
    if settings.untrained and untrained is not None:
        _, by_chance = yield from _round(untrained, treebank, task.rank, settings, "random weights", settings.seed)
    layers: list[StructuralLayer] = []
    subject, judged = yield from _round(encode, treebank, task.rank, settings, "", settings.seed, by_chance, layers)
    uuas = [[result.scores.uuas.value for result in judged]]
    for repeat in range(1, settings.seeds):
        seed = settings.seed + repeat
        again = task.treebank.prepared(settings.sentences, seed, again=True).checked()
        _, of_seed = yield from _round(encode, again, task.rank, settings, f"seed {seed}", seed)
        uuas.append([result.scores.uuas.value for result in of_seed])
    yield _result(task, subject, judged, layers, uuas, settings)


def _round(
    encode: Encode,
    treebank: Treebank,
    rank: int | None,
    settings: Settings,
    of: str,
    seed: int,
    by_chance: Sequence[_Judged] = (),
    layers: list[StructuralLayer] | None = None,
) -> Generator[StructuralEvent, None, tuple[_Subject, list[_Judged]]]:
    """Encode the sentences, then fit both probes layer by layer; each is put into ``layers`` and told, if given."""
    names = (treebank.name,)
    plan = Plan([treebank.words])
    store, n_tokens = yield from encoded(plan, encode, names, settings, of)
    judged_layers: list[_Judged] = []
    with store:
        subject = _Subject(treebank, plan.rows_of[0], n_tokens, settings)
        for layer in range(store.n_layers):
            progress = Progress(names, "probing", layer, store.n_layers, of)
            judged_layers.append((yield from subject.layer(store, layer, rank, seed, progress)))
            if layers is not None:
                layers.append(_layer_result(subject, judged_layers[-1], layer, by_chance[layer] if by_chance else None))
                yield layers[-1]
            yield Progress(names, "probing", layer + 1, store.n_layers, of)
    return subject, judged_layers


def _layer_result(subject: _Subject, judged: _Judged, layer: int, by_chance: _Judged | None) -> StructuralLayer:
    return StructuralLayer(
        task=subject.words.name,
        layer=layer,
        scores=judged.scores,
        development_uuas=judged.development_uuas,
        epochs=judged.epochs,
        untrained=by_chance.scores if by_chance else None,
        p_chain=paired_p(judged.right, subject.chain_right, subject.edge_of),
        p_untrained=paired_p(judged.right, by_chance.right, subject.edge_of) if by_chance else None,
    )


def _result(
    task: StructuralTask,
    subject: _Subject,
    judged: Sequence[_Judged],
    layers: Sequence[StructuralLayer],
    uuas: Sequence[Sequence[float]],
    settings: Settings,
) -> StructuralResult:
    right = [layer.right for layer in judged]
    test = subject.of_split[TEST]
    rng = np.random.default_rng(settings.seed)
    places = np.sort(rng.permutation(len(test))[: settings.map_items])
    notes = subject.words.notes
    if subject.chain.distance_spearman is None:
        notes = (*notes, "There is no Spearman correlation: no test sentence has 5 to 50 words.")
    return StructuralResult(
        task=task.name,
        rank=judged[0].rank,
        n_train=len(subject.of_split[TRAIN]),
        n_development=len(subject.of_split[DEV]),
        n_test=len(test),
        chain=subject.chain,
        layers=tuple(layers),
        p=pairwise_p(right, subject.edge_of),
        uuas_of_seeds=tuple(map(tuple, uuas)),
        sentences=tuple(_parsed(subject, judged, int(place)) for place in places),
        skipped=subject.skipped,
        longest=subject.longest,
        notes=notes,
        settings=settings,
    )


def _parsed(subject: _Subject, judged: Sequence[_Judged], place: int) -> ParsedSentence:
    """The test sentence at this place among them."""
    i = int(subject.of_split[TEST][place])
    tree = subject.trees[i]
    return ParsedSentence(
        text=subject.words.texts[i],
        words=tuple(subject.words.word(int(item)) or "" for item in subject.places[i]),
        punctuation=tuple(tree.punctuation.tolist()),
        edges=tuple((int(a), int(b)) for a, b in tree.edges),
        root=tree.root,
        recovered=tuple(result.recovered[place] for result in judged),
        roots=tuple(result.roots[place] for result in judged),
    )
