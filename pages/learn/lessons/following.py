"""Lesson 10: does one sentence follow another: what BERT sees of two, its answer, and the shortcut it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo import DEFAULT_MODEL, heldout, registry
from model_zoo.errors import InvalidInput
from model_zoo.types import SentenceScore
from pages.learn import options
from pages.learn.case import Case, name_of
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures, token_line
from ui.messages import as_text
from viz.bars import bars
from viz.predictions import percent
from viz.sentence_input import sentence_input
from web.engine import engine

_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_LIU = Source("Liu et al.", 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach")
_LAN = Source("Lan et al.", 2020, "ALBERT: A Lite BERT for Self-supervised Learning")

_ASKED: Final = 30  # pairs of the built-in set, one a subject
_ALIKE: Final = 0.05


def _model(case: Case) -> str:
    """The visitor's model where it judges pairs, else the one that ships with the app."""
    return DEFAULT_MODEL if engine().why_not(case.model, "nsp") is not None else case.model


def _said_of(case: Case) -> str:
    """A sentence that says so where another model answers; "" where it is the visitor's."""
    if _model(case) == case.model:
        return ""
    return f" {_name(case.model)} does not judge pairs, so {_name(DEFAULT_MODEL)} answers here."


def _name(model: str) -> str:
    return as_text(name_of(model))


def _pair(case: Case) -> tuple[str, str]:
    if case.pair is None:
        raise InvalidInput("This lesson is about two sentences. Type a second one, or take an example.")
    return case.text, case.pair


def _score(case: Case, a: str, b: str) -> SentenceScore:
    return engine().next_sentence(_model(case), a, b)


# ---- what BERT sees ---------------------------------------------------------------------------------------------


def _seen_text(case: Case) -> str:
    return (
        "BERT’s second task in training: two sentences, and the question whether the second came next in a text. Half "
        "of the pairs were real, half had a random second sentence: **next-sentence prediction** (NSP). Both enter as "
        f"one row of tokens.{_said_of(case)}"
    )


def _seen_ask(case: Case) -> Choice:
    a, b = _pair(case)
    encoding = engine().encode(_model(case), a, b)
    special = sum(encoding.special)
    return Choice(
        "How many tokens are added to those of the two sentences?",
        options.numbers(
            (special, "[CLS] in front, and [SEP] behind each sentence: so BERT frames a pair."),
            (1, "One is not enough to tell where the first sentence ends and the second begins."),
            (2, "One in front and one in between would do. BERT puts one at the end, too."),
            (0, "Then nothing would tell the two sentences apart."),
            (len(encoding), "That is how many tokens there are in all."),
        ),
    )


def _seen_figure(case: Case) -> None:
    a, b = _pair(case)
    st.markdown(f"A: {quoted(a)}\n\nB: {quoted(b)}")


def _seen_reveal(case: Case) -> None:
    a, b = _pair(case)
    encoding = engine().encode(_model(case), a, b)
    token_line.draw([sentence_input(encoding, dark=case.dark)], key="learn input")
    st.caption("Under a token: the sentence it belongs to, and its position. There is a vector for each of the three.")


def _seen_why(case: Case) -> str:
    segments = len(set(engine().encode(_model(case), *_pair(case)).segment_ids))
    told = (
        "A [[segment]] vector is added to each token’s embedding, one for A and one for B"
        if segments > 1
        else "This model is not told by [[segments|segment]] which of the two a token belongs to"
    )
    return (
        f"{told}, and a small head is given the vector of [CLS] after the last layer: it makes two numbers of it, “is "
        "next” and “is not”, and [[softmax]] makes shares of these."
    )


def _seen_numbers(case: Case) -> pd.DataFrame:
    a, b = _pair(case)
    encoding = engine().encode(_model(case), a, b)
    return pd.DataFrame(
        {"place": range(1, len(encoding) + 1), "token": encoding.tokens, "segment": encoding.segment_ids}
    )


# ---- the answer -------------------------------------------------------------------------------------------------


def _answer_text(case: Case) -> str:
    return (
        "Now the model answers for your two sentences. A probability near 1 means: such pairs were next to each "
        f"other in training. It does not mean that the model has understood a story.{_said_of(case)}"
    )


