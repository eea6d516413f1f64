"""View "Predictions": what each model puts in the place of a mask, how surprising it finds each word, and NSP."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import scoring
from analysis.agreement import agreement, rank_of, readable
from analysis.alignment import align
from model_zoo.text import word_spans
from model_zoo.types import MaskPrediction, Prediction, SentenceScore, TokenScores
from pages.compare.fields import BESIDE, LONG, MASK, MASKS
from pages.compare.scene import (
    Scene,
    call_each,
    common_words,
    common_words_in_python,
    draw_columns,
    gather,
    show_failure,
    successes,
)
from ui import Field, View, as_python, figures, mask_strip, notes, save, token_line, widgets, within
from ui.messages import ask_for, caption, failures_as_messages, say
from viz.bars import predictions
from viz.surprisal import surprisals
from web.engine import engine

_MOST_GUESSES = 50
GUESSES: Field[int] = Field("guesses", 5, within("the number of predictions", 1, _MOST_GUESSES), of="compare")

_TYPED = re.compile(r"\[MASK\]|<mask>")
_LONG = 128  # tokens; beyond, scoring takes seconds and waits to be asked for


def draw(scene: Scene) -> None:
    scene.check()
    _length(scene)
    _masks(scene)
    notes.warn_of_prejudice(scene.infos.values())
    st.header("How surprising each word is")
    with failures_as_messages():
        _surprisal(scene)
    st.header("Does the second text follow the first?")
    _next_sentence(scene)


def _length(scene: Scene) -> None:
    """The second text is read only by models that are asked whether it follows."""
    read = call_each(
        scene.models, lambda model: engine().encode(model, scene.text, scene.pair if scene.infos[model].nsp else None)
    )
    notes.warn_beyond_training({model: len(encoding) for model, encoding in successes(read).items()})


def _masks(scene: Scene) -> None:
    words, spans, controls = _strip(scene.text)
    if not spans:
        st.info("Nothing is masked yet. Click a word above, or type [MASK] into the text.", icon="👆")
        return
    too_many = mask_strip.too_many(len(spans))
    if too_many:
        ask_for(too_many)
        return
    masked = _with_masks(scene.text, spans)
    with st.spinner("Running the models …", show_time=True):
        outcomes = call_each(scene.models, lambda model: engine().fill_mask(model, masked, _MOST_GUESSES))
    answers = successes(outcomes)
    names = mask_strip.mask_names(words)
    with controls:
        place = mask_strip.choose_mask(MASK, names)
    top = GUESSES.value
    here = [every[place].best[0].probability for every in answers.values() if place < len(every)]

    def bars(model: str, every: Sequence[MaskPrediction]) -> None:
        if place >= len(every):
            st.info("This mask is beyond the part of the text that the model reads.", icon=":material/content_cut:")
            return
        answer = every[place]
        figures.show(
            partial(predictions, _shortened(answer, top), scene.name(model), highest=max(here)),
            f"guesses {model}",
            f"compare-mask-{place + 1}-{list(outcomes).index(model) + 1}",
        )
        _rank(words[place], answer)

    draw_columns(scene, outcomes, bars, columns=len(outcomes), named=False)
    _guesses_in_python(scene, answers, place, masked)
    if answers:
        _agreement(scene, answers, names)
        with widgets.controls("guesses"):
            st.slider("Predictions per model", **GUESSES.bound, width=320)
            save.table("All predictions", lambda: _guess_table(scene, answers, words, masked), "compare-predictions")


def _guesses_in_python(scene: Scene, answers: Mapping[str, Sequence[MaskPrediction]], place: int, masked: str) -> None:
    """The best guesses for one mask of those models that read it."""
    top, here = GUESSES.value, {model: every[place] for model, every in answers.items() if place < len(every)}
    if not here:
        return
    best = [(model, *prediction) for model, answer in here.items() for prediction in answer.best[:top]]
    columns = ["model", *Prediction._fields]
    call = f"engine.fill_mask(model, {as_python.arguments(masked, top)})[{place}]"
    as_python.put(
        f"{scene.of_each([*here], 'answer', call)}"
        "best = [(model, *prediction) for model, mask in zip(models, answers) for prediction in mask.best]\n"
        f"numbers = pd.DataFrame(best, columns={as_python.literal(columns)})",
        lambda: pd.DataFrame(best, columns=columns),
    )


def _strip(text: str) -> tuple[list[str], list[tuple[int, int]], DeltaGenerator]:
    """The words of the text, but for masks that were typed, to click on. Returns what stands at each mask ("" where it
    was typed), and where; and the line of controls beside them.
    """
    typed = [match.span() for match in _TYPED.finditer(text)]
    inside = {place for span in typed for place in range(*span)}
    words = [span for span in word_spans(text) if inside.isdisjoint(range(*span))]
    clicked = mask_strip.carry_masks(MASKS, text, words)

    def choose(places: list[int]) -> None:
        MASKS.value = tuple(sorted(places))

    controls = mask_strip.draw([text[slice(*span)] for span in words], clicked, choose)
    spans = sorted([*typed, *(words[place] for place in clicked)])
    return ["" if span in typed else text[slice(*span)] for span in spans], spans, controls


def _with_masks(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """One mask in the place of every span, whatever it takes a model to write what stood there."""
    for start, end in reversed(spans):
        text = text[:start] + "[MASK]" + text[end:]
    return text


def _shortened(answer: MaskPrediction, top: int) -> MaskPrediction:
    """The best guesses, as they read in a text: models mark the space before a word each in their own way."""
    best = tuple(entry._replace(token=readable(entry.token)) for entry in answer.best[:top])
    return MaskPrediction(answer.position, best, answer.log_total)


def _rank(word: str, answer: MaskPrediction) -> None:
    """Where among the guesses the word is that stood there; one mask holds one token, so it may not be there."""
    if word:
        rank = rank_of(word, answer.best)
        rank_text = f"rank {rank}" if rank else f"not among the top {len(answer.best)} single-token predictions"
        caption(f"“{word}” is {rank_text}.")


def _agreement(scene: Scene, answers: Mapping[str, Sequence[MaskPrediction]], names: Sequence[str]) -> None:
    top = GUESSES.value
    n_masks = min(len(every) for every in answers.values())
    rows = [
        {"mask": names[place]} | {scene.name(model): _guess(every[place]) for model, every in answers.items()}
        for place in range(n_masks)
    ]
    if scene.a in answers and scene.b in answers and scene.a != scene.b:
        pairs = list(zip(answers[scene.a], answers[scene.b], strict=False))[:n_masks]
        agreements = [agreement(a, b, min(top, len(a.best), len(b.best))) for a, b in pairs]
        alike = sum(mask_agreement.first for mask_agreement in agreements)
        say(
            f"{scene.name(scene.a)} and {scene.name(scene.b)} agree on the top prediction for {alike} of {n_masks} "
            f"mask{'s' if n_masks > 1 else ''}; of their top {top} they share "
            f"{sum(mask_agreement.overlap for mask_agreement in agreements) / n_masks:.0%}."
        )
        for row, mask_agreement in zip(rows, agreements, strict=True):
            row[f"shared by A and B, of {top}"] = ", ".join(mask_agreement.shared) or "none"
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def _guess(answer: MaskPrediction) -> str:
    return f"{readable(answer.best[0].token)} ({answer.best[0].probability:.1%})"


def _guess_table(
    scene: Scene, answers: Mapping[str, Sequence[MaskPrediction]], words: Sequence[str], masked: str
) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": model,
                "revision": scene.infos[model].revision,
                "text": masked,
                "mask": number + 1,
                "original": words[number],
                "rank": rank,
                "token": entry.token,
                "probability": entry.probability,
            }
            for model, every in answers.items()
            for number, answer in enumerate(every)
            for rank, entry in enumerate(answer.best, start=1)
        ]
    )


def _surprisal(scene: Scene) -> None:
    """Every token masked in turn, by every model; on words that all of them see in full."""
    text = _TYPED.sub("[MASK]", scene.text)
    fill = [model for model in scene.models if scene.infos[model].mlm]
    longest = max((len(engine().encode(model, text)) for model in fill), default=0)
    if longest > _LONG and not st.toggle(
        f"Score this long text: up to {longest:,} runs of each model, which takes a while", **LONG.bound
    ):
        return
    score = engine().token_scores
    outcomes = gather(scene.models, lambda model: score(model, text, scheme="word l2r"), "masking every token in turn")
    scores = successes(outcomes)
    if scores:
        _lines(scene, scores)
    for outcome in outcomes.values():
        if isinstance(outcome, Exception):
            show_failure(outcome)


def _lines(scene: Scene, scores: Mapping[str, TokenScores]) -> None:
    alignment = common_words(scene, {model: score.encoding for model, score in scores.items()})
    bits = {
        model: scoring.unit_bits(score, units)
        for (model, score), units in zip(scores.items(), alignment.units, strict=False)
    }
    call = f'engine.token_scores(model, {as_python.literal(_TYPED.sub("[MASK]", scene.text))}, scheme="word l2r")'
    as_python.put(
        f"{scene.of_each([*scores], 'score', call)}"
        f"{common_words_in_python('scores', len(scores))}"
        "numbers = np.array([unit_bits(score, units) for score, units in zip(scores, alignment.units)])",
        lambda: np.array([*bits.values()]),
        *(align, scoring.unit_bits),
        part="How surprising each word is, in bits",
    )
    lines = partial(surprisals, alignment.labels, {scene.name(model): bits[model] for model in scores})
    token_line.show(lines, "compared surprisal", "compare-surprisal")
    st.caption(
        "Below each word is its surprisal in bits, −log₂ P(word | all others), one row per model: 0 means certain, "
        "and each bit halves the probability. For a word in pieces it is the sum over the pieces, each predicted "
        "from the earlier pieces of the word and all other words (PLL-word-l2r, Kauf & Ivanova 2023)."
    )
    table = pd.DataFrame({"word": alignment.labels} | {f"{scene.name(model)} (bits)": bits[model] for model in scores})
    save.table("Surprisal", lambda: table, "compare-surprisal")
    about = "Surprisal in bits: −log₂ P(word | all others)."
    models = [score.model for score in scores.values()]
    token_line.file(lines, "Surprisal", about, models, "compare-surprisal")


def _next_sentence(scene: Scene) -> None:
    """P(the second text follows), of the models that were trained to say so."""
    if scene.pair is None:
        st.caption(
            "Type a second text above. Only models with a task head for next sentence prediction (NSP) or sentence "
            "order (SOP) can answer."
        )
        return
    second = scene.pair
    outcomes = call_each(scene.models, lambda model: engine().next_sentence(model, scene.text, second))

    def number(_model: str, score: SentenceScore) -> None:
        st.metric("P(in order), SOP" if score.kind == "SOP" else "P(second follows first)", f"{score.p_next:.4f}")
        if score.encoding.n_dropped:
            n_dropped = score.encoding.n_dropped
            st.caption(f"The pair was cut: {n_dropped:,} tokens were left out, from the longer text first.")

    draw_columns(scene, outcomes, number, columns=len(outcomes), row_name="next sentence")
    scores = successes(outcomes)
    if scores:
        as_python.put(
            f"{scene.of_each([*scores], 'score', f'engine.next_sentence(model, {scene.texts_in_python()})')}"
            "numbers = np.array([score.p_next for score in scores])",
            lambda: np.array([score.p_next for score in scores.values()]),
            part="Does the second text follow the first?",
        )
        save.table("Next sentence", lambda: _score_table(scene, scores), "compare-next-sentence")


def _score_table(scene: Scene, scores: Mapping[str, SentenceScore]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": model,
                "revision": score.model.revision,
                "question": score.kind,
                "a": scene.text,
                "b": scene.pair,
                "p": score.p_next,
            }
            for model, score in scores.items()
        ]
    )


VIEW = View(
    "predictions",
    "Predictions",
    draw,
    about="What each model predicts at a mask (masked language modelling, **MLM**), and how surprising it finds "
    "every word.",
    fields=(MASKS, MASK, GUESSES, BESIDE, LONG),
    tab=30,
    terms=("masked language modelling", "surprisal"),
)
