"""Two views of the page "Masked words" that need no clicked mask: surprisal of every word, and BERT's
training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from analysis import corruption, scoring
from analysis.export import CSV_NOTE, table_to_csv
from analysis.words import token_units, word_units
from model_zoo.types import MaskPrediction, Preference, Scheme, TokenScores
from ui import controls, notes, state, token_line
from ui.engine import engine
from ui.masked_words import Playground
from ui.messages import as_text
from ui.theme import is_dark
from viz.corruption import corrupted, legend
from viz.surprisal import surprisal
from viz.token_line import Line

_LONG = 128  # tokens; beyond, scoring takes seconds and waits to be asked for
_SCHEMES: Mapping[Scheme, str] = {"word l2r": "Piece after piece", "original": "Each beside the others"}
_SAID: Mapping[Scheme, str] = {
    "causal": "Of a word in pieces, the sum over its pieces, each guessed from all that stands before it. The first "
    "token has nothing before it, and no score.",
    "word l2r": "Of a word in pieces, the sum over its pieces, each guessed from those before it in the word and from "
    "all other words (PLL-word-l2r, Kauf & Ivanova 2023).",
    "original": "Of a word in pieces, the sum over its pieces, each guessed with the word's other pieces in view. They "
    "tell much of it, so the sum is no surprisal of the word (the original score, Salazar et al. 2020).",
}
# What the saved file says its numbers are.
_CAPTIONS: Mapping[Scheme, str] = {
    "causal": "Surprisal in bits: −log₂ P(word | those before it).",
    "word l2r": "Surprisal in bits: −log₂ P(word | all others); of a piece, given those before it in its word.",
    "original": "Surprisal in bits: −log₂ P(token | all others); of a word in pieces, the sum over its pieces.",
}


def view_surprise(playground: Playground) -> None:
    """Every token masked in turn; a second sentence can be set against the first."""
    against = st.text_input(
        "Set another sentence against it (optional)",
        **state.AGAINST.bound,
        placeholder="The keys to the old wooden cabinet is on the table.",
    )
    n = len(playground.encoding)
    if (
        n > _LONG
        and not playground.causal
        and not st.toggle(f"Score this long text: {n} runs of the model, which takes a while", **state.LONG_TOO.bound)
    ):
        return
    texts = [playground.text, *([against] if against.strip() else [])]
    encodings = [engine().encode(playground.model, text) for text in texts]
    scheme: Scheme = "causal" if playground.causal else state.PIECES_SCORED.value
    if scheme != "causal" and any(
        unit.stop - unit.start > 1 for encoding in encodings for unit in word_units(encoding)
    ):
        scheme = controls.choice("Words in pieces", _SCHEMES, state.PIECES_SCORED)
    with st.spinner("Scoring every token …", show_time=True):
        scores = [engine().token_scores(playground.model, text, scheme=scheme) for text in texts]
    notes.beyond_training({playground.model: max(len(score.encoding) for score in scores)}, said=n)
    if against.strip() and scores[1].encoding.n_dropped:
        st.warning(
            f"B was cut: {len(scores[1].encoding):,} tokens at most are read, and the last "
            f"{scores[1].encoding.n_dropped:,} fell off.",
            icon=":material/content_cut:",
        )
    labels = ["A", "B"] if len(scores) == 2 else [""]
    lines = [_line(score, label) for score, label in zip(scores, labels, strict=True)]
    formula = "−log₂ P(word | those before it)" if playground.causal else "−log₂ P(word | all others)"
    turn = "" if playground.causal else " Each word has its turn, whatever was clicked above; typed masks stay."
    st.caption(
        f"Under each word its surprisal in bits, {formula}: 0 is certain, each bit halves the probability. "
        f"{_SAID[scheme]}{turn}"
    )
    token_line.draw(lines, key="surprisal")
    pseudo = ("Log", "Perplexity") if playground.causal else ("Pseudo-log", "Pseudo-perplexity")
    for label, score in zip(labels, scores, strict=True):
        columns = st.columns(3)
        columns[0].metric(f"{pseudo[0]}-likelihood {label}", f"{score.log_likelihood:.2f} nats")
        columns[1].metric(f"{pseudo[1]} {label}", f"{scoring.perplexity(score):,.2f}")
        columns[2].metric(f"Tokens scored {label}", score.n_scored)
    if len(scores) == 2:
        _verdict(Preference(*scores))
    caption = _CAPTIONS[scheme]
    with st.container(horizontal=True):
        token_line.download(lines, "Surprisal", caption, scores[0].model)
        st.download_button(
            "CSV", table_to_csv(_table(scores)), "surprisal.csv", "text/csv",
            icon=":material/download:", help=CSV_NOTE, on_click="ignore",
        )  # fmt: skip


def _line(score: TokenScores, label: str) -> Line:
    if state.MASK_WORDS.value:
        units = word_units(score.encoding)
        guesses = [score.guesses[unit.start] if unit.stop - unit.start == 1 else None for unit in units]
    else:
        units = token_units(score.encoding)
        guesses = list(score.guesses)
    return surprisal(units, scoring.unit_bits(score, units), guesses, dark=is_dark(), label=label)


def _verdict(pair: Preference) -> None:
    n_a, n_b = pair.a.n_scored, pair.b.n_scored
    unequal = (
        ""
        if n_a == n_b
        else f" They have {n_a} and {n_b} scored tokens, and every token takes something off: compare the "
        f"{'' if pair.a.scheme == 'causal' else 'pseudo-'}perplexities too."
    )
    if pair.better is None:
        st.markdown(f"The model scores **A** and **B** alike.{unequal}")
    else:
        st.markdown(f"The model scores **{pair.better}** higher, by {abs(pair.difference):.2f} nats.{unequal}")


def _table(scores: list[TokenScores]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": score.model.id,
                "revision": score.model.revision,
                "text": score.encoding.text,
                "position": place + 1,
                "token": token,
                "ln_p": log,
                "surprisal_bits": scoring.bits(log),
                "guess": guess.token if guess else "",
                "guess_probability": guess.probability if guess else math.nan,
                "scheme": score.scheme,
            }
            for score in scores
            for place, (token, log, guess) in enumerate(
                zip(score.encoding.tokens, score.log_probabilities.tolist(), score.guesses, strict=True)
            )
            if guess is not None
        ]
    )


def view_training(playground: Playground) -> None:
    """BERT's training on this sentence: what was hidden, what the model answers, what that costs."""
    st.markdown(
        "In BERT's training 15% of the tokens are **chosen**. Of these 80% are replaced by the mask, 10% by a random "
        "token, 10% stay, and for all of them the model has to say what stood there. The loss is −ln P of the right "
        "token, averaged over the chosen ones. Here they are drawn at random, whatever was clicked above; typed masks "
        "are not drawn."
    )

    def again() -> None:
        state.SEED.value = (state.SEED.value + 1) % 1_000_000

    columns = st.columns(5, vertical_alignment="bottom")
    rate = columns[0].number_input("Chosen, %", 1, 100, **state.RATE.bound)
    masked = columns[1].number_input("of these masked, %", 0, 100, **state.RATE_MASKED.bound)
    random = columns[2].number_input("random, %", 0, 100, **state.RATE_RANDOM.bound)
    seed = columns[3].number_input("Seed", 0, 999_999, **state.SEED.bound)
    columns[4].button("Again", on_click=again, icon=":material/casino:", width="stretch")
    recipe = corruption.Recipe(rate=rate / 100, masked=masked / 100, random=random / 100, seed=int(seed))
    drawn = corruption.corrupt(playground.encoding, playground.vocabulary, recipe)
    answers = engine().restore(playground.model, playground.text, drawn.ids, drawn.positions, 10)
    sentence = corrupted(playground.encoding, drawn, playground.vocabulary, answers, dark=is_dark())
    token_line.draw([legend(drawn, dark=is_dark()), sentence], key="training")
    right = sum(a.original is not None and a.best[0].id == a.original.id for a in answers)
    figures = st.columns(3)
    figures[0].metric("Loss (cross-entropy)", f"{scoring.cross_entropy(answers):.3f} nats")
    figures[1].metric("Right first guesses", f"{right} of {len(answers)}")
    figures[2].metric("Kept as they are", drawn.kinds.count("kept"))
    _by_hand(playground, answers)


