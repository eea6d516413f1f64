"""What every view of the page "Attention" is given: the run and the filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.filters import Filter, View, head_weights, layer_weights, view
from model_zoo.types import AttentionRun, FloatArray
from ui import figures
from ui.messages import as_text
from viz.heatmap import heatmap


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """``value_weighted`` shows ‖α f(x)‖ instead of α. Which layer and head, each view asks by the controls it needs."""

    run: AttentionRun
    filter: Filter
    value_weighted: bool
    dark: bool

    @property
    def what(self) -> str:
        """What the numbers are, for colour bars."""
        return "‖αf(x)‖" if self.value_weighted else "attention weight"

    @property
    def texts(self) -> dict[str, str]:
        """What was read and written, by name, for files."""
        encoding, source = self.run.encoding, self.run.source
        if source is None:
            return {"Text": encoding.text, "Second text": encoding.text_pair or ""}
        part = {"decoder": "decoder", "cross": "cross-attention"}[self.run.part]
        return {"Part of the model": part, "Text": source.text, "Written by the decoder": encoding.text}

    def filtered(self, weights: FloatArray) -> View:
        """The filter applied to weights (..., n, m) of the run's tokens."""
        return view(self.run.encoding, weights, self.filter, self.run.key_encoding)

    def of_head(self, layer: int, head: int) -> View:
        """Both from 0."""
        return self.filtered(head_weights(self.run, layer, head, self.value_weighted))

    def of_layer(self, layer: int) -> View:
        return self.filtered(layer_weights(self.run, layer, self.value_weighted))


def summary(shown: View) -> bool:
    """Say what the filter hides and cuts; False if there is nothing left to draw."""
    if shown.reason is not None:
        st.info(as_text(shown.reason), icon=":material/filter_alt_off:")
        return False
    if shown.filter != Filter():
        st.caption(as_text(shown.summary()))
    return True


def draw_heatmap(shown: View, key: str, name: str, *, stretch: bool, what: str) -> None:
    """A filtered matrix as a heatmap with its tokens; ``name`` is the file name of its image."""
    figures.show_heatmap(
        heatmap(shown.weights, shown.query_labels, shown.key_labels, stretch=stretch, what=what, file=name), key
    )


def names(heads: Sequence[tuple[int, int]]) -> str:
    """Heads for file names: L3H7, or how many there are."""
    if len(heads) == 1:
        (layer, head) = heads[0]
        return f"L{layer + 1}H{head + 1}"
    return f"{len(heads)}-heads"
