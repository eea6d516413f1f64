"""View "Does it matter?": heads switched off in many sentences, what gradients predict, and pruning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pandas as pd
import streamlit as st

from analysis.corpus.importance import Curve, GradientEstimate, Mean
from analysis.corpus.relation_names import short
from evidence.items import LabelledText, label_material, pair_material
from jobs.ablation import GREEDY_SECONDS, HeadAblationJob, PruningJob
from jobs.tuning import Tuning
from model_zoo.types import counted, duration, format_interval
from pages.corpus import head_ablation
from pages.corpus.fields import RELATION
from pages.corpus.head_ablation import NOUNS, SCORES, SHARES, SHORT, ItemSource
from pages.corpus.scene import Scene, open_head, relation_key
from reading import read_files
from training.finetuning.data import Data, Labelled
from training.finetuning.sets import SETS, acceptability
from ui import (
    Field,
    View,
    as_python,
    as_text,
    ask_for,
    caption,
    figures,
    how_read,
    notes,
    one_of,
    save,
    widgets,
    work,
)
from ui.as_python import NO_LINES, Lines
from ui.own_file import minimal_pairs, read_pairs
from viz.curves import pruning
from viz.head_measure import HeadMeasure
from viz.planes import head_scatter
from web import uploads
from web.background import desk
from web.engine import engine

On = Literal["words", "pairs"]
TRIED_ON: Field[On] = Field(
    "tried_on", "words", one_of("what heads are tried on", {"words": "Words", "pairs": "Minimal pairs"}), of="corpus"
)
_ALL, _OWN = "all kinds", "your own"
PAIRS: Field[str] = Field("pairs", _ALL, one_of("the pairs", (_ALL, *acceptability.KINDS, _OWN)), of="corpus")
_BY: Final[Mapping[str, str]] = {"estimate": "Expected change", "importance": "Importance"}
GRADIENT: Field[str] = Field("gradient", "estimate", one_of("what gradients estimate", _BY), of="corpus")

READ = how_read.choices_field("tried_read", "corpus")

_FILES = "ablation_pairs_upload"
_MOST_PAIRS: Final = 10_000


def draw(scene: Scene) -> None:
    tuned_data = _data(scene) if scene.info.tuned_for else None
    if scene.info.lm or not (scene.info.mlm or scene.info.tuned_for):
        ask_for("This model predicts no hidden words. Choose one that does, such as Small BERT.")
        return
    with widgets.controls():
        source = _labels(scene, tuned_data) if scene.info.tuned_for else _choose_items(scene)
        widgets.stepper("layer", scene.info.n_layers)
        widgets.stepper("head", scene.info.n_heads)
        if source is not None and source.kind == "words":
            _take_best(scene)
        if source is not None:
            known = head_ablation.finished_job(scene, source)
            head_ablation.button(scene, source, every=True, primary=known is None)
    if source is None:
        return
    head_ablation.progress(scene, source, every=True)
    job = head_ablation.finished_job(scene, source)
    if job is None:
        job = head_ablation.first_look(scene, source)
    if job is not None:
        head_ablation.evidence(job, source)
        head_ablation.put_python(scene, job, source)
    _which(scene, source)
    if job is not None:
        head_ablation.losing(scene, job)
        _every_head(scene, job, source)
    _prune(scene, source)


def _has_run() -> bool:
    return any(desk().current(kind) is not None for kind in (HeadAblationJob, PruningJob))


def _choose_items(scene: Scene) -> ItemSource | None:
    """What heads are tried on, of a model that fills masks; None where nothing can be."""
    relation = None if scene.results is None else scene.relation()
    label = "minimal pairs" if TRIED_ON.value == "pairs" else "words" if relation is None else short(relation.relation)
    with widgets.popover(f"On: {label}", ":material/rule:", key="tried-on"):
        return _choose_inside(scene)


def _choose_inside(scene: Scene) -> ItemSource | None:
    if widgets.choice("Try on", TRIED_ON) == "pairs":
        return _pairs()
    if scene.results is None:
        ask_for(scene.lacks("results") or "")
        return None
    relations = {
        relation_key(finding.relation): short(finding.relation) for finding in scene.results.findings.relations
    }
    if not relations:
        ask_for("These sentences have no trees, so no relations. Try minimal pairs, or bring a treebank.")
        return None
    if RELATION.value not in relations:
        RELATION.value = next(iter(relations))
    st.selectbox("Relation", **RELATION.offering(relations), width=260)
    relation = scene.relation()
    assert relation is not None
    return head_ablation.words_of(scene, relation.relation)


def _pairs() -> ItemSource | None:
    kind = st.selectbox("Pairs", **PAIRS.bound, width=260)
    if kind != _OWN:
        chosen = [
            pair
            for split in ("train", "dev", "test")
            for pair in acceptability.pairs(split)
            if kind in (_ALL, pair.phenomenon)
        ]
        name = f"built in {kind}"
        lines = _built_in_pairs_python(kind)
        return ItemSource(name, "pairs", lambda: pair_material(chosen, name, templates=True), lines=lines)
    uploaded = uploads.ask_files(
        "Pairs, as CSV with the columns good and bad, or as BLiMP has them", _FILES, st.container()
    )
    if not uploaded:
        ask_for("Upload pairs: CSV with the columns good and bad, or the JSON lines of BLiMP.")
        return None
    with how_read.choosing(READ):
        data = read_pairs(uploaded, _MOST_PAIRS, READ)
    how_read.draw(data.report, READ)
    pairs = minimal_pairs(data)
    name = f"own {hash(pairs)}"
    lines = _pairs_python([file.name for file in uploaded])
    return ItemSource(name, "pairs", lambda: pair_material(pairs, name), lines=lines)


def _built_in_pairs_python(kind: str) -> Lines:
    """Lines that bind ``material`` to built-in pairs of a kind."""
    only = "" if kind == _ALL else f" if pair.phenomenon == {as_python.literal(kind)}"
    return Lines(
        'splits = [acceptability.pairs(split) for split in ("train", "dev", "test")]\n'
        f"pairs = [pair for split in splits for pair in split{only}]\n"
        f"material = pair_material(pairs, {as_python.literal(kind)}, templates=True)\n",
        (pair_material, acceptability),
    )


def _pairs_python(names: list[str]) -> Lines:
    """Lines that bind ``material`` to pairs of these files."""
    arguments, needed = how_read.choices_in_python(READ.value)
    return Lines(
        f"files = [Path(name) for name in {as_python.literal(names)}]  # those that you uploaded\n"
        f'pairs = read_files([(file.name, file.read_bytes()) for file in files], "minimal pairs"{arguments}).items\n'
        'material = pair_material(pairs, "your own")\n',
        (Path, pair_material, read_files, *needed),
    )


def _data(scene: Scene) -> Data | None:
    """The data that a model of this visit was trained on."""
    kept = [run for job in desk().every(Tuning) for run in job.kept]
    return next((run.candidate.data for run in kept if run.id == scene.model), None)


def _labels(scene: Scene, data: Data | None) -> ItemSource | None:
    if scene.info.tuned_for != "classification":
        ask_for("Heads are tried on hidden words, and on models that were trained to classify. Choose one of these.")
        return None
    if data is None:
        ask_for("Which texts this model was tested on is not known here. Train a classifier on the page Train first.")
        return None

    def labelled(items: tuple[object, ...]) -> list[tuple[LabelledText, str]]:
        return [
            (LabelledText(item.text, item.pair, item.label), item.cluster)
            for item in items
            if isinstance(item, Labelled)
        ]

    name = f"tuned {scene.model}"
    lines = _labels_python(data.name) if data.name in SETS else NO_LINES
    return ItemSource(
        name, "labels", lambda: label_material(labelled(data.dev), labelled(data.test), name), lines=lines
    )


def _labels_python(name: str) -> Lines:
    """Lines that bind ``material`` to the texts of a built-in set."""
    labelled = "[(LabelledText(item.text, item.pair, item.label), item.cluster) for item in items]"
    return Lines(
        f"data = SETS[{as_python.literal(name)}].build()\n"
        f"dev, test = ({labelled} for items in (data.dev, data.test))\n"
        f"material = label_material(dev, test, {as_python.literal(name)})\n",
        (LabelledText, label_material, "from look_inside_bert.training.finetuning.sets import SETS"),
    )


def _which(scene: Scene, source: ItemSource) -> None:
    """What is hidden or compared, and the head that finds the relation."""
    if source.kind == "words":
        layer, head = _best(scene)
        which = "This head" if (layer, head) == (scene.layer, scene.head) else f"Layer {layer + 1}, head {head + 1}"
        caption(
            f"The word that a head looks from is hidden, {source.hidden}. {which} finds this relation most often in "
            "the half of the sentences that chooses."
        )
    elif source.kind == "pairs":
        caption(
            "Where two sentences have as many tokens and differ in one word, that word is hidden and its two fillings "
            "are compared; otherwise the pseudo-log-likelihoods of both (Kauf & Ivanova 2023)."
        )
    else:
        caption("The held-out test split of the data that this model was trained on.")


def _best(scene: Scene) -> tuple[int, int]:
    """The head that finds the chosen relation best."""
    relation = scene.relation()
    assert relation is not None
    return scene.measured.statistics.head(relation.head)


def _take_best(scene: Scene) -> None:
    """A button that chooses the head that finds the relation, in the line of controls."""
    layer, head = _best(scene)
    if (layer, head) != (scene.layer, scene.head):
        st.button(
            f"Take {layer + 1}.{head + 1}",
            on_click=partial(widgets.select_head, layer, head),
            key="take_best_head",
            help="The head that finds this relation most often.",
        )


def _every_head(scene: Scene, job: HeadAblationJob, source: ItemSource) -> None:
    """What gradients predict of every head beside what happens, and whole layers."""
    estimate = job.gradient_estimate
    if estimate is None:
        return
    st.markdown("**Every head: what its gradient predicts, and what happens**")
    with widgets.controls("gradient"):
        by = widgets.choice("Estimated by", GRADIENT, label_visibility="collapsed")
    importance = by == "importance"
    size, expected = (
        _measure("importance by gradient", estimate.importance),
        _measure("change expected by gradient", estimate.estimate),
    )
    heads = [(layer, head) for layer in range(scene.info.n_layers) for head in range(scene.info.n_heads)]
    figures.show(
        partial(
            head_scatter,
            heads,
            size if importance else expected,
            _measure("change with the head off", estimate.change),
            expected if importance else size,
            chosen=heads.index((scene.layer, scene.head)),
        ),
        "gradient_estimates",
        "gradient-estimates",
        lambda point: open_head(int(point[0]), int(point[1])),
    )
    caption(_describe_correlation(estimate, source, importance=importance))
    if not job.running and as_python.has_lines():
        every = list(zip(estimate.importance, estimate.estimate, estimate.change, strict=True))
        as_python.put(
            "estimates = job.gradient_estimate\n"
            "every = zip(estimates.importance, estimates.estimate, estimates.change)\n"
            "numbers = np.array([[mean.value for mean in head] for head in every])  # a row a head",
            lambda: np.array([[mean.value for mean in head] for head in every]),
            part="Every head: the size of its gradient, the change that it estimates, and the change that happens",
        )
    layers = pd.concat([effect.to_frame() for effect in job.layers], ignore_index=True)
    frame = head_ablation.table(layers)[["layer", "change (nats)", "from", "to", "right"]]
    with st.expander("Whole layers off"):
        st.dataframe(frame, hide_index=True, column_config={"right": st.column_config.NumberColumn(format="percent")})
        caption(f"All heads of a layer off together: mean change of {SCORES[source.kind]}.")
    save.table("Whole layers", lambda: frame, "layers-off")
    save.table("Every head", lambda: _table(heads, estimate), "every-head-off")


def _measure(name: str, means: tuple[Mean, ...]) -> HeadMeasure:
    values, lows, highs = (np.array([getattr(mean, end) for mean in means]) for end in ("value", "low", "high"))
    return HeadMeasure(name, values, lows, highs, "nats")


def _describe_correlation(estimate: GradientEstimate, source: ItemSource, *, importance: bool) -> str:
    """How well gradients predict what happens."""
    rho = estimate.by_importance if importance else estimate.by_estimate
    known = format_interval(rho.value, rho.low, rho.high)
    n = f"over {head_ablation.counted_items(rho, source)}"
    if importance:
        return (
            f"Importance is the mean size of the gradient at a head’s gate (Michel et al. 2019). Its rank correlation "
            f"with what is lost when the head is off (Spearman’s ρ): {known}, {n}. It counts heads that help and heads "
            "that harm alike."
        )
    return (
        f"Minus the mean gradient at a head’s gate is the change that is expected to first order. Its rank correlation "
        f"with the change that happens (Spearman’s ρ): {known}, {n}."
    )


def _table(heads: list[tuple[int, int]], estimate: GradientEstimate) -> pd.DataFrame:
    frame = estimate.to_frame().drop(columns="place")
    frame.columns = frame.columns.str.replace("estimate", "expected change").str.replace("_low", " from")
    frame.columns = frame.columns.str.replace("_high", " to")
    frame.insert(0, "layer", [layer + 1 for layer, _ in heads])
    frame.insert(1, "head", [head + 1 for _, head in heads])
    return frame


def _prune(scene: Scene, source: ItemSource) -> None:
    """The pruning curves: their button, how far they are, the figure."""
    st.markdown("**How many heads can go?**")
    shape = scene.info.n_layers, scene.info.n_heads
    wanted = scene.model, source.name
    job = desk().current(PruningJob)
    mine = job if job is not None and (job.model, job.material.name) == wanted else None
    work.button(
        "Prune",
        PruningJob,
        wanted,
        key="prune",
        primary=False,
        help="Switches more and more heads off: by importance, at random, and greedily, for at most "
        f"{duration(GREEDY_SECONDS)}.",
    )
    if job is not None and (job.running or (mine is not None and not work.is_requested(PruningJob))):
        work.watch(job, stop=False)
    else:
        work.begin(PruningJob, wanted, [scene.model], lambda: PruningJob(engine(), scene.model, source.make(), shape))
    if mine is None:
        caption(
            "Heads are put in order by one half of the items, and the curves are measured on the other: greedily (next "
            "goes the head whose loss does the least harm), by importance (the smallest gradient first), and at random."
        )
        return
    _curves(mine, source)


def _curves(job: PruningJob, source: ItemSource) -> None:
    right = source.kind != "words"
    curves = job.curves(right=right)
    if not curves:
        return
    chance = job.material.chance
    called = "guessing" if source.kind == "pairs" else "majority baseline"
    figures.show(
        partial(
            pruning,
            curves,
            f"share where {SHARES[source.kind]}" if right else f"change of {SHORT[source.kind]} (nats)",
            len(job.heads),
            percent=right,
            baseline=None if chance is None else (called, chance),
        ),
        "corpus pruning",
        "pruning",
    )
    st.markdown(as_text(_describe_half(job, curves, right=right)))
    n = counted(curves[0].scores[0].n, NOUNS[source.kind])
    basis = (
        f"Measured on {n}; heads were put in order by {len(job.choosing)} others. Bands are 95% intervals; that of the "
        "random orders is their range."
    )
    if job.greedy_ended == "time":
        went = f"{job.n_greedy} of {len(job.heads)} heads"
        basis += f" The greedy search came to {went} in {duration(GREEDY_SECONDS)} of work."
    elif job.stopping and not job.running:
        basis += " The search was stopped before its end."
    caption(basis)
    named = next((curve for curve in curves if curve.name == "by importance"), None)
    if named is not None and not job.running and as_python.has_lines():
        as_python.put(
            f"job = PruningJob(engine, {as_python.literal(job.model)}, material, {job.shape})\n"
            "for _ in job.steps():  # the greedy search takes up to two minutes\n"
            "    pass\n"
            f"curves = {{curve.name: curve for curve in job.curves(right={right})}}\n"
            'numbers = np.array([mean.value for mean in curves["by importance"].scores])',
            lambda: np.array([mean.value for mean in named.scores]),
            part="How many heads can go?",
        )
    save.table("Pruning curves", lambda: _curve_table(curves, right=right), "pruning")


def _describe_half(job: PruningJob, curves: tuple[Curve, ...], *, right: bool) -> str:
    """Where the curves are with half of the heads off."""
    how = ".0%" if right else "+.2f"
    middle = min(job.counts, key=lambda n: abs(n - len(job.heads) / 2))
    parts = []
    for curve in curves:
        if middle in curve.counts:
            mean = curve.scores[curve.counts.index(middle)]
            parts.append(f"{curve.name} {format_interval(mean.value, mean.low, mean.high, how)}")
    begin = f"With nothing off: {curves[0].scores[0].value:.0%}. " if right else ""
    return begin + (f"With {middle} of {len(job.heads)} heads off: {', '.join(parts)}." if parts else "")


def _curve_table(curves: tuple[Curve, ...], *, right: bool) -> pd.DataFrame:
    names = {"heads_off": "heads off", "score": "right" if right else "change (nats)", "low": "from", "high": "to"}
    return pd.concat([curve.to_frame() for curve in curves], ignore_index=True).rename(columns=names)


VIEW: View[Scene] = View(
    "matters",
    "Does it matter?",
    draw,
    about="Switch the head off in many sentences: what does the model lose, and would another head be missed as much?",
    more="A head that looks where a relation leads need not be used for it. Here its output is replaced by zeros in "
    "all sentences, and the model’s answers are compared with those before. Ten other heads of its layer are switched "
    "off one at a time beside it, since any head may be missed a little.",
    caution="A small effect does not show that a head does nothing: others may do the same. A large one does not show "
    "that it acts through the word it looks at.",
    fields=(TRIED_ON, PAIRS, GRADIENT, READ),
    needs=("attention",),
    left_out=lambda _scene: notes.not_in_link(["what was found with heads off"] if _has_run() else []),
    starts=True,
    terms=("ablation", "pruning", "minimal pair"),
    tab=50,
)
