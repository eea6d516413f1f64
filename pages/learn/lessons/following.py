"""Does one sentence follow another: what BERT sees of two, its answer, and the shortcut it takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import DEFAULT_MODEL, heldout, registry
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, SentenceScore, signed
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, Step, recalled
from ui import as_text, is_dark, token_line
from ui.glossary import quote
from ui.sources import DEVLIN, LAN, LIU
from viz.predictions import percent
from viz.sentence_input import sentence_input
from web.engine import engine

_ASKED: Final = 30  # pairs of the built-in set, one a subject
_ALIKE: Final = 0.05
_NO, _YES = 0.1, 0.9  # probabilities below and above which an answer is clear


def _name(model: str) -> str:
    return as_text(name_of(model))


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

    at: ClassVar[Place] = "guess"

    @property
    def model(self) -> str:
        """The visitor's model where it judges pairs, else the one that ships with the app."""
        return DEFAULT_MODEL if engine().why_not(self.case.model, "nsp") is not None else self.case.model

    @property
    def said_of(self) -> str:
        """A sentence that says so where another model answers; "" where it is the visitor's."""
        if self.model == self.case.model:
            return ""
        return f" {_name(self.case.model)} cannot judge pairs, so {_name(DEFAULT_MODEL)} answers here."

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
    title = "Two sentences in one sequence"
    terms = ("next sentence prediction", "pooler", "task head")
    at = "embeddings"
    sources = (DEVLIN,)

    @property
    def encoding(self) -> Encoding:
        """The tokens of both sentences in one row."""
        return engine().encode(self.model, *self.pair)

    def text(self) -> str:
        return (
            "BERT’s second training task: given two sentences, did the second one come next in the text? Half of the "
            "pairs were real, half had a random second sentence: **next sentence prediction** (NSP). Both enter as "
            f"one sequence of tokens.{self.said_of}"
        )

    def ask(self) -> Choice:
        return Choice(
            "How many tokens are added to those of the two sentences?",
            options.numbers(
                (sum(self.encoding.special), "[CLS] comes first, and [SEP] follows each sentence."),
                (1, "One is not enough to tell where the first sentence ends and the second begins."),
                (2, "One at the start and one in between would do, but BERT also puts one at the end."),
                (0, "Then nothing would tell the two sentences apart."),
                (len(self.encoding), "That is how many tokens there are in total."),
            ),
        )

    def reveal(self) -> None:
        token_line.draw([sentence_input(self.encoding, dark=is_dark())], key="learn input")
        st.caption("Below each token: its sentence and its position. The model has a vector for each of the three.")

    def why(self) -> str:
        segments = (
            "A [[segment]] vector is added to each token’s embedding, one for A and one for B"
            if len(set(self.encoding.segment_ids)) > 1
            else "This model has no [[segments|segment]] to tell which of the two a token belongs to"
        )
        return (
            f"{segments}. After the last layer the vector of [CLS] goes through the [[pooler]] (a matrix and tanh) and "
            "a small [[task head]] with two [[logits|logit]], “is next” and “is not”; [[softmax]] turns them into "
            "probabilities."
        )

    def numbers(self) -> pd.DataFrame:
        encoding = self.encoding
        return pd.DataFrame(
            {"place": range(1, len(encoding) + 1), "token": encoding.tokens, "segment": encoding.segment_ids}
        )


class Answer(FollowingStep):
    title = "Is it next?"

    def text(self) -> str:
        return (
            "Now the model judges your two sentences. A probability near 1 means that pairs like this were "
            f"neighbours in training. It does not mean that the model has understood a story.{self.said_of}"
        )

    def ask(self) -> Choice:
        p = self.score().p_next
        bounds = ((_NO, "Below 10%"), (0.5, "10% to 50%"), (_YES, "50% to 90%"), (np.inf, "90% or more"))

        def reply(place: int, right: int) -> str:
            how = ("a clear no", "an unsure no", "an unsure yes", "a clear yes")[right]
            fit = f" The model rates the fit {'higher' if place < right else 'lower'} than you did."
            return f"It says {percent(p)}, {how}.{'' if place == right else fit}"

        return Choice("How probable does the model find it that B follows A?", options.ranges(p, bounds, reply))

    def reveal(self) -> None:
        p = self.score().p_next
        pictures.shares("next", ["is next", "is not"], [("probability", [p, 1 - p])])

    def why(self) -> str:
        score, true = self.score(), self.judged[0]
        yes, no = score.logits
        return (
            f"The task head gives two [[logits|logit]], {signed(yes)} and {signed(no)}, and only their difference of "
            f"{signed(yes - no)} determines the {percent(score.p_next)}. Of our {_ASKED} pairs that do follow, "
            f"{((true >= _NO) & (true < _YES)).sum()} get between 10% and 90%, so look at how sure it is, too."
        )

    def numbers(self) -> pd.DataFrame:
        scores = {"A, B": self.score(), "B, A": self.score(swapped=True)}
        rows = [(order, score.p_next, *score.logits) for order, score in scores.items()]
        return pd.DataFrame(rows, columns=["order", "p next", "logit is next", "logit is not"])


