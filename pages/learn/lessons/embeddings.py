"""The vectors that are added up for a token before the first layer, and the first norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, signed
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
from ui.glossary import quote
from ui.sources import BA, DEVLIN, MIKOLOV
from viz.strips import Strip
from web.engine import engine

_PARTS = {
    "token": "token: which piece it is",
    "position": "position: its place in the text",
    "segment": "segment: which of two texts it is in",
}
_NEAREST = 8
_AROUND = 6  # tokens that a picture shows, the followed one among them


class EmbeddingStep(Step):
    """A step about the vectors that are added up for the followed token."""

    at = "embeddings"

    @cached_property
    def parts(self) -> dict[str, FloatArray]:
        """The vectors (d,) that are looked up for the followed token, by the names of their stages."""
        known = [stage for stage in self.case.anatomy.embeddings if stage.name in _PARTS]
        if not known:
            raise InvalidInput(
                self.case.anatomy.why_not or f"{self.case.model} has no embeddings to look up. Choose another model."
            )
        return {stage.name: stage.values[self.followed] for stage in known}

    @cached_property
    def summed(self) -> dict[str, FloatArray]:
        """The same and their sum, which there is none of where there is one vector only."""
        parts = self.parts
        return parts | ({"sum": np.sum(list(parts.values()), axis=0, dtype=np.float32)} if len(parts) > 1 else {})

    @property
    def width(self) -> int:
        """How many numbers each of them has."""
        return len(self.parts["token"])


class Lookup(EmbeddingStep):
    title = "One token, many numbers"
    terms = ("embedding", "vector", "width")
    sources = (DEVLIN,)
    stage = "embeddings"

    @property
    def vectors(self) -> FloatArray:
        """The row of each token, (n, width)."""
        assert self.parts  # which raises where there are none
        return self.case.anatomy.stage("token").values

    def text(self) -> str:
        return (
            f"A model cannot calculate with {self.token}. For each [[token]] it looks up a [[vector]], a list of "
            "numbers, in a table that it learned: the [[embedding]] matrix. Colours stand for numbers here: one hue "
            "below zero, the other above."
        )

    def ask(self) -> Choice:
        width, n = self.width, len(self.case.encoding)
        letters = max(len(self.case.written(self.followed)), 1)
        return Choice(
            f"How many numbers does this model look up for {self.token}?",
            options.numbers(
                (width, f"Every token gets {width}, long or short: it is the [[width]] of the model’s table."),
                (1, "One number, the id, only says which row of the table to take. The row itself is longer."),
                (letters, "The number of letters does not matter: the model never sees them, only the token’s id."),
                (n, "That is how many tokens your text has. Each of them gets a vector of its own."),
            ),
        )

    def reveal(self) -> None:
        start = max(0, min(self.followed - _AROUND // 2, len(self.tokens) - _AROUND))
        places = range(start, min(start + _AROUND, len(self.tokens)))
        rows = zip(self.labels(places), self.vectors[places], strict=True)
        pictures.strips("token-vectors", [Strip(label, vector) for label, vector in rows])

    def why(self) -> str:
        return (
            f"The table has {self.case.vocabulary.size:,} rows, one for each token of the vocabulary, and "
            f"{self.width} columns; training set every number in it, and nobody assigned a meaning to any of them."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({f"{at}": values for at, values in enumerate(self.vectors.T, start=1)})


class Added(EmbeddingStep):
    title = "Vectors are added"
    terms = ("position", "segment")
    sources = (DEVLIN,)
    stage = "embeddings"

    def text(self) -> str:
        return (
            f"The row of {self.token} is the same at every place in the text. But order matters, and in a pair of "
            "texts it matters which one a token belongs to. BERT adds a vector for each of these to the token’s own, "
            "number by number. Other models add fewer vectors here."
        )

    def ask(self) -> Choice:
        n = len(self.parts)
        replies = {
            1: "Then the vector would say nothing about the place: such a model must bring in the place later, as "
            "ModernBERT does inside its layers.",
            2: "Token and position: GPT-2 and DistilBERT do this.",
            3: "Token, position, and segment, which tells the first text from the second: BERT does this.",
        }
        names = " and ".join(self.parts)
        return Choice(
            "How many vectors does this model add up to make the first vector of a token?",
            tuple(
                Option(f"{many}", f"{reply}" + (f" Here: {names}." if many == n else " Not this model."), many == n)
                for many, reply in replies.items()
            ),
        )

    def reveal(self) -> None:
        parts = self.parts
        rows = [Strip(name, values, sign="+" if place else "") for place, (name, values) in enumerate(parts.items())]
        if len(parts) > 1:
            summands = zip(*parts.values(), strict=True)
            sums = [" + ".join(signed(value, 4) for value in of_dimension) for of_dimension in summands]
            rows.append(Strip("sum", self.summed["sum"], sums, "="))
        pictures.strips("embeddings", rows)

    def why(self) -> str:
        if len(self.parts) == 1:
            return (
                "There is nothing to add: this model looks up the token’s vector alone, and the position enters "
                "later, inside the layers."
            )
        total = self.summed["sum"]
        at = int(np.argmax(np.abs(total)))
        summands = " + ".join(f"({signed(values[at], 3)})" for values in self.parts.values())
        return (
            "There are many directions to choose from, so training can keep the summands apart; in dimension "
            f"{at + 1} of {self.token}, {summands} = {signed(total[at], 3)}."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"dimension": range(1, self.width + 1), **self.summed})


def _round_up(value: float) -> float:
    """The next number with one digit that counts."""
    unit = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / unit) * unit)


def _standard(values: FloatArray) -> FloatArray:
    """The same numbers moved and scaled to mean 0 and variance 1."""
    exact = values.astype(np.float64)
    return ((exact - exact.mean()) / (exact.std() or 1.0)).astype(np.float32)


class Lengths(EmbeddingStep):
    title = "How long each is"
    after = Added

    @cached_property
    def lengths(self) -> dict[str, float]:
        """How long each vector is."""
        return {name: float(np.linalg.norm(values.astype(np.float64))) for name, values in self.summed.items()}

    def text(self) -> str:
        return (
            "A [[vector]] is also an arrow, with a length: the root of the sum of its squared numbers. A long arrow "
            "moves the sum more than a short one."
        )

    def ask(self) -> Sketch:
        lengths = self.lengths
        top = _round_up(max(lengths.values()) * 1.3)

        names, truth = tuple(lengths), tuple(lengths.values())

        def reply(drawn: Sequence[float]) -> str:
            longest, guessed = options.highest(names, truth), options.highest(names, drawn)
            end = ", and it is" if longest == guessed else f"; in the model “{longest}” is longest"
            off = options.mean_gap(drawn, truth)
            return f"Your heights miss by {off:.2f} on average. You drew “{guessed}” longest{end}."

        return Sketch(f"Draw how long you expect each vector of {self.token} to be.", names, truth, reply, top=top)

    def reveal(self) -> None:
        pictures.bars("lengths", list(self.lengths), [("length", list(self.lengths.values()))])

    def why(self) -> str:
        lengths = self.lengths
        if len(lengths) == 1:
            return "There is only one vector, so its length is the length of what enters the first layer."
        of_parts = sum(length for name, length in lengths.items() if name != "sum")
        return (
            f"The lengths add up to {of_parts:.2f}, but the sum of the vectors has a length of {lengths['sum']:.2f}: "
            "arrows that point in different directions partly cancel."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"vector": self.lengths.keys(), "length": self.lengths.values()})


class FirstNorm(EmbeddingStep):
    title = "One size for all: LayerNorm"
    terms = ("layernorm",)
    sources = (BA,)

    @cached_property
    def normed(self) -> tuple[FloatArray, FloatArray]:
        """What the first norm of the model is given of the followed token, and what it makes of it, both (width,)."""
        anatomy = engine().dissect(self.case.model, self.case.text, layer=0)
        names = [stage.name for stage in (*anatomy.embeddings, *anatomy.stages)]
        norms = ("normed", "normed before", "normed after attention", "normed between")
        norm = next((name for name in norms if name in names), None)
        if norm is None:
            raise InvalidInput(
                anatomy.why_not or f"No norm of {self.case.model} is known here. Choose another model, such as BERT."
            )
        stage = anatomy.stage(norm)
        before = anatomy.stage(stage.made_of[-1])
        return before.values[self.followed], stage.values[self.followed]

    def text(self) -> str:
        return (
            "Sums of vectors come in all sizes. [[LayerNorm]] brings each token’s numbers to the same size: it "
            "subtracts their mean and divides by their standard deviation. Then every dimension is multiplied by a "
            "learned scale and moved by a learned shift."
        )

    def figure(self) -> None:
        before, _ = self.normed
        pictures.strips("norm", [Strip("before the norm", before)])

    def ask(self) -> Choice:
        before, _ = self.normed
        return Choice(
            f"The numbers of {self.token} have a mean of {signed(before.mean(), 3)} and a standard deviation of "
            f"{before.std():.3f}. What is true after the norm, before scale and shift?",
            (
                Option("They add up to 1", "That is [[softmax]], which makes shares. A norm keeps negative numbers."),
                Option(
                    "They are between 0 and 1", "Nothing bounds them: a number far from the mean stays far from it."
                ),
                Option(
                    "Their mean is 0 and their standard deviation 1",
                    "So a token’s numbers have the same size, whatever they were before.",
                    right=True,
                ),
                Option(
                    "The largest one is 1", "It does not divide by the largest number, but by the typical distance."
                ),
            ),
        )

    def reveal(self) -> None:
        before, after = self.normed
        normed = Strip("mean 0, deviation 1", _standard(before))
        pictures.strips("norm", [Strip("before the norm", before), normed, Strip("after scale and shift", after)])

    def why(self) -> str:
        _, after = self.normed
        return (
            "The layers after it get numbers of one size, however large the sums were, which makes training more "
            f"stable (Ba et al. 2016); scale and shift give {self.token} a mean of {signed(after.mean(), 3)} and a "
            f"standard deviation of {after.std():.3f}."
        )

    def numbers(self) -> pd.DataFrame:
        before, after = self.normed
        return pd.DataFrame(
            {
                "dimension": range(1, len(before) + 1),
                "before": before,
                "standardized": _standard(before),
                "after scale and shift": after,
            }
        )


class Neighbours(EmbeddingStep):
    title = "Neighbours in the table"
    terms = ("cosine",)
    sources = (MIKOLOV,)
    after = Lookup

    @cached_property
    def nearest(self) -> list[tuple[str, float]]:
        """The tokens with the most similar rows, and the cosines."""
        tokens = engine().nearest_tokens(self.case.model, self.case.encoding.ids[self.followed], _NEAREST)
        return [(near.token, near.cosine) for near in tokens]

    def text(self) -> str:
        return (
            f"Which rows of the table point in nearly the same direction as that of {self.token}? The [[cosine]] of "
            "the angle between two vectors says how similar their directions are: 1 for the same direction, 0 for a "
            "right angle."
        )

    def ask(self) -> Choice:
        nearest = self.nearest
        if len(nearest) < 4:
            raise InvalidInput("The vocabulary of this model is too small to compare rows. Choose another model.")
        picked = sorted({0, 2, 4, len(nearest) - 1} & set(range(len(nearest))))
        offered = sorted((nearest[place] for place in picked), key=lambda near: near[0])
        best, cosine = nearest[0]
        return Choice(
            f"Which of these tokens has the row most similar to that of {self.token}?",
            tuple(
                options.either(
                    quote(token),
                    token == best,
                    f"Its cosine is {value:.3f}, the highest of all tokens.",
                    f"Its cosine is {value:.3f}; {quote(best)} has {cosine:.3f}.",
                )
                for token, value in offered
            ),
        )

    def reveal(self) -> None:
        tokens, cosines = zip(*self.nearest, strict=True)
        pictures.shares("nearest", tokens, [("cosine", [max(value, 0.0) for value in cosines])], written=".2f")

    def why(self) -> str:
        return (
            "Training tends to move the rows of tokens with similar contexts in similar directions, so neighbours in "
            "the table are often related in meaning, in form, or by the words around them (Mikolov et al. 2013); the "
            f"list shows whether that is so for {self.token}."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.nearest, columns=["token", "cosine"])


LESSON = Lesson(
    name="embeddings",
    title="From tokens to vectors",
    question="How does a token become numbers?",
    examples=(("The cat sat on the mat because it was tired.", ""), ("The old man gave the old dog an old shoe.", "")),
    controls=("token",),
    pages=("layers",),
    aims=(
        "say how a token becomes a vector",
        "name the vectors that BERT adds up, and what each is for",
        "tell what LayerNorm does to a token’s numbers",
        "compare two vectors by their cosine",
    ),
    terms=("embedding",),
    sizes=True,
    steps=(
        Lookup,
        Added,
        Lengths,
        FirstNorm,
        Neighbours,
        *recalled(
            "embeddings",
            Recall(
                "Where does a token’s first vector come from?",
                (
                    Option("It is computed from the token’s letters", "The model never sees letters."),
                    Option(
                        "It is looked up in a table that training filled",
                        "One row for each token of the vocabulary.",
                        True,
                    ),
                    Option("It is drawn at random for every text", "Then the same text would get different answers."),
                ),
                "Each token looks up a row of the embedding table, a vector of as many numbers as the model is wide.",
            ),
            Recall(
                "What does BERT add to the token’s own vector before the first layer?",
                (
                    Option("The vectors of its neighbours", "Neighbours come in through attention, inside the layers."),
                    Option(
                        "One vector for the position and one for the segment",
                        "So order and the two texts of a pair can be told apart.",
                        True,
                    ),
                    Option("Nothing", "ModernBERT adds nothing here; BERT does."),
                ),
                "BERT adds a vector for the position and one for the segment, number by number; some other models "
                "add fewer.",
            ),
            Recall(
                "Two embeddings have a cosine close to 1. What does that say?",
                (
                    Option("The tokens mean the same", "They are often related, but not always in meaning."),
                    Option(
                        "The two vectors point in nearly the same direction", "That is all a cosine measures.", True
                    ),
                    Option("The two vectors have the same length", "A cosine does not depend on length."),
                ),
                "LayerNorm brings the numbers of each token to one size, and a cosine compares directions, whatever "
                "the lengths.",
            ),
        ),
    ),
)
