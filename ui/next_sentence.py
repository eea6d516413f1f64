"""What the page "Next sentence" is made of: a function for each of its views but the long list."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st

from analysis import controls as random_sentences
from analysis import focus, sentences
from analysis.export import CSV_NOTE, table_to_csv
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, SentenceScore
from ui import controls, examples, figures, notes, state, token_line
from ui.engine import engine
from ui.messages import as_text
from ui.theme import is_dark
from viz.coherence import coherence
from viz.head_map import head_map
from viz.sentence_input import sentence_input

_STRONGEST = 4
_MOST_SENTENCES = 60

WHAT_SOP_IS = (
    "ALBERT learned **sentence order** (SOP), another question: both sentences come from one text, and it says whether "
    "they stand in their order or were swapped. An unrelated B can well look like “in order”."
)


def both_texts() -> tuple[str, str]:
    """Examples, two sentences and a button that swaps them."""

    def swap() -> None:
        state.TEXT.value, state.PAIR.value = state.PAIR.value, state.TEXT.value

    controls.try_example(examples.NEXT_SENTENCE)
    left, right = st.columns(2)
    a = left.text_area("Sentence A", **state.TEXT.bound, height=88)
    b = right.text_area("Sentence B", **state.PAIR.bound, height=88)
    st.button("Swap A and B", on_click=swap, icon=":material/swap_horiz:")
    return a, b


def view_probability(model: str, a: str, b: str) -> None:
    """P(B follows A), the other way round, and with sentences that have nothing to do with it."""
    seed = state.CONTROL_SEED.value
    drawn = random_sentences.draw(seed, exclude=b)
    pairs = [(b, a), *((a, control) for control in drawn), *((control, b) for control in drawn)]
    with st.spinner("Running the model …", show_time=True):
        score = engine().next_sentence(model, a, b)
        others = dict(engine().iter_next_sentences(model, pairs))
    if score.encoding.n_dropped:
        st.warning(
            f"The pair was cut: {score.encoding.n_dropped:,} tokens fell off, of the longer sentence first.",
            icon=":material/content_cut:",
        )
    notes.beyond_training({model: max(len(one.encoding) for one in (score, *others.values()))})
    if score.kind == "SOP":
        st.info(WHAT_SOP_IS, icon=":material/info:")
    if a.strip() == b.strip():
        st.info(
            "A and B are the same. The question is meant for two different sentences, so the number says little.",
            icon=":material/info:",
        )
    name = "A, B in order" if score.kind == "SOP" else "B follows A"
    columns = st.columns(4)
    columns[0].metric(f"P({name})", f"{score.p_next:.4f}")
    columns[1].metric("Logit, yes" if score.kind == "SOP" else "Logit, is next", f"{score.logits[0]:.3f}")
    columns[2].metric("Logit, no" if score.kind == "SOP" else "Logit, is not", f"{score.logits[1]:.3f}")
    columns[3].metric("Swapped: A after B", f"{others[0].p_next:.4f}")
    st.caption(
        f"P = exp({score.logits[0]:.3f}) / (exp({score.logits[0]:.3f}) + exp({score.logits[1]:.3f})). In BERT's "
        "training half of the second sentences come from other texts, so that the topic alone gives many away "
        "(Lan et al. 2020)."
        if score.kind == "NSP"
        else f"P = exp({score.logits[0]:.3f}) / (exp({score.logits[0]:.3f}) + exp({score.logits[1]:.3f}))."
    )
    _against_controls(drawn, [others[place] for place in range(1, len(pairs))], score)


def _against_controls(drawn: tuple[str, ...], scores: list[SentenceScore], score: SentenceScore) -> None:
    def again() -> None:
        state.CONTROL_SEED.value = (state.CONTROL_SEED.value + 1) % 1_000_000

    left, right = st.columns([4, 1], vertical_alignment="bottom")
    left.markdown("**Controls**: random English sentences in the place of B, and in the place of A")
    right.button("Draw others", on_click=again, icon=":material/casino:", width="stretch")
    in_place_of_b = [one.p_next for one in scores[: len(drawn)]]
    in_place_of_a = [one.p_next for one in scores[len(drawn) :]]
    table = pd.DataFrame(
        {
            "sentence": ["B itself" if score.kind == "NSP" else "A, B", *drawn],
            "in the place of B": [score.p_next, *in_place_of_b],
            "in the place of A": [float("nan"), *in_place_of_a],
        }
    )
    bar = st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.3f")
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "sentence": st.column_config.TextColumn(width="medium"),
            "in the place of B": bar,
            "in the place of A": bar,
        },
    )
    below = sum(p < score.p_next for p in in_place_of_b)
    st.markdown(f"B gets more than **{below} of {len(drawn)}** random sentences in its place.")
    st.download_button(
        "CSV",
        table_to_csv(table),
        "controls.csv",
        "text/csv",
        icon=":material/download:",
        help=CSV_NOTE,
        on_click="ignore",
    )


def view_attention(model: str, a: str, b: str) -> None:
    """How much each head looks from one sentence to the other."""
    run = engine().attend(model, a, b)
    notes.beyond_training({model: run.n_tokens})
    shares = focus.between_sentences(run)
    st.caption(
        "Of the attention of one sentence's words, the share that goes to the words of the other. The rest stays at "
        "home or goes to special tokens. It shows where heads look, not why the model says what it says."
    )
    for column, share, direction in zip(st.columns(2, gap="large"), shares, ("A->B", "B->A"), strict=True):
        with column:
            st.markdown(f"**{direction.replace('->', ' → ')}**, mean {share.mean():.1%}")
            figures.show(head_map(share, direction, dark=is_dark()), f"shares {direction}", f"attention-{direction}")
            st.markdown("Strongest heads")
            _links(run, share, direction)
    st.caption(notes.about_model(run.model, run.n_tokens))


def _links(run: AttentionRun, share: np.ndarray, direction: str) -> None:
    for place in np.argsort(-share, axis=None, kind="stable")[:_STRONGEST]:
        layer, head = (int(index) for index in np.unravel_index(place, share.shape))
        st.page_link(
            "pages/attention.py",
            label=f"layer {layer + 1}, head {head + 1}: {share[layer, head]:.1%}",
            icon=":material/visibility:",
            query_params={
                "text": run.encoding.text,
                "pair": run.encoding.text_pair or "",
                "model": run.model.id,
                "layer": str(layer + 1),
                "head": str(head + 1),
                state.QUADRANT.name: direction,
            },
        )


def view_input(model: str, a: str, b: str) -> None:
    """The three rows of BERT's input."""
    run = engine().attend(model, a, b)
    notes.beyond_training({model: run.n_tokens})
    st.caption(
        "Under every token its sentence (A or B) and its place. BERT has a vector for each of the three and adds them. "
        "Other models may have fewer: RoBERTa, DistilBERT and ModernBERT are not told the sentence; XLNet, T5 and "
        "ModernBERT have no vectors of places."
    )
    lines = [sentence_input(run.encoding, dark=is_dark())]
    token_line.draw(lines, key="sentence input")
    token_line.download(lines, "Input", "Token, sentence and place of every token.", run.model)


