"""Answers in a passage: start and end scores, no answer, a model trained, scores by hand, a passage cut off."""

from __future__ import annotations

from typing import ClassVar, Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from jobs.tuning import Candidate
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding
from pages.learn import options, pictures, tuning
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, recalled
from training.finetuning.data import PassageQuestion
from training.finetuning.predict import Predict
from training.finetuning.results import Answered
from training.finetuning.scores import overlap
from training.finetuning.settings import Settings
from ui import as_text
from ui.glossary import quote
from ui.sources import DEVLIN, RAJPURKAR, RAJPURKAR_2018
from viz.layout import clipped
from web.engine import engine

_SET: Final = "questions"
_SETTINGS: Final = Settings(learns="all", epochs=3)
_AFTERWARDS: Final = (4,)

# Scores that are made up: a span is the better the higher its start score plus its end score.
_WORDS: Final = ("The", "mill", "stands", "by", "a", "river", ".")
_START: Final = (0.5, 1.0, 0.2, 2.5, 2.2, 3.0, -1.0)
_END: Final = (0.1, 1.8, 0.3, 0.4, 0.2, 4.0, 0.6)
_NO_ANSWER: Final = 5.0
_GOLD: Final = "by the old river"
_PREDICTED: Final = "by the river bank"
_BATCH: Final = 16
_FULL, _USUAL = 512, 64  # tokens that a batch is padded to


def best_span(start: tuple[float, ...], end: tuple[float, ...]) -> tuple[int, int, float]:
    """The first and the last place of the best span, and its score: start + end, the start not after the end."""
    spans = [(i, j, start[i] + end[j]) for i in range(len(start)) for j in range(i, len(end))]
    return max(spans, key=lambda span: span[2])


def _span(first: int, last: int) -> str:
    return quote(" ".join(_WORDS[first : last + 1]))


class AnsweringStep(tuning.TuningStep):
    """A step about a question and a passage."""

    at: ClassVar[Place] = "guess"
    lesson = "answering"
    trains = _SET

    @property
    def passage(self) -> str:
        """The second text. Raises InvalidInput where there is none."""
        if self.case.pair is None:
            raise InvalidInput("This lesson needs a passage. Type one as the second text, or take an example.")
        return self.case.pair

    def figure(self) -> None:
        examples = [item for item in self.data.train if isinstance(item, PassageQuestion)][:3]
        st.table(
            [
                {
                    "question": as_text(item.text),
                    "passage": as_text(clipped(item.pair, 160)),
                    "answer": as_text(item.answers[0][1]) if item.answers else "(no answer)",
                }
                for item in examples
            ]
        )


