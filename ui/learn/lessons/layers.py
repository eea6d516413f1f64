"""Lesson 6: the same word in two sentences, layer by layer, and what can be read off each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from analysis.probing import TaskResult
from model_zoo import DEFAULT_MODEL
from model_zoo.errors import InvalidInput
from model_zoo.types import HiddenStates
from ui import figures, precomputed
from ui.engine import engine
from ui.learn.case import Case, name_of
from ui.learn.glossary import quoted
from ui.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui.messages import as_text
from viz.bars import bars
from viz.layout import layer_names

_MOST_LAYERS: Final = 13  # that one draws over, the embeddings among them
_TASKS: Final = ("bigram_shift", "sentence_length", "word_content")
_ALIKE: Final = 0.05
_COMMON: Final = frozenset(
    {
        "an", "and", "are", "as", "at", "be", "but", "by", "do", "for", "from", "had", "has", "have", "he", "her",
        "him", "his", "in", "is", "it", "its", "me", "my", "not", "of", "on", "or", "she", "so", "that", "the",
        "their", "them", "they", "this", "to", "was", "we", "were", "with", "you",
    }
)  # fmt: skip

_PETERS = Source("Peters et al.", 2018, "Deep contextualized word representations")
_ETHAYARAJH = Source("Ethayarajh", 2019, "How Contextual are Contextualized Word Representations?")
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


def _word(case: Case) -> str:
    one, _ = _both(case)
    return quoted(one.encoding.tokens[_shared(case)[0]])


def _cosines(first: npt.NDArray[np.floating], second: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The cosine of two vectors after every layer, each (layers + 1, width)."""
    one, other = first.astype(np.float64), second.astype(np.float64)
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    found: npt.NDArray[np.float64] = (one * other).sum(axis=1) / np.maximum(norms, 1e-12)
    return np.clip(found, -1, 1)


def _drift(case: Case) -> npt.NDArray[np.float64]:
    """How alike the shared word’s two vectors are after the embeddings and every layer."""
    (one, other), (at, there) = _both(case), _shared(case)
    return _cosines(one.states[:, at], other.states[:, there])


# ---- drifting apart ---------------------------------------------------------------------------------------------


def _drift_text(case: Case) -> str:
    return (
        f"Both sentences have {_word(case)}. It enters with the same token vector; then every layer mixes in its "
        "neighbours. A vector that depends on the sentence is called [[contextual]]. How alike do the two stay?"
    )


def _chosen(case: Case) -> list[int]:
    n = len(_drift(case))
    return sorted(set(np.linspace(0, n - 1, min(n, _MOST_LAYERS)).round().astype(int).tolist()))


def _drift_ask(case: Case) -> Sketch:
    drift = _drift(case)
    names = layer_names(len(drift))
    chosen = _chosen(case)
    labels = [names[at] if at == 0 else f"layer {names[at]}" for at in chosen]
    truth = [float(max(drift[at], 0.0)) for at in chosen]

    def reply(drawn: Sequence[float]) -> str:
        off = float(np.mean(np.abs(np.array(drawn) - np.array(truth))))
        lowest = labels[int(np.argmin(truth))]
        return f"You are {off:.2f} off, on average. They are least alike after: {lowest}, {min(truth):.2f}."

    return Sketch(
        f"Draw the [[cosine]] of the two vectors of {_word(case)} after each layer (1: same direction).",
        tuple(labels),
        tuple(truth),
        reply,
    )


def _sentences(case: Case) -> None:
    (one, other), (at, there) = _both(case), _shared(case)
    for states, place in ((one, at), (other, there)):
        tokens = [
            f":primary-background[**{as_text(token)}**]" if where == place else as_text(token)
            for where, token in enumerate(states.encoding.tokens)
        ]
        st.markdown(" ".join(tokens))


def _drift_reveal(case: Case) -> None:
    drift = _drift(case)
    names = layer_names(len(drift))
    figures.show(
        bars(
            [name if at == 0 else f"layer {name}" for at, name in enumerate(names)],
            [("cosine", [float(max(value, 0.0)) for value in drift])],
            top=1,
            dark=case.dark,
        ),
        "learn drift",
        "drift",
    )


