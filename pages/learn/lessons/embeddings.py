"""The vectors that are added up for a token before the first layer, and the first norm."""

from __future__ import annotations

import numpy as np
import pandas as pd
from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, signed
from pages.learn import pictures
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from ui.glossary import quote
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
    stage = "embeddings"

    @property
    def vectors(self) -> FloatArray:
        """The row of each token, (n, width)."""
        assert self.parts  # which raises where there are none
        return self.case.anatomy.stage("token").values

    def ask(self) -> Choice:
        width, n = self.width, len(self.case.encoding)
        letters = max(len(self.case.written(self.followed)), 1)
        return self.choice(width=width, letters=letters, n=n)

    def reveal(self) -> None:
        start = max(0, min(self.followed - _AROUND // 2, len(self.tokens) - _AROUND))
        places = range(start, min(start + _AROUND, len(self.tokens)))
        rows = zip(self.labels(places), self.vectors[places], strict=True)
        pictures.strips("token-vectors", [Strip(label, vector) for label, vector in rows])

    def numbers(self) -> pd.DataFrame:
        return self.by_token({f"{at}": values for at, values in enumerate(self.vectors.T, start=1)})


class Added(EmbeddingStep):
    stage = "embeddings"

    def ask(self) -> Choice:
        n = len(self.parts)
        return self.choice(alone=n == 1, two=n == 2, three=n == 3, names=" and ".join(self.parts))

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
            return self.say("why single")
        total = self.summed["sum"]
        at = int(np.argmax(np.abs(total)))
        summands = " + ".join(f"({signed(values[at], 3)})" for values in self.parts.values())
        return self.say("why", at=at + 1, summands=summands, total=total[at])

    def numbers(self) -> pd.DataFrame:
        return self.by_dimension(self.summed)


def _round_up(value: float) -> float:
    """The next number with one digit that counts."""
    unit = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / unit) * unit)


def _standard(values: FloatArray) -> FloatArray:
    """The same numbers moved and scaled to mean 0 and variance 1."""
    exact = values.astype(np.float64)
    return ((exact - exact.mean()) / (exact.std() or 1.0)).astype(np.float32)


class Lengths(EmbeddingStep):
    after = Added

    @cached_property
    def lengths(self) -> dict[str, float]:
        """How long each vector is."""
        return {name: float(np.linalg.norm(values.astype(np.float64))) for name, values in self.summed.items()}

    def ask(self) -> Sketch:
        lengths = self.lengths.values()
        return self.sketch(self.lengths, lengths, top=_round_up(max(lengths) * 1.3))

    def reveal(self) -> None:
        pictures.bars("lengths", self.numbers())

    def why(self) -> str:
        lengths = self.lengths
        if len(lengths) == 1:
            return self.say("why single")
        of_parts = sum(length for name, length in lengths.items() if name != "sum")
        return self.say("why", of_parts=of_parts, lengths=lengths)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"vector": self.lengths.keys(), "length": self.lengths.values()})


class FirstNorm(EmbeddingStep):
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

    def figure(self) -> None:
        before, _ = self.normed
        pictures.strips("norm", [Strip("before the norm", before)])

    def ask(self) -> Choice:
        before, _ = self.normed
        return self.choice(mean=before.mean(), deviation=before.std())

    def reveal(self) -> None:
        before, after = self.normed
        normed = Strip("mean 0, deviation 1", _standard(before))
        pictures.strips("norm", [Strip("before the norm", before), normed, Strip("after scale and shift", after)])

    def why(self) -> str:
        _, after = self.normed
        return self.say("why", mean=after.mean(), deviation=after.std())

    def numbers(self) -> pd.DataFrame:
        before, after = self.normed
        columns = {"before": before, "standardized": _standard(before), "after scale and shift": after}
        return self.by_dimension(columns)


class Neighbours(EmbeddingStep):
    after = Lookup

    @cached_property
    def nearest(self) -> list[tuple[str, float]]:
        """The tokens with the most similar rows, and the cosines."""
        tokens = engine().nearest_tokens(self.case.model, self.case.encoding.ids[self.followed], _NEAREST)
        return [(near.token, near.cosine) for near in tokens]

    def ask(self) -> Choice:
        nearest = self.nearest
        if len(nearest) < 4:
            raise InvalidInput(self.say("too_small"))
        picked = {0, 2, 4, len(nearest) - 1} & set(range(len(nearest)))
        labels = {place: quote(nearest[place][0]) for place in sorted(picked, key=lambda place: nearest[place][0])}
        best, cosine = nearest[0]
        return self.choose(labels, 0, lambda place: {"value": nearest[place][1], "best": best, "cosine": cosine})

    def reveal(self) -> None:
        pictures.shares("nearest", self.numbers(), written=".2f")

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.nearest, columns=["token", "cosine"])


LESSON = read_lesson(__file__, Lookup, Added, Lengths, FirstNorm, Neighbours)
