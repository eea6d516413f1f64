"""The same word in two sentences, layer by layer, and what can be read off each layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from propcache.api import cached_property

from analysis.probing import LayerResult, TaskResult
from analysis.sentence_vectors import mean_of_pairs, pair_cosines
from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput
from model_zoo.types import DoubleArray, HiddenStates, signed
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, Step, recalled
from ui import as_text, precomputed, token_line
from ui.glossary import quote
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
        first, other = (states.encoding for states in self.both)
        places: dict[int, tuple[int, int, str]] = {}
        for at, (id, token, special) in enumerate(zip(first.ids, first.tokens, first.special, strict=True)):
            word = "".join(sign for sign in token if sign.isalpha()).lower()
            if not special and id in other.ids and len(word) > 1 and word not in _GRAMMAR.split():
                places.setdefault(id, (at, other.ids.index(id), word))
        if not places:
            raise InvalidInput(
                "The two sentences share no word. Type one word in both, such as “bank”, or take an example."
            )
        at, there, _ = max(places.values(), key=lambda place: len(place[2]))
        return at, there

    @property
    def written(self) -> str:
        """The shared token as it is typed in the first sentence."""
        return self.case.written(self.shared[0])

    @property
    def word(self) -> str:
        """The same in quotation marks."""
        return quote(self.written)

    @cached_property
    def drift(self) -> DoubleArray:
        """How alike the shared word’s two vectors are after the embeddings and every layer, (layers + 1,)."""
        (first, other), (at, there) = self.both, self.shared
        return pair_cosines(first.states[:, at], other.states[:, there])

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
        pictures.show(name, partial(curves, self.layers, series, quantity="cosine", across="layer"))

    @property
    def measured(self) -> str:
        """The model of which there are results: the visitor’s, where they came with the app."""
        return self.case.model if precomputed.probing(self.case.model) else DEFAULT_MODEL

    @cached_property
    def results(self) -> dict[str, TaskResult]:
        """What was measured before the app was given out, by what each task asks."""
        results = {key.task: done.result for key, done in precomputed.probing(self.measured).items()}
        kept = {question: results[task] for task, question in _TASKS.items() if task in results}
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
    terms = ("contextual",)
    sources = (PETERS,)

    def text(self) -> str:
        return (
            f"Both sentences contain {self.word}. It is looked up in the same row of the table; then every layer "
            "mixes in something from its neighbours. A vector that depends on the sentence is called [[contextual]]. "
            "How similar do the two stay?"
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
            how = "too far apart" if gaps[worst] < 0 else "too similar"
            start = f"You miss by {np.abs(gaps).mean():.2f} on average"
            furthest = f", most at {labels[worst]}, where you drew them {how}" if abs(gaps[worst]) > 0.1 else ""
            return f"{start}{furthest}. They are least similar at {labels[int(np.argmin(truth))]}: {min(truth):.2f}."

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
            return "Positions and neighbours are the same in both, so the two vectors stay the same all the way."
        way = "with ups and downs" if (np.diff(drift) > 0).any() else "falling with every layer"
        return (
            f"The cosine goes from {signed(drift[0])} to {signed(drift[-1])}, {way}, since the two sentences mix in "
            "different neighbours; such contextual vectors help in many tasks (Peters et al. 2018)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": self.layers, "cosine": self.drift})


class Before(LayersStep):
    title = "Before the first layer"
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
        fact = f"The cosine is {start:.4f}."
        return Choice(
            f"Before the first layer, are the two vectors of {self.word} the same?",
            options.placed(
                1,
                options.either(
                    "Yes: it is the same token",
                    same,
                    fact,
                    f"It is the same row of the token table, but that is not all that is added up. {fact}",
                ),
                options.either(
                    "No: its position is different",
                    by_place,
                    f"{fact} A vector for the position was added to that of the token.",
                    f"It is token {at + 1} both times. {fact}"
                    if at == there
                    else f"This model brings in positions in another way, later on. {fact}",
                ),
                options.either(
                    "No: its neighbours are different",
                    not (same or by_place),
                    fact,
                    f"Neighbours come in through the layers, and there was none so far. {fact}",
                ),
            ),
        )

    def reveal(self) -> None:
        """What was added up to make the two vectors: one row of the table of tokens, two of that of places."""
        (first, other), (at, there) = self.both, self.shared
        token = first.encoding.tokens[at]
        rows: list[Strip] = []
        for sentence, text, place in (("first", self.case.text, at), ("second", other.encoding.text, there)):
            parts = {stage.name: stage.values[place] for stage in engine().dissect(self.case.model, text).embeddings}
            if "token" in parts:
                rows.append(Strip(f"{sentence}: {token}", parts["token"]))
            if "position" in parts:
                rows.append(Strip(f"position {place + 1}", parts["position"], sign="+"))
        self.draw_sentences()
        if rows:
            pictures.strips("first-vectors", rows)

    def why(self) -> str:
        at, there = self.shared
        if engine().read_positions(self.case.model, 8).kind != "learned":
            return "This model adds no position vector, so before the first layer a token is the same everywhere."
        if at == there:
            return "This model adds a position vector to that of the token, and here the two positions are the same."
        return (
            f"This model adds a position vector to that of the token: position {at + 1} in one sentence and "
            f"{there + 1} in the other, while the token’s own part is the same row."
        )

    def numbers(self) -> pd.DataFrame:
        return Drift(self.case).numbers()


def _gain(result: TaskResult) -> float:
    """How much better the best layer is than the embeddings."""
    return result.best.accuracy - result.layers[0].accuracy


class OtherWords(LayersStep):
    title = "Is that a lot?"
    terms = ("anisotropy",)
    sources = (ETHAYARAJH,)
    after = Drift

    @cached_property
    def others(self) -> list[float]:
        """The mean cosine of different tokens of one sentence after every layer, over both sentences."""
        means = []
        for states in self.both:
            encoding = states.encoding
            firsts = {id: at for at, id in reversed(list(enumerate(encoding.ids))) if not encoding.special[at]}
            if len(firsts) > 1:
                means.append([mean_of_pairs(layer[sorted(firsts.values())]) for layer in states.states])
        if not means:
            raise InvalidInput("Both sentences have only one word. Type more words, or take an example.")
        return [float(mean) for mean in np.mean(means, axis=0)]

    def text(self) -> str:
        end = signed(float(self.drift[-1]))
        return (
            f"After the last layer the cosine of the two {self.word} is {end}. Is that a lot? A number needs another "
            "one to compare it with: take all pairs of different words within one sentence. (Two uses with the same "
            "meaning also drift apart: compare the last example.)"
        )

    def ask(self) -> Choice:
        mean = self.others[-1]
        replies = (
            "Vectors in random directions have cosines near 0.",
            "That would be vectors that share a little, beside what is their own.",
            "That would be vectors whose common part is about as large as what is their own.",
            "Then different words are as similar as one word often is in two sentences.",
        )

        def reply(place: int, right: int) -> str:
            if place == right:
                return f"It is {signed(mean)}: compare with that, not with 0."
            return f"{replies[place]} Here they share {'more' if place < right else 'less'}: {signed(mean)}."

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
            "direction ([[anisotropy]]), in some models so strongly that all cosines are high (Ethayarajh 2019), so "
            "a cosine alone says little."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": self.layers, "same word": self.drift, "different words": self.others})


def _after(layer: LayerResult) -> str:
    return "on the embeddings" if layer.layer == 0 else f"after layer {layer.layer}"


class Probes(LayersStep):
    title = "What a probe can read"
    terms = ("probe",)
    sources = (CONNEAU, JAWAHAR, TENNEY)

    def text(self) -> str:
        return (
            "What does a layer “know”? More precisely: what can a small classifier, a [[probe]], read off its "
            "vectors? Three questions were asked of every layer, on sentences made for this purpose, before this app "
            f"was released (of {self.whose})."
        )

    def check(self) -> None:
        super().check()
        Drift(self.case).check()  # whose sentences are drawn

    def figure(self) -> None:
        self.draw_sentences()

    def ask(self) -> Choice:
        results = self.results
        most = max(results, key=lambda question: _gain(results[question]))

        def reply(question: str, result: TaskResult) -> str:
            best = result.best
            fact = f"{result.layers[0].accuracy:.0%} on the embeddings, {best.accuracy:.0%} {_after(best)}."
            if question == most:
                return fact
            if _gain(result) <= 0 and best.layer > 0:
                return f"The layers bring no gain here: {fact}"
            if best.layer == 0:
                return f"It is read best off the embeddings, {best.accuracy:.0%}."
            return f"It gains too, but less: {fact}"

        return Choice(
            "Which question gains most from the layers, compared with the embeddings?",
            tuple(Option(question, reply(question, result), question == most) for question, result in results.items()),
        )

    def reveal(self) -> None:
        results = self.results
        names = layer_names(len(next(iter(results.values())).layers))
        series = [(question, [layer.accuracy for layer in result.layers]) for question, result in results.items()]
        figure = partial(curves, names, series, quantity="accuracy", across="layer", share=True)
        pictures.show("probes", figure)

    def why(self) -> str:
        results = self.results
        most = max(results.values(), key=_gain)
        return (
            "Which words there are can be read off the embeddings; their order has to be worked out, and is read "
            f"best {_after(most.best)} of {len(most.layers) - 1}, with {most.best.accuracy:.0%}. Keep in mind that "
            f"counting pairs of neighbouring words, without any model, gets {most.without_model.accuracy:.0%}. In "
            "BERT-base others found surface features low, syntax in the middle (Jawahar et al. 2019), and semantics "
            "spread over the layers (Tenney et al. 2019)."
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
    terms = ("majority baseline",)
    sources = (CONNEAU,)
    after = Probes

    @cached_property
    def against(self) -> list[tuple[str, LayerResult, float]]:
        """For each task the question, its best layer, and the accuracy there with random weights."""
        rows = []
        for question, result in self.results.items():
            assert result.best.untrained_accuracy is not None
            rows.append((question, result.best, result.best.untrained_accuracy))
        return rows

    def text(self) -> str:
        return (
            "Now a caution. Take the same network with random weights, never trained, and train the same probes on "
            f"its vectors (again of {self.whose}). The question is which of 20 animals a sentence names; always "
            f"giving the same answer is right {self.chance:.0%} of the time."
        )

    @property
    def animals(self) -> TaskResult:
        """The task that random weights do well on: which animal is named."""
        return self.results[_TASKS["word_content"]]

    @property
    def chance(self) -> float:
        """The accuracy of always giving the same answer."""
        return self.animals.majority

    def ask(self) -> Choice:
        random = self.animals.best.untrained_accuracy
        assert random is not None
        bounds = ((0.2, "Less than 20%"), (0.6, "20% to 60%"), (np.inf, "More than 60%"))
        replies = (
            "Random weights still make different vectors of different words.",
            "More gets through random matrices than one thinks.",
            "Every word leaves its trace in the mixture.",
        )

        def reply(place: int, right: int) -> str:
            fact = f"It is {random:.0%}; with trained weights {self.animals.best.accuracy:.0%}."
            return f"{replies[2]} {fact}" if place == right else f"{replies[place]} {fact}"

        return Choice("How often is the probe on random weights right?", options.ranges(random, bounds, reply))

    def reveal(self) -> None:
        names, best, random = zip(*self.against, strict=True)
        trained = [layer.accuracy for layer in best]
        series = [("trained, best layer", trained), ("random weights, same layer", random)]
        pictures.shares("random-weights", names, series, written=".0%")

    def why(self) -> str:
        lost = [question for question, best, random in self.against if random < best.low]
        which = f"“{'” and “'.join(lost)}”" if lost else "here nothing"
        return (
            "A random network keeps much of what goes in, so reading it off a layer is no sign of learning. What the "
            f"trained network does better by more than the 95% interval is one ({which}), and even that need not be "
            "what the model uses (Conneau et al. 2018 probed untrained networks, too)."
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
    aims=(
        "say what makes a word’s vector contextual",
        "judge a cosine by a cosine to compare it with",
        "say what a probe measures",
        "name two baselines that a probe has to beat",
    ),
    terms=(
        "contextual",
        "probe",
    ),
    steps=(
        Drift,
        Before,
        OtherWords,
        Probes,
        Baselines,
        *recalled(
            "layers",
            Recall(
                "Why do the vectors of one word in two sentences differ after some layers?",
                (
                    Option("They were looked up in different rows", "It is the same row of the token table."),
                    Option("Each layer mixed in different neighbours", "So the vector depends on the sentence.", True),
                    Option("Layers add random noise", "At this point nothing is random."),
                ),
                "A word starts from the same row everywhere; layers mix in its neighbours, and its vector becomes "
                "contextual.",
            ),
            Recall(
                "Two vectors of a layer have a cosine of 0.8. Is that high?",
                (
                    Option("Yes, 1 is the highest", "Only if unrelated words have lower ones."),
                    Option(
                        "That depends on the cosines of unrelated words", "In some models all of them are high.", True
                    ),
                    Option("No, it should be 1", "Only the same direction has 1."),
                ),
                "Vectors of a layer may all share a direction, so a cosine needs another one to compare it with.",
            ),
            Recall(
                "A probe reads word order off layer 3 with 90%. What else do you need to know?",
                (
                    Option("Nothing: the layer knows word order", "A simpler method may get as far."),
                    Option(
                        "How far random weights and plain word counts get",
                        "Only what exceeds them is a sign of learning.",
                        True,
                    ),
                    Option("The probe’s training loss", "It says nothing about other methods."),
                ),
                "What a probe reads counts only against baselines: random weights and classifiers without a model; "
                "and the model need not use it.",
            ),
        ),
    ),
)
