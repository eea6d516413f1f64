"""The same word in two sentences, layer by layer, and what can be read off each layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
import pandas as pd

from analysis.probing import LayerResult, TaskResult
from analysis.sentence_vectors import mean_of_pairs, pair_cosines
from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, HiddenStates, signed
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Sketch, Step
from ui import as_text, is_dark, precomputed, token_line
from ui.glossary import quoted
from ui.sources import CONNEAU, ETHAYARAJH, JAWAHAR, PETERS, TENNEY
from viz.curves import curves
from viz.layout import layer_names
from viz.strips import Strip
from viz.token_line import Cell, Item, Line
from web.engine import engine

_MOST_LAYERS: Final = 13  # that one draws over, the embeddings among them
_TASKS: Final = {  # what each asks, as short as a legend on a phone
    "bigram_shift": "Were two neighbours swapped?",
    "sentence_length": "How many words are there?",
    "word_content": "Which of 20 animals is named?",
}
_AS_WELL: Final = 0.05  # of the accuracy, below which two are called alike: a test has 120 sentences
_GRAMMAR: Final = (
    "an and are as at be but by do for from had has have he her him his in is it its me my not of on or she so that "
    "the their them they this to was we were with you"
)


class LayersStep(Step):
    """A step about a word that two sentences share, and what was read off the layers of a model."""

    at: ClassVar[Place] = "layers"

    @cached_property
    def both(self) -> tuple[HiddenStates, HiddenStates]:
        """The vectors of both sentences."""
        if self.case.pair is None:
            raise InvalidInput("This lesson compares two sentences. Type a second one, or take an example.")
        return self.case.states, engine().encoded_states(self.case.model, self.case.pair)

    @cached_property
    def shared(self) -> tuple[int, int]:
        """The places of one and the same token in both sentences: the longest one that is no word of grammar.

        Raises InvalidInput where there is none.
        """
        one, other = (states.encoding for states in self.both)
        places: dict[int, tuple[int, int, str]] = {}
        for at, (id, token, special) in enumerate(zip(one.ids, one.tokens, one.special, strict=True)):
            word = "".join(sign for sign in token if sign.isalpha()).lower()
            if not special and id in other.ids and len(word) > 1 and word not in _GRAMMAR.split():
                places.setdefault(id, (at, other.ids.index(id), word))
        if not places:
            raise InvalidInput(
                "The two sentences share no word. Type one word in both, such as “bank”, or take an example."
            )
        at, there, _ = max(places.values(), key=lambda found: len(found[2]))
        return at, there

    @property
    def written(self) -> str:
        """The shared token as it is typed in the first sentence."""
        return self.case.written(self.shared[0])

    @property
    def word(self) -> str:
        """The same in quotation marks."""
        return quoted(self.written)

    @cached_property
    def drift(self) -> FloatArray:
        """How alike the shared word’s two vectors are after the embeddings and every layer, (layers + 1,)."""
        (one, other), (at, there) = self.both, self.shared
        return pair_cosines(one.states[:, at], other.states[:, there])

    @property
    def layers(self) -> list[str]:
        """The names of the layers, the embeddings among them."""
        return layer_names(len(self.drift))

    def draw_sentences(self) -> None:
        """Draw both sentences, the shared word marked."""
        lines = [
            Line(tuple(Item((Cell(token),), marked=at == place) for at, token in enumerate(states.encoding.tokens)))
            for states, place in zip(self.both, self.shared, strict=True)
        ]
        token_line.draw(lines, "learn sentences")

    def draw_cosines(self, name: str, *more: tuple[str, list[float]]) -> None:
        """Draw how alike the word's two vectors are after every layer, and ``more`` curves."""
        series = [(f"{self.written}, in two sentences", self.drift.tolist()), *more]
        pictures.show(name, curves(self.layers, series, what="cosine", across="layer", dark=is_dark()))

    @property
    def measured(self) -> str:
        """The model of which there are results: the visitor’s, where they came with the app."""
        return self.case.model if precomputed.probing(self.case.model) else DEFAULT_MODEL

    @cached_property
    def results(self) -> dict[str, TaskResult]:
        """What was measured before the app was given out, by what each task asks."""
        found = {key.task: done.result for key, done in precomputed.probing(self.measured).items()}
        kept = {question: found[task] for task, question in _TASKS.items() if task in found}
        if len(kept) < len(_TASKS):
            raise InvalidInput("The results of probing did not come with this app. Run the tasks on the page Layers.")
        return kept

    @property
    def whose(self) -> str:
        """What a sentence calls that model."""
        model = self.measured
        return as_text(name_of(model)) + ("" if model == self.case.model else ", not on your model")


