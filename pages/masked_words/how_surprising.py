"""View "How surprising": the surprisal of every word, each hidden in turn, and two sentences compared by it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis import scoring
from analysis.words import token_units, word_units
from model_zoo.questions.score_tokens import ScoreTokens
from model_zoo.types import Encoding, Preference, Scheme, TokenScores, signed
from pages.masked_words.fields import AGAINST, LONG, WORDS
from pages.masked_words.scene import Scene, ask_whole_words
from ui import Field, View, as_python, long_text, notes, one_of, save, token_line, widgets
from viz.surprisal import surprisal_line
from viz.token_line import Line
from web.engine import engine

_SCHEMES: Mapping[Scheme, str] = {"word l2r": "Piece by piece", "original": "Each given the others"}
PIECES_SCORED: Field[Scheme] = Field(
    "pieces_scored", "word l2r", one_of("how pieces are scored", _SCHEMES), of="masked_words"
)

_TEXTS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "how_surprising.toml").read_text(encoding="utf-8")
)


def draw(scene: Scene) -> None:
    with widgets.controls():
        ask_whole_words()
        against = st.text_input(
            "Compare with another sentence (optional)",
            **AGAINST.bound,
            placeholder="Compare with another sentence",
            label_visibility="collapsed",
            width=340,
        )
        widgets.short_enough(against, "The other sentence")
        texts = [scene.text, *([against] if against.strip() else [])]
        encodings = [engine().encode(scene.model, text) for text in texts]
        scheme = _scheme(scene, encodings)
    n = len(scene.encoding)
    scores = _scores(scene, encodings, scheme)
    if not scores:
        return
    _put_python(scene, scores, scheme)
    notes.warn_beyond_training({scene.model: max(len(score.encoding) for score in scores)}, shorter=n)
    if len(scores) == 2:
        notes.warn_of_reading(scores[1].encoding, scene.model, "B")
    labels = ["A", "B"] if len(scores) == 2 else [""]

    def lines(*, dark: bool) -> list[Line]:
        return [
            surprisal_line(score, words=WORDS.value, dark=dark, label=label)
            for score, label in zip(scores, labels, strict=True)
        ]

    formula = "−log₂ P(word | those before it)" if scene.causal else "−log₂ P(word | all others)"
    turn = "" if scene.causal else " Every word is scored, whatever is masked in other views; typed masks stay."
    token_line.show(lines, "surprisal", "surprisal")
    _totals(scores, labels, causal=scene.causal)
    if len(scores) == 2:
        _verdict(Preference(*scores))
    st.caption(
        f"Below each word is its surprisal in bits, {formula}: 0 is certain, and each bit halves the probability. "
        f"{_TEXTS[scheme]['pieces']}{turn}"
    )
    token_line.file(lines, "Surprisal", _TEXTS[scheme]["caption"], [scores[0].model], "surprisal")
    save.table("Surprisal", lambda: _table(scores), "surprisal")


def _scheme(scene: Scene, encodings: Sequence[Encoding]) -> Scheme:
    """How words in pieces are scored; asked only where there are any and the model can do both."""
    if scene.causal:
        return "causal"
    if any(unit.stop - unit.start > 1 for encoding in encodings for unit in word_units(encoding)):
        return widgets.choice("Words in pieces", PIECES_SCORED)
    return PIECES_SCORED.value


def _scores(scene: Scene, encodings: Sequence[Encoding], scheme: Scheme) -> list[TokenScores]:
    """The scores of each text; none where a long one waits to be asked for, or its scoring was stopped."""
    longest = 0 if scene.causal else max(map(len, encodings))  # a causal model scores all tokens in one run
    n_runs = sum(map(len, encodings))
    if not long_text.may_run(LONG, longest, f"Score this long text: {n_runs:,} runs of the model"):
        return []
    questions = [
        (place, ScoreTokens(scene.model, encoding.text, scheme, part if len(part) < len(encoding) else None))
        for place, encoding in enumerate(encodings)
        for part in long_text.portions(longest, len(encoding))
    ]
    parts = engine().stream_all([question for _, question in questions])
    answers = long_text.collect_parts(LONG, longest, parts, len(questions))
    of_text = [[part for which, part in answers if questions[which][0] == place] for place in range(len(encodings))]
    return [TokenScores.joined(parts_of_one) for parts_of_one in of_text]


def _put_python(scene: Scene, scores: Sequence[TokenScores], scheme: Scheme) -> None:
    units = word_units if WORDS.value else token_units
    by = "" if scheme in ("original", "causal") else f', scheme="{scheme}"'
    if len(scores) == 1:
        lines = (
            f"scores = engine.token_scores(model, text{by})\n"
            f"numbers = unit_bits(scores, {units.__name__}(scores.encoding))  # nan where nothing is scored"
        )
    else:
        lines = (
            f"other = {as_python.literal(scores[1].encoding.text)}\n"
            f"scores = engine.token_scores(model, [text, other]{by})\n"
            f"bits = [unit_bits(score, {units.__name__}(score.encoding)) for score in scores]\n"
            "numbers = np.concatenate(bits)  # nan where nothing is scored"
        )
    scene.put_python(
        lines,
        lambda: np.concatenate([scoring.unit_bits(score, units(score.encoding)) for score in scores]),
        *[np] * (len(scores) > 1),
        scoring.unit_bits,
        units,
    )


def _totals(scores: Sequence[TokenScores], labels: Sequence[str], *, causal: bool) -> None:
    log, perplexity = ("Log", "Perplexity") if causal else ("Pseudo-log", "Pseudo-perplexity")
    for label, score in zip(labels, scores, strict=True):
        columns = st.columns(3)
        columns[0].metric(f"{log}-likelihood {label}", f"{signed(score.log_likelihood)} nats")
        columns[1].metric(f"{perplexity} {label}", f"{scoring.perplexity(score):,.2f}")
        columns[2].metric(f"Tokens scored {label}", score.n_scored)


def _verdict(pair: Preference) -> None:
    n_a, n_b = pair.a.n_scored, pair.b.n_scored
    unequal = (
        ""
        if n_a == n_b
        else f" They have {n_a} and {n_b} scored tokens, and every token lowers the sum: compare the "
        f"{'' if pair.a.scheme == 'causal' else 'pseudo-'}perplexities, too."
    )
    if pair.better is None:
        st.markdown(f"The model gives **A** and **B** the same score.{unequal}")
    else:
        st.markdown(f"The model scores **{pair.better}** higher, by {abs(pair.difference):.2f} nats.{unequal}")


def _table(scores: Sequence[TokenScores]) -> pd.DataFrame:
    parts = []
    for score in scores:
        part = score.to_frame().assign(scheme=score.scheme)
        part["position"] += 1
        part.insert(0, "model", score.model.id)
        part.insert(1, "revision", score.model.revision)
        part.insert(2, "text", score.encoding.text)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


VIEW = View(
    "surprise",
    "How surprising",
    draw,
    "Below each word: how surprising the model finds it here, in bits. 0 is certain; each bit halves the probability.",
    fields=(AGAINST, PIECES_SCORED),
    tab=40,
    terms=("surprisal", "pseudo-log-likelihood", "perplexity"),
)
