"""The card that sets BERT base and BERT large beside the bundled models, so that nobody takes a small one for BERT."""

from __future__ import annotations

from functools import cache
from typing import Final

import streamlit as st

from model_zoo import registry
from model_zoo.types import ModelSpec
from ui.messages import as_text

PUBLISHED: Final = ("google-bert/bert-base-uncased", "google-bert/bert-large-uncased")

# Of BERT: Devlin et al. 2019, section 3.1 and appendix A.2 (a million steps of 256 sequences of up to 512 tokens).
# Of the bundled models: their cards, in model_zoo/weights.
# The tokens that each read in pretraining, and what that took.
_PRETRAINING: Final = {
    PUBLISHED[0]: ("about 130 billion", "4 days on 16 TPU chips"),
    PUBLISHED[1]: ("about 130 billion", "4 days on 64 TPU chips"),
    "embedded/bert": ("9.7 million, after MiniLM’s own", "2.4 hours on a CPU"),
    "embedded/tinybert": ("11.4 million", "52 minutes on a CPU"),
    "embedded/modernbert": ("7.5 million", "65 minutes on a CPU"),
    "embedded/bilstm": ("5.6 million", "38 minutes on a CPU"),
}


def sizes(spec: ModelSpec) -> dict[str, str]:
    """What tells models of one kind apart, as the card shows it; "–" for what is not known here."""
    tokens, took = _PRETRAINING.get(spec.id, ("–", "–"))
    return {
        "layers": f"{spec.layers}",
        "attention heads a layer": f"{spec.heads or 'none'}",
        "width (hidden size)": f"{spec.width:,}",
        "parameters": f"{spec.parameters / 1e6:.1f} M",
        "vocabulary": f"{spec.vocabulary:,}",
        "longest text, in tokens": f"{spec.max_tokens:,}" if spec.max_tokens else "no fixed limit",
        "tokens read in pretraining": tokens,
        "pretraining took": took,
    }


@cache
def table(model: str) -> str:
    """A Markdown table of BERT base, BERT large, the bundled models, and ``model`` where it is another listed one."""
    bundled = (spec.id for spec in registry.MODELS.values() if spec.hub_id is None)
    specs = [spec for id_ in dict.fromkeys((*PUBLISHED, *bundled, model)) if (spec := registry.find(id_)) is not None]
    columns = [sizes(spec) for spec in specs]
    rows = [["", *(as_text(spec.name) for spec in specs)], ["---", *("---:" for _ in specs)]]
    rows += [[row, *(column[row] for column in columns)] for row in columns[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def draw(model: str, key: str) -> None:
    """Draw the card, with what the bundled models are and are not; ``key`` tells it from others on the page."""
    st.markdown(
        "**Bundled** models ship with this app and need no download. They are small relatives of the published ones: "
        "the same parts, but fewer layers, narrower vectors and far less text. A number read off a bundled model is "
        "not one of BERT base."
    )
    with st.container(key=f"size-card {key}"):
        st.markdown(table(model))
    st.caption(
        "Pretraining of BERT: Devlin et al. 2019. The bundled models have model cards of their own, which name their "
        "texts: among them the treebanks UD English EWT and GUM, test parts included."
    )