def _drift_why(case: Case) -> str:
    drift = _drift(case)
    return (
        f"After the embeddings the cosine is {drift[0]:.2f}, after the last layer {drift[-1]:.2f}: what attention "
        "added comes from other neighbours (Peters et al. 2018 showed such vectors to help in many tasks)."
    ).replace(" -", " −")


def _drift_numbers(case: Case) -> pd.DataFrame:
    drift = _drift(case)
    return pd.DataFrame({"layer": layer_names(len(drift)), "cosine": drift})


# ---- the first one ----------------------------------------------------------------------------------------------


def _first_text(case: Case) -> str:
    at, there = _shared(case)
    return (
        f"Look at the very beginning, before any layer. {_word(case)} is token {at + 1} of the first sentence and "
        f"token {there + 1} of the second. Are the two vectors equal there?"
    )


def _first_ask(case: Case) -> Choice:
    start = float(_drift(case)[0])
    same = start > 1 - 1e-4
    at, there = _shared(case)
    told = f"Their cosine is {start:.4f}."
    places = "They stand at the same place." if at == there else "They stand at different places."
    return Choice(
        f"Before the first layer, are the two vectors of {_word(case)} the same?",
        (
            Option("Yes, exactly", f"{told} {places}", same),
            Option("No, not quite", f"{told} {places} Which place it is enters some models’ embeddings.", not same),
        ),
    )


def _first_why(case: Case) -> str:
    at, there = _shared(case)
    kind = engine().read_positions(case.model, 8).kind
    if kind == "learned":
        return (
            f"This model adds a vector for the place to that of the token, {at + 1} in one sentence and {there + 1} "
            "in the other; the token’s own part is the same."
        )
    return "This model adds no vector for the place, so before the first layer a token is the same wherever it stands."


# ---- against another word ---------------------------------------------------------------------------------------


def _neighbour(case: Case) -> int:
    """Another word of the first sentence, close to the shared one; one of grammar where there is no other."""
    encoding, (at, _) = case.encoding, _shared(case)
    places = [
        place
        for place, special in enumerate(encoding.special)
        if not special and case.is_word(place) and encoding.ids[place] != encoding.ids[at]
    ]
    if not places:
        raise InvalidInput("The first sentence has one word only. Type more words, or take an example.")
    return min(places, key=lambda place: (case.written(place).lower() in _COMMON, abs(place - at), place))


def _other(case: Case) -> npt.NDArray[np.float64]:
    states, (at, _) = case.states, _shared(case)
    return _cosines(states.states[:, at], states.states[:, _neighbour(case)])


def _versus_text(case: Case) -> str:
    return (
        f"Is that much or little? Compare with two different words of one sentence: {_word(case)} and "
        f"{quoted(case.encoding.tokens[_neighbour(case)])}, which stand in the first one. They share a "
        "context, the others share a word."
    )


def _versus_ask(case: Case) -> Choice:
    same_word, same_sentence = float(_drift(case)[-1]), float(_other(case)[-1])
    difference = same_word - same_sentence
    told = f"The same word: {same_word:.2f}. The same sentence: {same_sentence:.2f}.".replace("-", "−")
    return Choice(
        "After the last layer, which two vectors are more alike?",
        (
            Option("The same word in two sentences", told, difference > _ALIKE),
            Option("Two words of the same sentence", f"{told} Context has won over the word.", difference < -_ALIKE),
            Option("Both about the same, within 0.05", told, -_ALIKE <= difference <= _ALIKE),
        ),
    )


def _versus_reveal(case: Case) -> None:
    names = layer_names(len(_drift(case)))
    series = [
        ("same word, two sentences", [float(max(value, 0.0)) for value in _drift(case)]),
        ("two words, same sentence", [float(max(value, 0.0)) for value in _other(case)]),
    ]
    labels = [name if at == 0 else f"layer {name}" for at, name in enumerate(names)]
    figures.show(bars(labels, series, top=1, dark=case.dark), "learn versus", "versus")