def _by_hand(playground: Playground, answers: tuple[MaskPrediction, ...]) -> None:
    st.markdown("**Softmax and cross-entropy by hand**")
    if state.WORKED.value not in range(len(answers)):
        state.WORKED.value = 0
    place = st.selectbox(
        "At token",
        range(len(answers)),
        **state.WORKED.bound,
        format_func=lambda i: f"{playground.encoding.tokens[answers[i].position]} (token {answers[i].position + 1})",
    )
    answer = answers[place]
    rows = scoring.softmax_by_hand(answer, len(playground.vocabulary.tokens))
    st.dataframe(
        pd.DataFrame(
            {
                "token": [f"{row.label} ({row.n:,} tokens)" if row.n > 1 else row.label for row in rows],
                "logit z": [row.logit for row in rows],
                "exp(z − largest z)": [row.exponential for row in rows],
                "probability": [row.probability for row in rows],
                "": ["← the right token" if row.is_original else "" for row in rows],
            }
        ),
        hide_index=True,
        column_config={
            "logit z": st.column_config.NumberColumn(format="%.3f"),
            "exp(z − largest z)": st.column_config.NumberColumn(format="%.4f"),
            "probability": st.column_config.NumberColumn(format="%.5f"),
        },
    )
    total = sum(row.exponential for row in rows)
    original = next(row for row in rows if row.is_original)
    st.markdown(
        as_text(
            f"The middle column sums to {total:.4f}. P({original.label}) = {original.exponential:.4f} / "
            f"{total:.4f} = "
            f"{original.probability:.5f}, so this token costs −ln {original.probability:.5f} = "
            f"{-(answer.log_probability or 0):.3f} nats = {scoring.bits(answer.log_probability or 0):.2f} "
            "bits."
        )
    )
