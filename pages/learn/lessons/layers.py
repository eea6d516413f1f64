"""Lesson 6: the same word in two sentences, layer by layer, and what can be read off each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from analysis.probing import LayerResult, TaskResult
from analysis.sentence_vectors import mean_of_pairs, pair_cosines
from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, HiddenStates
from pages.learn import options
from pages.learn.case import Case, name_of
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures, precomputed, token_line
from ui.messages import as_text
from viz.bars import bars
from viz.curves import curves
from viz.layout import layer_names
from viz.strips import Strip, strips
from viz.token_line import Cell, Item, Line
from web.engine import engine

_MOST_LAYERS: Final = 13  # that one draws over, the embeddings among them
_TASKS: Final = {  # what each asks, as short as a legend on a phone
    "bigram_shift": "Were two neighbours swapped?",
    "sentence_length": "How many words are there?",
    "word_content": "Which of 20 animals is named?",
}
_AS_WELL: Final = 0.05  # of the accuracy, below which two are called alike: a test has 120 sentences
_COMMON: Final = frozenset(
    {
        "an", "and", "are", "as", "at", "be", "but", "by", "do", "for", "from", "had", "has", "have", "he", "her",
        "him", "his", "in", "is", "it", "its", "me", "my", "not", "of", "on", "or", "she", "so", "that", "the",
        "their", "them", "they", "this", "to", "was", "we", "were", "with", "you",
    }
)  # fmt: skip

_PETERS = Source("Peters et al.", 2018, "Deep contextualized word representations")
_ETHAYARAJH = Source("Ethayarajh", 2019, "How Contextual are Contextualized Word Representations?")
_CONNEAU = Source("Conneau et al.", 2018, "What you can cram into a single $&!#* vector")
_JAWAHAR = Source("Jawahar et al.", 2019, "What Does BERT Learn about the Structure of Language?")
_TENNEY = Source("Tenney et al.", 2019, "BERT Rediscovers the Classical NLP Pipeline")


def _both(case: Case) -> tuple[HiddenStates, HiddenStates]:
    if case.pair is None:
        raise InvalidInput("This lesson compares two sentences. Type a second one, or take an example.")
    return case.states, engine().encoded_states(case.model, case.pair)


def _shared(case: Case) -> tuple[int, int]:
    """The places of one and the same token in both sentences: the longest one that is no word of grammar.

    Raises InvalidInput where there is none.
    """
    one, other = (states.encoding for states in _both(case))
    places: dict[int, tuple[int, int, str]] = {}
    for at, (id, token, special) in enumerate(zip(one.ids, one.tokens, one.special, strict=True)):
        word = "".join(sign for sign in token if sign.isalpha()).lower()
        if not special and id in other.ids and len(word) > 1 and word not in _COMMON:
            places.setdefault(id, (at, other.ids.index(id), word))
    if not places:
        raise InvalidInput(
            "The two sentences share no word. Type one word in both, such as “bank”, or take an example."
        )
    at, there, _ = max(places.values(), key=lambda found: len(found[2]))
    return at, there


def _written(case: Case) -> str:
    """The shared token as it is typed in the first sentence."""
    return case.written(_shared(case)[0])


def _word(case: Case) -> str:
    return quoted(_written(case))


def _drift(case: Case) -> FloatArray:
    """How alike the shared word’s two vectors are after the embeddings and every layer, (layers + 1,)."""
    (one, other), (at, there) = _both(case), _shared(case)
    return pair_cosines(one.states[:, at], other.states[:, there])


def _layers(case: Case) -> list[str]:
    return layer_names(len(_drift(case)))


def _sentences(case: Case) -> None:
    (one, other), (at, there) = _both(case), _shared(case)
    lines = [
        Line(tuple(Item((Cell(token),), marked=where == place) for where, token in enumerate(states.encoding.tokens)))
        for states, place in ((one, at), (other, there))
    ]
    token_line.draw(lines, "learn sentences")


# ---- drifting apart ---------------------------------------------------------------------------------------------


def _drift_text(case: Case) -> str:
    return (
        f"Both sentences have {_word(case)}. It is looked up in the same row of the table; then every layer mixes in "
        "something of its neighbours. A vector that depends on the sentence is called [[contextual]]. How "
        "alike do the two stay?"
    )


def _chosen(case: Case) -> list[int]:
    n = len(_drift(case))
    return sorted(set(np.linspace(0, n - 1, min(n, _MOST_LAYERS)).round().astype(int).tolist()))


def _drift_ask(case: Case) -> Sketch:
    drift, chosen = _drift(case), _chosen(case)
    names = _layers(case)
    labels = [names[at] if at == 0 else f"layer {names[at]}" for at in chosen]
    truth = [min(float(max(drift[at], 0.0)), 1.0) for at in chosen]

    def reply(drawn: Sequence[float]) -> str:
        gaps = np.array(drawn) - np.array(truth)
        worst = int(np.argmax(np.abs(gaps)))
        how = "too far apart" if gaps[worst] < 0 else "too much alike"
        said = f"You are {np.abs(gaps).mean():.2f} off, on average"
        furthest = f", furthest at {labels[worst]}, where you drew them {how}" if abs(gaps[worst]) > 0.1 else ""
        return f"{said}{furthest}. They are least alike at {labels[int(np.argmin(truth))]}: {min(truth):.2f}."

    return Sketch(
        f"Draw the [[cosine]] of the two vectors of {_word(case)}, from the embeddings up (1: same direction).",
        tuple(labels),
        tuple(truth),
        reply,
        kind="curve",
    )


def _drift_reveal(case: Case) -> None:
    drift = _drift(case).tolist()
    what = f"{_written(case)}, in two sentences"
    figures.show(
        curves(_layers(case), [(what, drift)], what="cosine", across="layer", dark=case.dark), "learn drift", "drift"
    )


def _drift_why(case: Case) -> str:
    drift = _drift(case)
    if drift.min() > 1 - 1e-4:
        return "Neither places nor neighbours have anything that differs, so the two vectors stay the same all the way."
    way = "with ups and downs" if (np.diff(drift) > 0).any() else "lower with every layer"
    return (
        f"The cosine goes from {_number(drift[0])} to {_number(drift[-1])}, {way}, since what is mixed in comes from "
        "other neighbours; vectors that depend on the sentence help in many tasks (Peters et al. 2018)."
    )


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _drift_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame({"layer": _layers(case), "cosine": _drift(case)})


# ---- the first one ----------------------------------------------------------------------------------------------


def _first_text(case: Case) -> str:
    at, there = _shared(case)
    return (
        f"Go back to the very beginning, before any layer. {_word(case)} is token {at + 1} of the first sentence and "
        f"token {there + 1} of the second. Nothing has been mixed in yet."
    )


def _first_ask(case: Case) -> Choice:
    start = float(_drift(case)[0])
    at, there = _shared(case)
    same = start > 1 - 1e-4
    by_place = not same and at != there and engine().read_positions(case.model, 8).kind == "learned"
    told = f"The cosine is {start:.4f}."
    return Choice(
        f"Before the first layer, are the two vectors of {_word(case)} the same?",
        options.placed(
            1,
            Option(
                "Yes: it is the same token",
                told
                if same
                else f"It is the same row of the table of tokens, but the table is not all that is added up. {told}",
                same,
            ),
            Option(
                "No: it stands at another place",
                f"{told} A vector for the place was added to that of the token."
                if by_place
                else f"It stands at token {at + 1} both times. {told}"
                if at == there
                else f"This model tells places in another way, later on. {told}",
                by_place,
            ),
            Option(
                "No: its neighbours are others",
                told
                if not (same or by_place)
                else f"Neighbours enter in the layers, and there was none so far. {told}",
                not (same or by_place),
            ),
        ),
    )


def _first_reveal(case: Case) -> None:
    """What was added up to make the two vectors: one row of the table of tokens, two of that of places."""
    (one, other), (at, there) = _both(case), _shared(case)
    token = one.encoding.tokens[at]
    rows: list[Strip] = []
    for sentence, text, place in (("first", case.text, at), ("second", other.encoding.text, there)):
        parts = {stage.name: stage.values[place] for stage in engine().dissect(case.model, text).embeddings}
        if "token" in parts:
            rows.append(Strip(f"{sentence}: {token}", parts["token"]))
        if "position" in parts:
            rows.append(Strip(f"place {place + 1}", parts["position"], sign="+"))
    _sentences(case)
    if rows:
        figures.show(strips(rows, dark=case.dark), "learn strips", "first-vectors")


def _first_why(case: Case) -> str:
    at, there = _shared(case)
    if engine().read_positions(case.model, 8).kind != "learned":
        return "This model adds no vector for the place, so before the first layer a token is the same everywhere."
    if at == there:
        return "This model adds a vector for the place to that of the token, and here the two places are the same."
    return (
        f"This model adds a vector for the place to that of the token: {at + 1} in one sentence and {there + 1} in the "
        "other, while the token’s own part is one and the same row."
    )


# ---- much or little? --------------------------------------------------------------------------------------------


def _others(case: Case) -> list[float]:
    """After every layer the mean cosine of different tokens of one sentence, over both sentences."""
    found = []
    for states in _both(case):
        encoding = states.encoding
        firsts = {id: at for at, id in reversed(list(enumerate(encoding.ids))) if not encoding.special[at]}
        if len(firsts) > 1:
            found.append([mean_of_pairs(layer[sorted(firsts.values())]) for layer in states.states])
    if not found:
        raise InvalidInput("Both sentences have one word only. Type more words, or take an example.")
    return [float(mean) for mean in np.mean(found, axis=0)]


def _versus_text(case: Case) -> str:
    end = _number(float(_drift(case)[-1]))
    return (
        f"After the last layer the cosine of the two {_word(case)} is {end}. Is that much or little? A number needs "
        "another beside it: take all pairs of different words within one sentence. (Two uses of one meaning part, "
        "too: compare the last example.)"
    )


def _versus_ask(case: Case) -> Choice:
    mean = _others(case)[-1]
    bins = (
        (0.1, "Below 0.1", "Arrows that point anywhere have cosines near 0."),
        (0.35, "From 0.1 to 0.35", "So it is where vectors share a little beside what is their own."),
        (0.7, "From 0.35 to 0.7", "So it is where what all share is about as large as what is their own."),
        (np.inf, "0.7 or more", "Then different words are as alike as one word often is in two sentences."),
    )
    right = next(place for place, (bound, _, _) in enumerate(bins) if mean < bound)

    def reply(place: int, said: str) -> str:
        if place == right:
            return f"It is {_number(mean)}: that is what to compare with, and not 0."
        return f"{said} These share {'more' if place < right else 'less'}: {_number(mean)}."

    return Choice(
        "After the last layer, what is the mean cosine of two different words of a sentence?",
        tuple(Option(text, reply(place, said), place == right) for place, (_, text, said) in enumerate(bins)),
    )


def _versus_reveal(case: Case) -> None:
    series = [
        (f"{_written(case)}, in two sentences", _drift(case).tolist()),
        ("different words of one sentence, mean", _others(case)),
    ]
    figure = curves(_layers(case), series, what="cosine", across="layer", dark=case.dark)
    figures.show(figure, "learn drift", "versus")


def _versus_why(case: Case) -> str:
    start, *_, end = _others(case)
    return (
        f"Different words go from {_number(start)} to {_number(end)}: the vectors of a layer often share a direction, "
        "in some models so much that all cosines are high (Ethayarajh 2019), so a cosine alone says little."
    )


def _versus_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame({"layer": _layers(case), "same word": _drift(case), "different words": _others(case)})


# ---- what can be read off each layer ----------------------------------------------------------------------------


def _measured(case: Case) -> str:
    """The model of which there are results: the visitor’s, where they came with the app."""
    return case.model if precomputed.probing(case.model) else DEFAULT_MODEL


def _results(case: Case) -> dict[str, TaskResult]:
    """What was measured before the app was given out, by what each task asks."""
    found = {key.task: done.result for key, done in precomputed.probing(_measured(case)).items()}
    kept = {question: found[task] for task, question in _TASKS.items() if task in found}
    if len(kept) < len(_TASKS):
        raise InvalidInput("The results of probing did not come with this app. Run the tasks on the page Layers.")
    return kept


def _whose(case: Case) -> str:
    model = _measured(case)
    return as_text(name_of(model)) + ("" if model == case.model else ", not on your model")


def _gain(result: TaskResult) -> float:
    """How much better the best layer is than the embeddings."""
    return result.best.accuracy - result.layers[0].accuracy


def _known_text(case: Case) -> str:
    return (
        "What does a layer “know”? More exactly: what can a small classifier, a [[probe]], read off its vectors? Three "
        "questions were asked of every layer, on sentences made for it, before this app was given out (of "
        f"{_whose(case)})."
    )


def _known_ask(case: Case) -> Choice:
    found = _results(case)
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


def _after(layer: LayerResult) -> str:
    return "on the embeddings" if layer.layer == 0 else f"after layer {layer.layer}"


def _known_reveal(case: Case) -> None:
    found = _results(case)
    names = layer_names(len(next(iter(found.values())).layers))
    series = [(question, [layer.accuracy for layer in result.layers]) for question, result in found.items()]
    figure = curves(names, series, what="right answers", across="layer", share=True, dark=case.dark)
    figures.show(figure, "learn probes", "probes")


def _known_why(case: Case) -> str:
    found = _results(case)
    most = max(found.values(), key=_gain)
    return (
        f"Which words there are stands in the embeddings already, their order has to be worked out: it is read best "
        f"{_after(most.best)} of {len(most.layers) - 1}; in BERT-base others found surface features low, syntax in the "
        "middle and meaning high (Jawahar et al. 2019, Tenney et al. 2019)."
    )


def _known_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "question": question,
                "layer": layer.layer,
                "accuracy": layer.accuracy,
                "low": layer.low,
                "high": layer.high,
                "random weights": layer.untrained_accuracy,
                "always the same answer": result.majority,
            }
            for question, result in _results(case).items()
            for layer in result.layers
        ]
    )


# ---- a network that has learned nothing -------------------------------------------------------------------------


def _against(case: Case) -> list[tuple[str, LayerResult, float]]:
    """Of each task the question, its best layer, and the accuracy there with random weights."""
    found = []
    for question, result in _results(case).items():
        assert result.best.untrained_accuracy is not None
        found.append((question, result.best, result.best.untrained_accuracy))
    return found


def _nothing_text(case: Case) -> str:
    return (
        "Now a caution. Take the same network, but with weights drawn at random: it was never trained. Train the same "
        f"probes on its vectors and ask the same three questions (again of {_whose(case)})."
    )


def _nothing_ask(case: Case) -> Choice:
    found = _against(case)
    alike = [question for question, best, random in found if random >= best.accuracy - _AS_WELL]
    named = f"So it is with: {' '.join(alike)}" if alike else "So it is with none of the three."
    said = (
        "Random weights make something of every sentence, too: other sentences, other vectors.",
        "Which words there are, and how many, both leave traces in any mixture.",
        "Which words there are gets through random matrices, but more is lost than one thinks.",
        "Then training would have brought nothing here.",
    )
    return Choice(
        f"How many of the three are read off random weights as well (within {100 * _AS_WELL:.0f} points, or better)?",
        tuple(
            Option(name, named if n == len(alike) else f"{said[n]} {named}", n == len(alike))
            for n, name in enumerate(("None of them", "One", "Two", "All three"))
        ),
    )


def _nothing_reveal(case: Case) -> None:
    found = _against(case)
    series = [
        ("trained, best layer", [best.accuracy for _, best, _ in found]),
        ("random weights, same layer", [random for _, _, random in found]),
    ]
    names = [question for question, _, _ in _against(case)]
    figures.show(bars(names, series, top=1, written=".0%", dark=case.dark), "learn random", "random-weights")


def _nothing_why(case: Case) -> str:
    lost = [question for question, best, random in _against(case) if random < best.accuracy - _AS_WELL]
    which = f"“{'” and “'.join(lost)}”" if lost else "here nothing"
    return (
        "A random network keeps much of what went in, so finding it there is no sign of learning; only what random "
        f"weights lack is one ({which}), and even that need not be what the model uses (untrained networks were "
        "probed by Conneau et al. 2018, too)."
    )


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
    steps=(
        Step(
            title="One word, two sentences",
            at="layers",
            text=_drift_text,
            figure=_sentences,
            ask=_drift_ask,
            reveal=_drift_reveal,
            why=_drift_why,
            numbers=_drift_numbers,
            sources=(_PETERS,),
        ),
        Step(
            title="At the very beginning",
            at="embeddings",
            text=_first_text,
            figure=_sentences,
            ask=_first_ask,
            reveal=_first_reveal,
            why=_first_why,
            numbers=_drift_numbers,
        ),
        Step(
            title="Much or little?",
            at="layers",
            text=_versus_text,
            figure=_drift_reveal,
            ask=_versus_ask,
            reveal=_versus_reveal,
            why=_versus_why,
            numbers=_versus_numbers,
            sources=(_ETHAYARAJH,),
        ),
        Step(
            title="What can be read off",
            at="layers",
            text=_known_text,
            figure=_sentences,
            ask=_known_ask,
            reveal=_known_reveal,
            why=_known_why,
            numbers=_known_numbers,
            sources=(_CONNEAU, _JAWAHAR, _TENNEY),
        ),
        Step(
            title="A network that learned nothing",
            at="layers",
            text=_nothing_text,
            figure=_known_reveal,
            ask=_nothing_ask,
            reveal=_nothing_reveal,
            why=_nothing_why,
            numbers=_known_numbers,
            sources=(_CONNEAU,),
        ),
    ),
)