def _versus_why(case: Case) -> str:
    start, end = float(_other(case)[0]), float(_other(case)[-1])
    return (
        f"Two different words of your sentence go from {start:.2f} to {end:.2f}; vectors of a layer often share a "
        "common direction, so a cosine means little without another one beside it (Ethayarajh 2019)."
    ).replace(" -", " −")


def _versus_numbers(case: Case) -> pd.DataFrame:
    names = layer_names(len(_drift(case)))
    return pd.DataFrame({"layer": names, "same word": _drift(case), "same sentence": _other(case)})


# ---- what can be read off each layer ----------------------------------------------------------------------------


def _measured(case: Case) -> str:
    """The model of which there are results: the visitor’s, where they came with the app."""
    return case.model if precomputed.probing(case.model) else DEFAULT_MODEL


def _results(case: Case) -> list[tuple[str, TaskResult]]:
    found = {key.task: done for key, done in precomputed.probing(_measured(case)).items()}
    kept = [(found[task].title, found[task].result) for task in _TASKS if task in found]
    if not kept:
        raise InvalidInput("No results of probing came with this app. Run them on the page Layers.")
    return kept


def _known_text(case: Case) -> str:
    model = _measured(case)
    whose = "" if model == case.model else f" (measured on {as_text(name_of(model))}, not on your model)"
    return (
        "What does a layer “know”? More exactly: what can a small classifier, a [[probe]], read off its vectors? For "
        f"some questions this was measured before the app was given out{whose}. Take the first one: "
        f"**{_results(case)[0][0]}**."
    )


def _known_ask(case: Case) -> Choice:
    title, result = _results(case)[0]
    best, n = result.best.layer, len(result.layers) - 1
    gain = result.best.accuracy - result.layers[0].accuracy
    told = (
        f"It is best after layer {best} of {n}: {result.best.accuracy:.0%}; on the embeddings "
        f"{result.layers[0].accuracy:.0%}."
    )
    return Choice(
        f"How much better is “{title}” read off the best layer than off the embeddings?",
        (
            Option("By less than 2 points", told, gain < 0.02),
            Option("By 2 to 10 points", told, 0.02 <= gain < 0.10),
            Option("By 10 points or more", told, gain >= 0.10),
        ),
    )


def _known_reveal(case: Case) -> None:
    found = _results(case)
    names = [title for title, _ in found]
    series = [
        ("embeddings", [result.layers[0].accuracy for _, result in found]),
        ("best layer", [result.best.accuracy for _, result in found]),
        ("last layer", [result.layers[-1].accuracy for _, result in found]),
    ]
    figures.show(bars(names, series, top=1, written=".0%", dark=case.dark), "learn probes", "probes")


def _known_why(case: Case) -> str:
    said = [
        f"“{title}” {'on the embeddings' if result.best.layer == 0 else f'after layer {result.best.layer}'}"
        for title, result in _results(case)
    ]
    return (
        f"Best read: {', '.join(said)}; in BERT-base others found surface features low, syntax in the middle and "
        "meaning high (Jawahar et al. 2019, Tenney et al. 2019), but what can be read off is not yet what the model "
        "uses."
    )


def _known_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "task": title,
                "layer": layer.layer,
                "accuracy": layer.accuracy,
                "low": layer.low,
                "high": layer.high,
                "random weights": layer.untrained_accuracy,
            }
            for title, result in _results(case)
            for layer in result.layers
        ]
    )


LESSON = Lesson(
    name="layers",
    title="Layers upon layers",
    question="What happens to a word on its way up?",
    examples=(
        ("They sat on the bank of the river.", "She took the money to the bank."),
        ("He turned on the light.", "The bag was light and easy to carry."),
        ("We saw a play at the theatre.", "The children play in the garden."),
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
            reveal=_drift_reveal,
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
            sources=(_JAWAHAR, _TENNEY),
        ),
    ),
)
