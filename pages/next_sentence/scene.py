"""What every view of the page "Next sentence" is given: a model, and two sentences where the view is about two."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from reading import sentences
from ui import MODEL, PAIR, TEXT, Need, View, caption, read_examples, view_field, widgets
from web.engine import engine

SHOWN_VIEW = view_field("next_sentence", "probability")

_AIR = "Cold air came into the room."

EXAMPLES = read_examples("next_sentence", (TEXT, PAIR, MODEL, SHOWN_VIEW))

WHAT_SOP_IS = (
    "This model learned **sentence order prediction** (SOP), a different question: both sentences come from one "
    "text, and it predicts whether they are in their original order or were swapped. An unrelated B may well look "
    "“in order”."
)


@dataclass(frozen=True, slots=True)
class Scene:
    """``a`` and ``b`` are the two sentences; empty in views that have texts of their own."""

    model: str
    a: str
    b: str

    def lacks(self, need: Need) -> str | None:
        if need == "nsp":
            return engine().why_not(self.model, "nsp")
        assert need == "pair", need
        return None if self.b.strip() else "Type a sentence B that may follow A, or choose an example above."


def make(view: View[Scene]) -> Scene:
    """Ask for the sentences, if the view is about two, and for the model."""
    widgets.open_with_first(EXAMPLES, (TEXT, PAIR), (TEXT, PAIR))
    a = b = ""
    with widgets.input_line():
        if "pair" in view.needs:
            a, b = _both_texts()
        model = widgets.model()
        if "pair" in view.needs:
            widgets.try_example(EXAMPLES)
    if a.strip() and not b.strip():
        a, b = _fill_in_b(a)
    return Scene(model, a, b)


def _both_texts() -> tuple[str, str]:
    def swap() -> None:
        TEXT.value, PAIR.value = PAIR.value, TEXT.value

    a = widgets.text_area("Sentence A", TEXT)
    st.button("Swap A and B", on_click=swap, icon=":material/swap_horiz:")
    b = widgets.text_area("Sentence B", PAIR)
    return widgets.short_enough(a, "Sentence A"), widgets.short_enough(b, "Sentence B")


def _fill_in_b(a: str) -> tuple[str, str]:
    """Two sentences where only A was typed: the first two of it, or A and a sentence of the examples; says which."""
    parts = sentences.split(a)
    if len(parts) > 1:
        caption("Sentence B is empty, so the first two sentences of A are compared.")
        return parts[0], parts[1]
    caption(f"Sentence B is empty, so it is “{_AIR}” for now. Type your own.")
    return a, _AIR
