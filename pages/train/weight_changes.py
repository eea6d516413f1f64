"""View "What changed inside": the model before beside the model after, head by head and layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from io import BytesIO

import numpy as np
import pandas as pd
import streamlit as st

from analysis.before_after import change_of_heads, cka_by_layer, most_changed
from analysis.export import COUNTING
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import NotSupported
from model_zoo.text import Text, word_spans
from model_zoo.types import AttentionRun, FloatArray, HiddenStates, counted
from pages.train import python_lines
from pages.train.own_data import UserData
from pages.train.scene import Scene
from training.finetuning.data import Item
from training.finetuning.results import Tuned
from ui import (
    Field,
    View,
    address,
    as_python,
    caption,
    count,
    failures_as_messages,
    figures,
    note,
    notes,
    optional,
    save,
    widgets,
)
from ui.precomputed import trainings
from ui.widgets import page_link
from viz.heatmap import Options, difference, heatmap
from viz.matrix import head_map
from viz.planes import cka_by_layer as cka_figure
from web.engine import engine

LONGEST = 128  # tokens: three maps stand side by side
_HEIGHT = 340
_GROUP = "before and after"
_NAMED = 5
_MOST_TEXTS = 100
_MOST_WORDS = 2000  # in all: every layer of both models is held for each of them
_SEEN = 0.01  # bits: what a head changes by that looked at one token alone and now gives another 2%

TEXT: Field[str] = Field("inside_text", "", of="train", clean=widgets.no_line_breaks_around)
LAYER: Field[int | None] = Field("inside_layer", None, optional(count("layer")), of="train")
HEAD: Field[int | None] = Field("inside_head", None, optional(count("head")), of="train")


def draw(scene: Scene) -> None:
    tuned = scene.outcomes[0]
    known = None if scene.tuned else trainings.inside()
    if len(scene.tuned) > 1:
        st.caption(f"This is the first of {len(scene.tuned)} seeds, {tuned.settings.seed}.")
    with failures_as_messages():
        if engine().info(tuned.base).n_heads:
            _heads(tuned, known, scene.user_data)
        else:
            note("This model has no attention, so there are no heads to compare. Look at its layers instead.")
    with failures_as_messages():
        _layers(tuned, known, scene.user_data)


def _heads(tuned: Tuned, known: trainings.Inside | None, user_data: UserData | None) -> None:
    item, text = tuned.data.test[0], ""
    if known is None:
        with widgets.input_line("inside"):
            text = widgets.short_enough(widgets.text_area("Any text; empty: one from the test split", TEXT)).strip()
    pair = None if text else item.pair
    typed, text = bool(text), text or item.text
    with st.spinner("Running both models …", show_time=True):
        before = engine().attend(tuned.base, text, pair, max_tokens=LONGEST)
        if known is None:
            after = engine().attend(tuned.id, text, pair, max_tokens=LONGEST)
        else:
            after = known.run(before, trainings.labelled(before.model, tuned.data.labels))
    notes.warn_of_run(before)
    change = change_of_heads(before, after)
    ranked = most_changed(change)
    texts = as_python.arguments(text, pair, max_tokens=LONGEST if before.encoding.n_dropped else None)
    as_python.put(
        python_lines.tune(tuned, user_data) + f"before = engine.attend({as_python.literal(tuned.base)}, {texts})\n"
        f"after = engine.attend(tuned.id, {texts})\n"
        "numbers = change_of_heads(before, after)  # in bits: a row a layer, a column a head",
        lambda: change,
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown("**How much each head changed**")
        highest = float(np.nanmax(change)) or 1.0  # of nothing that changed, any scale shows nothing
        picture = partial(head_map, change, "divergence, bits", highest=highest)
        figures.show(picture, "change of heads", "change-of-heads")
    with right:
        st.markdown("**Changed most**")
        for place, (at_layer, at_head) in enumerate(ranked[:_NAMED]):
            st.button(
                f"Layer {at_layer + 1} head {at_head + 1}: {change[at_layer, at_head]:.4f} bits",
                key=f"changed {place}",
                on_click=_show,
                args=(at_layer, at_head),
            )
        save.table("Change of heads", lambda: head_table(tuned, change), "change-of-heads")
    if not typed:
        caption(f"On “{text}”" + (f" and “{pair[:120]}”" if pair else "") + ", the first of the test split.")
    st.caption(
        f"{_describe_change(change)} Jensen–Shannon divergence between a head’s attention before and after, averaged "
        "over the tokens of this text: 0 bits if it is unchanged, 1 if it has nothing in common with before. "
        f"Colours run to the largest change on this text; another text gives different numbers. {notes.CAUTION}"
    )
    layer, head = _choose(before, ranked)
    _maps(tuned, before, after, layer, head, linked=known is None)


def _describe_change(change: FloatArray) -> str:
    """How many heads changed on this text, and by how much."""
    values = change[~np.isnan(change)]
    if not values.any():
        return "**On this text no head’s attention changed.**"
    n = int((values >= _SEEN).sum())
    return (
        f"**On this text {n} of {counted(len(values), 'head')} changed by {_SEEN} bits or more; the mean of all is "
        f"{values.mean():.4f} bits.**"
    )


def _show(layer: int, head: int) -> None:
    LAYER.value, HEAD.value = layer + 1, head + 1


def _choose(run: AttentionRun, ranked: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Steppers for layer and head; the head that changed most until another is chosen."""
    asked_layer, asked_head = LAYER.value or 0, HEAD.value or 0
    if not 1 <= asked_layer <= run.n_layers or not 1 <= asked_head <= run.layers[asked_layer - 1].n_heads:
        _show(*ranked[0])
    with widgets.controls("head"):
        layer = widgets.stepper("layer", run.n_layers, LAYER)
        n_heads = run.layers[layer].n_heads
        HEAD.value = min(HEAD.value or 1, n_heads)
        return layer, widgets.stepper("head", n_heads, HEAD)


