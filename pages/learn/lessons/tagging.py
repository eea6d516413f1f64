"""Tags of words: BIO, labels aligned to pieces, entities counted whole, a tagger trained, a wrong alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from model_zoo.text import word_spans
from pages.learn import pictures, tuning
from pages.learn.lesson import Choice, read_lesson
from training.finetuning import scores
from training.finetuning.data import Tagged
from training.finetuning.entities import entities_of, first_pieces
from training.finetuning.settings import Settings
from ui import is_dark, token_line
from viz.palette import theme
from viz.token_line import Cell, Item, Line

# A sentence whose tags are known by hand, and what a model said of it: one entity right, one cut short, one invented.
_WORDS: Final = ("Maria", "Rossi", "works", "for", "Bluefield", "Bank", "in", "Oslo", "on", "Monday")
_TRUE: Final = ("B-PERSON", "I-PERSON", "O", "O", "B-ORGANIZATION", "I-ORGANIZATION", "O", "B-PLACE", "O", "O")
_PREDICTED: Final = ("B-PERSON", "I-PERSON", "O", "O", "B-ORGANIZATION", "O", "O", "B-PLACE", "O", "B-PLACE")
_MOST_SHOWN: Final = 24  # tokens of a text in a picture


class TaggingStep(tuning.TuningStep):
    """A step about tags of words."""

    lesson = "tagging"
    trains = "entities"
    settings = Settings(learns="all", epochs=3)

    @property
    def words(self) -> list[tuple[int, int]]:
        """The words of the visitor’s text by their characters. Raises InvalidInput where there is none."""
        spans = list(word_spans(self.case.text))
        if not spans:
            raise InvalidInput("There is no word in this text to tag. Type a sentence.")
        return spans

    @cached_property
    def labelled(self) -> set[int]:
        """The places of the tokens that carry the tag of a word: its first piece."""
        return {place for place in first_pieces(self.case.encoding, self.words) if place is not None}

    def figure(self) -> None:
        items = [item for item in self.data.train if isinstance(item, Tagged)][:3]
        token_line.draw([self.line(item.words, item.tags) for item in items], "learn entities")

    def line(self, words: Sequence[str], *rows: Sequence[str]) -> Line:
        """Words over what belongs to each."""
        fill = theme(is_dark()).surface
        columns = zip(words, *rows, strict=True)
        return Line(
            tuple(Item(tuple(Cell(cell, fill, small=at > 0) for at, cell in enumerate(column))) for column in columns)
        )


class Bio(TaggingStep):
    sentence = " ".join(_WORDS)

    def figure(self) -> None:
        tags = tuple(tag if place < 2 else "?" for place, tag in enumerate(_TRUE))
        token_line.draw([self.line(_WORDS, tags)], "learn bio")

    def reveal(self) -> None:
        token_line.draw([self.line(_WORDS, _TRUE)], "learn bio")

    def why(self) -> str:
        entities = [f"{' '.join(_WORDS[start:end])} ({kind.lower()})" for kind, start, end in entities_of(_TRUE)]
        return self.say("why", entities=", ".join(entities))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"word": _WORDS, "tag": _TRUE})


class Aligned(TaggingStep):
    def figure(self) -> None:
        token_line.draw([self.line(self.tokens[:_MOST_SHOWN])], "learn aligned")

    def ask(self) -> Choice:
        n, labelled, special = len(self.case.encoding), len(self.labelled), sum(self.case.encoding.special)
        return self.choice(n=n, labelled=labelled, n_typed=n - special, special=special)

    def reveal(self) -> None:
        tokens = self.tokens[:_MOST_SHOWN]
        marks = tuple("tag" if place in self.labelled else "−100" for place in range(len(tokens)))
        token_line.draw([self.line(tokens, marks)], "learn aligned")
        st.caption("Below each token: whether it carries its word’s tag, or −100.")

    def why(self) -> str:
        left = len(self.case.encoding) - len(self.labelled)
        return self.say("why", left=left, n_encoding=len(self.tokens))

    def numbers(self) -> pd.DataFrame:
        marks = ["tag" if place in self.labelled else "-100" for place in range(len(self.case.encoding))]
        return self.by_token({"word": self.case.encoding.word_ids, "target": marks})


class Logits(TaggingStep):
    def text(self) -> str:
        n = len(self.data.labels)
        return self.say("text", n_labels=n, n_types=n // 2)

    def ask(self) -> Choice:
        labels, n = len(self.data.labels), len(self.case.encoding)
        return self.choice(n=n, n_logits=labels * n, labels=labels, n_weights=self.width * labels)

    def reveal(self) -> None:
        labels = len(self.data.labels)
        numbers = [self.width * labels + labels, labels * len(self.case.encoding)]
        pictures.bars("tag-logits", {"part": ["task head", "logits"], "numbers": numbers}, written=",.0f")

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"tag": self.data.labels})


class Scored(TaggingStep):
    @property
    def counts(self) -> tuple[int, int, int]:
        """Entities that are right, predicted, and true."""
        right = set(entities_of(_TRUE)) & set(entities_of(_PREDICTED))
        return len(right), len(entities_of(_PREDICTED)), len(entities_of(_TRUE))

    @property
    def f1(self) -> float:
        right, predicted, true = self.counts
        precision, recall = right / predicted, right / true
        return 2 * precision * recall / (precision + recall)

    def text(self) -> str:
        _, predicted, true = self.counts
        return self.say("text", true=true, predicted=predicted)

    def figure(self) -> None:
        token_line.draw([self.line(_WORDS, _TRUE, _PREDICTED)], "learn scored")
        st.caption("Below each word: the true tag, then the predicted one.")

    def ask(self) -> Choice:
        right, predicted, true = self.counts
        words = sum(tag == other for tag, other in zip(_TRUE, _PREDICTED, strict=True)) / len(_TRUE)
        return self.choice(
            words=words, right=right, predicted=predicted, precision=right / predicted, true=true, recall=right / true
        )

    def reveal(self) -> None:
        right, predicted, true = self.counts
        shares = {"precision": right / predicted, "recall": right / true, "F1": self.f1}
        pictures.shares("entity-f1", {"score": shares.keys(), "share": shares.values()})

    def why(self) -> str:
        data = self.data
        alike = scores.always_alike(data) or []
        words, f1 = (scores.value(measure, data.test, alike) for measure in ("word_accuracy", "entity_f1"))
        return self.say("why", words=words, f1=f1)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"word": _WORDS, "true": _TRUE, "predicted": _PREDICTED})


class Training(tuning.TrainingStep, TaggingStep):
    items = "sentences"


class WrongLabels(TaggingStep):
    @cached_property
    def shifted(self) -> list[tuple[str, str, str]]:
        """Each token with the word whose tag it should carry, and the word whose tag it gets where labels are simply
        laid side by side with the tokens; "–" for none.
        """
        written = [self.case.text[start:end] for start, end in self.words]
        right = {place: word for word, place in enumerate(first_pieces(self.case.encoding, self.words))}
        return [
            (token, written[right[place]] if place in right else "–", written[place] if place < len(written) else "–")
            for place, token in enumerate(self.case.encoding.tokens)
        ]

    @property
    def n_wrong(self) -> int:
        """How many words’ tags land on a wrong token."""
        pieces = first_pieces(self.case.encoding, self.words)
        return sum(place != word for word, place in enumerate(pieces))

    def figure(self) -> None:
        rows = self.shifted[:_MOST_SHOWN]
        token_line.draw([self.line(tuple(token for token, *_ in rows))], "learn shifted")

    def ask(self) -> Choice:
        n, wrong = len(self.words), self.n_wrong
        return self.choice(n_right=n - wrong, wrong=wrong, n=n, half=n // 2)

    def reveal(self) -> None:
        visible = self.shifted[:_MOST_SHOWN]
        rows = tuple(tuple(row[at] for row in visible) for at in range(3))
        token_line.draw([self.line(*rows)], "learn shifted")
        st.caption("Below each token: the word whose tag it should carry, then the word whose tag it gets.")

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.shifted, columns=["token", "tag of", "tag given"])


LESSON = read_lesson(__file__, Bio, Aligned, Logits, Scored, Training, WrongLabels)
