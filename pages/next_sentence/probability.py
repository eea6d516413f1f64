"""View "Probability": whether B follows A, whether A follows B, and how sentences drawn at random compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import control_sentences
from model_zoo.types import SentenceScore, signed
from pages.next_sentence.scene import WHAT_SOP_IS, Scene
from ui import Field, View, as_python, note, notes, save, widgets, within
from web.engine import engine

CONTROL_SEED: Field[int] = Field("controls", 0, within("the draw of controls", 0, 999_999), of="next_sentence")


def draw(scene: Scene) -> None:
    model, a, b = scene.model, scene.a, scene.b
    seed = CONTROL_SEED.value
    drawn = control_sentences.draw(seed, exclude=b)
    pairs = [(b, a), *((a, control) for control in drawn), *((control, b) for control in drawn)]
    with st.spinner("Running the model …", show_time=True):
        score = engine().next_sentence(model, a, b)
        others = dict(engine().iter_next_sentences(model, pairs))
    notes.warn_of_reading(score.encoding, model, "The pair")
    notes.warn_beyond_training({model: max(len(pair_score.encoding) for pair_score in (score, *others.values()))})
    if score.kind == "SOP":
        st.info(WHAT_SOP_IS, icon=":material/info:")
    if a.strip() == b.strip():
        note("A and B are the same. The question is meant for two different sentences, so the number means little.")
    name = "A, B in order" if score.kind == "SOP" else "B follows A"
    in_place_of_b = [others[place].p_next for place in range(1, len(drawn) + 1)]
    yes, no = (signed(logit, 3) for logit in score.logits)
    st.markdown(_verdict(score, in_place_of_b))
    with st.container(horizontal=True, gap="medium", key="answer"):
        st.metric(f"P({name})", f"{score.p_next:.4f}", width="content")
        st.metric("Swapped: A after B", f"{others[0].p_next:.4f}", width="content")
        st.metric("Logit, yes" if score.kind == "SOP" else "Logit, is next", yes, width="content")
        st.metric("Logit, no" if score.kind == "SOP" else "Logit, is not", no, width="content")
    as_python.put(
        f"""
        a, b = {as_python.arguments(a, b)}
        controls = draw({seed}, exclude=b)
        pairs = [(a, b), (b, a), *((a, control) for control in controls), *((control, b) for control in controls)]
        scores = engine.next_sentence({as_python.literal(model)}, pairs)
        numbers = np.array([score.p_next for score in scores])
        """,
        lambda: np.array([score.p_next, *(others[place].p_next for place in range(len(pairs)))]),
        control_sentences.draw,
    )
    _against_controls(drawn, [others[place] for place in range(1, len(pairs))], score)
    topic = (
        " In BERT's training, half of the second sentences come from other texts, so the topic alone gives many of "
        "them away (Lan et al. 2020)."
    )
    st.caption(f"P = exp({yes}) / (exp({yes}) + exp({no})).{topic if score.kind == 'NSP' else ''}")


def _verdict(score: SentenceScore, in_place_of_b: list[float]) -> str:
    """The answer in a sentence, and how many of the controls in the place of B score lower."""
    below = sum(p < score.p_next for p in in_place_of_b)
    claim = "A and B are in order" if score.kind == "SOP" else "B follows A"
    sure = "yes" if score.p_next > 0.5 else "no"
    return (
        f"Does the model think that {claim}? **{sure.capitalize()}, {score.p_next:.0%}.** B scores higher than "
        f"**{below} of {len(in_place_of_b)}** random sentences in its place."
    )


def _against_controls(drawn: tuple[str, ...], scores: list[SentenceScore], score: SentenceScore) -> None:
    with widgets.controls():
        st.markdown("**Controls**: random English sentences in place of B, and in place of A", width="stretch")
        widgets.draw_again("New controls", CONTROL_SEED)
    in_place_of_b = [control.p_next for control in scores[: len(drawn)]]
    in_place_of_a = [control.p_next for control in scores[len(drawn) :]]
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
    save.table("Controls", lambda: table, "controls")


VIEW = View(
    "probability",
    "Probability",
    draw,
    "Does sentence B follow sentence A in a text? The model's answer, and its answers for random sentences.",
    fields=(CONTROL_SEED,),
    needs=("pair", "nsp"),
    tab=10,
    terms=("next sentence prediction",),
)
