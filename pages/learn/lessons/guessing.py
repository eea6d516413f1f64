"""How a model learns by guessing hidden words: what is hidden, what a guess costs, one step of training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.corruption import Corruption, Kind, Recipe, corrupt, each_fate
from analysis.cross_entropy import guess
from model_zoo.errors import InvalidInput
from model_zoo.types import MaskPrediction, TrainingStep, signed
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
from ui import as_text, is_dark, token_line
from ui.glossary import quote
from ui.sources import DEVLIN, LIU, RUMELHART, TAYLOR, WARNER
from viz.corruption import NAMES, corrupted, legend
from viz.predictions import percent
from viz.token_line import Cell, Item, Line
from web.engine import engine

_RATE: Final = 0.001
_DRAWN: Final = 6  # best guesses, which one draws over
_WORDS: Final = ("the", "cat", "sat", "on", "mat", "dog")
_LOGITS: Final = (1.0, 0.5, 4.0, 2.0, 0.0, 1.5)
_SAT: Final = 2
_GUESS: Final = guess(_LOGITS, _SAT)


class GuessingStep(Step):
    """A step about hidden words, and what is learned from the followed one."""

    at = "guess"

    @property
    def step(self) -> TrainingStep:
        """One step of training on the followed token."""
        return engine().take_step(self.case.model, self.case.text, self.followed, rate=_RATE)


class Hidden(GuessingStep):
    title = "Fifteen percent"
    terms = ("masked language modelling", "cloze test")
    sources = (TAYLOR, DEVLIN, LIU, WARNER)

    @property
    def drawn(self) -> Corruption:
        """Which tokens are chosen to be guessed, and what becomes of them."""
        return corrupt(self.case.encoding, self.case.vocabulary, Recipe())

    def text(self) -> str:
        return (
            "BERT learned from plain text, without labels: some tokens are hidden, and the model predicts them, as "
            "in a [[cloze test]] (Taylor 1953). This is **masked language modelling** (MLM). In BERT, 15% of the "
            "tokens are selected for prediction."
        )

    def figure(self) -> None:
        token_line.draw([Line(tuple(Item((Cell(token),)) for token in self.tokens))], key="learn tokens")

    def ask(self) -> Choice:
        content, chosen = len(self.case.typed), len(self.drawn.positions)
        return Choice(
            f"Your text has {content} tokens, not counting special ones. How many are selected at 15%?",
            options.numbers(
                (chosen, f"15% of {content} is {0.15 * content:.2f}; rounded to a whole number, and at least one."),
                (0, "Then there would be nothing to learn from this text: at least one is selected."),
                (content, "A text of nothing but gaps leaves nothing to predict from."),
                (
                    max(2, content // 2) + (content // 2 == chosen),
                    "With half of the words gone, too little is left to predict from. BERT takes 15%.",
                ),
            ),
        )

    def reveal(self) -> None:
        drawn = self.drawn
        answers = engine().restore(self.case.model, self.case.text, drawn.ids, drawn.positions, 10)
        sentence = corrupted(self.case.encoding, drawn, self.case.vocabulary, answers, dark=is_dark())
        token_line.draw([legend(drawn, dark=is_dark()), sentence], key="learn hidden")
        st.caption("Below each selected token: the original, the prediction, and the loss.")

    def why(self) -> str:
        return (
            "Fewer gaps would give less signal per text, more would leave too little to predict from: 15% is the "
            "compromise of BERT’s authors (Devlin et al. 2019; their code also counts [CLS] and [SEP]). ModernBERT "
            "used 30% (Warner et al. 2024), and the bundled models 20%; RoBERTa selects new tokens each time a text "
            "is read (Liu et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"fate": [kind or "not selected" for kind in self.drawn.kinds]})


def _probability(answer: MaskPrediction) -> float:
    """The probability of the token that stands in the text."""
    assert answer.log_probability is not None
    return math.exp(answer.log_probability)


class Fates(GuessingStep):
    title = "80, 10, 10"
    sources = (DEVLIN,)
    after = Hidden

    @cached_property
    def fates(self) -> dict[Kind, tuple[str, MaskPrediction]]:
        """The followed token masked, replaced and kept: what the model is given there, and its answer."""
        place, vocabulary = self.followed, self.case.vocabulary
        if place not in self.case.typed:
            raise InvalidInput("That token was not typed, so there is nothing to predict. Follow another token.")
        fates: dict[Kind, tuple[str, MaskPrediction]] = {}
        for kind, ids in each_fate(self.case.encoding, vocabulary, place).items():
            (answer,) = engine().restore(self.case.model, self.case.text, ids, (place,), 10)
            fates[kind] = vocabulary.tokens[ids[place]], answer
        return fates

    def text(self) -> str:
        return (
            "Of the selected tokens 80% become [MASK], 10% become a random token, and 10% stay the same. All of them "
            "have to be predicted. Why not simply [MASK] for all?"
        )

    def ask(self) -> Choice:
        return Choice(
            "Why does a tenth of the selected tokens stay, and a tenth become random?",
            (
                Option(
                    "It saves work: fewer tokens have to be changed",
                    "A pass through the model costs the same, whatever the token is.",
                ),
                Option(
                    "[MASK] never occurs when the model is used, so it must not rely on it",
                    "That is the authors’ main reason: texts in fine-tuning have no [MASK]. And since any token may "
                    "be a wrong one, every vector has to say what its neighbours make likely.",
                    True,
                ),
                Option(
                    "The model should learn to write random words",
                    "The random token is never the answer: the original one is.",
                ),
                Option(
                    "The vocabulary has too few [MASK] tokens",
                    "One is enough: it can be used in as many places as needed.",
                ),
            ),
        )

    def reveal(self) -> None:
        fates = self.fates
        names = [f"{NAMES[kind]}: {token}" for kind, (token, _) in fates.items()]
        shares = [_probability(answer) for _, answer in fates.values()]
        label = f"probability of the original “{self.tokens[self.followed]}”"
        pictures.shares("fates", names, [(label, shares)])
        st.caption("The token that you follow, three times: masked, replaced by a random one, and unchanged.")

    def why(self) -> str:
        fates = self.fates
        masked, random, kept = (percent(_probability(answer)) for _, answer in fates.values())
        return (
            "Nothing tells an unchanged token from a random one, so each has to be checked against its neighbours: "
            f"on your sentence the model gives {self.token} {kept} where it is unchanged, {random} where "
            f"{quote(fates['random'][0])} replaces it, and {masked} at the mask (percentages from Devlin et al. "
            "2019)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "place": self.followed + 1,
                    "fate": kind,
                    "given": token,
                    "right": self.tokens[self.followed],
                    "probability": _probability(answer),
                    "loss": -(answer.log_probability or 0.0),
                }
                for kind, (token, answer) in self.fates.items()
            ]
        )


class Worked(GuessingStep):
    title = "What a wrong prediction costs"
    terms = ("cross-entropy", "logit", "loss")

    def text(self) -> str:
        pairs = ", ".join(f"{word} {logit:g}" for word, logit in zip(_WORDS, _LOGITS, strict=True))
        return (
            "A prediction starts as a list of [[logits|logit]], one for each token of the vocabulary; [[softmax]] "
            "turns them into probabilities. Take a vocabulary of six words and these logits at the gap of “the cat "
            f"[MASK] on the mat”: {pairs}. The right word is “sat”."
        )

    def figure(self) -> None:
        pictures.bars("logits", _WORDS, [("logit", _LOGITS)], written=".1f")

    def ask(self) -> Choice:
        total, plain = sum(map(math.exp, _LOGITS)), _LOGITS[_SAT] / sum(_LOGITS)
        right, loss = _GUESS.probabilities[_SAT], _GUESS.loss
        return Choice(
            "What is the probability of “sat”?",
            (
                Option(
                    f"{plain:.3f}",
                    f"4.0 of {sum(_LOGITS):.1f}, the sum of the logits; but softmax takes e to the power of each "
                    "first.",
                ),
                Option(
                    f"{right:.3f}",
                    f"e⁴ = 54.598, and all six together make {total:.3f}: the share is {right:.3f}, the loss "
                    f"{loss:.3f}.",
                    True,
                ),
                Option(
                    "1.000",
                    "That would leave 0 for the others. Softmax gives each of them a share, however small its logit.",
                ),
            ),
        )

    def reveal(self) -> None:
        pictures.shares("probabilities", _WORDS, [("probability", _GUESS.probabilities)], written=".3f", marked=_SAT)

    def why(self) -> str:
        unsure = guess([1.0 if place == _SAT else logit for place, logit in enumerate(_LOGITS)], _SAT)
        return (
            f"The [[loss]] is the [[cross-entropy]], −ln of the right word’s probability: {_GUESS.loss:.3f} here, and "
            f"{unsure.loss:.3f} if “sat” had a logit of 1.0 instead of 4.0. A confident right prediction is cheap, an "
            "unsure one is expensive."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {"word": _WORDS, "logit": _LOGITS, "probability": _GUESS.probabilities, "gradient": _GUESS.gradient}
        )


class Gradient(GuessingStep):
    title = "Which way to move"
    terms = ("gradient", "backpropagation")
    sources = (RUMELHART,)

    def text(self) -> str:
        step = self.step
        return (
            f"Now your sentence: {self.token} is masked and gets a probability of {step.answer.probability:.1%}, a "
            f"loss of {step.loss:.3f} nats. Learning asks about every number in the model: would the loss fall if it "
            "were a little larger, or a little smaller? That is the [[gradient]]."
        )

    def figure(self) -> None:
        step = self.step
        names = [token.token for token in step.tokens]
        pictures.shares("before", names, [("probability before", step.probabilities)], marked=0)

    def ask(self) -> Choice:
        step = self.step
        return Choice(
            f"How fast does the loss change with the logit of {self.token}, the right answer?",
            options.placed(
                2,
                Option(
                    "By the probability it has, minus 1",
                    f"{step.answer.probability:.3f} − 1 = {signed(step.gradient[0], 3)}: below 0, so a larger logit "
                    "means a smaller loss.",
                    True,
                ),
                Option(
                    "By the probability it has",
                    "That is true of wrong answers: their gradient is p − 0. For the right one it is p − 1.",
                ),
                Option(
                    "By 1 for the right one and 0 for all others",
                    "All logits share one sum, so every one of them matters.",
                ),
                Option("Not at all", "Only if it already had all of the probability."),
            ),
        )

    def reveal(self) -> None:
        step = self.step
        rows = zip(step.tokens, step.logits, step.gradient, strict=True)
        st.table(
            [
                {
                    "token": as_text(token.token),
                    "right?": "yes" if place == 0 else "no",
                    "logit": signed(logit, 3),
                    "p": f"{token.probability:.4f}",
                    "p − y": signed(gradient, 4),
                }
                for place, (token, logit, gradient) in enumerate(rows)
            ]
        )

    def why(self) -> str:
        step = self.step
        layers = dict(step.norms)
        largest = max(layers, key=layers.__getitem__)
        return (
            "The gradient for the logits is p − y, predicted minus right; from there [[backpropagation]] carries it "
            f"down to every weight (Rumelhart et al. 1986). Here it is largest in: {largest} ({layers[largest]:.2f})."
        )

    def numbers(self) -> pd.DataFrame:
        step = self.step
        return pd.DataFrame(
            {
                "token": [token.token for token in step.tokens],
                "logit": step.logits,
                "probability": step.probabilities,
                "gradient": step.gradient,
                "after a step by hand": step.by_hand,
                "after a step of all weights": step.after,
            }
        )


class OneStep(GuessingStep):
    title = "One step"
    terms = ("learning rate", "batch", "warm-up")
    sources = (DEVLIN,)

    def text(self) -> str:
        step = self.step
        return (
            f"One step: every weight moves against its gradient, by {_RATE} of it (the [[learning rate]]). For the "
            f"output layer alone you can compute it by hand: each logit falls by {_RATE} · (p − y) · (‖h‖² + 1), "
            f"where h is the layer’s input; ‖h‖² is {step.squared_length:.1f} here."
        )

    def figure(self) -> None:
        Gradient(self.case).figure()

    def ask(self) -> Sketch:
        step = self.step
        names = tuple(token.token for token in step.tokens[:_DRAWN])

        def reply(drawn: Sequence[float]) -> str:
            before, after = step.answer.probability, step.after[0]
            off = abs(drawn[0] - after)
            return (
                f"For the right token you drew {drawn[0]:.0%} and missed by {off:.0%}: it goes from {before:.1%} to "
                f"{after:.1%}. The loss goes from {step.loss:.3f} to {step.loss_after:.3f}."
            )

        return Sketch(
            f"Draw the probabilities after one step of all weights. The first, {quote(names[0])}, is right; it had "
            f"{step.answer.probability:.1%}.",
            names,
            tuple(step.after[:_DRAWN]),
            reply,
            unit="%",
        )

    def reveal(self) -> None:
        step = self.step
        names = [token.token for token in step.tokens[:_DRAWN]]
        series = [
            ("before", step.probabilities[:_DRAWN]),
            ("output layer alone, by hand", step.by_hand[:_DRAWN]),
            ("all weights", step.after[:_DRAWN]),
        ]
        pictures.shares("after", names, series)

    def why(self) -> str:
        step = self.step
        change = f"from {step.loss:.3f} to {step.loss_after:.3f}"
        effect = (
            f"the loss on this sentence falls {change}"
            if step.loss_after < step.loss
            else f"the loss goes {change}: this step was too large for this sentence"
        )
        return (
            f"A step follows the slope at one point: {effect}. BERT took a million steps, each on 256 sequences at "
            "once, with Adam and a learning rate that first warms up (Devlin et al. 2019), so no single sentence "
            "dominates."
        )

    def numbers(self) -> pd.DataFrame:
        return Gradient(self.case).numbers()


LESSON = Lesson(
    name="guessing",
    title="Filling the gaps",
    question="How did the model learn what it knows?",
    examples=(("The cat sat on the mat because it was tired.", ""), ("She looked at him and shook her head.", "")),
    controls=("token",),
    pages=("masked_words",),
    aims=(
        "explain masked language modelling, and why it needs no labels",
        "compute a cross-entropy loss by hand",
        "say what a gradient is and which way a step goes",
        "explain why not every selected token becomes [MASK]",
    ),
    terms=("masked language modelling",),
    steps=(
        Hidden,
        Fates,
        Worked,
        Gradient,
        OneStep,
        *recalled(
            "guess",
            Recall(
                "Who labels the training data for masked language modelling?",
                (
                    Option("Nobody: the hidden words are the answers", "So any text can be used.", True),
                    Option("People mark the right word", "That would be far too slow."),
                    Option("A larger model", "That is distillation."),
                ),
                "In masked language modelling some tokens are hidden and predicted from the rest, so plain text is "
                "enough.",
            ),
            Recall(
                "The right word gets a probability of 0.5. What is the loss?",
                (
                    Option("0.5", "The loss is not the probability."),
                    Option("−ln 0.5, about 0.69", "That is cross-entropy for one prediction.", True),
                    Option("1 − 0.5", "Cross-entropy takes the logarithm."),
                ),
                "The loss is minus the logarithm of the probability given to the right word: cross-entropy.",
            ),
            Recall(
                "Which way does training move a weight?",
                (
                    Option("Along its gradient", "That would make the loss larger."),
                    Option("Against its gradient", "Downhill on the loss.", True),
                    Option("Towards zero", "That is weight decay, a small addition."),
                ),
                "Backpropagation gives the gradient of the loss for every weight, and each step moves the weights a "
                "little against it.",
            ),
        ),
    ),
)
