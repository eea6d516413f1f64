"""What the page "Masked words" is made of: the strip of words to click, and a function for each of its
views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis import corruption, focus, scoring
from analysis.export import CSV_NOTE, table_to_csv
from analysis.words import Unit, token_units, word_units
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, MaskPrediction, ModelInfo, Vocabulary
from ui import figures, notes, state, token_line
from ui.engine import engine
from ui.messages import as_text, failures_as_messages, told_apart
from ui.theme import is_dark
from viz.layer_attention import layer_attention
from viz.lens_ranks import lens_ranks
from viz.lens_table import lens_table
from viz.predictions import predictions
from viz.shifts import shifts

SIDE_BY_SIDE = 3
_MOST_SHOWN = 9  # masks whose predictions are drawn
_MOST_SHIFTED = 8  # masks whose changes are drawn
_LONG_STRIP = 80  # words; beyond, the strip scrolls

# Which text was sent to another page with its masks typed into it.
_SENT = "text and masks as sent away"
_FILLED = "masks filled so far"


@dataclass(frozen=True, slots=True)
class Playground:
    """The text as the model reads it; ``masked`` are clicked, ``masks`` these and the typed ones.

    A ``causal`` model has neither: it guesses what comes next, from what stands before.
    """

    model: str
    causal: bool
    encoding: Encoding
    vocabulary: Vocabulary
    units: tuple[Unit, ...]
    masked: tuple[int, ...]

    @property
    def text(self) -> str:
        return self.encoding.text

    @property
    def typed(self) -> tuple[int, ...]:
        ids = self.encoding.ids
        return tuple(place for place, token in enumerate(ids) if token == self.vocabulary.mask_id)

    @property
    def masks(self) -> tuple[int, ...]:
        return tuple(sorted({*self.masked, *self.typed}))

    def name(self, position: int) -> str:
        """A mask by its number and what stood there, as plain text."""
        number = self.masks.index(position) + 1
        was = "typed" if position in self.typed else f"was “{self.encoding.tokens[position]}”"
        return f"Mask {number}: {was}"


def come_back() -> None:
    """A link to another page carries the text with its masks typed in; bring back what stood there."""
    sent = st.session_state.get(_SENT)
    if sent is not None and state.TEXT.value == sent[0]:
        _, text, masked = sent
        state.put({state.TEXT: text, state.MASKED: masked})
    st.session_state[_SENT] = None


def strip(info: ModelInfo, text: str) -> Playground:
    """The words of the text to click on: a click masks, another one unmasks, and what stood there stays in
    view.
    """
    model = info.id
    encoding = engine().encode(model, text)
    vocabulary = engine().vocabulary(model)
    _warn(encoding, vocabulary, text)
    by_word = st.toggle(
        "Whole words",
        **state.MASK_WORDS.bound,
        help="On, a word made of several tokens is masked as a whole; off, every token by itself.",
    )
    units = tuple(unit for unit in (word_units if by_word else token_units)(encoding) if not unit.special)
    masked = _kept(encoding)
    playground = Playground(model, info.lm, encoding, vocabulary, units, masked)
    if info.lm:
        st.caption(
            "This model has no mask. It guesses what comes next from what stands before, never from what follows."
        )
        return playground
    shown = {
        place
        for place, unit in enumerate(units)
        if any(token in playground.masks for token in range(unit.start, unit.stop))
    }

    def choose() -> None:
        chosen = st.session_state["mask_strip"]
        tokens = {token for place in chosen for token in range(units[place].start, units[place].stop)}
        state.MASKED.value = tuple(sorted(tokens - set(playground.typed)))

    st.session_state["mask_strip"] = sorted(shown)
    labels = told_apart(as_text(unit.label) for unit in units)
    with st.container(height=260 if len(units) > _LONG_STRIP else "content", border=len(units) > _LONG_STRIP):
        st.pills(
            "Click words to mask them",
            range(len(units)),
            selection_mode="multi",
            key="mask_strip",
            format_func=lambda place: labels[place] if place < len(labels) else "",
            on_change=choose,
        )
    state.MASKED.value = masked
    state.anchors()[state.MASKED] = encoding, masked
    return playground


def _kept(encoding: Encoding) -> tuple[int, ...]:
    """The masked positions, carried along when the text was edited or another model cuts it differently."""
    masked: tuple[int, ...] = state.MASKED.value
    before, then = state.anchors().get(state.MASKED, (None, ()))
    if before is not None and set(masked) <= set(then) and before != encoding:
        places = corruption.moved(before.text, encoding.text, corruption.characters(before, masked))
        return corruption.tokens_over(encoding, places)
    return tuple(place for place in masked if place < len(encoding) and not encoding.special[place])


def _warn(encoding: Encoding, vocabulary: Vocabulary, typed: str) -> None:
    if encoding.n_dropped:
        st.warning(
            f"The text was cut: {len(encoding)} tokens at most are read, and the last {encoding.n_dropped:,} "
            "fell off, with any mask among them. What you typed is unchanged; shorten it to see all of it.",
            icon=":material/content_cut:",
        )
    own = vocabulary.mask_token
    foreign = next((mask for mask in ("<mask>", "<extra_id_0>") if mask in typed and mask != own), None)
    if foreign is not None and own is not None:
        st.warning(
            as_text(f"{foreign} is the mask of other models and plain text to this one. Type {own} instead."),
            icon=":material/edit:",
        )
    if own not in (None, "[MASK]") and "[MASK]" in typed:
        st.info(as_text(f"[MASK] was read as {own}, this model's mask."), icon=":material/info:")
    if vocabulary.unknown_id in encoding.ids:
        unknown = [
            encoding.text[slice(*span)]
            for token, span in zip(encoding.ids, encoding.offsets, strict=True)
            if token == vocabulary.unknown_id
        ]
        st.info(
            as_text(
                f"Not in the vocabulary, read as {vocabulary.tokens[vocabulary.unknown_id or 0]}: "
                f"{', '.join(unknown[:5])}."
            ),
            icon=":material/info:",
        )


def _needs_a_mask(playground: Playground) -> bool:
    """Whether there is none; says what to do."""
    if playground.causal:
        st.info(
            "This model reads from left to right and fills no masks. Look at Predictions, Layer by layer, How "
            "surprising or Minimal pairs, or choose a model with a masked-word head.",
            icon=":material/arrow_right_alt:",
        )
        return True
    if not playground.masks:
        own = playground.vocabulary.mask_token or "[MASK]"
        st.info(as_text(f"Nothing is masked yet. Click a word above, or type {own} into the text."), icon="👆")
    return not playground.masks


def _one_mask(playground: Playground) -> int:
    """The mask a view is about: its place among all masks; chosen only where there are several."""
    if len(playground.masks) == 1:
        return 0
    places = range(len(playground.masks))
    if state.WHICH_MASK.value not in places:
        state.WHICH_MASK.value = 0
    return st.selectbox(
        "Mask",
        places,
        **state.WHICH_MASK.bound,
        format_func=lambda place: playground.name(playground.masks[place]),
    )


def view_predictions(playground: Playground) -> None:
    """The best tokens for every mask, side by side; choosing one puts it into the sentence."""
    if playground.causal:
        _what_comes_next(playground)
        return
    _filled_so_far()
    if _needs_a_mask(playground):
        return
    controls = st.columns([2, 1, 1], vertical_alignment="bottom")
    top_k = controls[0].slider("Predictions a mask", 1, 50, **state.PREDICTIONS.bound)
    controls[1].button(
        "Fill the surest", on_click=_fill, args=(playground, 1), icon=":material/looks_one:", width="stretch"
    )
    controls[2].button(
        "Fill all", on_click=_fill, args=(playground, None), icon=":material/done_all:", width="stretch",
        help="One after the other, the most confident first; after each, the model guesses again.",
    )  # fmt: skip
    with st.spinner("Running the model …", show_time=True):
        answers = engine().fill_mask(playground.model, playground.text, top_k, masked=playground.masked)
    chosen: Sequence[int] = range(len(answers))
    if len(answers) > SIDE_BY_SIDE:
        kept = [place for place in state.SHOWN_MASKS.value if place < len(answers)]
        state.SHOWN_MASKS.value = kept[:_MOST_SHOWN] or list(state.SHOWN_MASKS.default)
        chosen = sorted(
            st.multiselect(
                f"Masks shown, of {len(answers)}",
                range(len(answers)),
                **state.SHOWN_MASKS.bound,
                max_selections=_MOST_SHOWN,
                format_func=lambda place: playground.name(answers[place].position),
            )
        )
    for start in range(0, len(chosen), SIDE_BY_SIDE):
        row = chosen[start : start + SIDE_BY_SIDE]
        for column, place in zip(st.columns(max(2, len(row)), gap="medium"), row, strict=False):
            with column:
                _one_answer(playground, answers[place])
    _download("All masks as CSV", playground, answers)


def _download(label: str, playground: Playground, answers: Sequence[MaskPrediction]) -> None:
    st.download_button(
        label, table_to_csv(_table(playground, answers)), "predictions.csv", "text/csv",
        icon=":material/download:", help=CSV_NOTE, on_click="ignore",
    )  # fmt: skip


def _what_comes_next(playground: Playground) -> None:
    """The best tokens behind the text, of a model that writes."""
    top_k = st.slider("Predictions", 1, 50, **state.PREDICTIONS.bound)
    with st.spinner("Running the model …", show_time=True):
        answer = engine().next_tokens(playground.model, playground.text, top_k)
    st.markdown("**The token after the last one**")
    figures.show(predictions(answer, dark=is_dark()), "next tokens", "next-token")
    _download("CSV", playground, [answer])


def _one_answer(playground: Playground, answer: MaskPrediction) -> None:
    st.markdown(f"**{as_text(playground.name(answer.position))}**")
    if answer.original is not None and answer.log_probability is not None:
        st.caption(
            as_text(
                f"rank {answer.rank:,}, probability {answer.original.probability:.2%}, "
                f"surprisal {scoring.bits(answer.log_probability):.1f} bits"
            )
        )
    key = f"bars {answer.position}"
    ids = [entry.id for entry in answer.best]

    def click() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            _put(playground, answer, int(points[0]["customdata"]))

    st.plotly_chart(
        predictions(answer, dark=is_dark()),
        key=key,
        on_select=click,
        selection_mode="points",
        theme=None,
        config=figures.config(f"mask-{answer.position}", clicked=True),
    )
    choice = f"put {answer.position}"
    st.selectbox(
        "Put into the sentence",
        ids,
        index=None,
        key=choice,
        placeholder="Choose a prediction",
        format_func=lambda token: playground.vocabulary.tokens[token],
        on_change=lambda: _put(playground, answer, st.session_state[choice]),
    )


def _put(playground: Playground, answer: MaskPrediction, token: int) -> None:
    """Write one token into the sentence in place of a mask; the other masks stay."""
    probability = next((entry.probability for entry in answer.best if entry.id == token), None)
    _write(playground, {answer.position: token}, [_step(playground, answer, token, probability)])


def _fill(playground: Playground, steps: int | None) -> None:
    """Fill so many masks (None: all), the most confident first."""
    fills, log = {}, []
    with failures_as_messages():
        for answer in engine().fill_all(playground.model, playground.text, masked=playground.masked):
            best = answer.best[0]
            fills[answer.position] = best.id
            log.append(_step(playground, answer, best.id, best.probability))
            if len(fills) == steps:
                break
        _write(playground, fills, log)


def _step(playground: Playground, answer: MaskPrediction, token: int, probability: float | None) -> str:
    was = answer.original.token if answer.original is not None else playground.vocabulary.mask_token
    sure = "" if probability is None else f" ({probability:.1%})"
    return f"{was} → {playground.vocabulary.tokens[token]}{sure}"


def _write(playground: Playground, fills: dict[int, int], log: list[str]) -> None:
    before = state.TEXT.value, playground.masked
    text = engine().put(playground.model, playground.text, fills)
    left = tuple(place for place in playground.masked if place not in fills)
    done = _history()
    state.TEXT.value = text
    state.MASKED.value = left
    # Masks that are left move with the text as it was read, in which the filled ones are no masks any more.
    if len(fills) > 1:
        again = engine().encode(playground.model, text)
        gone = corruption.moved(playground.text, text, corruption.characters(playground.encoding, left))
        state.put({state.MASKED: corruption.tokens_over(again, gone)})
    st.session_state[_FILLED] = {"after": text, "steps": [*done, (before, log)]}


def _history() -> list[tuple[tuple[str, tuple[int, ...]], list[str]]]:
    """What was filled since the text was last typed."""
    kept = st.session_state.get(_FILLED)
    if kept is None or kept["after"] != state.TEXT.value:
        return []
    steps: list[tuple[tuple[str, tuple[int, ...]], list[str]]] = kept["steps"]
    return steps


def _filled_so_far() -> None:
    steps = _history()
    if not steps:
        return

    def undo() -> None:
        (text, masked), _ = steps[-1]
        state.put({state.TEXT: text, state.MASKED: masked})
        st.session_state[_FILLED] = {"after": text, "steps": steps[:-1]}

    columns = st.columns([5, 1], vertical_alignment="center")
    said = [entry for _, log in steps for entry in log]
    columns[0].markdown(
        "Filled, step by step: " + " · ".join(f"{n}\\. {as_text(entry)}" for n, entry in enumerate(said, start=1))
    )
    columns[1].button("Undo", on_click=undo, icon=":material/undo:", width="stretch")


def _table(playground: Playground, answers: Sequence[MaskPrediction]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": playground.model,
                "text": playground.text,
                "position": answer.position + 1,
                "original": answer.original.token if answer.original else "",
                "original_rank": answer.rank,
                "original_ln_p": answer.log_probability,
                "rank": rank,
                "token": entry.token,
                "probability": entry.probability,
            }
            for answer in answers
            for rank, entry in enumerate(answer.best, start=1)
        ]
    )


def view_layers(playground: Playground) -> None:
    """The logit lens: the head on the mask's vector after every layer."""
    if playground.causal:
        (lens,) = engine().next_lens(playground.model, playground.text)
        original = None
        st.markdown("**The token after the last one**")
    elif _needs_a_mask(playground):
        return
    else:
        place = _one_mask(playground)
        lens = engine().mask_lens(playground.model, playground.text, masked=playground.masked)[place]
        original = playground.encoding.tokens[lens.position]
    st.caption(
        "The head that makes the guess was trained on the last layer only. Here it reads the earlier ones too (the "
        "logit lens). What it does not find there may still be there, in a form that it cannot read."
    )
    table, curve = st.columns([3, 2], gap="large")
    with table:
        st.markdown("**Best tokens after every layer**")
        token_line.draw(lens_table(lens, dark=is_dark()), key="lens")
    with curve:
        st.markdown("**Rank of the final answer**")
        figures.show(lens_ranks(lens, original, dark=is_dark()), "lens ranks", "ranks")


