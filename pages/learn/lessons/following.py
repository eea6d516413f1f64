"""Does one sentence follow another: what BERT sees of two, its answer, and the shortcut it takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import DEFAULT_MODEL, heldout, registry
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, SentenceScore
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from ui import as_text, is_dark, token_line
from ui.glossary import quote
from viz.sentence_input import sentence_input
from web.engine import engine

_ASKED: Final = 30  # pairs of the built-in set, one a subject
_ALIKE: Final = 0.05
_NO, _YES = 0.1, 0.9  # probabilities below and above which an answer is clear


@cache
def _sets() -> dict[str, tuple[tuple[str, str], ...]]:
    """Pairs written for this app by their kind, with the same first sentences in each but the swapped one."""
    pairs = heldout.written_pairs()
    step = len(pairs) // _ASKED
    true, same, other = [], [], []
    for place in range(0, step * _ASKED, step):
        pair = pairs[place]
        alike = [other_pair for other_pair in pairs if other_pair.subject == pair.subject and other_pair is not pair]
        far = pairs[(place + len(pairs) // 2) % len(pairs)]
        true.append((pair.first, pair.second))
        same.append((pair.first, alike[place % len(alike)].second))
        other.append((pair.first, far.second))
    return {
        "the true pair": tuple(true),
        "the two swapped": tuple((b, a) for a, b in true),
        "same subject": tuple(same),
        "another subject": tuple(other),
    }


class FollowingStep(Step):
    """A step about two sentences."""

    n_pairs: ClassVar[int] = _ASKED

    @property
    def model(self) -> str:
        """The visitor's model where it judges pairs, else the one that ships with the app."""
        return DEFAULT_MODEL if engine().why_not(self.case.model, "nsp") is not None else self.case.model

    @property
    def said_of(self) -> str:
        """A sentence that says so where another model answers; "" where it is the visitor's."""
        if self.model == self.case.model:
            return ""
        name, default = (as_text(name_of(model)) for model in (self.case.model, DEFAULT_MODEL))
        return f" {name} cannot judge pairs, so {default} answers here."

    @property
    def pair(self) -> tuple[str, str]:
        """Both sentences. Raises InvalidInput where there is one only."""
        if self.case.pair is None:
            raise InvalidInput("This lesson is about two sentences. Type a second one, or take an example.")
        return self.case.text, self.case.pair

    def score(self, *, swapped: bool = False) -> SentenceScore:
        """What the model says of the two."""
        a, b = reversed(self.pair) if swapped else self.pair
        return engine().next_sentence(self.model, a, b)

    @cached_property
    def judged(self) -> npt.NDArray[np.float64]:
        """What the model says of our pairs, the probability that they follow (kinds, pairs)."""
        every_pair = [pair for pairs in _sets().values() for pair in pairs]
        return np.array([score.p_next for score in engine().next_sentence(self.model, every_pair)]).reshape(-1, _ASKED)

    @property
    def likely(self) -> list[int]:
        """How many pairs of each kind get more than 50%."""
        counts: list[int] = (self.judged > 0.5).sum(axis=1).tolist()
        return counts

    def figure(self) -> None:
        a, b = self.pair
        st.markdown(f"A: {quote(a)}\n\nB: {quote(b)}")


class Seen(FollowingStep):
    @property
    def encoding(self) -> Encoding:
        """The tokens of both sentences in one row."""
        return engine().encode(self.model, *self.pair)

    def ask(self) -> Choice:
        return self.choice(n_special=sum(self.encoding.special), n_encoding=len(self.encoding))

    def reveal(self) -> None:
        token_line.draw([sentence_input(self.encoding, dark=is_dark())], key="learn-input")
        st.caption("Below each token: its sentence and its position. The model has a vector for each of the three.")

    def why(self) -> str:
        several = len(set(self.encoding.segment_ids)) > 1
        return self.say("why", segments=self.say("with_segments" if several else "without_segments"))

    def numbers(self) -> pd.DataFrame:
        encoding = self.encoding
        return pd.DataFrame(
            {"place": range(1, len(encoding) + 1), "token": encoding.tokens, "segment": encoding.segment_ids}
        )