def view_text(model: str) -> None:
    """A short text, sentence by sentence."""
    text = st.text_area("Text", **state.PASSAGE.bound, height=120)
    found = sentences.split(text)
    if len(found) < 2:
        raise InvalidInput("That takes at least two sentences. Type more.")
    if len(found) > _MOST_SENTENCES:
        st.warning(f"Only the first {_MOST_SENTENCES} of {len(found)} sentences are looked at.", icon=":material/cut:")
        found = found[:_MOST_SENTENCES]
    with st.spinner("Running the model …", show_time=True):
        scores = dict(engine().iter_next_sentences(model, list(pairwise(found))))
    notes.beyond_training({model: max(len(score.encoding) for score in scores.values())})
    values = [scores[place].p_next for place in range(len(found) - 1)]
    weakest = int(np.argmin(values))
    st.markdown(
        as_text(f"Weakest link: from sentence {weakest + 1} to {weakest + 2}, P = {values[weakest]:.3f}.")
        + (f" {WHAT_SOP_IS}" if scores[0].kind == "SOP" else "")
    )
    lines = coherence(found, values, dark=is_dark())
    token_line.draw(lines, key="coherence")
    table = pd.DataFrame({"a": found[:-1], "b": found[1:], "p_next": values})
    with st.container(horizontal=True):
        what = "stands in order with" if scores[0].kind == "SOP" else "follows"
        token_line.download(lines, "Sentence by sentence", f"P(each sentence {what} the one before).", scores[0].model)
        st.download_button(
            "CSV",
            table_to_csv(table),
            "sentences.csv",
            "text/csv",
            icon=":material/download:",
            help=CSV_NOTE,
            on_click="ignore",
        )
