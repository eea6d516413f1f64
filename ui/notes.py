"""Sentences that pages say about what they show: what was cut, what the model is, what a link leaves out."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from model_zoo import registry
from model_zoo.types import AttentionRun, ModelInfo
from ui.messages import as_text
from ui.state import LONGEST_ADDRESS_VALUE


def complaints(sentences: Sequence[str]) -> None:
    """What in the address could not be used."""
    for sentence in sentences:
        st.warning(as_text(sentence), icon=":material/link_off:")


def about_run(run: AttentionRun) -> None:
    """What the model is and where it ran; a warning when the text was cut; how typed special tokens were read."""
    texts = {"The text": run.encoding}
    if run.source is not None:
        texts = {"The encoder's text": run.source, "The decoder's text": run.encoding}
    for which, encoding in texts.items():
        if encoding.n_dropped:
            st.warning(
                f"{which} was cut: {run.model.id} reads {len(encoding)} tokens at most, and the last "
                f"{encoding.n_dropped:,} fell off. What you typed is unchanged; shorten it to see all of it.",
                icon=":material/content_cut:",
            )
    typed = sorted(
        {
            token
            for encoding in texts.values()
            for token, special, (start, end) in zip(encoding.tokens, encoding.special, encoding.offsets, strict=True)
            if special and end > start
        }
    )
    if typed:
        st.info(
            as_text(f"{', '.join(typed)} in your text was read as the model's own special token, not as letters."),
            icon=":material/info:",
        )
    if run.source is None:
        st.caption(about_model(run.model, run.n_tokens))
        return
    if not run.encoding.text:
        st.info(
            "With no second text the decoder has written nothing yet: its start token is all there is. This model was "
            "not trained to repeat what it reads, so type what it has written as the second text.",
            icon=":material/edit:",
        )
    elif run.encoding.text == run.source.text:
        st.caption("The decoder is given the first text too, to restore it. A second text takes its place.")
    st.caption(
        f"{about_model(run.model, len(run.source))} The decoder: {run.n_layers} layers × {run.n_heads} heads, "
        f"{run.n_tokens} token{'' if run.n_tokens == 1 else 's'}."
    )


def about_model(info: ModelInfo, n_tokens: int) -> str:
    """One line: the model's name and sizes, the device, the revision, the length of the text."""
    spec = registry.find(info.id)
    name = spec.name if spec else info.id
    limit = f" of at most {info.max_tokens:,}" if info.max_tokens else ""
    return as_text(
        f"{name}: {info.n_layers} layers × {info.n_heads} heads, width {info.width}, "
        f"{info.parameters / 1e6:.1f} M parameters, {info.dtype} on {info.device}, revision {info.revision[:14]}. "
        f"{n_tokens} tokens{limit}."
    )


def link(complete: bool, left_out: str = "") -> None:
    """Where the link to what is on screen is found, or why it lacks the text; ``left_out`` says what else it lacks."""
    if complete:
        st.caption("The address of this page restores what you see: copy it to share.")
    else:
        st.caption(
            f"The text is longer than the {LONGEST_ADDRESS_VALUE:,} characters an address can carry, so the address of "
            "this page restores everything but the text."
        )
    if left_out:
        st.caption(left_out)
