"""Lesson 10: does one sentence follow another: what BERT sees of two, its answer, and the shortcut it takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import pandas as pd
import streamlit as st

from model_zoo import DEFAULT_MODEL, heldout, registry, sources
from model_zoo.errors import InvalidInput
from model_zoo.types import SentenceScore
from ui import figures
from ui.engine import engine
from ui.learn import options
from ui.learn.case import Case, name_of
from ui.learn.glossary import quoted
from ui.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui.messages import as_text
from viz.bars import bars
from viz.predictions import percent

_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_LIU = Source("Liu et al.", 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach")
_LAN = Source("Lan et al.", 2020, "ALBERT: A Lite BERT for Self-supervised Learning")

_ASKED: Final = 20  # pairs of the built-in set
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
    st.dataframe(
        pd.DataFrame([encoding.tokens, encoding.segment_ids], index=["token", "segment"]).astype(str), hide_index=False
    )


def _seen_why(_case: Case) -> str:
    return (
        "A [[segment]] vector is added to each token’s embedding, one for A and one for B, and a small head reads the "
        "vector of [CLS] after the last layer: two numbers, “is next” and “is not”, made shares by [[softmax]]."
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


def _answer_ask(case: Case) -> Choice:
    p = _score(case, *_pair(case)).p_next
    told = f"It says {percent(p)}."
    return Choice(
        "How probable does the model find it that B follows A?",
        options.steps(
            p,
            ((0.1, "Below 10%"), (0.5, "10% to 50%"), (0.9, "50% to 90%"), (float("inf"), "90% or more")),
            told,
            f"{told} Such models are seldom in doubt: half of their training pairs were easy to tell.",
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
    score = _score(case, *_pair(case))
    yes, no = score.logits
    return (
        f"The head gives two [[logits|logit]], {_signed(yes)} and {_signed(no)}; the difference of "
        f"{_signed(yes - no)} alone makes the {percent(score.p_next)}."
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
            Option("It falls by more than 5 points", told, change < -_ALIKE),
            Option(
                "It stays within 5 points", f"{told} Order seems to play little part here.", -_ALIKE <= change <= _ALIKE
            ),
            Option("It rises by more than 5 points", told, change > _ALIKE),
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


def _swap_why(_case: Case) -> str:
    found = _measured()
    return (
        "In training the wrong sentence came from anywhere, never from the same place in the wrong order; on "
        f"{found.n} pairs of ours, written for this app, the swapped ones still get more than 50% in {found.swapped} "
        "cases."
    )


# ---- the shortcut -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """Of ``n`` built-in pairs, how many get more than 50%: the true ones, swapped ones, ones with a second sentence of
    another pair on the same subject, and of another subject.
    """

    n: int
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


def _measured() -> _Found:
    """What the embedded BERT says of them; the engine remembers its answers."""
    counts = [sum(score.p_next > 0.5 for score in engine().next_sentence(DEFAULT_MODEL, pairs)) for pairs in _sets()]
    return _Found(_ASKED, *counts)


def _topic_text(_case: Case) -> str:
    return (
        f"What does the model go by? We take {_ASKED} pairs written for this app and change the second sentence: the "
        "true one; one from another pair on the **same subject**; one on **another subject**. None but the first "
        "follows."
    )


def _topic_ask(_case: Case) -> Sketch:
    found = _measured()
    names = ("true next sentence", "the two swapped", "same subject", "another subject")
    truth = tuple(count / found.n for count in (found.true, found.swapped, found.same_subject, found.other_subject))

    def reply(drawn: object) -> str:
        heights = list(drawn)  # type: ignore[call-overload]
        return (
            f"You expected {heights[2]:.0%} for the same subject; it is {truth[2]:.0%}, against {truth[3]:.0%} for "
            f"another subject and {truth[0]:.0%} for the true ones."
        )

    return Sketch("Draw in how many of the pairs BERT says “is next”.", names, truth, reply, unit="%")


def _topic_figure(_case: Case) -> None:
    true, _, same, other = _sets()
    st.table(
        [
            {"kind": name, "A": as_text(pairs[0][0]), "B": as_text(pairs[0][1])}
            for name, pairs in (("true", true), ("same subject", same), ("another subject", other))
        ]
    )


def _topic_reveal(case: Case) -> None:
    found = _measured()
    names = ("true next sentence", "the two swapped", "same subject", "another subject")
    shares = [count / found.n for count in (found.true, found.swapped, found.same_subject, found.other_subject)]
    figures.show(
        bars(
            names, [(f"share of {found.n} pairs that get more than 50%", shares)], top=1, written=".0%", dark=case.dark
        ),
        "learn next",
        "topic",
    )


def _topic_why(_case: Case) -> str:
    found = _measured()
    return (
        "A random sentence is mostly about something else, so matching subjects is enough to do well in training: of "
        f"our pairs on the same subject, of which none follows, BERT takes {found.same_subject} of {found.n} for "
        f"next, of those on another subject {found.other_subject}."
    )


def _topic_numbers(_case: Case) -> pd.DataFrame:
    kinds = ("true", "swapped", "same subject", "another subject")
    return pd.DataFrame(
        [
            {"kind": kind, "A": a, "B": b, "p next": score.p_next}
            for kind, pairs in zip(kinds, _sets(), strict=True)
            for (a, b), score in zip(pairs, engine().next_sentence(DEFAULT_MODEL, pairs), strict=True)
        ]
    )


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


def _rows() -> list[dict[str, str]]:
    """Of BERT, RoBERTa and ALBERT: whether they are here, and what they answer, or why they do not."""
    rows = []
    for spec in registry.MODELS.values():
        if spec.family not in ("bert", "roberta", "albert"):
            continue
        here = spec.hub_id is None or sources.downloaded(spec.hub_id) is not None
        if not here:
            answer = "not on this machine" if spec.nsp else "has no such head"
        else:
            answer = engine().why_not(spec.id, "nsp") or "answers"
        rows.append(
            {"model": as_text(spec.name), "trained on": spec.nsp or "—", "here": as_text(answer.split(". ")[0])}
        )
    return rows


def _later_reveal(case: Case) -> None:
    st.dataframe(pd.DataFrame(_rows()), hide_index=True)
    here = [
        spec
        for spec in registry.MODELS.values()
        if spec.nsp and (spec.hub_id is None or sources.downloaded(spec.hub_id) is not None)
    ]
    if case.pair is not None and here:
        shares = [engine().next_sentence(spec.id, case.text, case.pair).p_next for spec in here]
        figures.show(
            bars(
                [f"{spec.name} ({spec.nsp})" for spec in here],
                [("your pair", shares)],
                top=1,
                written=".1%",
                dark=case.dark,
            ),
            "learn next",
            "models",
        )


def _later_why(_case: Case) -> str:
    return (
        "A task teaches what it takes to solve it and no more: with a shortcut by subject, little about order is "
        "learned (Lan et al. 2020), and RoBERTa did as well or better on full-length texts without it (Liu et al. "
        "2019)."
    )


def _later_numbers(_case: Case) -> pd.DataFrame:
    return pd.DataFrame(_rows())


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
