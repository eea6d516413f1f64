"""What every view of the page "Cause" is given: a text as a model reads it, and the target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.agreement import readable
from analysis.effects import BYS, By
from analysis.words import Unit, word_units
from jobs.ablation import InterventionJob
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Effects, Encoding, ModelInfo, ModelSpec, Reads, TargetAnswer
from pages.cause.examples import EXAMPLES
from pages.cause.fields import ANSWER, BY, FIND, FOIL, OFF, OTHER, change_of
from ui import (
    MASK,
    MASKS,
    MODEL,
    PAIR,
    TEXT,
    Need,
    View,
    as_python,
    as_text,
    lacking,
    mask_strip,
    notes,
    start_button,
    watch,
    widgets,
)
from ui.as_python import Lines
from ui.mask_strip import MaskedText
from viz.erasure import LEGEND
from viz.head_effects import UNITS
from viz.layout import percent
from web.background import desk
from web.engine import engine

# Runs times tokens from which an answer takes seconds: it is then a job, with a bar and a button that stops it.
_LONG = 12_000
_MOST_TRIED = 24  # words that are masked in turn to find one whose prediction changes
EXAMPLE = EXAMPLES.state(EXAMPLES.all[0])
_TOP_K = 40  # so that most answers of a run are known in the other, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene(MaskedText):
    """``made_of`` is what it was made of: a view that is drawn again by itself sees by it whether that still holds."""

    reads: Reads
    made_of: tuple[object, ...]

    @property
    def units(self) -> tuple[Unit, ...]:
        """The words of the text, with the special tokens."""
        return word_units(self.encoding)

    @property
    def words(self) -> tuple[Unit, ...]:
        """The words that were written."""
        return tuple(unit for unit in self.units if not unit.special)

    @property
    def position(self) -> int | None:
        """That of the mask that is followed."""
        if self.reads != "mask" or not self.masks:
            return None
        return self.masks[MASK.value if MASK.value < len(self.masks) else 0]

    def lacks(self, need: Need) -> str | None:
        """All views need an answer to follow, "mask" says where it comes from; and a head for it."""
        if need == "attention":
            return self.info.attention_refusal or None
        assert need == "mask", need
        if self.reads == "next sentence" and self.info.nsp is None:
            why = engine().why_not(self.model, "nsp") or ""
            return f"{why} Or clear the second text to ask about a masked word."
        if self.reads != "mask":
            return None
        why_not = engine().why_not(self.model, "mlm")
        if why_not:
            return why_not
        if not self.masks:
            return "Nothing is masked yet. Click a word above to see what the model’s prediction for it depends on."
        return mask_strip.too_many(len(self.masks))

    @property
    def question(self) -> Intervene:
        """The question without changes, and with the answers as they were typed."""
        answers = (EXAMPLE[ANSWER], EXAMPLE[FOIL]) if self.example else (_typed(ANSWER.value), _typed(FOIL.value))
        aim = TargetAnswer(self.reads, self.position, *answers)
        text, pair = self.encoding.text, self.encoding.text_pair
        return Intervene(self.model, text, text_pair=pair, masked=self.masked, aim=aim, top_k=_TOP_K)

    @property
    def untouched(self) -> Effects:
        """The run as it is; the foil is the model's second, or first, where none was typed."""
        effects = engine().ask(self.question)
        if effects.foil is not None:
            return effects
        return engine().ask(replace(self.question, aim=replace(self.question.aim, foil=_runner_up(effects))))

    @property
    def resolved(self) -> Intervene:
        """The question with both answers by their numbers, so that a changed run is asked for the same ones."""
        untouched = self.untouched
        assert untouched.foil is not None
        aim = TargetAnswer(self.reads, self.position, untouched.answer.id, untouched.foil.id)
        return replace(self.question, aim=aim)

    @property
    def where(self) -> str:
        """Where the answer is read, as plain text."""
        return {
            "mask": "the mask",
            "next token": "the end of the text",
            "next sentence": "the pair",
            "class": "the text",
        }[self.reads]

    def python_code(self, *, foil: bool = False) -> Lines:
        """Lines that bind ``text`` and the target, ``aim``; with the ``foil`` also where none was typed."""
        typed, foil_answer = self.question.aim, self.untouched.foil
        other, comment = typed.foil, ""
        if foil and other is None and foil_answer is not None:
            other, comment = foil_answer.id, f"  # compared with {as_python.literal(foil_answer.token)}"
        aim = as_python.arguments(typed.reads, typed.position, answer=typed.answer, foil=other)
        text = as_python.literal(self.encoding.text)
        return Lines(f"text = {text}\naim = TargetAnswer({aim}){comment}\n", (TargetAnswer,))

    def call(self, method: str, *expressions: str, **named: object) -> str:
        """An expression that asks a question of this name about the text; ``expressions`` stand before its settings."""
        known = as_python.literal(self.model), *expressions
        more = as_python.arguments(text_pair=self.encoding.text_pair, **named)
        return f"engine.{method}({', '.join(filter(None, (*known, more)))})"

    def intervene(self, *expressions: str, **named: object) -> str:
        """The call that gives the effects of changes, an expression."""
        return self.call("intervene", "text", *expressions, "aim=aim", masked=self.masked or None, **named)

    def describe_target(self, effects: Effects) -> str:
        """What the model answers when it is left alone, as plain text."""
        answer, foil = effects.answer, effects.foil
        target = f"Target “{readable(answer.token)}” ({percent(answer.probability)})"
        return target + (f" vs “{readable(foil.token)}” ({percent(foil.probability)})" if foil else "")