class StartEnd(AnsweringStep):
    title = "A start and an end"
    terms = ("extractive question answering",)
    sources = (RAJPURKAR, DEVLIN)

    def text(self) -> str:
        return (
            "In extractive question answering the answer is a span of a given passage. The task head gives every token "
            "two [[logits|logit]], as start and as end of the answer. A span’s score is the start score of its first "
            "token plus the end score of its last. Here are made-up scores for “Where is the mill?”"
        )

    def figure(self) -> None:
        pictures.bars("start-end", _WORDS, [("as start", _START), ("as end", _END)], written=".1f")

    def ask(self) -> Choice:
        first, last, score = best_span(_START, _END)

        def option(i: int, j: int, reply: str) -> Option:
            return Option(_span(i, j), f"{reply} Its score is {_START[i] + _END[j]:.1f}.", (i, j) == (first, last))

        return Choice(
            "Which span has the highest score?",
            (
                option(3, 5, f"It is readable, but {_span(first, last)} has {score:.1f}."),
                option(4, 5, f"{_span(first, last)} has {score:.1f}."),
                option(5, 5, "The highest start and the highest end are the same token here."),
                option(1, 1, f"{_span(first, last)} has {score:.1f}."),
            ),
        )

    def reveal(self) -> None:
        spans = ((3, 5), (4, 5), (5, 5), (1, 1))
        scores = [_START[i] + _END[j] for i, j in spans]
        pictures.bars("spans", [" ".join(_WORDS[i : j + 1]) for i, j in spans], [("score", scores)], written=".1f")

    def why(self) -> str:
        n = len(_WORDS)
        return (
            f"Of {n} · {n} = {n * n} pairs, the {n * (n - 1) // 2} whose end comes before their start are ruled out; "
            f"among the others {_span(*best_span(_START, _END)[:2])} has the highest sum (Devlin et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"token": _WORDS, "as start": _START, "as end": _END})


class NoAnswer(AnsweringStep):
    title = "No answer"
    terms = ("SQuAD",)
    sources = (RAJPURKAR_2018, DEVLIN)

    def text(self) -> str:
        *_, score = best_span(_START, _END)
        return (
            "Some questions have no answer in the passage (SQuAD 2.0). Then both start and end should point to [CLS]: "
            f"“no answer” has the score of [CLS] as start plus as end. Suppose it is {_NO_ANSWER:.1f}; the best span "
            f"has {score:.1f}."
        )

    def figure(self) -> None:
        *_, score = best_span(_START, _END)
        pictures.bars("no-answer", ["best span", "no answer"], [("score", [score, _NO_ANSWER])], written=".1f")

    def ask(self) -> Choice:
        first, last, score = best_span(_START, _END)
        return Choice(
            "What does the model answer?",
            options.placed(
                0,
                Option(_span(first, last), f"{score:.1f} is higher than {_NO_ANSWER:.1f}.", True),
                Option("No answer", f"{_NO_ANSWER:.1f} is lower than {score:.1f}."),
                Option("Both", "It gives one answer: the higher score wins."),
            ),
        )

    def reveal(self) -> None:
        self.figure()

    def why(self) -> str:
        *_, score = best_span(_START, _END)
        return (
            f"The margin is {_NO_ANSWER:.1f} − {score:.1f} = {_NO_ANSWER - score:.1f}, below 0, so the span is the "
            "answer. In use, a threshold for this margin is chosen on development data (Rajpurkar et al. 2018)."
        )

    def numbers(self) -> pd.DataFrame:
        *_, score = best_span(_START, _END)
        return pd.DataFrame({"answer": ["best span", "no answer"], "score": [score, _NO_ANSWER]})


class Training(AnsweringStep):
    title = "Train it"
    at = "layers"
    terms = ("fine-tuning",)
    sources = (DEVLIN,)

    @property
    def unanswered(self) -> int:
        """How many training questions have no answer in their passage."""
        return sum(isinstance(item, PassageQuestion) and not item.answers for item in self.data.train)

    def text(self) -> str:
        return (
            f"{len(self.data.train)} questions on short passages, {_SETTINGS.epochs} times each; {self.unanswered} of "
            f"them have no answer. {tuning.name(self.base)} learns to point at start and end. Answer, then press Train."
        )

    def ask(self) -> Choice:
        width = self.width
        return Choice(
            f"The vectors are {width} numbers wide. How many new numbers does the task head have?",
            options.numbers(
                (2 * width + 2, f"Two columns of {width} weights, for start and end, and two biases."),
                (width + 1, "That would be one score a token. Start and end need one each."),
                (width * width, "The head has two outputs, not as many as inputs."),
                (2, "That many scores come out for each token."),
            ),
        )

    def reveal(self) -> None:
        name = f"{tuning.name(self.base)}, questions"
        self.train([Candidate(name, self.base, self.data, _SETTINGS)], _AFTERWARDS)

    def why(self) -> str:
        tuned = self.tuned
        if tuned is None:
            return "Press Train to see how far it gets with so few questions; SQuAD has about 100,000."
        score = tuned.score()
        return (
            f"Answer F1 on {len(tuned.data.test)} test questions: {tuning.describe_score(score)}. "
            "Published models learn from about 100,000 questions (Rajpurkar et al. 2016)."
        )

    def numbers(self) -> pd.DataFrame:
        tuned = self.tuned
        if tuned is None:
            splits = {"train": self.data.train, "test": self.data.test}
            return pd.DataFrame({"split": splits.keys(), "questions": [len(items) for items in splits.values()]})
        rows = [(epoch.epoch, epoch.loss, epoch.score) for epoch in tuned.evaluated]
        return pd.DataFrame(rows, columns=["epoch", "loss", "answer F1"])


class Trial(AnsweringStep):
    title = "Ask it"

    @cached_property
    def answer(self) -> Answered | None:
        """What the tuned model answers; None where nothing was tuned."""
        if self.tuned is None:
            return None
        (answer,) = engine().ask(Predict(self.tuned.id, ((self.case.text, self.passage),)))
        assert isinstance(answer, Answered)
        return answer

    def text(self) -> str:
        if self.tuned is None:
            return (
                "Now your own question (the first text) and passage (the second). **Train the model first**, one step "
                "back; until then there is no answer."
            )
        return f"Your question: {quote(self.case.text)} Your passage: {quote(self.passage)}"

    def ask(self) -> Choice:
        answer = self.answer
        if answer is None:
            return Choice(
                "You ask something that the passage does not say. What should a good model do?",
                options.placed(
                    1,
                    Option("Say that there is no answer", "For that it needs such questions in training.", True),
                    Option("Mark the most similar words", "That would be a wrong answer given with confidence."),
                    Option("Write an answer of its own", "It can only mark a span; it does not write."),
                ),
            )
        fact = f"It answers {quote(answer.text)}." if answer.text else "It says that there is no answer."
        return Choice(
            "Will it mark a span, or say that there is no answer?",
            (
                options.either("A span", bool(answer.text), fact, fact),
                options.either("No answer", not answer.text, fact, fact),
            ),
        )

    def reveal(self) -> None:
        answer = self.answer
        if answer is None:
            self.not_yet("one step")
            return
        names = [as_text(span.text) for span in answer.spans[:4]]
        scores = [span.score for span in answer.spans[:4]]
        pictures.bars("answers", [*names, "no answer"], [("score", [*scores, answer.no_answer])], written=".2f")

    def why(self) -> str:
        answer = self.answer
        if answer is None:
            return "Only a model that has seen unanswerable questions can learn to leave one unanswered."
        return (
            f"“No answer” is {abs(answer.margin):.2f} {'above' if answer.margin > 0 else 'below'} the best span. A "
            "small model trained on a few questions often picks a span of the right kind for the wrong reason."
        )

    def numbers(self) -> pd.DataFrame:
        answer = self.answer
        if answer is None:
            return pd.DataFrame({"answer": ["not trained yet"]})
        return pd.DataFrame([(span.text, span.score) for span in answer.spans], columns=["span", "score"])


class Scored(AnsweringStep):
    title = "Right, or nearly right"
    terms = ("F1",)
    sources = (RAJPURKAR,)

    def text(self) -> str:
        return (
            f"The true answer is {quote(_GOLD)}, the model said {quote(_PREDICTED)}. **Exact match** counts it as "
            "wrong. **F1** counts the words in common; case, punctuation and the articles a, an, the do not count."
        )

    def figure(self) -> None:
        st.table([{"true": _GOLD, "predicted": _PREDICTED}])

    def ask(self) -> Choice:
        right = overlap(_PREDICTED, _GOLD)
        fact = "“by” and “river” are shared: precision 2/3, recall 2/3."
        return Choice(
            "What is F1 over words?",
            (
                Option("0.00", f"That is exact match. {fact}"),
                Option("0.50", f"That is 2 of 4 words, but “the” does not count. {fact}"),
                Option(f"{right:.2f}", fact, True),
                Option("1.00", f"Not all words are shared. {fact}"),
            ),
        )

    def reveal(self) -> None:
        pictures.shares("answer-f1", ["exact match", "F1"], [("score", [0.0, overlap(_PREDICTED, _GOLD)])])

    def why(self) -> str:
        return (
            "People mark answers with a word more or less, so SQuAD reports both: exact match and F1, each the best "
            "over several true answers (Rajpurkar et al. 2016)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"score": ["exact match", "F1"], "value": [0.0, overlap(_PREDICTED, _GOLD)]})


class CutOff(AnsweringStep):
    title = "What went wrong?"
    at = "text"
    terms = ("batch",)
    sources = (DEVLIN,)

    @cached_property
    def long(self) -> Encoding:
        """The question with a passage that is too long, and the visitor’s passage at its end."""
        filler = "The museum is open from nine to five, and children pay half. "
        limit = engine().info(self.base).max_tokens or _FULL
        n = 2 + limit // max(1, len(engine().encode(self.base, filler)) - 2)
        return engine().encode(self.base, self.case.text, filler * n + self.passage)

    @property
    def limit(self) -> int:
        """The most tokens that the model reads here."""
        return len(self.long)

    def text(self) -> str:
        return (
            "The model finds answers in short passages. In a long one, whose last sentences are your passage, it says "
            f"“no answer” every time. The question and the passage are {self.limit + self.long.n_dropped} tokens long."
        )

    def figure(self) -> None:
        parts = {"tokens of both": float(self.limit + self.long.n_dropped), "read by the model": float(self.limit)}
        pictures.bars("too-long", list(parts), [("tokens", list(parts.values()))], written=",.0f")

    def ask(self) -> Choice:
        dropped = self.long.n_dropped
        fact = f"The model reads {self.limit} tokens, so the last {dropped} are never seen."
        return Choice(
            "What is the cause?",
            options.placed(
                1,
                Option("The answer was cut off", fact, True),
                Option("The task head is too small", f"It is the same for every token. {fact}"),
                Option("Long texts have no answers", f"They do, but not in the part that was read. {fact}"),
            ),
        )

    def reveal(self) -> None:
        sizes = {f"padded to {n}": _BATCH * n * n / 1e6 for n in (_USUAL, _FULL)}
        self.figure()
        pictures.bars(
            "padding", list(sizes), [(f"million attention weights a head, {_BATCH} texts", list(sizes.values()))]
        )

    def why(self) -> str:
        times = (_FULL // _USUAL) ** 2
        return (
            "Split a long passage into overlapping windows, ask each, and take the best span (Devlin et al. 2019). And "
            f"pad a batch only to its longest text: at {_FULL} tokens instead of {_USUAL} a head has {times} times the "
            "attention weights, which is how memory runs out."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "what": ["tokens", "read", "cut off"],
                "n": [self.limit + self.long.n_dropped, self.limit, self.long.n_dropped],
            }
        )


LESSON = Lesson(
    name="answering",
    title="Answers in a passage",
    question="How does a model find an answer in a text?",
    aims=(
        "find the best span from start and end scores",
        "say how a model answers that there is no answer",
        "compute exact match and F1 of an answer",
        "recognize an answer that was cut off",
    ),
    terms=("extractive question answering",),
    examples=(
        ("Where is the mill?", "The mill stands by a river. It was built in 1820 and grinds wheat."),
        ("When was the mill built?", "The mill stands by a river. It was built in 1820 and grinds wheat."),
        ("Who owns the mill?", "The mill stands by a river. It was built in 1820 and grinds wheat."),
    ),
    paired=True,
    pages=("train",),
    steps=(
        StartEnd,
        NoAnswer,
        Training,
        Trial,
        Scored,
        CutOff,
        *recalled(
            "guess",
            Recall(
                "What does the task head give for every token of the passage?",
                (
                    Option("A word of the answer", "The model marks; it does not write."),
                    Option("Two scores: as start and as end", "The best pair makes the answer.", True),
                    Option("A tag", "That is tagging."),
                ),
                "The task head scores every token as start and as end; the answer is the span with the highest sum.",
            ),
            Recall(
                "How does the model say that there is no answer?",
                (
                    Option("It marks an empty span at [CLS]", "If that scores higher than every span.", True),
                    Option("It writes “none”", "It cannot write."),
                    Option("All scores become 0", "Scores are logits; they need not be 0."),
                ),
                "“No answer” is [CLS] as start and end; it wins if its score is above that of the best span.",
            ),
            Recall(
                "A passage is longer than the model reads. What helps?",
                (
                    Option("A higher learning rate", "The answer would still be unseen."),
                    Option("Overlapping windows", "Every part is read in one of them.", True),
                    Option("More padding", "Padding adds nothing to read."),
                ),
                "What is beyond the limit is never read: split long passages into overlapping windows.",
            ),
        ),
    ),
)