class Swapped(FollowingStep):
    title = "Swapped"

    def text(self) -> str:
        return (
            "If the model judged what comes after what, the order would matter. Swap the two: B first, then A. With "
            f"a cause and an effect, that is a different claim.{self.said_of}"
        )

    def figure(self) -> None:
        Answer(self.case).reveal()

    def ask(self) -> Choice:
        there, back = self.score().p_next, self.score(swapped=True).p_next
        change = back - there
        fact = f"It goes from {percent(there)} to {percent(back)}."
        return Choice(
            "What happens to the probability when the two are swapped?",
            (
                options.either(
                    "It falls by more than 5 points",
                    change < -_ALIKE,
                    f"{fact} Here the order matters.",
                    f"{fact} That would be a sign that the order was learned; the subject is the same either way.",
                ),
                options.either(
                    "It stays within 5 points",
                    -_ALIKE <= change <= _ALIKE,
                    f"{fact} The subject is the same either way.",
                    f"{fact} The subject is the same either way, and still the model tells the two orders apart.",
                ),
                options.either(
                    "It rises by more than 5 points",
                    change > _ALIKE,
                    f"{fact} The model finds the reversed order more probable.",
                    f"{fact} It does not prefer the reversed order here.",
                ),
            ),
        )

    def reveal(self) -> None:
        shares = [self.score().p_next, self.score(swapped=True).p_next]
        pictures.shares("swapped", ["A, then B", "B, then A"], [("P(next)", shares)])

    def why(self) -> str:
        true, swapped, *_ = self.likely
        return (
            f"In training the wrong sentence was a random one, never the right one in the wrong order. Of {_ASKED} "
            f"pairs written for this app, {true} get more than 50% in their order and {swapped} when swapped."
        )

    def numbers(self) -> pd.DataFrame:
        return Answer(self.case).numbers()


class Topic(FollowingStep):
    title = "The shortcut"
    sources = (LAN,)

    @property
    def truth(self) -> tuple[float, ...]:
        """The share of each kind that gets more than 50%."""
        return tuple(n / _ASKED for n in self.likely)

    def text(self) -> str:
        return (
            f"What does the model rely on? We take {_ASKED} pairs written for this app: as they are; **swapped**; "
            "with the second sentence of another pair on the **same subject**; with one on **another subject**. Only "
            f"the first kind follows.{self.said_of}"
        )

    def figure(self) -> None:
        st.table([{"kind": kind, "A": pairs[0][0], "B": pairs[0][1]} for kind, pairs in _sets().items()])

    def ask(self) -> Sketch:
        kinds, truth = tuple(_sets()), self.truth

        def reply(drawn: Sequence[float]) -> str:
            off = [abs(guess - share) for guess, share in zip(drawn, truth, strict=True)]
            worst = off.index(max(off))
            start = (
                "You are within 10 points everywhere."
                if max(off) <= 0.1
                else f"You miss most at “{kinds[worst]}”: you drew {drawn[worst]:.0%}, it is {truth[worst]:.0%}."
            )
            return f"{start} A judge of order would have 100% at the first and 0% at all others."

        return Sketch("Draw how many of the pairs get more than 50%.", kinds, truth, reply, unit="%")

    def reveal(self) -> None:
        label = f"share of {_ASKED} pairs that get more than 50%"
        pictures.shares("shortcut", tuple(_sets()), [(label, self.truth)], written=".0%")

    def why(self) -> str:
        true, _, same_subject, other_subject = self.likely
        return (
            "In training a random sentence is usually about something else, so telling subjects apart is enough for "
            f"most pairs. Of our pairs on the same subject, none of which follows, {same_subject} of {_ASKED} get "
            f"more than 50%; of those on another subject {other_subject}; of the true ones {true}."
        )

    def numbers(self) -> pd.DataFrame:
        rows = [(kind, a, b) for kind, pairs in _sets().items() for a, b in pairs]
        return pd.DataFrame(rows, columns=["kind", "A", "B"]).assign(**{"p next": self.judged.ravel()})


