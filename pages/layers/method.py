"""How the numbers of the page "Layers" come about, in plain words and with sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from analysis.probing.classifier import ProbeKind

_PROBES: Final[Mapping[ProbeKind, tuple[str, str]]] = {
    "linear": ("a linear probe", "in linear form"),
    "mlp": ("a probe with a hidden layer", "in a form such a probe can read"),
}


def meaning(kind: ProbeKind) -> str:
    """What a number on the page says and what it does not, for a probe of this kind."""
    probe, form = _PROBES[kind]
    return (
        f"**What it means.** Each cell is the percentage of unseen sentences (or words) whose label {probe} reads "
        "correctly off the vectors of that layer. Where it beats the baselines by more than chance, the layer holds "
        f"that information {form}.\n\n**What it does not mean.** It does not show that the model *uses* the "
        f"information, and a low number does not show that it is missing: it may be there in a form {probe} cannot "
        "read."
    )


METHOD: Final = (Path(__file__).parent / "method.md").read_text(encoding="utf-8")