def _typed(answer: str) -> str | None:
    return answer.strip() or None


def _runner_up(effects: Effects) -> int:
    """The best answer that is not the one that is followed."""
    return next(prediction.id for prediction in effects.untouched.best if prediction.id != effects.answer.id)


def make(view: View[Scene]) -> Scene:
    """Ask for the text and the model; which words to hide is asked by the views."""
    widgets.open_with_first(EXAMPLES, (TEXT, PAIR, MASKS), (TEXT, MASKS, ANSWER, FOIL, OTHER))
    with widgets.input_line():
        text, pair = widgets.texts()
        model = widgets.model()
        widgets.try_example(EXAMPLES)
    with st.spinner("Loading the model …", show_time=True):
        info = engine().info(model)
    reads = _reads(info, pair)
    if reads == "next token" and pair:
        notes.complain(["This model reads one text, so the second one is ignored."])
    encoding = engine().encode(model, text, pair if reads in ("next sentence", "class") else None)
    notes.warn_of_reading(encoding, model, masks=True)
    mask_id = engine().vocabulary(model).mask_id
    masked, typed = mask_strip.masks_of(encoding, mask_id, MASKS) if reads == "mask" else ((), ())
    if FIND.value:
        FIND.value = False
        if reads == "mask" and info.mlm and not masked and not typed:
            masked = MASKS.value = _most_changed(encoding, model)
    return Scene(info=info, encoding=encoding, masked=masked, typed=typed, reads=reads, made_of=_made_of(), view=view)


def _most_changed(encoding: Encoding, model: str) -> tuple[int, ...]:
    """The tokens of the word whose prediction, where it is masked, changes most (KL divergence) by what is off."""
    changes = (change_of(OFF.value),)
    effects: dict[tuple[int, ...], float] = {}
    with st.spinner("Looking for the word that it changes most …"):
        for unit in [unit for unit in word_units(encoding) if not unit.special][:_MOST_TRIED]:
            masked = tuple(range(unit.start, unit.stop))
            aim = TargetAnswer("mask", unit.start)
            answered = engine().ask(Intervene(model, encoding.text, changes, masked=masked, aim=aim, top_k=1))
            effects[masked] = answered.readings[0].divergence
    return max(effects, key=effects.__getitem__, default=())


