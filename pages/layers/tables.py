"""What the tables of the page "Layers" share: how numbers are written, and the best layer in words."""

from __future__ import annotations

from typing import Final

import streamlit as st

from analysis.probing import Depth, LayerResult, StructuralResult, TaskResult
from analysis.probing.baselines import JUDGES
from ui import join_names
from viz.layout import layer_names

SHARE: Final = st.column_config.NumberColumn(format="%.1f%%")
P: Final = st.column_config.NumberColumn(format="%.2g")
COLUMNS: Final = {
    **dict.fromkeys(
        (
            "accuracy",
            "accuracy there",
            "development",
            "random weights",
            "control task",
            "lowest seed",
            "highest seed",
            "majority",
            "word only",
            *JUDGES,
        ),
        SHARE,
    ),
    "p against the best": P,
    "selectivity": st.column_config.NumberColumn("selectivity, points", format="%+.1f"),
    "bits": st.column_config.NumberColumn("description length, bits", format="%.0f"),
    "times shorter": st.column_config.NumberColumn("times shorter than uniform", format="%.2f"),
}


WITHOUT_RANDOM_WEIGHTS: Final = (
    "Random weights were not measured, so this depth may come from the network’s shape alone."
)


def best_layer_text(result: TaskResult | StructuralResult, items: str = "items") -> str:
    """The best layer, and those that the test ``items`` do not tell apart from it."""
    names = [name if layer == 0 else f"layer {name}" for layer, name in enumerate(layer_names(len(result.layers)))]
    best = names[result.best.layer]
    alike = [names[layer] for layer in result.as_good if layer != result.best.layer]
    if not alike:
        return f"{best}; on the test {items} it differs significantly from all others (paired test, Holm, 5%)."
    return (
        f"{best}. On the test {items} it does not differ significantly from {join_names(alike)} (paired test, Holm, "
        "5%)."
    )


def depth_text(depth: Depth | None) -> str:
    """A depth with its 95% interval, as in "2.3 (1.9 to 2.7)"; empty where there is none."""
    return "" if depth is None else f"{depth.value:.1f} ({depth.low:.1f} to {depth.high:.1f})"


def depth_sentence(result: TaskResult) -> str:
    """At which depth the task is solved, in a sentence; or what forbids to say so."""
    if result.not_beaten:
        return (
            f"No depth is given: the best layer is not significantly better than {join_names(result.not_beaten)} "
            "(paired tests, 5%)."
        )
    depths = [
        f"{name} {depth_text(estimate)}"
        for name, estimate in (
            ("expected layer", result.expected_layer),
            ("centre of gravity", result.centre_of_gravity),
        )
        if estimate is not None
    ]
    if not depths:
        return ""
    text = f"In layers, with 95% intervals over held-out texts: {', '.join(depths)}."
    return text if result.random_weights else f"{text} {WITHOUT_RANDOM_WEIGHTS}"


def interval(layer: LayerResult) -> str:
    """A layer's 95% interval in percent."""
    return f"{100 * layer.low:.1f}–{100 * layer.high:.1f}%"
