"""The same word in two sentences, layer by layer, and what can be read off each layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
from propcache.api import cached_property

from analysis.probing import LayerResult, TaskResult
from analysis.sentence_vectors import mean_of_pairs, pair_cosines
from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput
from model_zoo.types import DoubleArray, HiddenStates
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Option, Sketch, Step, read_lesson, spread
from ui import as_text, precomputed, token_line
from ui.glossary import quote
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

    def figure(self) -> None:
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
    def ask(self) -> Sketch:
        names, chosen = self.layers, spread(len(self.drift), _MOST_LAYERS)
        labels = [names[at] if at == 0 else f"layer {names[at]}" for at in chosen]
        return self.sketch(labels, np.clip(self.drift[chosen], 0, 1), kind="curve")

    def reply(self, compared: Mapping[str, Any]) -> str:
        how = self.say("too_far" if compared["drawn_there"] < compared["truth_there"] else "too_similar")
        furthest = self.say("furthest", **compared, how=how) if compared["gaps"].max() > 0.1 else ""
        return self.say("reply", **compared, furthest=furthest)

    def reveal(self) -> None:
        self.draw_cosines("drift")

    def why(self) -> str:
        drift = self.drift
        if drift.min() > 1 - 1e-4:
            return self.say("why same")
        way = self.say("up_and_down" if (np.diff(drift) > 0).any() else "falling")
        return self.say("why", start=drift[0], end=drift[-1], way=way)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": self.layers, "cosine": self.drift})


class Before(LayersStep):
    def text(self) -> str:
        at, there = self.shared
        return self.say("text", at=at + 1, there=there + 1)

    def ask(self) -> Choice:
        start, (at, there) = float(self.drift[0]), self.shared
        same = start > 1 - 1e-4
        by_place = not same and at != there and engine().read_positions(self.case.model, 8).kind == "learned"
        question = self.choice(
            same=same,
            by_place=by_place,
            neither=not (same or by_place),
            start=start,
            not_by_place=self.say("same_place" if at == there else "other_way", at=at + 1),
        )
        right, *wrong = sorted(question.options, key=lambda option: not option.right)
        return replace(question, options=(wrong[0], right, wrong[1]))  # so that its place tells nothing

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
        self.figure()
        if rows:
            pictures.strips("first-vectors", rows)

    def why(self) -> str:
        at, there = self.shared
        if engine().read_positions(self.case.model, 8).kind != "learned":
            return self.say("why no vector")
        if at == there:
            return self.say("why same place")
        return self.say("why", at=at + 1, there=there + 1)

    def numbers(self) -> pd.DataFrame:
        return Drift(self.case).numbers()


def _gain(result: TaskResult) -> float:
    """How much better the best layer is than the embeddings."""
    return result.best.accuracy - result.layers[0].accuracy


class OtherWords(LayersStep):
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
        return self.say("text", end=self.drift[-1])

    def ask(self) -> Choice:
        return self.choice(mean=self.others[-1])

    def reveal(self) -> None:
        self.draw_cosines("versus", ("different words of one sentence, mean", self.others))

    def why(self) -> str:
        start, *_, end = self.others
        return self.say("why", start=start, end=end)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": self.layers, "same word": self.drift, "different words": self.others})


def _after(layer: LayerResult) -> str:
    return "on the embeddings" if layer.layer == 0 else f"after layer {layer.layer}"


class Probes(LayersStep):
    def check(self) -> None:
        super().check()
        Drift(self.case).check()  # whose sentences are drawn

    def ask(self) -> Choice:
        results = self.results
        most = max(results, key=lambda question: _gain(results[question]))

        def reply(question: str, result: TaskResult) -> str:
            best = result.best
            if question == most:
                return self.say("fact", result=result, best=best, where=_after(best))
            if _gain(result) <= 0 and best.layer > 0:
                return self.say("reply_no_gain", result=result, best=best, where=_after(best))
            if best.layer == 0:
                return self.say("reply_embeddings", best=best)
            return self.say("reply_less", result=result, best=best, where=_after(best))

        return Choice(
            self.say("ask"),
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
        return self.say("why", where=_after(most.best), n_layers=len(most.layers) - 1, most=most)

    def numbers(self) -> pd.DataFrame:
        columns = ("question", "layer", "accuracy", "low", "high", "random weights", "always the same answer")
        rows = [
            (question, at.layer, at.accuracy, at.low, at.high, at.untrained_accuracy, result.majority)
            for question, result in self.results.items()
            for at in result.layers
        ]
        return pd.DataFrame(rows, columns=columns)


class Baselines(LayersStep):
    after = Probes

    @cached_property
    def against(self) -> list[tuple[str, LayerResult, float]]:
        """For each task the question, its best layer, and the accuracy there with random weights."""
        rows = []
        for question, result in self.results.items():
            assert result.best.untrained_accuracy is not None
            rows.append((question, result.best, result.best.untrained_accuracy))
        return rows

    @property
    def animals(self) -> TaskResult:
        """The task that random weights do well on: which animal is named."""
        return self.results[_TASKS["word_content"]]

    @property
    def chance(self) -> float:
        """The accuracy of always giving the same answer."""
        return self.animals.majority

    def ask(self) -> Choice:
        return self.choice(random=self.animals.best.untrained_accuracy)

    def reveal(self) -> None:
        names, best, random = zip(*self.against, strict=True)
        trained = [layer.accuracy for layer in best]
        columns = {"question": names, "trained, best layer": trained, "random weights, same layer": random}
        pictures.shares("random-weights", columns, written=".0%")

    def why(self) -> str:
        lost = [question for question, best, random in self.against if random < best.low]
        which = f"“{'” and “'.join(lost)}”" if lost else self.say("nothing")
        return self.say("why", which=which)

    def numbers(self) -> pd.DataFrame:
        return Probes(self.case).numbers()


LESSON = read_lesson(__file__, Drift, Before, OtherWords, Probes, Baselines)
