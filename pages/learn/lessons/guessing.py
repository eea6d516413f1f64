"""How a model learns by guessing hidden words: what is hidden, what a guess costs, one step of training."""

from __future__ import annotations

import math
from typing import ClassVar, Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.corruption import Corruption, Kind, Recipe, corrupt, each_fate
from analysis.softmax import guess
from model_zoo.errors import InvalidInput
from model_zoo.types import MaskPrediction, TrainingStep, signed
from pages.learn import pictures
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from ui import as_text, is_dark, token_line
from viz.corruption import NAMES, corrupted, legend
from viz.layout import percent
from viz.token_line import Cell, Item, Line
from web.engine import engine

_DRAWN: Final = 6  # best guesses, which one draws over
_WORDS: Final = ("the", "cat", "sat", "on", "mat", "dog")
_LOGITS: Final = (1.0, 0.5, 4.0, 2.0, 0.0, 1.5)
_SAT: Final = 2
_GUESS: Final = guess(_LOGITS, _SAT)


class GuessingStep(Step):
    """A step about hidden words, and what is learned from the followed one."""

    rate: ClassVar[float] = 0.001

    @property
    def step(self) -> TrainingStep:
        """One step of training on the followed token."""
        return engine().take_step(self.case.model, self.case.text, self.followed, rate=self.rate)


class Hidden(GuessingStep):
    @property
    def drawn(self) -> Corruption:
        """Which tokens are chosen to be guessed, and what becomes of them."""
        return corrupt(self.case.encoding, self.case.vocabulary, Recipe())

    def figure(self) -> None:
        token_line.draw([Line(tuple(Item((Cell(token),)) for token in self.tokens))], key="learn-tokens")

    def ask(self) -> Choice:
        content, chosen = len(self.case.typed), len(self.drawn.positions)
        return self.choice(
            content=content, chosen=chosen, share=0.15 * content, half=max(2, content // 2) + (content // 2 == chosen)
        )

    def reveal(self) -> None:
        drawn = self.drawn
        answers = engine().restore(self.case.model, self.case.text, drawn.ids, drawn.positions, 10)
        sentence = corrupted(self.case.encoding, drawn, self.case.vocabulary, answers, dark=is_dark())
        token_line.draw([legend(drawn, dark=is_dark()), sentence], key="learn-hidden")
        st.caption("Below each selected token: the original, the prediction, and the loss.")

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"fate": [kind or "not selected" for kind in self.drawn.kinds]})


def _probability(answer: MaskPrediction) -> float:
    """The probability of the token that stands in the text."""
    assert answer.log_probability is not None
    return math.exp(answer.log_probability)


class Fates(GuessingStep):
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

    def reveal(self) -> None:
        table = self.numbers()
        names = [f"{NAMES[kind]}: {token}" for kind, (token, _) in self.fates.items()]
        label = f"probability of the original “{self.tokens[self.followed]}”"
        pictures.shares("fates", {"fate": names, label: table["probability"]})
        st.caption("The token that you follow, three times: masked, replaced by a random one, and unchanged.")

    def why(self) -> str:
        fates = self.fates
        masked, random, kept = (percent(_probability(answer)) for _, answer in fates.values())
        return self.say("why", kept=kept, random=random, fates=fates, masked=masked)

    def numbers(self) -> pd.DataFrame:
        rows = [
            (kind, token, self.tokens[self.followed], _probability(answer), -(answer.log_probability or 0.0))
            for kind, (token, answer) in self.fates.items()
        ]
        table = pd.DataFrame(rows, columns=["fate", "given", "right", "probability", "loss"])
        table.insert(0, "place", self.followed + 1)
        return table


class Worked(GuessingStep):
    def text(self) -> str:
        pairs = ", ".join(f"{word} {logit:g}" for word, logit in zip(_WORDS, _LOGITS, strict=True))
        return self.say("text", pairs=pairs)

    def figure(self) -> None:
        pictures.bars("logits", {"word": _WORDS, "logit": _LOGITS}, written=".1f")

    def ask(self) -> Choice:
        total, plain = sum(map(math.exp, _LOGITS)), _LOGITS[_SAT] / sum(_LOGITS)
        right, loss = _GUESS.probabilities[_SAT], _GUESS.loss
        return self.choice(plain=plain, sum_of_logits=sum(_LOGITS), right=right, total=total, loss=loss)

    def reveal(self) -> None:
        pictures.shares("probabilities", self.numbers()[["word", "probability"]], written=".3f", marked=_SAT)

    def why(self) -> str:
        unsure = guess([1.0 if place == _SAT else logit for place, logit in enumerate(_LOGITS)], _SAT)
        return self.say("why", guess=_GUESS, unsure=unsure)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {"word": _WORDS, "logit": _LOGITS, "probability": _GUESS.probabilities, "gradient": _GUESS.gradient}
        )


class Gradient(GuessingStep):
    def figure(self) -> None:
        table = self.numbers()[["token", "probability"]].rename(columns={"probability": "probability before"})
        pictures.shares("before", table, marked=0)

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
        return self.say("why", largest=largest, length=layers[largest])

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


class OneStep(Gradient):
    def ask(self) -> Sketch:
        table = self.numbers()[:_DRAWN]
        return self.sketch(table["token"], table["after a step of all weights"], unit="%")

    def reveal(self) -> None:
        step = self.step
        columns = {
            "token": [token.token for token in step.tokens[:_DRAWN]],
            "before": step.probabilities[:_DRAWN],
            "output layer alone, by hand": step.by_hand[:_DRAWN],
            "all weights": step.after[:_DRAWN],
        }
        pictures.shares("after", columns)

    def why(self) -> str:
        falls = self.step.loss_after < self.step.loss
        return self.say("why", effect=self.say("loss_falls" if falls else "loss_rises"))


LESSON = read_lesson(__file__, Hidden, Fates, Worked, Gradient, OneStep)
