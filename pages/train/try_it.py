"""View "Try it": a text of one's own, answered at once by the model that was tuned."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo.text import word_spans
from model_zoo.types import Encoding, ModelInfo, TunedFor
from pages.train import python_lines
from pages.train.scene import Scene
from training.finetuning.data import HIGHEST_SCORE
from training.finetuning.entities import entities_of, first_pieces, types_of
from training.finetuning.predict import Predict
from training.finetuning.results import Answered, Classified, Prediction, Rated, TaggedWords, Tuned
from training.finetuning.sets import SETS
from ui import (
    Field,
    View,
    as_python,
    as_text,
    ask_for,
    caption,
    figures,
    lacking,
    notes,
    place,
    save,
    say,
    token_line,
    tuned,
    widgets,
)
from ui.as_python import Lines
from ui.precomputed import trainings
from viz import outcome
from viz.bars import label_bars
from viz.layout import clipped, percent
from viz.token_line import Line
from web.engine import engine

TEXT: Field[str] = Field("try_text", "", of="train", clean=widgets.no_line_breaks_around)
PAIR: Field[str] = Field("try_pair", "", of="train", clean=widgets.no_line_breaks_around)

EXAMPLE: Field[int] = Field("try_example", 0, place("the example"), of="train")

_LONGEST_EXAMPLE = 70

_FIRST: dict[TunedFor, str] = {
    "classification": "Text",
    "tagging": "Sentence",
    "answering": "Question",
    "similarity": "First text",
}
_SECOND: dict[TunedFor, str] = {"classification": "Second text", "answering": "Passage", "similarity": "Second text"}


def draw(scene: Scene) -> None:
    model = scene.to_try
    if model is None:
        if not lacking(scene, ("results",)):
            _example(scene, scene.example[0])
        return
    kind = engine().info(model).tuned_for
    assert kind is not None
    text, pair = _ask(scene, kind)
    if not text.strip():
        tries = scene.tries(kind)
        if not tries:
            ask_for(f"Type a {_FIRST[kind].lower()}.")
            return
        text, pair = tries[0]
        say(f"An example: “{' – '.join(clipped(part, _LONGEST_EXAMPLE) for part in tries[0] if part)}”")
    if pair is None and _paired(scene, kind):
        ask_for(f"Type a {_SECOND[kind].lower()}, too.")
        return
    (answer,) = engine().ask(Predict(model, ((text, pair),)))
    _put_python(scene, model if scene.last is None else scene.last, answer, text, pair)
    encoding = engine().encode(model, text, pair)
    notes.warn_of_reading(encoding, model)
    with st.container(key="answer"):
        _show(answer, encoding, engine().info(model))
        caption(f"Model: {tuned.name(model) or model}.")


def _put_python(scene: Scene, source: Tuned | str, answer: Prediction, text: str, pair: str | None) -> None:
    """``asked`` is the outcome of a training, or the name of a model that was trained elsewhere."""
    text_literal = as_python.literal(text if pair is None else (text, pair))
    if isinstance(source, Tuned):
        lines = python_lines.tune(source, scene.user_data) + f"(answer,) = tuned.predictions([{text_literal}])\n"
    else:
        lines = Lines(f"(answer,) = {as_python.call(Predict(source, ((text, pair),)))}\n", (Predict,))
    match answer:
        case Classified() | TaggedWords():
            numbers, values = "answer.probabilities", list(answer.probabilities)
        case Answered():
            numbers, values = "[span.score for span in answer.spans]", [span.score for span in answer.spans]
        case Rated():
            numbers, values = "[answer.score]", [answer.score]
    as_python.put(lines + f"numbers = np.array({numbers})", lambda: np.array(values))


def _example(scene: Scene, trained: Tuned) -> None:
    """What the model of the example answers to the texts of its set, where it is not here to be asked others."""
    known, tries = trainings.inside(), SETS[trainings.SET].tries
    assert known is not None
    EXAMPLE.value = min(EXAMPLE.value, len(tries) - 1)
    titles = dict(enumerate(text for text, _ in tries))
    chosen = st.selectbox("Example sentence", **EXAMPLE.offering(titles), label_visibility="collapsed")
    info = trainings.labelled(engine().info(trained.base), trained.data.labels)
    _put_python(scene, trained, known.answers[chosen], *tries[chosen])
    with st.container(key="answer"):
        _show(known.answers[chosen], engine().encode(trained.base, *tries[chosen]), info)
    caption("Train a model to try texts of your own.")


def _ask(scene: Scene, kind: TunedFor) -> tuple[str, str | None]:
    """The text, and the second one where the task has one; examples where the set has some."""
    paired = _paired(scene, kind)
    with widgets.input_line("try"):
        text = widgets.text_area(_FIRST[kind], TEXT)
        pair = ""
        if paired is not False:
            pair = widgets.text_area(_SECOND[kind] + (" (optional)" if paired is None else ""), PAIR)
        tries = scene.tries(kind)
        if tries:
            titles = [as_text(" – ".join(clipped(part, _LONGEST_EXAMPLE) for part in texts if part)) for texts in tries]
            widgets.offers("Examples", ":material/lightbulb:", titles, lambda place: _use(*tries[place]), "try")
    if not pair.strip():
        return widgets.short_enough(text), None
    first, second = (f"The {title.lower()}" for title in (_FIRST[kind], _SECOND[kind]))
    return widgets.short_enough(text, first), widgets.short_enough(pair, second)


def _use(first: str, second: str | None) -> None:
    TEXT.value, PAIR.value = first, second or ""


def _paired(scene: Scene, kind: TunedFor) -> bool | None:
    """Whether the model takes two texts; None for a classifier from elsewhere, of which that is not known."""
    if kind != "classification":
        return kind != "tagging"
    return any(item.pair is not None for item in scene.last.data.train) if scene.last else None


def _show(answer: Prediction, encoding: Encoding, info: ModelInfo) -> None:
    match answer:
        case Classified():
            st.markdown(f"**{as_text(answer.label)}**, with a probability of {percent(max(answer.probabilities))}.")
            figures.show(partial(label_bars, info.labels, answer.probabilities), "labels", "labels")
            numbers = {"label": info.labels, "probability": answer.probabilities}
            save.table("Probabilities", lambda: pd.DataFrame(numbers), "labels")
        case TaggedWords():
            _show_tags(answer, encoding, info)
        case Answered():
            _show_answer(answer, encoding.text_pair or "")
        case Rated():
            st.markdown(f"**{answer.score:.2f}** of {HIGHEST_SCORE:g}: 0 is nothing in common, 5 the same meaning.")
            if not 0 <= answer.score <= HIGHEST_SCORE:
                st.caption("The model gives an unbounded number, so it can be slightly outside the scale.")


def _show_tags(answer: TaggedWords, encoding: Encoding, info: ModelInfo) -> None:
    types = types_of(info.labels)
    n = len(entities_of(answer.tags))
    st.markdown(f"**{n} {'entity' if n == 1 else 'entities'}** found.")
    pieces = first_pieces(encoding, word_spans(encoding.text))
    tag_of = {place: tag for place, tag in zip(pieces, answer.tags, strict=True) if place is not None}
    tags = [tag_of.get(place) for place in range(len(encoding))]

    def lines(*, dark: bool) -> list[Line]:
        words = outcome.tag_line(answer.words, answer.tags, answer.probabilities, types, dark=dark, label="Words")
        return [words, outcome.piece_line(encoding.tokens, tags, label="Tokens")]

    token_line.show(lines, "tags", "tags")
    about = (
        "The model reads tokens. The first piece of a word carries the word’s tag. The other pieces and special "
        "tokens are marked −100, which training ignores."
    )
    st.caption(about)
    numbers = {"word": answer.words, "tag": answer.tags, "probability": answer.probabilities}
    save.table("Tags", lambda: pd.DataFrame(numbers), "tags")
    token_line.file(lines, "Tags", about, [info], "tags")


def _show_answer(answer: Answered, passage: str) -> None:
    if not answer.spans:
        st.markdown("**No answer**: the model read nothing of the passage.")
        return
    best = answer.spans[0]
    if answer.text:
        st.markdown(f"**{as_text(answer.text)}**")
    else:
        st.markdown("The model predicts **no answer in this passage**. The best span is marked.")
    before, within, after = (
        as_text(re.sub(r"\s+", " ", part))
        for part in (passage[: best.start], passage[best.start : best.end], passage[best.end :])
    )
    st.markdown(f"{before}:primary-background[{within}]{after}")
    ahead = "above" if answer.margin > 0 else "behind"
    st.caption(
        f"“No answer” has a score of {answer.no_answer:.2f}: {abs(answer.margin):.2f} {ahead} the best span "
        f"({best.score:.2f}). A span’s score is the start score of its first token plus the end score of its last; "
        "for “no answer” both are those of [CLS]. The higher score wins."
    )
    first = next(place for place, (start, _) in enumerate(answer.offsets) if start == best.start)
    last = next(place for place, (_, end) in enumerate(answer.offsets) if end == best.end)
    figure = partial(
        outcome.span_scores, answer.tokens, answer.start_scores, answer.end_scores, (first, last), answer.no_answer
    )
    figures.show(figure, "span scores", "span-scores")
    numbers = {"token": answer.tokens, "start score": answer.start_scores, "end score": answer.end_scores}
    save.table("Start and end scores", lambda: pd.DataFrame(numbers), "span-scores")
    st.table(
        [{"span": as_text(span.text), "score": f"{span.score:.2f}"} for span in answer.spans]
        + [{"span": "(no answer)", "score": f"{answer.no_answer:.2f}"}]
    )


VIEW: View[Scene] = View(
    "try",
    "Try it",
    draw,
    about="Type your own text: the fine-tuned model answers at once.",
    more="The probabilities are the model’s own. On texts unlike its training data it can be confident and wrong.",
    fields=(TEXT, PAIR, EXAMPLE),
    tab=30,
    terms=("task head",),
)
