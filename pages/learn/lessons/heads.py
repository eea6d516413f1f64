"""Many heads side by side, put together and projected; and what the heads do in this sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
from ui.sources import CLARK, GU_2025, KOBAYASHI, MICHEL, SUN, VASWANI, XIAO
from viz.layer_attention import layer_attention
from viz.strips import Strip
from web.engine import engine

_MOST_HEADS: Final = 16  # that one draws over


class HeadsStep(Step):
    """A step about the heads of the chosen layer."""

    at = "heads"

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
    title = "The width is divided"
    terms = ("multi-head attention",)
    sources = (VASWANI,)
    stage = "heads"

    def text(self) -> str:
        return (
            "One head can make one mixture for a token. A layer has several [[heads|attention head]], each with "
            f"matrices of its own, which work in parallel. Each layer of this model has {self.case.info.n_heads} "
            f"heads, and its vectors have {self.case.info.width} numbers."
        )

    def ask(self) -> Choice:
        heads, width, size = self.case.info.n_heads, self.case.info.width, self.size
        return Choice(
            "How many numbers does the query of one head have?",
            options.numbers(
                (
                    size,
                    f"{heads} heads of {size} numbers make {heads * size}: together they are as wide as one large "
                    "head.",
                ),
                (width, "Then all heads together would be that many times the work. The width is divided among them."),
                (heads, "That is the number of heads. Each has a query with several numbers."),
                (
                    heads * width,
                    "That is far more than the vector itself has. The width is divided, not multiplied.",
                ),
            ),
        )

    def reveal(self) -> None:
        assert self.size  # which raises where heads are not known part by part
        names = filter(self.case.anatomy.has, ("query", "key", "value"))
        pictures.strips("heads-split", [self.strip(name, name) for name in names])

    def why(self) -> str:
        size, heads = self.size, self.case.info.n_heads
        return (
            f"Every head compares tokens in {size} numbers of its own, so that {heads} heads can give {heads} "
            "different sets of shares at about the cost of one wide head (Vaswani et al. 2017); in the picture lines "
            "separate the heads."
        )

    def numbers(self) -> pd.DataFrame:
        query = self.strip("query", "query").values
        head, dimension = np.divmod(np.arange(len(query)), self.size)
        return pd.DataFrame({"head": head + 1, "dimension": dimension + 1, "query": query})


class OwnShares(HeadsStep):
    title = "Each attends differently"
    sources = (CLARK,)
    stage = "context"

    def text(self) -> str:
        return (
            f"Every head of layer {self.case.layer + 1} distributes the 100% of {self.token} in its own way. Do they "
            "agree? (Even heads with the same weights would differ in their values and in what W_O makes of them.)"
        )

    def ask(self) -> Choice:
        targets = self.weights.argmax(axis=1).tolist()
        many = len(set(targets))
        most, count = Counter(targets).most_common(1)[0]
        fact = (
            f"{count} of {len(targets)} heads give most to {self.quoted(most)}; there are {many} "
            f"different {'favourite' if many == 1 else 'favourites'}."
        )
        return Choice(
            f"To how many different tokens do the {len(targets)} heads of this layer give most?",
            options.ranges(
                many,
                ((2, "To one: they agree"), (4, "To two or three"), (np.inf, "To four or more")),
                lambda place, right: (
                    fact if place == right else f"Count the columns that hold the darkest cell of some row. {fact}"
                ),
            ),
        )

    def reveal(self) -> None:
        figure = partial(layer_attention, self.weights, self.tokens, rows="head")
        pictures.show("heads-of-a-token", figure)

    def why(self) -> str:
        weights = self.weights.astype(np.float64)
        sharpest, flattest = int(weights.max(axis=1).argmax()), int(weights.max(axis=1).argmin())
        if sharpest == flattest:
            return "There is only one head here, or all are the same, so there is nothing to compare."
        return (
            f"Nothing in training asks heads to agree: for {self.token}, head {sharpest + 1} gives "
            f"{weights[sharpest].max():.0%} to one token, and head {flattest + 1} at most "
            f"{weights[flattest].max():.0%} to any."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({f"head {head}": row for head, row in enumerate(self.weights, start=1)})


class Joined(HeadsStep):
    title = "Concatenate and project"
    terms = ("output projection",)
    sources = (VASWANI,)

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

    def text(self) -> str:
        return (
            "The heads’ [[context vectors|context vector]] are concatenated into one vector, and a last matrix W_O "
            "projects it: that is what the layer’s attention adds. Each row of W_O belongs to one head, so we can "
            f"tell how much each head adds for {self.token}."
        )

    def figure(self) -> None:
        pictures.strips("contexts", [self.strip("contexts side by side", "context")])

    def ask(self) -> Sketch:
        lengths = self.lengths
        heads = sorted(np.argsort(-lengths, kind="stable")[:_MOST_HEADS].tolist())
        truth = [float(lengths[head]) for head in heads]
        names = [f"head {head + 1}" for head in heads]

        def reply(drawn: Sequence[float]) -> str:
            best, guessed = options.highest(names, truth), options.highest(names, drawn)
            start = "You found it" if guessed == best else f"You drew {guessed} longest"
            return f"{start}: {best} adds the longest vector, {max(truth):.2f}; the shortest is {min(truth):.2f}."

        return Sketch(
            f"Draw how long a vector each head of layer {self.case.layer + 1} adds for {self.token}.",
            tuple(names),
            tuple(truth),
            reply,
            top=max(truth) * 1.25 or 1.0,
        )

    def reveal(self) -> None:
        lengths = self.lengths
        pictures.bars(
            "heads-added",
            [f"head {head + 1}" for head in range(len(lengths))],
            [("length of what it adds", lengths.tolist())],
            marked=int(lengths.argmax()),
        )

    def why(self) -> str:
        added, total = self.added
        together = float(np.linalg.norm(added.astype(np.float64).sum(axis=0)))
        apart = float(self.lengths.sum())
        return (
            f"One by one, what the heads add has lengths that sum to {apart:.2f}; added together it has a length of "
            f"{together:.2f}, since heads also pull in different directions. With the bias of W_O, if there is one, "
            f"attention adds a vector of length {np.linalg.norm(total):.2f}."
        )

    def numbers(self) -> pd.DataFrame:
        lengths = self.lengths
        return pd.DataFrame({"head": np.arange(1, len(lengths) + 1), "length of what it adds": lengths})


class Kinds(HeadsStep):
    title = "What do they do here?"
    terms = ("kind of head", "pruning")
    sources = (CLARK, MICHEL)

    @property
    def table(self) -> HeadTable:
        """The kind of every head on the first text."""
        return head_table([self.case.run])

    def text(self) -> str:
        return (
            "Some [[kinds of heads|kind of head]] have names: heads that give most to the previous token, to [SEP] "
            "or [CLS], or about the same to all. Here a rule with a threshold does the naming. A head that fits no "
            "rule is called “mixed”. A name says where attention goes, not what the head is for."
        )

    def check(self) -> None:
        super().check()
        OwnShares(self.case).check()

    def figure(self) -> None:
        OwnShares(self.case).reveal()

    def ask(self) -> Choice:
        labels = self.table.labels
        n, mixed = len(labels), sum(label == MIXED for label in labels)
        fact = f"{mixed} of {n} heads are mixed on this sentence."
        return Choice(
            f"How many of this model’s {n} heads fit none of the rules on your sentence?",
            options.ranges(
                mixed / n,
                (
                    (0.25, "Fewer than a quarter"),
                    (0.5, "A quarter to half"),
                    (0.75, "Half to three quarters"),
                    (np.inf, "Three quarters or more"),
                ),
                lambda place, right: (
                    fact
                    if place == right
                    else f"{fact} Rules are hard to pass on a short sentence, since they also have to rule out chance."
                ),
            ),
        )

    def reveal(self) -> None:
        labels, counts = zip(*Counter(self.table.labels).most_common(), strict=True)
        pictures.bars("kinds", labels, [("heads", [float(count) for count in counts])], written=".0f")

    def why(self) -> str:
        named = [label for label in self.table.labels if label != MIXED]
        if not named:
            most = "no head fits a rule on this sentence"
        else:
            label, count = Counter(named).most_common(1)[0]
            most = f"the most frequent name is “{label}”, with {count} of {len(named)} named heads"
        return (
            f"Training shapes the heads; nobody assigns them a task. Here {most}. In BERT, most heads can be removed "
            "one at a time with little loss (Michel et al. 2019), so a name is no proof that a head is needed."
        )

    def numbers(self) -> pd.DataFrame:
        table = self.table
        return pd.DataFrame(
            {"layer": table.layer + 1, "head": table.head + 1, "kind": table.labels, "score": table.scores}
        )


class Sink(HeadsStep):
    title = "Why does everybody look at [SEP]?"
    terms = ("attention sink", "no-op head")
    sources = (CLARK, KOBAYASHI, XIAO, SUN, GU_2025)

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

    def of_layer(self) -> tuple[list[str], list[float], list[float]]:
        """The heads of its layer, each with the share it gives to the token and with what that adds."""
        layer, _, token = self.at_most
        share, added = (array[layer, :, token].astype(np.float64) for array in (self.sinks.share, self.sinks.added))
        heads = np.flatnonzero(np.isfinite(share))
        return [f"head {head + 1}" for head in heads], share[heads].tolist(), added[heads].tolist()

    def text(self) -> str:
        layer, head, token = self.at_most
        return (
            "In models such as BERT, many heads give most of their attention to one special token, whatever the text "
            f"says: an [[attention sink]]. On your sentence, this model’s largest share goes to {self.name}: in layer "
            f"{layer + 1}, head {head + 1}, the other tokens give it {self.sinks.share[self.at_most]:.0%} (uniform "
            f"attention would give {self.sinks.even[layer, token]:.0%}). The picture shows the heads of that layer. "
            "What do the other tokens get from there?"
        )

    def figure(self) -> None:
        labels, share, _ = self.of_layer()
        pictures.shares("sink-shares", labels, [("share of attention", share)], marked=self.at_most[1])

    def ask(self) -> Choice:
        layer, head, _ = self.at_most
        fact = f"What comes from there is {self.added:.1%} as long as the vectors it is added to."
        return Choice(
            f"In layer {layer + 1}, head {head + 1}: how long is what {self.name} adds to the other tokens, compared "
            "with their own vectors?",
            options.ranges(
                self.added,
                (
                    (NOTHING, f"Less than {NOTHING:.0%}: next to nothing"),
                    (0.1, f"{NOTHING:.0%} to 10%"),
                    (0.3, "10% to 30%"),
                    (np.inf, "30% or more"),
                ),
                lambda place, right: (
                    fact if place == right else f"{fact} A share is multiplied by a value, and values differ in length."
                ),
            ),
        )

    def reveal(self) -> None:
        labels, share, added = self.of_layer()
        series = [("share of attention", share), ("what this adds, as a share of their vectors’ length", added)]
        pictures.bars("sink-added", labels, series, written=".1%")

    def why(self) -> str:
        layer, head, token = self.at_most
        value, ordinary = float(self.sinks.value[self.at_most]), float(self.sinks.ordinary_value[layer, head])
        times = (
            f"{value / ordinary:.2f} times as long as that of an ordinary token" if ordinary else f"{value:.2f} long"
        )
        value_is = f"After W_O, the value of {self.name} is {times}"
        much = much_attention(self.sinks).any(axis=-1)
        if not much.any():
            return (
                f"{value_is}. No head of this model has a sink on this sentence: the rule asks for at least {MUCH:.0%} "
                "of the way from uniform attention to all attention."
            )
        match verdict(self.sinks, layer, head, token):
            case "does nothing":
                here = (
                    "looking there does nothing. Softmax makes every head distribute 100%, and this is where it can go "
                    "when a head has nothing to add (so Clark et al. 2019 suppose)."
                )
            case "broadcasts":
                here = "all tokens get nearly the same vector. The head broadcasts it, as a bias would."
            case "neither":
                here = "what it adds is neither next to nothing nor, by the rule, one vector for all tokens."
        nothing, spread = (rule(self.sinks).any(axis=-1) for rule in (does_nothing, broadcasts))
        n = int(np.isfinite(self.sinks.share[..., 0]).sum())
        return (
            f"{value_is}; {here} Heads with much attention to one special token on this sentence: {much.sum()} of {n}. "
            f"For {nothing.sum()} of them that does nothing, {spread.sum()} broadcast, "
            f"{(much & ~nothing & ~spread).sum()} do neither."
        )

    def numbers(self) -> pd.DataFrame:
        rows = frame(self.sinks)
        rows = rows[rows["layer"] == self.at_most[0]]
        return rows.assign(layer=rows["layer"] + 1, head=rows["head"] + 1, place=rows["place"] + 1)


LESSON = Lesson(
    name="heads",
    title="Many heads",
    question="Why is one head not enough?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("The dog ran into the garden and barked at the cat.", ""),
    ),
    controls=("token", "layer"),
    pages=("attention",),
    aims=(
        "say why a layer has several heads, and what that costs",
        "compare what two heads do for the same token",
        "explain what W_O does",
        "say what a head’s name does and does not tell",
    ),
    terms=("multi-head attention",),
    steps=(
        Split,
        OwnShares,
        Joined,
        Kinds,
        Sink,
        *recalled(
            "heads",
            Recall(
                "A layer is 768 wide and has 12 heads. How wide is a head’s query?",
                (
                    Option("768", "Then 12 heads would cost 12 times as much."),
                    Option("64", "768 divided by 12.", True),
                    Option("12", "That is the number of heads."),
                ),
                "The width is divided among the heads, so several cost about as much as one wide head.",
            ),
            Recall(
                "What happens to the heads’ outputs?",
                (
                    Option("They are averaged", "Averaging would mix them without any learned weights."),
                    Option("They are concatenated and projected by W_O", "Each head has rows of its own in W_O.", True),
                    Option("The best head’s is chosen", "All of them are used."),
                ),
                "Each head distributes a token’s attention in its own way; the outputs are concatenated and "
                "projected by W_O.",
            ),
            Recall(
                "A rule calls a head “previous token”. What do we know?",
                (
                    Option("Where its attention goes on these texts", "That is what the rule measures.", True),
                    Option("What the model needs it for", "That takes an experiment, such as switching it off."),
                    Option("That training assigned it this task", "Nobody assigns tasks to heads."),
                ),
                "Names of heads describe where attention goes on some texts, not what the head is needed for.",
            ),
        ),
    ),
)