_RANGES: Final = (
    (0.1, "Below 10%", "a clear no"),
    (0.5, "10% to 50%", "a doubtful no"),
    (0.9, "50% to 90%", "a doubtful yes"),
    (float("inf"), "90% or more", "a clear yes"),
)


def _answer_ask(case: Case) -> Choice:
    p = _score(case, *_pair(case)).p_next
    right = next(place for place, (below, *_) in enumerate(_RANGES) if p < below)
    told = f"It says {percent(p)}, {_RANGES[right][2]}."
    other = f"{told} To the model the two fit {{}} than you took them to."
    return Choice(
        "How probable does the model find it that B follows A?",
        tuple(
            Option(
                name,
                told if place == right else other.format("better" if place < right else "less well"),
                place == right,
            )
            for place, (_, name, _) in enumerate(_RANGES)
        ),
    )


def _answer_reveal(case: Case) -> None:
    score = _score(case, *_pair(case))
    figures.show(
        bars(
            ["is next", "is not"],
            [("probability", [score.p_next, 1 - score.p_next])],
            top=1,
            written=".1%",
            dark=case.dark,
        ),
        "learn next",
        "next",
    )


def _answer_why(case: Case) -> str:
    score, found = _score(case, *_pair(case)), _measured(_model(case))
    yes, no = score.logits
    return (
        f"The head gives two [[logits|logit]], {_signed(yes)} and {_signed(no)}, and their difference of "
        f"{_signed(yes - no)} alone makes the {percent(score.p_next)}; of {found.n} pairs of ours that do follow, "
        f"{found.doubted} get between 10% and 90%, so look at how sure it is, too."
    )


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _answer_numbers(case: Case) -> pd.DataFrame:
    a, b = _pair(case)
    found = [("A, B", _score(case, a, b)), ("B, A", _score(case, b, a))]
    return pd.DataFrame(
        [
            {"order": name, "p next": s.p_next, "logit is next": s.logits[0], "logit is not": s.logits[1]}
            for name, s in found
        ]
    )


# ---- swapped ----------------------------------------------------------------------------------------------------


def _swap_text(case: Case) -> str:
    return (
        "If the model judged what comes after what, the order would matter. Swap the two: B first, then A. In a story "
        f"with a cause and an effect, that is another claim.{_said_of(case)}"
    )


def _swap_ask(case: Case) -> Choice:
    a, b = _pair(case)
    there, back = _score(case, a, b).p_next, _score(case, b, a).p_next
    change = back - there
    told = f"It goes from {percent(there)} to {percent(back)}."
    return Choice(
        "What happens to the probability when the two are swapped?",
        (
            Option(
                "It falls by more than 5 points",
                f"{told} Here the order plays a part."
                if change < -_ALIKE
                else f"{told} So it would be if the order had been learned; the subject is the same either way.",
                change < -_ALIKE,
            ),
            Option(
                "It stays within 5 points",
                f"{told} The subject is the same either way."
                if -_ALIKE <= change <= _ALIKE
                else f"{told} The subject is the same either way, and still something told the two orders apart.",
                -_ALIKE <= change <= _ALIKE,
            ),
            Option(
                "It rises by more than 5 points",
                f"{told} The model finds the wrong order the more probable one."
                if change > _ALIKE
                else f"{told} Then it would prefer the other order, and here it does not.",
                change > _ALIKE,
            ),
        ),
    )


def _swap_reveal(case: Case) -> None:
    a, b = _pair(case)
    shares = [_score(case, a, b).p_next, _score(case, b, a).p_next]
    figures.show(
        bars(["A, then B", "B, then A"], [("P(next)", shares)], top=1, written=".1%", dark=case.dark),
        "learn next",
        "swapped",
    )


def _swap_why(case: Case) -> str:
    found = _measured(_model(case))
    return (
        "In training the wrong sentence came from anywhere, never from the same place in the wrong order; on "
        f"{found.n} pairs written for this app, {found.true} get more than 50% in their order and {found.swapped} when "
        "swapped."
    )