class Drift(LayersStep):
    title = "One word, two sentences"
    sources = (PETERS,)

    def text(self) -> str:
        return (
            f"Both sentences have {self.word}. It is looked up in the same row of the table; then every layer mixes in "
            "something of its neighbours. A vector that depends on the sentence is called [[contextual]]. How "
            "alike do the two stay?"
        )

    def figure(self) -> None:
        self.draw_sentences()

    def ask(self) -> Sketch:
        names, chosen = self.layers, options.spread(len(self.drift), _MOST_LAYERS)
        labels = tuple(names[at] if at == 0 else f"layer {names[at]}" for at in chosen)
        truth = tuple(np.clip(self.drift[chosen], 0, 1).tolist())

        def reply(drawn: Sequence[float]) -> str:
            gaps = np.array(drawn) - np.array(truth)
            worst = int(np.argmax(np.abs(gaps)))
            how = "too far apart" if gaps[worst] < 0 else "too much alike"
            said = f"You are {np.abs(gaps).mean():.2f} off, on average"
            furthest = f", furthest at {labels[worst]}, where you drew them {how}" if abs(gaps[worst]) > 0.1 else ""
            return f"{said}{furthest}. They are least alike at {labels[int(np.argmin(truth))]}: {min(truth):.2f}."

        return Sketch(
            f"Draw the [[cosine]] of the two vectors of {self.word}, from the embeddings up (1: same direction).",
            labels,
            truth,
            reply,
            kind="curve",
        )

    def reveal(self) -> None:
        self.draw_cosines("drift")

    def why(self) -> str:
        drift = self.drift
        if drift.min() > 1 - 1e-4:
            return (
                "Neither places nor neighbours have anything that differs, so the two vectors stay the same all the "
                "way."
            )
        way = "with ups and downs" if (np.diff(drift) > 0).any() else "lower with every layer"
        return (
            f"The cosine goes from {signed(drift[0])} to {signed(drift[-1])}, {way}, since what is mixed in comes from "
            "other neighbours; vectors that depend on the sentence help in many tasks (Peters et al. 2018)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": self.layers, "cosine": self.drift})


class Before(LayersStep):
    title = "At the very beginning"
    at = "embeddings"

    def text(self) -> str:
        at, there = self.shared
        return (
            f"Go back to the very beginning, before any layer. {self.word} is token {at + 1} of the first sentence and "
            f"token {there + 1} of the second. Nothing has been mixed in yet."
        )

    def figure(self) -> None:
        self.draw_sentences()

    def ask(self) -> Choice:
        start = float(self.drift[0])
        at, there = self.shared
        same = start > 1 - 1e-4
        by_place = not same and at != there and engine().read_positions(self.case.model, 8).kind == "learned"
        told = f"The cosine is {start:.4f}."
        return Choice(
            f"Before the first layer, are the two vectors of {self.word} the same?",
            options.placed(
                1,
                options.either(
                    "Yes: it is the same token",
                    same,
                    told,
                    f"It is the same row of the table of tokens, but the table is not all that is added up. {told}",
                ),
                options.either(
                    "No: it stands at another place",
                    by_place,
                    f"{told} A vector for the place was added to that of the token.",
                    f"It stands at token {at + 1} both times. {told}"
                    if at == there
                    else f"This model tells places in another way, later on. {told}",
                ),
                options.either(
                    "No: its neighbours are others",
                    not (same or by_place),
                    told,
                    f"Neighbours enter in the layers, and there was none so far. {told}",
                ),
            ),
        )

    def reveal(self) -> None:
        """What was added up to make the two vectors: one row of the table of tokens, two of that of places."""
        (one, other), (at, there) = self.both, self.shared
        token = one.encoding.tokens[at]
        rows: list[Strip] = []
        for sentence, text, place in (("first", self.case.text, at), ("second", other.encoding.text, there)):
            parts = {stage.name: stage.values[place] for stage in engine().dissect(self.case.model, text).embeddings}
            if "token" in parts:
                rows.append(Strip(f"{sentence}: {token}", parts["token"]))
            if "position" in parts:
                rows.append(Strip(f"place {place + 1}", parts["position"], sign="+"))
        self.draw_sentences()
        if rows:
            pictures.strips("first-vectors", rows)

    def why(self) -> str:
        at, there = self.shared
        if engine().read_positions(self.case.model, 8).kind != "learned":
            return "This model adds no vector for the place, so before the first layer a token is the same everywhere."
        if at == there:
            return "This model adds a vector for the place to that of the token, and here the two places are the same."
        return (
            f"This model adds a vector for the place to that of the token: {at + 1} in one sentence and {there + 1} in "
            "the other, while the token’s own part is one and the same row."
        )

    def numbers(self) -> pd.DataFrame:
        return Drift(self.case).numbers()


