"""View "Predictions": the best tokens for every mask, side by side; choosing one puts it into the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from analysis import scoring
from analysis.agreement import readable
from model_zoo.types import MaskPrediction
from pages.masked_words.scene import Scene
from ui import MASKS, TEXT, Field, View, address, figures, places, save, widgets, within
from ui.as_python import Lines
from ui.messages import as_text, caption, failures_as_messages, say
from viz.bars import predictions
from viz.layout import percent
from web.engine import engine

TOP_K: Field[int] = Field("top_k", 10, within("the number of predictions", 1, 50), of="masked_words")
SHOWN_MASKS: Field[tuple[int, ...]] = Field("shown_masks", (0, 1, 2), places("masks"), of="masked_words")

_SIDE_BY_SIDE = 3
_MOST_SHOWN = 9  # masks whose predictions are drawn
_MOST_FILLED = 20  # masks that one click fills, each of which takes a run of the model
_FILLED = "masked_words_filled"


def draw(scene: Scene) -> None:
    if scene.causal:
        _what_comes_next(scene)
        return
    if scene.row(example=False) is None:
        _filled_so_far()  # can be undone even so
        scene.draw_example()
        return
    with st.spinner("Running the model …", show_time=True):
        answers = engine().fill_mask(scene.model, scene.text, TOP_K.value, masked=scene.masked)
    _put_python(scene, answers)
    if len(answers) == 1:
        picture, beside = st.columns([3, 2], gap="large")
        with picture:
            _bars(scene, answers[0])
        with beside:
            _in_words(scene, answers[0])
            _controls(scene, answers)
            if not scene.example:
                _filled_so_far()
        return
    chosen = _masks_to_draw(scene, answers)
    highest = max((entry.probability for place in chosen for entry in answers[place].best), default=1.0)
    for start in range(0, len(chosen), _SIDE_BY_SIDE):
        row = chosen[start : start + _SIDE_BY_SIDE]
        for column, place in zip(st.columns(max(2, len(row)), gap="medium"), row, strict=False):
            with column:
                _bars(scene, answers[place], highest)
                _in_words(scene, answers[place])
    _controls(scene, answers)
    _filled_so_far()


def _controls(scene: Scene, answers: Sequence[MaskPrediction]) -> None:
    n_filled = min(len(scene.masks), _MOST_FILLED)
    with widgets.controls("answers"):
        if not scene.example:
            st.button("Fill the most confident mask", on_click=_fill, args=(scene, 1), icon=":material/looks_one:")
            st.button(
                "Fill all" if n_filled == len(scene.masks) else f"Fill {n_filled}",
                on_click=_fill,
                args=(scene, n_filled),
                icon=":material/done_all:",
                help="One after another, the most confident first, re-predicting after each.",
            )
            st.number_input("Predictions", **TOP_K.bound, width=210)
        save.table("All masks", lambda: _table(scene, answers), "predictions")


def _masks_to_draw(scene: Scene, answers: Sequence[MaskPrediction]) -> Sequence[int]:
    """The places of the masks whose predictions are drawn; chosen only where there are many."""
    if len(answers) <= _SIDE_BY_SIDE:
        return range(len(answers))
    kept = tuple(place for place in SHOWN_MASKS.value if place < len(answers))
    SHOWN_MASKS.value = kept[:_MOST_SHOWN] or SHOWN_MASKS.default
    masks = SHOWN_MASKS.offering({place: scene.name(answer.position) for place, answer in enumerate(answers)})
    return sorted(st.multiselect(f"Masks shown (of {len(answers)})", **masks, max_selections=_MOST_SHOWN))


def _what_comes_next(scene: Scene) -> None:
    scene.row()
    with st.spinner("Running the model …", show_time=True):
        answer = engine().next_tokens(scene.model, scene.text, TOP_K.value)
    _put_python(scene, [answer])
    picture, beside = st.columns([3, 2], gap="large")
    with picture:
        figure = partial(predictions, answer, "The token after the last one")
        figures.show(figure, "next tokens", "next-token")
    with beside:
        best = answer.best[0]
        say(f"Top next-token prediction: “{readable(best.token)}” ({percent(best.probability)}).")
        with widgets.controls("answers"):
            st.number_input("Predictions", **TOP_K.bound, width=210)
            save.table("Predictions", lambda: _table(scene, [answer]), "predictions")


def _put_python(scene: Scene, answers: Sequence[MaskPrediction]) -> None:
    top_k = "" if TOP_K.value == TOP_K.default else f", {TOP_K.value}"
    numbers = Lines("numbers = answer.to_frame()")
    if scene.causal:
        lines = f"answer = engine.next_tokens(model, text{top_k})\n"
    elif len(answers) == 1:
        lines = f"(answer,) = engine.fill_mask(model, text{top_k}{{hidden}})\n"
    else:
        lines = f"answers = engine.fill_mask(model, text{top_k}{{hidden}})\n"
        numbers = Lines("numbers = pd.concat([answer.to_frame() for answer in answers])", (pd,))
    scene.put_python(Lines(lines) + numbers, lambda: pd.concat([answer.to_frame() for answer in answers]))


def _bars(scene: Scene, answer: MaskPrediction, highest: float | None = None) -> None:
    """A mask's predictions as bars; a click puts one into the sentence. ``highest`` is the largest probability of all
    masks, the end of the shared axis.
    """
    draw_bars = partial(predictions, answer, scene.name(answer.position), highest=highest)
    put = None if scene.example else partial(_put, scene, answer)
    figures.show(draw_bars, f"bars {answer.position}", f"mask-{answer.position + 1}", put)


def _in_words(scene: Scene, answer: MaskPrediction) -> None:
    """The best answer in a sentence, how good the original was, and any answer to be put into the sentence."""
    say(scene.sentence(answer))
    if answer.original is not None and answer.log_probability is not None:
        p, bits = f"{answer.original.probability:.2%}", f"{scoring.bits(answer.log_probability):.1f}"
        word = f"“{answer.original.token}” (in its own colour)"
        caption(f"{word}: rank {answer.rank:,}, probability {p}, surprisal {bits} bits")
    if scene.example:
        return
    choice = f"put {answer.position}"
    st.selectbox(
        "Insert into the sentence",
        [entry.id for entry in answer.best],
        index=None,
        key=choice,
        placeholder="Insert a prediction",
        label_visibility="collapsed",
        format_func=_names(answer).__getitem__,
        on_change=lambda: _put(scene, answer, st.session_state[choice]),
    )


def _put(scene: Scene, answer: MaskPrediction, token: int) -> None:
    """Write one token into the sentence in place of a mask; the other masks stay. A browser may name one that is not
    offered, such as one of an answer that is gone: that does nothing.
    """
    if token not in _names(answer):
        return
    probability = next((entry.probability for entry in answer.best if entry.id == token), None)
    with failures_as_messages():
        _write(scene, {answer.position: token}, [_step(scene, answer, token, probability)])


def _names(answer: MaskPrediction) -> dict[int, str]:
    return {entry.id: entry.token for entry in (*answer.best, answer.original) if entry is not None}


def _fill(scene: Scene, steps: int) -> None:
    fills, log = {}, []
    with failures_as_messages():
        for answer in engine().fill_all(scene.model, scene.text, masked=scene.masked):
            best = answer.best[0]
            fills[answer.position] = best.id
            log.append(_step(scene, answer, best.id, best.probability))
            if len(fills) == steps:
                break
        _write(scene, fills, log)


def _step(scene: Scene, answer: MaskPrediction, token: int, probability: float | None) -> str:
    was = answer.original.token if answer.original is not None else scene.vocabulary.mask_token
    sure = "" if probability is None else f" ({probability:.1%})"
    return f"{was} → {_names(answer)[token]}{sure}"


def _write(scene: Scene, fills: dict[int, int], log: list[str]) -> None:
    """Write tokens (position -> id) into the sentence. The masks that are left move along with its words."""
    before = TEXT.value, scene.masked
    text = engine().put(scene.model, scene.text, fills)
    done = _history()
    TEXT.value = text
    MASKS.value = tuple(place for place in scene.masked if place not in fills)
    st.session_state[_FILLED] = {"after": text, "steps": [*done, (before, log)]}


def _history() -> list[tuple[tuple[str, tuple[int, ...]], list[str]]]:
    """What was filled since the text was last typed: text and masks before each step, and what it filled."""
    kept = st.session_state.get(_FILLED)
    if kept is None or kept["after"] != TEXT.value:
        return []
    steps: list[tuple[tuple[str, tuple[int, ...]], list[str]]] = kept["steps"]
    return steps


def _filled_so_far() -> None:
    steps = _history()
    if not steps:
        return

    def undo() -> None:
        (text, masked), _ = steps[-1]
        address.put({TEXT: text, MASKS: masked})
        st.session_state[_FILLED] = {"after": text, "steps": steps[:-1]}

    entries = [entry for _, log in steps for entry in log]
    with widgets.controls("filled"):
        st.markdown(
            "Filled, step by step: "
            + " · ".join(f"{n}\\. {as_text(entry)}" for n, entry in enumerate(entries, start=1)),
            width="content",
        )
        st.button("Undo", on_click=undo, icon=":material/undo:")


def _table(scene: Scene, answers: Sequence[MaskPrediction]) -> pd.DataFrame:
    table = pd.concat([answer.to_frame() for answer in answers], ignore_index=True)
    table["position"] += 1
    columns = ["position", "original", "original_rank", "original_ln_p", "rank", "token", "probability"]
    return table.assign(model=scene.model, text=scene.text)[["model", "text", *columns]]


VIEW = View(
    "predictions",
    "Predictions",
    draw,
    "Click words to mask them, and read what the model predicts. Click a bar to insert that word into the sentence.",
    fields=(TOP_K, SHOWN_MASKS),
    tab=10,
    terms=("masked language modelling",),
)
