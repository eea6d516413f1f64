"""Tags of words: BIO, labels aligned to pieces, entities counted whole, a tagger trained, a wrong alignment."""

from __future__ import annotations

from typing import ClassVar, Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from jobs.tuning import Candidate
from model_zoo.errors import InvalidInput
from model_zoo.text import word_spans
from model_zoo.types import Encoding
from pages.learn import options, pictures, tuning
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, recalled
from training.finetuning import scores
from training.finetuning.data import Tagged
from training.finetuning.entities import entities_of, first_pieces
from training.finetuning.settings import Settings
from ui import is_dark, token_line
from ui.glossary import quote
from ui.sources import DEVLIN, RAMSHAW, TJONG
from viz.palette import theme
from viz.token_line import Cell, Item, Line

_SET: Final = "entities"
_SETTINGS: Final = Settings(learns="all", epochs=3)
_AFTERWARDS: Final[tuple[int, ...]] = ()

# A sentence whose tags are known by hand, and what a model said of it: one entity right, one cut short, one invented.
_WORDS: Final = ("Maria", "Rossi", "works", "for", "Bluefield", "Bank", "in", "Oslo", "on", "Monday")
_TRUE: Final = ("B-PERSON", "I-PERSON", "O", "O", "B-ORGANIZATION", "I-ORGANIZATION", "O", "B-PLACE", "O", "O")
_PREDICTED: Final = ("B-PERSON", "I-PERSON", "O", "O", "B-ORGANIZATION", "O", "O", "B-PLACE", "O", "B-PLACE")
_MOST_SHOWN: Final = 24  # tokens of a text in a picture


class TaggingStep(tuning.TuningStep):
    """A step about tags of words."""

    at: ClassVar[Place] = "guess"
    lesson = "tagging"
    trains = _SET

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

    def line(self, words: tuple[str, ...], *rows: tuple[str, ...]) -> Line:
        """Words over what belongs to each."""
        fill = theme(is_dark()).surface
        columns = zip(words, *rows, strict=True)
        return Line(
            tuple(Item(tuple(Cell(cell, fill, small=at > 0) for at, cell in enumerate(column))) for column in columns)
        )


class Bio(TaggingStep):
    title = "A tag for every word"
    terms = ("named entity recognition", "BIO tags")
    sources = (RAMSHAW, TJONG)

    def text(self) -> str:
        return (
            "Finding names in a text (named entity recognition, NER) becomes a task of tags, one for each word: "
            "**B-TYPE** for the first word of an entity, **I-TYPE** for the words inside it, **O** outside. Here are a "
            f"sentence and the tags of its first words: {quote(' '.join(_WORDS))}"
        )

    def figure(self) -> None:
        tags = tuple(tag if place < 2 else "?" for place, tag in enumerate(_TRUE))
        token_line.draw([self.line(_WORDS, tags)], "learn bio")

    def ask(self) -> Choice:
        return Choice(
            "Which tag does “Bank” get in “Bluefield Bank”?",
            options.placed(
                1,
                Option("I-ORGANIZATION", "It continues the entity that “Bluefield” begins.", True),
                Option("B-ORGANIZATION", "That would begin a second organization right after the first."),
                Option("O", "It is part of the name, so it is not outside."),
            ),
        )

    def reveal(self) -> None:
        token_line.draw([self.line(_WORDS, _TRUE)], "learn bio")

    def why(self) -> str:
        entities = [f"{' '.join(_WORDS[start:end])} ({kind.lower()})" for kind, start, end in entities_of(_TRUE)]
        return (
            "Without B, two entities side by side would look like one; from the tags the entities can be read back: "
            f"{', '.join(entities)}."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"word": _WORDS, "tag": _TRUE})


class Aligned(TaggingStep):
    title = "Words have tags, tokens are pieces"
    terms = ("token",)
    sources = (DEVLIN,)

    @property
    def encoding(self) -> Encoding:
        return self.case.encoding

    def text(self) -> str:
        return (
            "The model gives a tag to every **token**, but the labels belong to **words**. The usual way: the first "
            "piece of a word carries the word’s tag; the other pieces and the special tokens are marked −100, which "
            "the loss ignores. The tokenizer tells which word a piece belongs to (`word_ids`)."
        )

    def figure(self) -> None:
        tokens = self.encoding.tokens[:_MOST_SHOWN]
        token_line.draw([self.line(tokens)], "learn aligned")

    def ask(self) -> Choice:
        n, labelled, special = len(self.encoding), len(self.labelled), sum(self.encoding.special)
        return Choice(
            f"This model reads {n} tokens of your text. How many of them carry a word’s tag?",
            options.numbers(
                (labelled, f"One for each of the words that the model read: {labelled}."),
                (n, "Then special tokens would have tags, too. They belong to no word."),
                (n - special, "That also counts the later pieces of words, which are marked −100."),
                (special, "That is the number of special tokens: none of them has a tag."),
            ),
        )

    def reveal(self) -> None:
        tokens = self.encoding.tokens[:_MOST_SHOWN]
        marks = tuple("tag" if place in self.labelled else "−100" for place in range(len(tokens)))
        token_line.draw([self.line(tokens, marks)], "learn aligned")
        st.caption("Below each token: whether it carries its word’s tag, or −100.")

    def why(self) -> str:
        left = len(self.encoding) - len(self.labelled)
        return (
            f"{left} of {len(self.encoding)} tokens are left out of the loss, so each word counts once, however many "
            "pieces it is split into."
        )

    def numbers(self) -> pd.DataFrame:
        marks = ["tag" if place in self.labelled else "-100" for place in range(len(self.encoding))]
        return self.by_token({"word": self.encoding.word_ids, "target": marks})