def view_attention(playground: Playground) -> None:
    """Where a mask looks, in every layer, and the heads that look at one word most."""
    if _needs_a_mask(playground):
        return
    written = engine().masked_text(playground.model, playground.text, playground.masked)
    run = engine().attend(playground.model, written)
    masks = [p for p, token in enumerate(run.encoding.ids) if token == playground.vocabulary.mask_id]
    if len(masks) != len(playground.masks):
        raise InvalidInput("Not all masks fit into what the model reads. Shorten the text.")
    position = masks[_one_mask(playground)]
    weights = focus.from_token(run, position)
    names = ["mean of all heads", *(f"head {head + 1}" for head in range(run.n_heads))]
    if state.MASK_HEAD.value not in range(len(names)):
        state.MASK_HEAD.value = 0
    head = st.selectbox("Heads", range(len(names)), format_func=names.__getitem__, **state.MASK_HEAD.bound)
    shown = weights.mean(axis=1) if head == 0 else weights[:, head - 1]
    figures.show(layer_attention(shown, run.encoding.tokens, dark=is_dark()), "mask attention", "mask-attention")
    st.markdown("**Heads that look hardest at one other token**")
    st.session_state[_SENT] = written, playground.text, playground.masked
    for column, look in zip(st.columns(4) * 2, focus.strongest(weights, run, position), strict=False):
        column.page_link(
            "pages/attention.py",
            label=as_text(
                f"layer {look.layer + 1}, head {look.head + 1}: {run.encoding.tokens[look.key]} {look.weight:.0%}"
            ),
            icon=":material/visibility:",
            query_params={
                "text": written,
                "pair": "",
                "model": playground.model,
                "layer": str(look.layer + 1),
                "head": str(look.head + 1),
            },
        )
    said = "What a mask looks at is not by itself why it is filled as it is."
    if run.model.cross_attention:
        said += " Shown is the encoder; this model fills masks in its decoder, which looks at the encoder's text too."
    st.caption(said)