def _maps(tuned: Tuned, before: AttentionRun, after: AttentionRun, layer: int, head: int, *, linked: bool) -> None:
    """The head before, after, and the difference, with the numbers to save, and where else it can be looked at, if the
    tuned model is here.
    """
    tokens, segments = before.encoding.tokens, before.encoding.segment_ids
    special = [place for place, is_special in enumerate(before.encoding.special) if is_special]
    options = Options(query_segments=segments, key_segments=segments, height=_HEIGHT, group=_GROUP)
    framed = Options(special_queries=special, special_keys=special)
    weights = [run.head(layer, head) for run in (before, after)]
    place = f"L{layer + 1}H{head + 1}"
    columns = st.columns(3, gap="medium")
    for column, name, values in zip(columns, ("Before", "After"), weights, strict=False):
        with column:
            st.markdown(f"**{name}**")
            file = f"{name.lower()}_{place}"
            picture = heatmap(values, tokens, tokens, file=file, **options | framed)
            figures.show_heatmap(picture, f"inside {name}")
    with columns[2]:
        st.markdown("**After − before**")
        names, file = ("after", "before"), f"after-minus-before_{place}"
        picture = difference(weights[1], weights[0], tokens, tokens, names=names, file=file, **options)
        figures.show_heatmap(picture, "inside difference")
    save.table("Numbers", lambda: _cells(layer, head, tokens, *weights), f"before-after_{place}")
    save.file(
        "All heads of this layer (NPZ)",
        lambda: heads_of_layer(before, after, layer),
        f"before-after_L{layer + 1}",
        "npz",
        "For NumPy: tokens, and the attention of the layer before and after, (heads, queries, keys).",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if linked:
            _links(tuned, before, layer, head)


def _links(tuned: Tuned, run: AttentionRun, layer: int, head: int) -> None:
    """The same text and head on the pages that show more of them; a text that is too long for an address has none."""
    state = {"text": run.encoding.text, "pair": run.encoding.text_pair or "", "layer": layer + 1, "head": head + 1}
    if max(len(str(value)) for value in state.values()) > address.LONGEST_VALUE:
        return
    page_link("attention", "After, on Attention", model=tuned.id, **state)
    both = (tuned.base, tuned.id)
    page_link("compare", "Both, on Compare", models=both, view="attention", head_2=head + 1, **state)


def heads_of_layer(before: AttentionRun, after: AttentionRun, layer: int) -> bytes:
    """An archive for NumPy: tokens (n,), text, text_pair, the two models, and ``before`` and ``after``: float32
    (heads, n, n) of the ``layer``, which counts from 1. One layer at a time, since what a visitor saves stays in memory
    until the next page: all layers of 496 tokens are 131 MB.
    """
    buffer = BytesIO()
    np.savez_compressed(
        buffer,
        tokens=np.array(before.encoding.tokens, dtype=np.str_),
        text=np.array(before.encoding.text),
        text_pair=np.array(before.encoding.text_pair or ""),
        models=np.array([before.model.id, after.model.id]),
        revisions=np.array([before.model.revision, after.model.revision]),
        layer=np.array(layer + 1),
        counting=np.array(COUNTING),
        before=before.layer(layer),
        after=after.layer(layer),
    )
    return buffer.getvalue()


def _cells(layer: int, head: int, tokens: Sequence[str], before: FloatArray, after: FloatArray) -> pd.DataFrame:
    rows = [
        (layer + 1, head + 1, q + 1, tokens[q], k + 1, tokens[k], float(value), float(after[q, k]))
        for (q, k), value in np.ndenumerate(before)
    ]
    return pd.DataFrame(rows, columns=["layer", "head", "query", "query_token", "key", "key_token", "before", "after"])


def head_table(tuned: Tuned, change: FloatArray) -> pd.DataFrame:
    """Every head, the one that changed most first."""
    rows = [
        (tuned.base, tuned.data.title, layer + 1, head + 1, float(change[layer, head]))
        for layer, head in most_changed(change)
    ]
    return pd.DataFrame(rows, columns=["model", "tuned on", "layer", "head", "divergence (bits)"])


def _layers(tuned: Tuned, known: trainings.Inside | None, user_data: UserData | None) -> None:
    st.subheader("Layer by layer", anchor=False)
    texts = texts_to_compare(tuned)
    if known is not None:
        _layers_in_python(tuned, user_data, texts, known.cka)
        _cka(known.cka, known.n_tokens, known.n_texts, engine().info(tuned.base).width)
        return
    before, after = (engine().info(model) for model in (tuned.base, tuned.id))
    if before.n_layers != after.n_layers:
        raise NotSupported("The two models do not have the same layers, so their layers cannot be compared.")
    with st.spinner("Running both models …", show_time=True):
        values, n_tokens = engine().derived(
            ("before and after", tuned.base, before.revision, tuned.id, after.revision, texts),
            lambda: compare_layers(engine(), tuned, texts),
        )
    _layers_in_python(tuned, user_data, texts, values)
    _cka(values, n_tokens, len(texts), before.width)


def _layers_in_python(tuned: Tuned, user_data: UserData | None, texts: Sequence[Text], values: FloatArray) -> None:
    lines = as_python.Lines("") if as_python.has_lines() else python_lines.tune(tuned, user_data)
    text = "item.text" if all(isinstance(sample, str) for sample in texts) else "(item.text, item.pair)"
    as_python.put(
        lines + "data = tuned.outcome.data\n"
        f"texts = [{text} for item in (*data.dev, *data.test)[:{len(texts)}]]\n"
        f"before = engine.encoded_states({as_python.literal(tuned.base)}, texts)\n"
        "after = engine.encoded_states(tuned.id, texts)\n"
        "numbers = cka_by_layer(before, after)  # the embeddings first",
        lambda: values,
        part="Layer by layer",
    )


def _cka(values: FloatArray, n_tokens: int, n_texts: int, width: int) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        figures.show(partial(cka_figure, values), "cka before and after", "cka-before-and-after")
    with right:
        st.caption(
            f"Linear CKA (Kornblith et al. 2019) over the {n_tokens:,} tokens of {counted(n_texts, 'text')} it was "
            "not trained on, without special tokens: 1 if a layer’s vectors have the same geometry as before, up to "
            "rotation, shift and scale."
        )
        notes.note_few_vectors(n_tokens, width, "tokens")
        table = pd.DataFrame({"layer": range(len(values)), "cka": values.tolist()})
        save.table("CKA by layer", lambda: table, "cka-before-and-after")


def texts_to_compare(tuned: Tuned) -> tuple[Text, ...]:
    """Texts that the model was not trained on, as many as are compared."""
    items = _up_to_most((*tuned.data.dev, *tuned.data.test)[:_MOST_TEXTS])
    return tuple(item.text if item.pair is None else (item.text, item.pair) for item in items)


def _up_to_most(items: Sequence[Item]) -> Sequence[Item]:
    """As many items as have so many words; at least one."""
    n_words = np.cumsum([len(word_spans(item.text)) + len(word_spans(item.pair or "")) for item in items])
    return items[: max(1, int(np.searchsorted(n_words, _MOST_WORDS, side="right")))]


def compare_layers(engine: EngineInterface, tuned: Tuned, texts: Sequence[Text]) -> tuple[FloatArray, int]:
    """CKA of each layer before and after, and the number of tokens it was computed on."""

    def states(model: str) -> list[HiddenStates]:  # not remembered: they are large, and wanted once
        of_text = dict(engine.iter_hidden_states(model, texts))
        return [of_text[place] for place in range(len(texts))]

    before, after = states(tuned.base), states(tuned.id)
    return cka_by_layer(before, after), sum(hidden.encoding.special.count(False) for hidden in before)


VIEW: View[Scene] = View(
    "inside",
    "What changed inside",
    draw,
    about="The model before and after, on any text: which heads’ attention and which layers’ representations changed.",
    fields=(TEXT, LAYER, HEAD),
    needs=("results",),
    tab=40,
    terms=("catastrophic forgetting", "CKA"),
)