class Answer(FollowingStep):
    def ask(self) -> Choice:
        p = self.score().p_next
        verdicts = ("clear_no", "unsure_no", "unsure_yes", "clear_yes")
        verdict = self.say(verdicts[sum(p >= bound for bound in (_NO, 0.5, _YES))])
        return self.choice(p=p, no=_NO, yes=_YES, verdict=verdict)

    def reveal(self) -> None:
        p = self.score().p_next
        pictures.shares("next", {"answer": ["is next", "is not"], "probability": [p, 1 - p]})

    def why(self) -> str:
        score, true = self.score(), self.judged[0]
        yes, no = score.logits
        n_unsure = ((true >= _NO) & (true < _YES)).sum()
        return self.say("why", yes=yes, no=no, difference=yes - no, score=score, n_unsure=n_unsure)

    def numbers(self) -> pd.DataFrame:
        scores = {"A, B": self.score(), "B, A": self.score(swapped=True)}
        rows = [(order, score.p_next, *score.logits) for order, score in scores.items()]
        return pd.DataFrame(rows, columns=["order", "p next", "logit is next", "logit is not"])


class Swapped(FollowingStep):
    after = Answer

    def ask(self) -> Choice:
        there, back = self.score().p_next, self.score(swapped=True).p_next
        change = back - there
        return self.choice(
            falls=change < -_ALIKE, there=there, back=back, stays=-_ALIKE <= change <= _ALIKE, rises=change > _ALIKE
        )

    def reveal(self) -> None:
        shares = [self.score().p_next, self.score(swapped=True).p_next]
        pictures.shares("swapped", {"order": ["A, then B", "B, then A"], "P(next)": shares})

    def why(self) -> str:
        true, swapped, *_ = self.likely
        return self.say("why", true=true, swapped=swapped)

    def numbers(self) -> pd.DataFrame:
        return Answer(self.case).numbers()


class Topic(FollowingStep):
    @property
    def truth(self) -> tuple[float, ...]:
        """The share of each kind that gets more than 50%."""
        return tuple(n / _ASKED for n in self.likely)

    def figure(self) -> None:
        st.table([{"kind": kind, "A": pairs[0][0], "B": pairs[0][1]} for kind, pairs in _sets().items()])

    def ask(self) -> Sketch:
        return self.sketch(_sets(), self.truth, unit="%")

    def reply(self, compared: Mapping[str, Any]) -> str:
        name = "near" if compared["gaps"].max() <= 0.1 else "far"
        return self.say("reply", start=self.say(name, **compared))

    def reveal(self) -> None:
        label = f"share of {_ASKED} pairs that get more than 50%"
        pictures.shares("shortcut", {"kind": _sets().keys(), label: self.truth}, written=".0%")

    def why(self) -> str:
        true, _, same_subject, other_subject = self.likely
        return self.say("why", same_subject=same_subject, other_subject=other_subject, true=true)

    def numbers(self) -> pd.DataFrame:
        rows = [(kind, a, b) for kind, pairs in _sets().items() for a, b in pairs]
        return pd.DataFrame(rows, columns=["kind", "A", "B"]).assign(**{"p next": self.judged.ravel()})


_NAMED: Final = ("google-bert/bert-base-uncased", "FacebookAI/roberta-base", "albert/albert-base-v2")


class Later(FollowingStep):
    @cached_property
    def rows(self) -> pd.DataFrame:
        """What each model on this machine that judges pairs says of this one; and of BERT, RoBERTa and ALBERT why they
        say nothing, where they do not.
        """
        a, b = self.pair
        rows = []
        for model, spec in registry.MODELS.items():
            here = engine().has(model)
            if model not in _NAMED and not (here and spec.nsp):
                continue
            share, reason = None, f"Not on this machine. {spec.note}"
            if here:
                reason = engine().why_not(model, "nsp") or ""
                share = engine().next_sentence(model, a, b).p_next if not reason else None
            rows.append({"model": name_of(model), "asked about": spec.nsp or "nothing", "p": share, "why none": reason})
        return pd.DataFrame(rows)

    def reveal(self) -> None:
        silent = self.rows["p"].isna()
        here, others = self.rows[~silent], self.rows[silent]
        names = [f"{model} ({about})" for model, about in zip(here["model"], here["asked about"], strict=True)]
        pictures.shares("models", {"model": names, "probability, for your pair": here["p"]})
        if len(others):
            reasons = zip(others["model"], others["why none"], strict=True)
            st.table([{"model": as_text(model), "no answer": as_text(why)} for model, why in reasons])

    def numbers(self) -> pd.DataFrame:
        return self.rows


LESSON = read_lesson(__file__, Seen, Answer, Swapped, Topic, Later)
