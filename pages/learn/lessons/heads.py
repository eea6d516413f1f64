"""Many heads side by side, put together and projected; and what the heads do in this sentence."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from propcache.api import cached_property

from analysis.heads import MIXED, HeadTable, head_table
from analysis.sinks import MUCH, NOTHING, broadcasts, does_nothing, frame, much_attention, verdict
from model_zoo.errors import NotSupported
from model_zoo.types import FloatArray, Sinks
from pages.learn import pictures
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from viz.matrix import layer_attention
from viz.strips import Strip
from web.engine import engine

_MOST_HEADS: Final = 16  # that one draws over


class HeadsStep(Step):
    """A step about the heads of the chosen layer."""

    @property
    def layer(self) -> int:
        """The number of the layer, from 1."""
        return self.case.layer + 1

    @property
    def weights(self) -> FloatArray:
        """What each head gives the tokens from the followed one, (heads, n)."""
        return self.case.run.layer(self.case.layer)[:, self.followed]

    @property
    def size(self) -> int:
        """How many numbers the query of one head has. Raises NotSupported where heads are not known part by part."""
        anatomy = self.case.anatomy
        if anatomy.weights is None:
            raise NotSupported(anatomy.why_not or f"The heads of {self.case.model} are not known part by part here.")
        return anatomy.weights.query.shape[1]

    def strip(self, name: str, stage: str) -> Strip:
        """A stage's vector of the followed token, parted between the heads."""
        size, values = self.size, self.case.anatomy.stage(stage).values[self.followed]
        return Strip(name, values, ends=range(size, len(values), size))


class Split(HeadsStep):
    stage = "heads"

    def ask(self) -> Choice:
        n_heads, width = self.case.info.n_heads, self.case.info.width
        return self.choice(joined=n_heads * self.size, all_widths=n_heads * width)

    def reveal(self) -> None:
        assert self.size  # which raises where heads are not known part by part
        names = filter(self.case.anatomy.has, ("query", "key", "value"))
        pictures.strips("heads-split", [self.strip(name, name) for name in names])

    def numbers(self) -> pd.DataFrame:
        query = self.strip("query", "query").values
        head, dimension = np.divmod(np.arange(len(query)), self.size)
        return pd.DataFrame({"head": head + 1, "dimension": dimension + 1, "query": query})