_NAMED: Final = ("google-bert/bert-base-uncased", "FacebookAI/roberta-base", "albert/albert-base-v2")


class Later(FollowingStep):
    title = "What came later"
    terms = ("sentence order prediction",)
    sources = (DEVLIN, LIU, LAN)

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

    def text(self) -> str:
        return (
            "Later work reacted. BERT’s authors had found that leaving the task out hurt on QNLI, MNLI and SQuAD. "
            "RoBERTa’s authors removed it and found results as good or slightly better. ALBERT’s authors found it "
            "too easy, and replaced it."
        )

    def ask(self) -> Choice:
        return Choice(
            "Which task replaced next sentence prediction in ALBERT?",
            options.placed(
                1,
                Option(
                    "Two sentences of one text: in their order, or swapped?",
                    "Sentence order (SOP): both are on one subject, so the subject gives nothing away.",
                    True,
                ),
                Option(
                    "Two sentences of two texts: which is older?", "The subject would give away which text is which."
                ),
                Option("No task: masked words alone", "That is what RoBERTa did."),
                Option(
                    "Three sentences: which is the odd one out?",
                    "The odd one would be about something else: the shortcut again.",
                ),
            ),
        )

    def reveal(self) -> None:
        silent = self.rows["p"].isna()
        here, others = self.rows[~silent], self.rows[silent]
        names = [f"{model} ({about})" for model, about in zip(here["model"], here["asked about"], strict=True)]
        pictures.shares("models", names, [("probability, for your pair", here["p"].tolist())])
        if len(others):
            reasons = zip(others["model"], others["why none"], strict=True)
            st.table([{"model": as_text(model), "no answer": as_text(why)} for model, why in reasons])

    def why(self) -> str:
        return (
            "A task teaches what it takes to solve it: if the subject gives the answer away, little is learned about "
            "order (Lan et al. 2020). The ablation of BERT’s authors favoured the task (Devlin et al. 2019); with "
            "longer inputs, removing it matched or slightly improved results (Liu et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        return self.rows


LESSON = Lesson(
    name="following",
    title="Two sentences",
    question="What did BERT learn from pairs of sentences?",
    examples=(
        ("She opened the window.", "Cold air came into the room."),
        ("She opened the window.", "The window of the shop was full of toys."),
        ("The dog ran into the garden.", "The parliament passed the law in May."),
    ),
    paired=True,
    pages=("next_sentence",),
    aims=(
        "say how two sentences enter BERT",
        "explain what next sentence prediction asks",
        "name a shortcut that solves it without judging order",
        "say what later models did about it",
    ),
    terms=("next sentence prediction",),
    steps=(
        Seen,
        Answer,
        Swapped,
        Topic,
        Later,
        *recalled(
            "guess",
            Recall(
                "How does BERT tell sentence A from sentence B?",
                (
                    Option(
                        "By segment vectors and [SEP]",
                        "One vector for A, one for B, and a token at the end of each.",
                        True,
                    ),
                    Option("It reads them one after the other", "All tokens enter at once."),
                    Option("It cannot", "Then the pair would be one text."),
                ),
                "Two sentences enter as one sequence, told apart by [SEP] and by segment vectors; [CLS] gives the "
                "answer.",
            ),
            Recall(
                "Half of the training pairs were random. Which shortcut does that allow?",
                (
                    Option(
                        "Compare subjects: the random one is usually about something else",
                        "No order has to be judged.",
                        True,
                    ),
                    Option("Count the words", "Lengths hardly differ."),
                    Option("Look for [MASK]", "Masks are in both kinds."),
                ),
                "Since random sentences are usually about something else, comparing subjects is enough for most pairs.",
            ),
            Recall(
                "What did ALBERT ask instead?",
                (
                    Option(
                        "Whether two neighbouring parts are in the right order",
                        "Both are on one subject, so that shortcut is gone.",
                        True,
                    ),
                    Option("Nothing", "That was RoBERTa."),
                    Option("Which sentence is longer", "That would teach nothing about meaning."),
                ),
                "RoBERTa dropped the task and did as well or slightly better; ALBERT asks for the order of two "
                "neighbouring parts.",
            ),
        ),
    ),
)