class Logits(TaggingStep):
    title = "A task head for every token"
    terms = ("task head",)
    sources = (DEVLIN,)

    def text(self) -> str:
        data = self.data
        return (
            f"The set of entities that ships with this app has {len(data.labels)} tags: O, and B and I for each of "
            f"{len(data.labels) // 2} types. The same task head, {self.width} numbers in and {len(data.labels)} "
            "[[logits|logit]] out, is applied to every token."
        )

    def ask(self) -> Choice:
        labels, n = len(self.data.labels), len(self.case.encoding)
        return Choice(
            f"How many logits does the model give for your text of {n} tokens?",
            options.numbers(
                (labels * n, f"{labels} for each of {n} tokens."),
                (labels, "That is for one token. Every token gets its own."),
                (n, "One a token would be a single tag."),
                (self.width * labels, "That is how many weights the head has; they are the same for every token."),
            ),
        )

    def reveal(self) -> None:
        labels = len(self.data.labels)
        parts = {"task head": self.width * labels + labels, "logits": labels * len(self.case.encoding)}
        pictures.bars("tag-logits", list(parts), [("numbers", [float(n) for n in parts.values()])], written=",.0f")

    def why(self) -> str:
        return (
            "Nothing in the head looks at neighbours: whatever a tag owes to other words, the layers below have "
            "already mixed into the token’s vector (Devlin et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"tag": self.data.labels})


class Scored(TaggingStep):
    title = "Entities count whole"
    terms = ("precision", "recall", "F1")
    sources = (TJONG,)

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
        return (
            f"A tagger was wrong twice: “Bank” got O, and “Monday” became a place. There are {true} true entities and "
            f"{predicted} predicted ones. An entity counts only if all of its words and its type are right."
        )

    def figure(self) -> None:
        token_line.draw([self.line(_WORDS, _TRUE, _PREDICTED)], "learn scored")
        st.caption("Below each word: the true tag, then the predicted one.")

    def ask(self) -> Choice:
        right, predicted, true = self.counts
        words = sum(tag == other for tag, other in zip(_TRUE, _PREDICTED, strict=True)) / len(_TRUE)
        fact = f"Precision {right}/{predicted} = {right / predicted:.2f}, recall {right}/{true} = {right / true:.2f}."
        return Choice(
            "What is F1, the harmonic mean of precision and recall, over entities?",
            (
                Option(f"{words:.2f}", f"That is the share of words whose tag is right. {fact}"),
                Option(f"{self.f1:.2f}", fact, True),
                Option("0.00", f"Two entities are right. {fact}"),
                Option("1.00", f"“Bluefield” alone is not the whole name. {fact}"),
            ),
        )

    def reveal(self) -> None:
        right, predicted, true = self.counts
        pictures.shares(
            "entity-f1", ["precision", "recall", "F1"], [("share", [right / predicted, right / true, self.f1])]
        )

    def why(self) -> str:
        data = self.data
        alike = scores.always_alike(data) or []
        words, f1 = (scores.value(measure, data.test, alike) for measure in ("word_accuracy", "entity_f1"))
        return (
            f"Most words are O, so a model that says O everywhere gets {words:.0%} of the words right on the built-in "
            f"test split, and an F1 of {f1:.2f}: entities that count whole show the difference."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"word": _WORDS, "true": _TRUE, "predicted": _PREDICTED})


