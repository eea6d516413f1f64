"""View "Attention between them": how much each head looks from one sentence to the other."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from analysis import focus
from model_zoo.questions.attend import Attend
from model_zoo.types import AttentionRun
from pages.next_sentence.scene import Scene
from ui import View, as_python, figures, notes, page_link
from viz.matrix import head_map
from web.engine import engine

_STRONGEST = 4


def draw(scene: Scene) -> None:
    run = engine().attend(scene.model, scene.a, scene.b)
    notes.warn_of_reading(run.encoding, scene.model, "The pair")
    notes.warn_beyond_training({scene.model: run.n_tokens})
    shares = focus.between_sentences(run)
    lines = f"run = {as_python.call(Attend(scene.model, scene.a, scene.b))}\n"
    lines += "numbers = between_sentences(run)  # A to B, B to A; layers; heads"
    as_python.put(lines, lambda: shares, focus.between_sentences)
    for column, share, direction in zip(st.columns(2, gap="large"), shares, ("A->B", "B->A"), strict=True):
        with column:
            st.markdown(f"**{direction.replace('->', ' → ')}**, mean {share.mean():.1%}")
            figure = partial(head_map, share, f"share of attention {direction.replace('->', ' → ')}")
            figures.show(figure, f"shares {direction}", f"attention-{direction.replace('->', '-to-')}")
            st.markdown("Strongest heads")
            _links(run, share, direction)
    st.caption(notes.about_model(run.model, run.n_tokens))


def _links(run: AttentionRun, share: np.ndarray, direction: str) -> None:
    for place in np.argsort(-share, axis=None, kind="stable")[:_STRONGEST]:
        layer, head = (int(index) for index in np.unravel_index(place, share.shape))
        page_link(
            "attention",
            f"layer {layer + 1}, head {head + 1}: {share[layer, head]:.1%}",
            ":material/visibility:",
            text=run.encoding.text,
            pair=run.encoding.text_pair or "",
            model=run.model.id,
            layer=layer + 1,
            head=head + 1,
            direction=direction,
        )


VIEW = View(
    "attention",
    "Attention between them",
    draw,
    "How much the words of one sentence attend to the other, head by head.",
    "The rest stays within the sentence or goes to special tokens. This shows where heads look, not why the model "
    "predicts what it predicts.",
    needs=("pair",),
    tab=20,
    terms=("attention weight",),
)