# ---- the shortcut -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """Of ``n`` built-in pairs, how many get more than 50%: the true ones, swapped ones, ones with a second sentence of
    another pair on the same subject, and of another subject. ``doubted`` are the true ones between 10% and 90%.
    """

    n: int
    doubted: int
    true: int
    swapped: int
    same_subject: int
    other_subject: int


@cache
def _sets() -> tuple[tuple[tuple[str, str], ...], ...]:
    """True, swapped, same subject, other subject: the same first sentences in each."""
    pairs = heldout.written_pairs()
    step = len(pairs) // _ASKED
    chosen = range(0, step * _ASKED, step)
    true, same, other = [], [], []
    for place in chosen:
        pair = pairs[place]
        alike = [one for one in pairs if one.subject == pair.subject and one is not pair]
        far = pairs[(place + len(pairs) // 2) % len(pairs)]
        true.append((pair.first, pair.second))
        same.append((pair.first, alike[place % len(alike)].second))
        other.append((pair.first, far.second))
    return tuple(true), tuple((b, a) for a, b in true), tuple(same), tuple(other)


def _measured(model: str) -> _Found:
    """What a model says of them; the engine remembers its answers."""
    asked = [pair for pairs in _sets() for pair in pairs]
    found = np.array([score.p_next for score in engine().next_sentence(model, asked)]).reshape(-1, _ASKED)
    doubted = int(((found[0] >= _RANGES[0][0]) & (found[0] < _RANGES[2][0])).sum())
    return _Found(_ASKED, doubted, *(int(count) for count in (found > 0.5).sum(axis=1)))


_KINDS: Final = ("true next sentence", "the two swapped", "same subject", "another subject")


def _shares(found: _Found) -> tuple[float, ...]:
    return tuple(count / found.n for count in (found.true, found.swapped, found.same_subject, found.other_subject))


def _topic_text(case: Case) -> str:
    return (
        f"What does the model go by? We take {_ASKED} pairs written for this app: as they are; **swapped**; with the "
        "second sentence of another pair on the **same subject**; with one on **another subject**. Only the first kind "
        f"follows.{_said_of(case)}"
    )


def _topic_ask(case: Case) -> Sketch:
    truth = _shares(_measured(_model(case)))

    def reply(drawn: Sequence[float]) -> str:
        off = [abs(guess - share) for guess, share in zip(drawn, truth, strict=True)]
        worst = off.index(max(off))
        said = (
            "You are within 10 points everywhere."
            if max(off) <= 0.1
            else f"You are farthest off at “{_KINDS[worst]}”: you drew {drawn[worst]:.0%}, it is {truth[worst]:.0%}."
        )
        return f"{said} A judge of order would have 100% at the first and 0% at all others."

    return Sketch("Draw how many of the pairs get more than 50%.", _KINDS, truth, reply, unit="%")


def _topic_figure(_case: Case) -> None:
    st.table([{"kind": kind, "A": pairs[0][0], "B": pairs[0][1]} for kind, pairs in zip(_KINDS, _sets(), strict=True)])


def _topic_reveal(case: Case) -> None:
    found = _measured(_model(case))
    what = f"share of {found.n} pairs that get more than 50%"
    figures.show(bars(_KINDS, [(what, _shares(found))], top=1, written=".0%", dark=case.dark), "learn next", "shortcut")


def _topic_why(case: Case) -> str:
    found = _measured(_model(case))
    return (
        "In training a random sentence is mostly about something else, so telling subjects apart does for most pairs: "
        f"of ours on one subject, of which none follows, {found.same_subject} of {found.n} get more than 50%, of those "
        f"on another subject {found.other_subject}, of the true ones {found.true}."
    )


def _topic_numbers(case: Case) -> pd.DataFrame:
    asked = [(kind, a, b) for kind, pairs in zip(_KINDS, _sets(), strict=True) for a, b in pairs]
    scores = engine().next_sentence(_model(case), [(a, b) for _, a, b in asked])
    return pd.DataFrame(asked, columns=["kind", "A", "B"]).assign(**{"p next": [score.p_next for score in scores]})


# ---- RoBERTa and ALBERT -----------------------------------------------------------------------------------------


def _later_text(_case: Case) -> str:
    return (
        "Later models drew their conclusions. RoBERTa’s authors trained without the task and found that on whole "
        "documents it helped little or not at all. ALBERT’s authors found it too easy, and replaced it."
    )


def _later_ask(_case: Case) -> Choice:
    return Choice(
        "By which task did ALBERT replace next-sentence prediction?",
        options.placed(
            1,
            Option(
                "Two sentences of one text: in their order, or swapped?",
                "Sentence order (SOP): both are on one subject, so the subject gives nothing away.",
                True,
            ),
            Option("Two sentences of two texts: which is older?", "The subject would give away which text is which."),
            Option("No task: hidden words alone", "That is what RoBERTa did."),
            Option(
                "Three sentences: which is the odd one out?",
                "The odd one would be about something else: the shortcut again.",
            ),
        ),
    )


_NAMED: Final = ("google-bert/bert-base-uncased", "FacebookAI/roberta-base", "albert/albert-base-v2")


def _rows(case: Case) -> pd.DataFrame:
    """What each model on this machine that judges pairs says of this one; and of BERT, RoBERTa and ALBERT why they say
    nothing, where they do not.
    """
    a, b = _pair(case)
    rows = []
    for model, spec in registry.MODELS.items():
        here = engine().has(model)
        if model not in _NAMED and not (here and spec.nsp):
            continue
        share, said = None, f"Not on this machine. {spec.note}"
        if here:
            said = engine().why_not(model, "nsp") or ""
            share = engine().next_sentence(model, a, b).p_next if not said else None
        rows.append({"model": name_of(model), "asked about": spec.nsp or "nothing", "p": share, "why none": said})
    return pd.DataFrame(rows)


def _later_reveal(case: Case) -> None:
    rows = _rows(case)
    here = rows[rows["p"].notna()]
    figures.show(
        bars(
            [f"{row['model']} ({row['asked about']})" for _, row in here.iterrows()],
            [("probability, for your pair", here["p"].tolist())],
            top=1,
            written=".1%",
            dark=case.dark,
        ),
        "learn next",
        "models",
    )
    others = rows[rows["p"].isna()]
    if len(others):
        st.table(
            [{"model": as_text(row["model"]), "no answer": as_text(row["why none"])} for _, row in others.iterrows()]
        )


def _later_why(_case: Case) -> str:
    return (
        "A task teaches what it takes to solve it and no more: with a shortcut by subject, little about order is "
        "learned (Lan et al. 2020), and RoBERTa did as well or better on full-length texts without it (Liu et al. "
        "2019)."
    )


def _later_numbers(case: Case) -> pd.DataFrame:
    return _rows(case)


LESSON = Lesson(
    name="following",
    title="Does it follow?",
    question="What did BERT learn from pairs of sentences?",
    examples=(
        ("She opened the window.", "Cold air came into the room."),
        ("She opened the window.", "The window of the shop was full of toys."),
        ("The dog ran into the garden.", "The parliament passed the law in May."),
    ),
    paired=True,
    pages=("next_sentence",),
    steps=(
        Step(
            title="Two sentences in one row",
            at="embeddings",
            text=_seen_text,
            figure=_seen_figure,
            ask=_seen_ask,
            reveal=_seen_reveal,
            why=_seen_why,
            numbers=_seen_numbers,
            sources=(_DEVLIN,),
        ),
        Step(
            title="Is it next?",
            at="guess",
            text=_answer_text,
            figure=_seen_figure,
            ask=_answer_ask,
            reveal=_answer_reveal,
            why=_answer_why,
            numbers=_answer_numbers,
        ),
        Step(
            title="Swapped",
            at="guess",
            text=_swap_text,
            figure=_answer_reveal,
            ask=_swap_ask,
            reveal=_swap_reveal,
            why=_swap_why,
            numbers=_answer_numbers,
        ),
        Step(
            title="The shortcut",
            at="guess",
            text=_topic_text,
            figure=_topic_figure,
            ask=_topic_ask,
            reveal=_topic_reveal,
            why=_topic_why,
            numbers=_topic_numbers,
            sources=(_LAN,),
        ),
        Step(
            title="What came after",
            at="guess",
            text=_later_text,
            figure=_seen_figure,
            ask=_later_ask,
            reveal=_later_reveal,
            why=_later_why,
            numbers=_later_numbers,
            sources=(_LIU, _LAN),
        ),
    ),
)