def view_what_if(playground: Playground) -> None:
    """Replace one word and see which predictions moved most."""
    if _needs_a_mask(playground):
        return
    units = [
        unit
        for unit in playground.units
        if not any(token in playground.masks for token in range(unit.start, unit.stop))
    ]
    if not units:
        raise InvalidInput("Every word is masked, so none is left to be replaced. Unmask one.")
    columns = st.columns(2)
    if state.REPLACED.value not in range(len(units)):
        state.REPLACED.value = max(range(len(units)), key=lambda place: len(units[place].label))
    labels = told_apart(unit.label for unit in units)
    place = columns[0].selectbox("Replace", range(len(units)), **state.REPLACED.bound, format_func=labels.__getitem__)
    other = columns[1].text_input("by", **state.REPLACEMENT.bound, placeholder="another word")
    if not other.strip():
        st.info("Type a word to put in its place.", icon=":material/edit:")
        return
    encoding, unit = playground.encoding, units[place]
    start, end = encoding.offsets[unit.start][0], encoding.offsets[unit.stop - 1][1]
    changed = encoding.text[:start] + other.strip() + encoding.text[end:]
    moved = corruption.moved(encoding.text, changed, corruption.characters(encoding, playground.masked))
    changed_encoding = engine().encode(playground.model, changed)
    notes.beyond_training({playground.model: len(changed_encoding)}, said=len(encoding))
    masked = corruption.tokens_over(changed_encoding, moved)
    before, after = (playground.text, playground.masked), (changed, masked)
    all_shifts = engine().mask_shifts(playground.model, before, after)
    answers = [engine().fill_mask(playground.model, text, 5, masked=m) for text, m in (before, after)]
    st.caption(
        "The largest changes of ln P among the 50 best predictions before and after; 0.69 is a factor of 2. "
        "Under it the five best of either side."
    )
    for start_ in range(0, min(len(all_shifts), _MOST_SHIFTED), 2):
        for column, number in zip(st.columns(2, gap="large"), range(start_, start_ + 2), strict=True):
            if number >= len(all_shifts):
                break
            with column:
                st.markdown(f"**{as_text(playground.name(playground.masks[number]))}**")
                figures.show(shifts(all_shifts[number], dark=is_dark()), f"shifts {number}", "what-if")
                for name, side in zip(("before", "after"), answers, strict=True):
                    best = " · ".join(f"{e.token} {e.probability:.0%}" for e in side[number].best)
                    st.markdown(as_text(f"{name}: {best}"))