class Training(TaggingStep):
    title = "Train it"
    at = "layers"
    terms = ("fine-tuning",)
    sources = (DEVLIN,)

    def text(self) -> str:
        n = len(self.data.train)
        return (
            f"{n} sentences, {_SETTINGS.epochs} times each. All weights of {tuning.name(self.base)} and the new task "
            "head are trained. The names of the test split are different ones. Answer, then press Train."
        )

    def ask(self) -> Choice:
        return Choice(
            "The test split has other names than the training split. What can the model go by?",
            options.placed(
                2,
                Option(
                    "The words around a name, and what pretraining knows of names",
                    "So it can find names that it never met in training.",
                    True,
                ),
                Option("Its memory of the training names", "None of them is in the test split."),
                Option("The position in the sentence", "Names occur in many places."),
            ),
        )

    def reveal(self) -> None:
        name = f"{tuning.name(self.base)}, entities"
        self.train([Candidate(name, self.base, self.data, _SETTINGS)], _AFTERWARDS)

    def why(self) -> str:
        tuned = self.tuned
        if tuned is None:
            return "Press Train to see how far it gets on names that it has never seen."
        score = tuned.score()
        return (
            f"Entity F1 on {len(tuned.data.test)} test sentences: {tuning.describe_score(score)}. The page "
            "Train shows which entities it confuses."
        )

    def numbers(self) -> pd.DataFrame:
        tuned = self.tuned
        if tuned is None:
            return pd.DataFrame({"split": ["train", "test"], "sentences": [len(self.data.train), len(self.data.test)]})
        rows = [(epoch.epoch, epoch.loss, epoch.score) for epoch in tuned.evaluated]
        return pd.DataFrame(rows, columns=["epoch", "loss", "entity F1"])


class WrongLabels(TaggingStep):
    title = "What went wrong?"
    terms = ("named entity recognition",)
    sources = (DEVLIN,)

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

    def text(self) -> str:
        return (
            "Someone trained a tagger, and its F1 is close to 0, although the loss fell. The code laid the list of "
            "tags beside the list of tokens: first tag to first token, second to second, and so on."
        )

    def figure(self) -> None:
        rows = self.shifted[:_MOST_SHOWN]
        token_line.draw([self.line(tuple(token for token, *_ in rows))], "learn shifted")

    def ask(self) -> Choice:
        n, wrong = len(self.words), self.n_wrong
        fact = f"On your text {wrong} of {n} tags land on the wrong token."
        return Choice(
            "How many words of your text get their tag on the right token that way?",
            options.numbers(
                (n - wrong, f"{fact} A special token at the start shifts all of them."),
                (n, f"Only if there were no special tokens and no split words. {fact}"),
                (n // 2, f"Once shifted, all later tags stay shifted. {fact}"),
                (1, f"Not even the first one is safe from a special token in front. {fact}"),
            ),
        )

    def reveal(self) -> None:
        visible = self.shifted[:_MOST_SHOWN]
        rows = tuple(tuple(row[at] for row in visible) for at in range(3))
        token_line.draw([self.line(*rows)], "learn shifted")
        st.caption("Below each token: the word whose tag it should carry, then the word whose tag it gets.")

    def why(self) -> str:
        return (
            "A loss that falls shows only that the model learns the labels it is given. Align labels by `word_ids`, "
            "mark everything else −100, and look at a few aligned sentences before you train."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.shifted, columns=["token", "tag of", "tag given"])


LESSON = Lesson(
    name="tagging",
    title="Tags of words",
    question="How does a model find names in a text?",
    aims=(
        "tag a sentence in BIO, and read entities from tags",
        "align the labels of words with tokens",
        "compute precision, recall and F1 of entities",
        "recognize labels that are not aligned",
    ),
    terms=("named entity recognition",),
    examples=(
        ("Maria Rossi works for Bluefield Bank in Oslo.", ""),
        ("The electroencephalogram was invented by Hans Berger.", ""),
        ("Penguins live in Antarctica.", ""),
    ),
    pages=("train",),
    steps=(
        Bio,
        Aligned,
        Logits,
        Scored,
        Training,
        WrongLabels,
        *recalled(
            "guess",
            Recall(
                "What does B-PLACE say of a word?",
                (
                    Option("It is the first word of a place’s name", "B begins an entity, I continues it.", True),
                    Option("It is inside a place’s name", "That is I-PLACE."),
                    Option("It comes before a place’s name", "Words before a name are O."),
                ),
                "BIO tags mark the first word of an entity, the words inside it and those outside, so that entities "
                "can be read back.",
            ),
            Recall(
                "A word is split into three pieces. Which of them counts in the loss?",
                (
                    Option("All three", "Then long words would count more."),
                    Option("The first one", "The others are marked −100.", True),
                    Option("The last one", "By convention it is the first."),
                ),
                "Labels belong to words: the first piece carries the tag; other pieces and special tokens are −100.",
            ),
            Recall(
                "95% of the words have the right tag. Is the tagger good?",
                (
                    Option("Yes", "Saying O everywhere may get as far."),
                    Option("That depends on F1 over entities", "Entities count only when they are whole.", True),
                    Option("No", "It may be: the share of words does not tell."),
                ),
                "Precision, recall and F1 count whole entities, since most words are O and easy.",
            ),
        ),
    ),
)