def _made_of() -> tuple[object, ...]:
    return TEXT.value, PAIR.value, MODEL.value, MASKS.value


def _reads(info: ModelInfo, pair: str | None) -> Reads:
    """Which answer a model is asked for: a class, what is next, whether a second text follows, or what a mask hides."""
    if info.tuned_for == "classification":
        return "class"
    if info.lm:
        return "next token"
    return "mask" if pair is None else "next sentence"


def row(scene: Scene, *needs: Need) -> DeltaGenerator | None:
    """The words to click on where the target is at a mask, and the line of controls beside them, which begins with the
    target; None where something is missing, which it says. Draws the whole page again where a control of the view has
    changed what the scene was made from.
    """
    if scene.made_of != _made_of():
        st.rerun()
    if scene.example:
        return widgets.controls("example")
    controls = scene.ask_words(scene.words, MASKS) if scene.reads == "mask" else widgets.controls()
    if lacking(scene, needs):
        if scene.reads == "mask" and not scene.masks and scene.info.mlm:
            instead = example(scene)
            if not any(map(instead.lacks, needs)):
                scene.draw_instead(instead)
        return None
    with controls:
        _answers(scene)
    return controls


def example(scene: Scene) -> Scene:
    """The first example, as the same model reads it."""
    encoding = engine().encode(scene.model, EXAMPLE[TEXT])
    mask_id = engine().vocabulary(scene.model).mask_id
    typed = tuple(place for place, token in enumerate(encoding.ids) if token == mask_id)
    return replace(scene, encoding=encoding, masked=(), typed=typed, reads="mask", example=True)


def _answers(scene: Scene) -> None:
    """Ask for the target, what it is compared with, and which mask, where there are several."""
    if scene.reads == "mask" and len(scene.masks) > 1:
        mask_strip.choose_mask(MASK, scene.names)
    with widgets.popover("Target", ":material/ads_click:"):
        st.text_input(
            "Target token or class",
            **ANSWER.bound,
            placeholder="top prediction",
            help="One token of the model’s vocabulary, or the name of a class. Empty: the model’s top prediction.",
        )
        st.text_input(
            "Compared with",
            **FOIL.bound,
            placeholder="second prediction",
            help="The logit difference compares the target with this. Empty: the best other prediction.",
        )


def measure(options: tuple[By, ...] = BYS) -> By:
    """Ask by what a change is measured."""
    if BY.value not in options:
        BY.value = options[0]
    labels = {by: BY.labels[by] for by in options}
    chosen: By = st.selectbox("Measured by", **BY.offering(labels), label_visibility="collapsed", width=170)
    return chosen


def describe_numbers(by: By) -> str:
    """What the numbers of a map are, and what its colours say, in sentences; a divergence has no sign."""
    return f"Numbers: {UNITS[by]}." + ("" if by == "divergence" else f" {LEGEND}.")


def answered(question: Intervene, n_tokens: int) -> Effects | None:
    """The effects of many changes: at once where that is a matter of a second or two, else by a job that shows how far
    it is. None while it is at work, or where it was stopped.
    """
    if len(question.changes) * n_tokens <= _LONG:
        with st.spinner("Running the model …", show_time=True):
            return engine().ask(question)
    job = desk().current(InterventionJob)
    if job is None or job.question != question:
        label = as_text(f"Run the model {len(question.changes):,} times")
        start_button(label, lambda: InterventionJob(engine(), question), primary=True)
        st.caption("The text is long, so this takes a while. It continues while you look at other pages.")
        return None
    watch(job)
    if job.running or job.failure is not None:
        return None
    if not job.complete:
        st.info("Stopped before all runs were done. Change anything to start again.", icon=":material/stop_circle:")
        return None
    return engine().ask(question)


def shows(spec: ModelSpec) -> str:
    """What the page shows of a model, for the table of models."""
    if not (spec.mlm or spec.nsp or spec.causal):
        return "no prediction to track"
    return "yes" if spec.attention else "all but heads"
