"""Lesson 9: how a model learns by guessing hidden words: what is hidden, what a guess costs, one step of training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st

from analysis.corruption import Corruption, Kind, Recipe, corrupt, each_fate
from analysis.cross_entropy import guess
from model_zoo.errors import InvalidInput
from model_zoo.types import MaskPrediction, TrainingStep
from pages.learn import options
from pages.learn.case import Case
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures, token_line
from ui.messages import as_text
from viz.bars import bars
from viz.corruption import NAMES, corrupted, legend
from viz.predictions import percent
from viz.token_line import Cell, Item, Line
from web.engine import engine

_RATE: Final = 0.001
_WORDS: Final = ("the", "cat", "sat", "on", "mat", "dog")
_LOGITS: Final = (1.0, 0.5, 4.0, 2.0, 0.0, 1.5)
_SAT: Final = 2

_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_TAYLOR = Source("Taylor", 1953, "Cloze Procedure")
_LIU = Source("Liu et al.", 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach")
_RUMELHART = Source("Rumelhart et al.", 1986, "Learning representations by back-propagating errors")


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


# ---- what is hidden ---------------------------------------------------------------------------------------------


def _draw(case: Case) -> Corruption:
    return corrupt(case.encoding, engine().vocabulary(case.model), Recipe())


def _hidden_text(_case: Case) -> str:
    return (
        "BERT learned from plain text, without labels: hide some tokens and guess them, a game as old as the "
        "[[cloze test]] (Taylor 1953). That is **masked language modelling** (MLM). In BERT, 15% of the tokens are "
        "chosen to be guessed."
    )


def _hidden_ask(case: Case) -> Choice:
    mask, encoding = engine().vocabulary(case.model).mask_id, case.encoding
    pairs = zip(encoding.ids, encoding.special, strict=True)
    content = sum(not special and token != mask for token, special in pairs)
    chosen = len(_draw(case).positions)
    return Choice(
        f"Your text has {content} tokens that can be chosen. How many are, at 15%?",
        options.numbers(
            (chosen, f"15% of {content} is {0.15 * content:.2f}; rounded to a whole number, and at least one."),
            (0, "Then there would be nothing to learn from this text: at least one is chosen."),
            (content, "A text of nothing but gaps cannot be guessed from anything."),
            (
                max(2, content // 2) + (content // 2 == chosen),
                "With half of the words gone, too little is left to guess from. BERT takes 15%.",
            ),
        ),
    )


def _hidden_figure(case: Case) -> None:
    token_line.draw([Line(tuple(Item((Cell(token),)) for token in case.encoding.tokens))], key="learn tokens")


def _hidden_reveal(case: Case) -> None:
    drawn = _draw(case)
    vocabulary = engine().vocabulary(case.model)
    answers = engine().restore(case.model, case.text, drawn.ids, drawn.positions, 10)
    sentence = corrupted(case.encoding, drawn, vocabulary, answers, dark=case.dark)
    token_line.draw([legend(drawn, dark=case.dark), sentence], key="learn hidden")
    st.caption("Under a chosen token: what stood there, what the model answers, and what that costs.")


def _hidden_why(_case: Case) -> str:
    return (
        "Fewer gaps would mean fewer lessons a text, more would leave too little to guess from: 15% is a compromise "
        "that BERT’s authors settled on (Devlin et al. 2019); RoBERTa draws new gaps each time a text is read (Liu et "
        "al. 2019)."
    )


def _hidden_numbers(case: Case) -> pd.DataFrame:
    drawn = _draw(case)
    return pd.DataFrame(
        {
            "place": range(1, len(case.encoding) + 1),
            "token": case.encoding.tokens,
            "fate": [kind or "not chosen" for kind in drawn.kinds],
        }
    )


# ---- 80, 10, 10 -------------------------------------------------------------------------------------------------


def _fates_text(_case: Case) -> str:
    return (
        "Of the chosen tokens 80% become [MASK], 10% become a random token, and 10% stay as they are. All of them "
        "have to be guessed. Why not simply [MASK] for all?"
    )


def _fates(case: Case) -> dict[Kind, tuple[str, MaskPrediction]]:
    """The followed token masked, replaced and kept: what the model is given there, and its answer."""
    encoding, place, vocabulary = case.encoding, case.followed, engine().vocabulary(case.model)
    if encoding.special[place] or encoding.ids[place] == vocabulary.mask_id:
        raise InvalidInput("Nobody typed a word there, so there is none to guess. Follow another token.")
    found: dict[Kind, tuple[str, MaskPrediction]] = {}
    for kind, ids in each_fate(encoding, vocabulary, place).items():
        (answer,) = engine().restore(case.model, case.text, ids, (place,), 10)
        found[kind] = vocabulary.tokens[ids[place]], answer
    return found


def _probability(answer: MaskPrediction) -> float:
    """Of the token that stands in the text."""
    assert answer.log_probability is not None
    return math.exp(answer.log_probability)


def _fates_ask(_case: Case) -> Choice:
    return Choice(
        "Why does a tenth of the chosen tokens stay, and a tenth become random?",
        (
            Option(
                "It saves work: fewer tokens have to be changed",
                "A pass through the model costs the same, whatever stands there.",
            ),
            Option(
                "The model cannot tell which tokens to trust",
                "Any token may be a wrong one, so every vector has to say what its neighbours make likely. Asked at "
                "[MASK] alone, a model could neglect all other places, and texts in use have no [MASK].",
                True,
            ),
            Option(
                "The model should learn to write random words",
                "The random token is never the answer: the one that stood there is.",
            ),
            Option(
                "The vocabulary has too few [MASK] tokens",
                "One is enough: it can stand in as many places as one likes.",
            ),
        ),
    )


def _fates_reveal(case: Case) -> None:
    found = _fates(case)
    names = [f"{NAMES[kind]}: {given}" for kind, (given, _) in found.items()]
    shares = [_probability(answer) for _, answer in found.values()]
    what = f"probability of “{case.encoding.tokens[case.followed]}”, which is right"
    figures.show(bars(names, [(what, shares)], top=1, written=".1%", dark=case.dark), "learn fates", "fates")
    st.caption("The token that you follow, three times: masked, replaced by one drawn at random, and left as it is.")


def _fates_why(case: Case) -> str:
    found = _fates(case)
    masked, random, kept = (percent(_probability(answer)) for _, answer in found.values())
    return (
        "Nothing tells a kept token from a random one, so each has to be checked against its neighbours: on your "
        f"sentence the model gives {_token(case)} {kept} where it stands, {random} where "
        f"{quoted(found['random'][0])} stands instead, and {masked} at the mask (shares from Devlin et al. 2019)."
    )


def _fates_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "place": case.followed + 1,
                "fate": kind,
                "given": given,
                "right": case.encoding.tokens[case.followed],
                "probability": _probability(answer),
                "loss": -(answer.log_probability or 0.0),
            }
            for kind, (given, answer) in _fates(case).items()
        ]
    )


# ---- the course's example ---------------------------------------------------------------------------------------


def _worked_text(_case: Case) -> str:
    pairs = ", ".join(f"{word} {logit:g}" for word, logit in zip(_WORDS, _LOGITS, strict=True))
    return (
        "A guess is a list of [[logits|logit]], one a token; [[softmax]] makes probabilities of them. A vocabulary "
        f"of six words, and at the gap of “the cat [MASK] on the mat” the logits: {pairs}. The right word is “sat”."
    )


def _worked_ask(_case: Case) -> Choice:
    found = guess(_LOGITS, _SAT)
    total = sum(map(math.exp, _LOGITS))
    plain = _LOGITS[_SAT] / sum(_LOGITS)
    right = found.probabilities[_SAT]
    return Choice(
        "What is the probability of “sat”?",
        (
            Option(
                f"{plain:.3f}",
                f"4.0 of {sum(_LOGITS):.1f}, the sum of the logits; but softmax takes e to the power of each first.",
            ),
            Option(
                f"{right:.3f}",
                f"e⁴ = 54.598, and all six together make {total:.3f}: the share is {right:.3f}, the loss "
                f"{found.loss:.3f}.",
                True,
            ),
            Option(
                "0.797",
                f"Some course notes say so, with a loss of 0.227. Add it up: 54.598 of {total:.3f} is {right:.3f}, and "
                f"−ln of that is {found.loss:.3f}.",
            ),
            Option(
                "1.000",
                "That would leave 0 to the others. Softmax gives each of them a share, however small its logit.",
            ),
        ),
    )


def _worked_figure(case: Case) -> None:
    figures.show(bars(_WORDS, [("logit", _LOGITS)], written=".1f", dark=case.dark), "learn worked", "logits")


def _worked_reveal(case: Case) -> None:
    found = guess(_LOGITS, _SAT)
    figures.show(
        bars(_WORDS, [("probability", found.probabilities)], top=1, written=".3f", marked=_SAT, dark=case.dark),
        "learn worked",
        "probabilities",
    )


def _worked_why(_case: Case) -> str:
    sure = guess(_LOGITS, _SAT)
    unsure = guess([1.0 if place == _SAT else logit for place, logit in enumerate(_LOGITS)], _SAT)
    return (
        f"The [[loss]] is −ln of the right word’s probability: {sure.loss:.3f} here, and {unsure.loss:.3f} if “sat” "
        "had a logit of 1.0 instead of 4.0, so a sure right guess is cheap and an unsure one dear."
    )


def _worked_numbers(_case: Case) -> pd.DataFrame:
    found = guess(_LOGITS, _SAT)
    return pd.DataFrame(
        {"word": _WORDS, "logit": _LOGITS, "probability": found.probabilities, "gradient": found.gradient}
    )


# ---- loss and gradient on the visitor's sentence ----------------------------------------------------------------


def _step(case: Case) -> TrainingStep:
    return engine().take_step(case.model, case.text, case.followed, rate=_RATE)


def _push_text(case: Case) -> str:
    found = _step(case)
    return (
        f"Now your sentence: {_token(case)} is hidden and has a probability of {found.answer.probability:.1%}, a loss "
        f"of {found.loss:.3f} nats. Learning asks of every number in the model: would the loss fall if it were a "
        "little larger, or smaller? That is the [[gradient]]."
    )


def _push_ask(case: Case) -> Choice:
    found = _step(case)
    push = found.gradient[0]
    return Choice(
        f"By how much does the loss change for a small change of the logit of {_token(case)}, the right answer?",
        options.placed(
            2,
            Option(
                "By the probability it has, minus 1",
                f"{found.answer.probability:.3f} − 1 = {_signed(push)}: below 0, so a larger logit means a smaller "
                "loss.",
                True,
            ),
            Option(
                "By the probability it has",
                "So it is for wrong answers: their push is p − 0. For the right one it is p − 1.",
            ),
            Option(
                "By 1 for the right one and 0 for all others", "All logits share one sum, so every one of them matters."
            ),
            Option("Not at all", "It would be so only if it had all of the probability already."),
        ),
    )


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _push_figure(case: Case) -> None:
    found = _step(case)
    names = [token.token for token in found.tokens]
    figures.show(
        bars(names, [("probability before", found.probabilities)], top=1, written=".1%", marked=0, dark=case.dark),
        "learn step",
        "before",
    )


def _push_reveal(case: Case) -> None:
    found = _step(case)
    st.table(
        [
            {
                "token": as_text(token.token),
                "right?": "yes" if place == 0 else "no",
                "logit": _signed(logit),
                "p": f"{token.probability:.4f}",
                "p − y": f"{gradient:.4f}".replace("-", "−"),
            }
            for place, (token, logit, gradient) in enumerate(
                zip(found.tokens, found.logits, found.gradient, strict=True)
            )
        ]
    )


def _push_why(case: Case) -> str:
    found = _step(case)
    layers = dict(found.norms)
    largest = max(layers, key=layers.__getitem__)
    return (
        "The gradient by the logits is p − y, what was guessed minus what was right; from there [[backpropagation]] "
        f"carries it down to every weight (Rumelhart et al. 1986), and here it is longest in: {largest} "
        f"({layers[largest]:.2f})."
    )


def _push_numbers(case: Case) -> pd.DataFrame:
    found = _step(case)
    return pd.DataFrame(
        {
            "token": [token.token for token in found.tokens],
            "logit": found.logits,
            "probability": found.probabilities,
            "gradient": found.gradient,
            "after a step by hand": found.by_hand,
            "after a step of all weights": found.after,
        }
    )


# ---- the step ---------------------------------------------------------------------------------------------------


def _after_text(case: Case) -> str:
    found = _step(case)
    return (
        f"One step: every weight moves against its gradient, {_RATE} of it (the [[learning rate]]). For the output "
        f"layer alone one can do it by hand: each logit falls by {_RATE} · (p − y) · (‖h‖² + 1), and ‖h‖² is "
        f"{found.squared_length:.1f} here, h being the vector that the layer multiplies."
    )


def _after_ask(case: Case) -> Sketch:
    found = _step(case)
    names = [token.token for token in found.tokens[:6]]
    truth = found.after[:6]

    def reply(drawn: Sequence[float]) -> str:
        before, after = found.answer.probability, found.after[0]
        off = abs(drawn[0] - after)
        return (
            f"For the right one you drew {drawn[0]:.0%}, {off:.0%} off: it goes from {before:.1%} to {after:.1%}. "
            f"The loss goes from {found.loss:.3f} to {found.loss_after:.3f}."
        )

    return Sketch(
        f"Draw the probabilities after one step of all weights. The first, {quoted(names[0])}, is right; it had "
        f"{found.answer.probability:.1%}.",
        tuple(names),
        tuple(truth),
        reply,
        unit="%",
    )


def _after_reveal(case: Case) -> None:
    found = _step(case)
    names = [token.token for token in found.tokens[:6]]
    series = [
        ("before", found.probabilities[:6]),
        ("output layer alone, by hand", found.by_hand[:6]),
        ("all weights", found.after[:6]),
    ]
    figures.show(bars(names, series, top=1, written=".1%", dark=case.dark), "learn step", "after")


def _after_why(case: Case) -> str:
    found = _step(case)
    if found.loss_after < found.loss:
        said = f"the loss falls from {found.loss:.3f} to {found.loss_after:.3f} on this very sentence"
    else:
        said = (
            f"the loss goes from {found.loss:.3f} to {found.loss_after:.3f}: this step was too long for this sentence"
        )
    return (
        f"A step follows the slope at one point: {said}; pretraining is hundreds of thousands of such steps, each on "
        "many texts at once, so that no single sentence is learned by heart."
    )


LESSON = Lesson(
    name="guessing",
    title="Learning by guessing",
    question="How did the model learn what it knows?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("She looked at him and shook her head.", ""),
    ),
    controls=("token",),
    pages=("masked_words",),
    steps=(
        Step(
            title="Fifteen percent",
            at="guess",
            text=_hidden_text,
            figure=_hidden_figure,
            ask=_hidden_ask,
            reveal=_hidden_reveal,
            why=_hidden_why,
            numbers=_hidden_numbers,
            sources=(_TAYLOR, _DEVLIN, _LIU),
        ),
        Step(
            title="80, 10, 10",
            at="guess",
            text=_fates_text,
            figure=_hidden_reveal,
            ask=_fates_ask,
            reveal=_fates_reveal,
            why=_fates_why,
            numbers=_fates_numbers,
            sources=(_DEVLIN,),
        ),
        Step(
            title="What a guess costs",
            at="guess",
            text=_worked_text,
            figure=_worked_figure,
            ask=_worked_ask,
            reveal=_worked_reveal,
            why=_worked_why,
            numbers=_worked_numbers,
        ),
        Step(
            title="Which way to push",
            at="guess",
            text=_push_text,
            figure=_push_figure,
            ask=_push_ask,
            reveal=_push_reveal,
            why=_push_why,
            numbers=_push_numbers,
            sources=(_RUMELHART,),
        ),
        Step(
            title="One step",
            at="guess",
            text=_after_text,
            figure=_push_figure,
            ask=_after_ask,
            reveal=_after_reveal,
            why=_after_why,
            numbers=_push_numbers,
            sources=(_DEVLIN,),
        ),
    ),
)