class OwnShares(HeadsStep):
    stage = "context"

    def ask(self) -> Choice:
        targets = self.weights.argmax(axis=1).tolist()
        many = len(set(targets))
        most, count = Counter(targets).most_common(1)[0]
        return self.choice(
            n_targets=len(targets),
            many=many,
            count=count,
            most=self.quoted(most),
            favourites="favourite" if many == 1 else "favourites",
        )

    def reveal(self) -> None:
        figure = partial(layer_attention, self.weights, self.tokens, rows="head")
        pictures.show("heads-of-a-token", figure)

    def why(self) -> str:
        weights = self.weights.astype(np.float64)
        sharpest, flattest = int(weights.max(axis=1).argmax()), int(weights.max(axis=1).argmin())
        if sharpest == flattest:
            return self.say("why alone")
        return self.say(
            "why",
            sharpest=sharpest + 1,
            largest_share=weights[sharpest].max(),
            flattest=flattest + 1,
            smallest_maximum=weights[flattest].max(),
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({f"head {head}": row for head, row in enumerate(self.weights, start=1)})


class Joined(HeadsStep):
    @cached_property
    def added(self) -> tuple[FloatArray, FloatArray]:
        """What every head of the layer adds for the followed token, (heads, width), and all of it with the bias,
        (width,).

        Raises NotSupported where the layer is not known part by part.
        """
        anatomy = self.case.anatomy
        if anatomy.weights is None:
            raise NotSupported(anatomy.why_not or f"The layers of {self.case.model} are not known part by part here.")
        projection = engine().output_projections(self.case.model)[self.case.layer]
        if projection is None:
            raise NotSupported(f"The output projection of {self.case.model} is not known here. Choose another model.")
        size = projection.shape[1]
        context = anatomy.stage("context").values[self.followed].reshape(-1, size)  # (heads, d)
        added = np.einsum("hd,hdw->hw", context.astype(np.float64), projection.astype(np.float64))
        return added.astype(np.float32), anatomy.stage("attention").values[self.followed]

    @cached_property
    def lengths(self) -> npt.NDArray[np.float64]:
        """How long each head's vector is, (heads,)."""
        added, _ = self.added
        return np.linalg.norm(added.astype(np.float64), axis=1)

    def figure(self) -> None:
        pictures.strips("contexts", [self.strip("contexts side by side", "context")])

    def ask(self) -> Sketch:
        heads = np.sort(np.argsort(-self.lengths, kind="stable")[:_MOST_HEADS])
        truth = self.lengths[heads]
        return self.sketch((f"head {head + 1}" for head in heads), truth, top=max(truth) * 1.25 or 1.0)

    def reveal(self) -> None:
        table = self.numbers()
        table["head"] = [f"head {head}" for head in table["head"]]
        pictures.bars("heads-added", table, marked=int(self.lengths.argmax()))

    def why(self) -> str:
        added, total = self.added
        together = float(np.linalg.norm(added.astype(np.float64).sum(axis=0)))
        apart = float(self.lengths.sum())
        return self.say("why", apart=apart, together=together, length=np.linalg.norm(total))

    def numbers(self) -> pd.DataFrame:
        lengths = self.lengths
        return pd.DataFrame({"head": np.arange(1, len(lengths) + 1), "length of what it adds": lengths})


class Kinds(HeadsStep):
    after = OwnShares

    @property
    def table(self) -> HeadTable:
        """The kind of every head on the first text."""
        return head_table([self.case.run])

    def ask(self) -> Choice:
        labels = self.table.labels
        n, mixed = len(labels), sum(label == MIXED for label in labels)
        return self.choice(n=n, share=mixed / n, mixed=mixed)

    def reveal(self) -> None:
        counts = Counter(self.table.labels).most_common()
        pictures.bars("kinds", pd.DataFrame(counts, columns=["kind", "heads"]), written=".0f")

    def why(self) -> str:
        named = Counter(label for label in self.table.labels if label != MIXED)
        if not named:
            return self.say("why", most=self.say("none_named"))
        ((label, count),) = named.most_common(1)
        return self.say("why", most=self.say("most_named", label=label, count=count, n_named=named.total()))

    def numbers(self) -> pd.DataFrame:
        table = self.table
        columns = {"kind": table.labels, "score": table.scores}
        return pd.DataFrame({"layer": table.layer + 1, "head": table.head + 1, **columns})


class Sink(HeadsStep):
    @cached_property
    def sinks(self) -> Sinks:
        """What every head does with the special tokens of the first text. Raises NotSupported where values are not
        known.
        """
        return engine().sinks(self.case.model, self.case.text)

    @cached_property
    def at_most(self) -> tuple[int, int, int]:
        """The layer, head and special token (of k) with the largest share of attention, from 0."""
        layer, head, token = np.unravel_index(int(np.nanargmax(self.sinks.share)), self.sinks.share.shape)
        return int(layer), int(head), int(token)

    @property
    def name(self) -> str:
        """What that token is called."""
        place = self.sinks.places[self.at_most[2]]
        return self.quoted(place) if any(self.case.encoding.special) else f"the first token, {self.quoted(place)}"

    @property
    def added(self) -> float:
        """How long what comes from it is, as a share of the vectors that it is added to."""
        return float(self.sinks.added[self.at_most])

    def of_layer(self) -> tuple[list[str], FloatArray, FloatArray]:
        """The heads of its layer, each with the share it gives to the token and with what that adds."""
        layer, _, token = self.at_most
        share, added = (array[layer, :, token] for array in (self.sinks.share, self.sinks.added))
        heads = np.flatnonzero(np.isfinite(share))
        return [f"head {head + 1}" for head in heads], share[heads], added[heads]

    def text(self) -> str:
        layer, head, token = self.at_most
        return self.say(
            "text",
            layer=layer + 1,
            head=head + 1,
            share=self.sinks.share[self.at_most],
            uniform=self.sinks.even[layer, token],
        )

    def figure(self) -> None:
        labels, share, _ = self.of_layer()
        pictures.shares("sink-shares", {"head": labels, "share of attention": share}, marked=self.at_most[1])

    def ask(self) -> Choice:
        layer, head, _ = self.at_most
        return self.choice(layer=layer + 1, head=head + 1, nothing=NOTHING)

    def reveal(self) -> None:
        labels, share, added = self.of_layer()
        label = "what this adds, as a share of their vectors’ length"
        pictures.bars("sink-added", {"head": labels, "share of attention": share, label: added}, written=".1%")

    def why(self) -> str:
        layer, head, token = self.at_most
        value, ordinary = float(self.sinks.value[self.at_most]), float(self.sinks.ordinary_value[layer, head])
        times = self.say("times", ratio=value / ordinary) if ordinary else f"{value:.2f} long"
        much = much_attention(self.sinks).any(axis=-1)
        if not much.any():
            return self.say("why without sink", times=times, much=MUCH)
        here = self.say(verdict(self.sinks, layer, head, token).replace(" ", "_"))
        nothing, spread = (rule(self.sinks).any(axis=-1) for rule in (does_nothing, broadcasts))
        n = int(np.isfinite(self.sinks.share[..., 0]).sum())
        return self.say(
            "why",
            times=times,
            here=here,
            n_much=much.sum(),
            n=n,
            n_nothing=nothing.sum(),
            n_broadcast=spread.sum(),
            n_neither=(much & ~nothing & ~spread).sum(),
        )

    def numbers(self) -> pd.DataFrame:
        rows = frame(self.sinks)
        rows = rows[rows["layer"] == self.at_most[0]]
        return rows.assign(layer=rows["layer"] + 1, head=rows["head"] + 1, place=rows["place"] + 1)


LESSON = read_lesson(__file__, Split, OwnShares, Joined, Kinds, Sink)