def _gain(result: TaskResult) -> float:
    """How much better the best layer is than the embeddings."""
    return result.best.accuracy - result.layers[0].accuracy


class OtherWords(LayersStep):
    title = "Much or little?"
    sources = (ETHAYARAJH,)
    after = Drift

    @cached_property
    def others(self) -> list[float]:
        """The mean cosine of different tokens of one sentence after every layer, over both sentences."""
        found = []
        for states in self.both:
            encoding = states.encoding
            firsts = {id: at for at, id in reversed(list(enumerate(encoding.ids))) if not encoding.special[at]}
            if len(firsts) > 1:
                found.append([mean_of_pairs(layer[sorted(firsts.values())]) for layer in states.states])
        if not found:
            raise InvalidInput("Both sentences have one word only. Type more words, or take an example.")
        return [float(mean) for mean in np.mean(found, axis=0)]

    def text(self) -> str:
        end = signed(float(self.drift[-1]))
        return (
            f"After the last layer the cosine of the two {self.word} is {end}. Is that much or little? A number needs "
            "another beside it: take all pairs of different words within one sentence. (Two uses of one meaning part, "
            "too: compare the last example.)"
        )

    def ask(self) -> Choice:
        mean = self.others[-1]
        said = (
            "Arrows that point anywhere have cosines near 0.",
            "So it is where vectors share a little beside what is their own.",
            "So it is where what all share is about as large as what is their own.",
            "Then different words are as alike as one word often is in two sentences.",
        )

        def reply(place: int, right: int) -> str:
            if place == right:
                return f"It is {signed(mean)}: that is what to compare with, and not 0."
            return f"{said[place]} These share {'more' if place < right else 'less'}: {signed(mean)}."

        bounds = ((0.1, "Below 0.1"), (0.35, "From 0.1 to 0.35"), (0.7, "From 0.35 to 0.7"), (np.inf, "0.7 or more"))
        return Choice(
            "After the last layer, what is the mean cosine of two different words of a sentence?",
            options.ranges(mean, bounds, reply),
        )

    def reveal(self) -> None:
        self.draw_cosines("versus", ("different words of one sentence, mean", self.others))

    def why(self) -> str:
        start, *_, end = self.others
        return (
            f"Different words go from {signed(start)} to {signed(end)}: the vectors of a layer often share a "
            "direction, in some models so much that all cosines are high (Ethayarajh 2019), so a cosine alone says "
            "little."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": self.layers, "same word": self.drift, "different words": self.others})


def _after(layer: LayerResult) -> str:
    return "on the embeddings" if layer.layer == 0 else f"after layer {layer.layer}"


class Probes(LayersStep):
    title = "What can be read off"
    sources = (CONNEAU, JAWAHAR, TENNEY)

    def text(self) -> str:
        return (
            "What does a layer “know”? More exactly: what can a small classifier, a [[probe]], read off its vectors? "
            "Three questions were asked of every layer, on sentences made for it, before this app was given out (of "
            f"{self.whose})."
        )

    def figure(self) -> None:
        self.draw_sentences()

    def ask(self) -> Choice:
        found = self.results
        most = max(found, key=lambda question: _gain(found[question]))

        def reply(question: str, result: TaskResult) -> str:
            best = result.best
            told = f"{result.layers[0].accuracy:.0%} on the embeddings, {best.accuracy:.0%} {_after(best)}."
            if question == most:
                return told
            if _gain(result) <= 0 and best.layer > 0:
                return f"The layers bring no gain there: {told}"
            if best.layer == 0:
                return f"It is read best off the embeddings, {best.accuracy:.0%}: the layers make it harder to read."
            return f"It gains, too, but less: {told}"

        return Choice(
            "Which question gains most from the layers, against the embeddings?",
            tuple(Option(question, reply(question, result), question == most) for question, result in found.items()),
        )

    def reveal(self) -> None:
        found = self.results
        names = layer_names(len(next(iter(found.values())).layers))
        series = [(question, [layer.accuracy for layer in result.layers]) for question, result in found.items()]
        figure = curves(names, series, what="right answers", across="layer", share=True, dark=is_dark())
        pictures.show("probes", figure)

    def why(self) -> str:
        found = self.results
        most = max(found.values(), key=_gain)
        return (
            "Which words there are stands in the embeddings already, their order has to be worked out: it is read best "
            f"{_after(most.best)} of {len(most.layers) - 1}; in BERT-base others found surface features low, syntax in "
            "the middle and meaning high (Jawahar et al. 2019, Tenney et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        columns = ("question", "layer", "accuracy", "low", "high", "random weights", "always the same answer")
        rows = [
            (question, at.layer, at.accuracy, at.low, at.high, at.untrained_accuracy, result.majority)
            for question, result in self.results.items()
            for at in result.layers
        ]
        return pd.DataFrame(rows, columns=columns)


class Baselines(LayersStep):
    title = "A network that learned nothing"
    sources = (CONNEAU,)
    after = Probes

    @cached_property
    def against(self) -> list[tuple[str, LayerResult, float]]:
        """For each task the question, its best layer, and the accuracy there with random weights."""
        found = []
        for question, result in self.results.items():
            assert result.best.untrained_accuracy is not None
            found.append((question, result.best, result.best.untrained_accuracy))
        return found

    def text(self) -> str:
        return (
            "Now a caution. Take the same network, but with weights drawn at random: it was never trained. Train the "
            f"same probes on its vectors and ask the same three questions (again of {self.whose})."
        )

    def ask(self) -> Choice:
        found = self.against
        alike = [question for question, best, random in found if random >= best.accuracy - _AS_WELL]
        named = f"So it is with: {' '.join(alike)}" if alike else "So it is with none of the three."
        said = (
            "Random weights make something of every sentence, too: other sentences, other vectors.",
            "Which words there are, and how many, both leave traces in any mixture.",
            "Which words there are gets through random matrices, but more is lost than one thinks.",
            "Then training would have brought nothing here.",
        )
        return Choice(
            f"How many of the three are read off random weights as well (within {100 * _AS_WELL:.0f} points, or "
            "better)?",
            tuple(
                options.either(name, n == len(alike), named, f"{said[n]} {named}")
                for n, name in enumerate(("None of them", "One", "Two", "All three"))
            ),
        )

    def reveal(self) -> None:
        names, best, random = zip(*self.against, strict=True)
        trained = [layer.accuracy for layer in best]
        series = [("trained, best layer", trained), ("random weights, same layer", random)]
        pictures.shares("random-weights", names, series, written=".0%")

    def why(self) -> str:
        lost = [question for question, best, random in self.against if random < best.accuracy - _AS_WELL]
        which = f"“{'” and “'.join(lost)}”" if lost else "here nothing"
        return (
            "A random network keeps much of what went in, so finding it there is no sign of learning; only what random "
            f"weights lack is one ({which}), and even that need not be what the model uses (untrained networks were "
            "probed by Conneau et al. 2018, too)."
        )

    def numbers(self) -> pd.DataFrame:
        return Probes(self.case).numbers()


LESSON = Lesson(
    name="layers",
    title="Layers upon layers",
    question="What happens to a word on its way up?",
    examples=(
        ("They sat on the bank of the river.", "She took the money to the bank."),
        ("He saw the duck on the lake.", "You have to duck under the branch."),
        ("The match ended in a draw.", "She lit the fire with a match."),
        ("The bank gave her a loan.", "She took the money to the bank."),
    ),
    paired=True,
    pages=("layers", "compare"),
    steps=(Drift, Before, OtherWords, Probes, Baselines),
)
