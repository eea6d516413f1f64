"""Notes on what a page shows: which parts of a link were ignored, what was cut, what the model is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from analysis.words import written
from model_zoo import registry
from model_zoo.tuned import is_id
from model_zoo.types import AttentionRun, Encoding, ModelInfo, counted
from ui import tuned
from ui.messages import as_text, ask_for, join_names, note, say_cut
from ui.sources import SOURCES
from viz.direction import isolated
from viz.palette import MOST_COLOURS
from web.engine import engine

CAUTION = "Attention shows where a head looks. By itself it does not explain why the model answers as it does."
"""What belongs beside every picture of attention."""

PREJUDICE = f"Predicted words can repeat prejudices of the texts that a model was trained on ({SOURCES['nangia']})."

_MOST_NAMED = 5  # words that a vocabulary does not have
_DIGITS = {"bfloat16": "2", "float16": "3"}  # decimal digits: from 8 and 11 bits


def not_in_link(parts: Sequence[str]) -> str:
    """What is on the screen and not in the address of the page, in a sentence; "" for nothing."""
    return f"Not in it: {', and '.join(parts)}." if parts else ""


def warn_of_prejudice(models: Iterable[ModelInfo]) -> None:
    """A line where one of these models predicts words and was trained elsewhere, on the texts of others: what the
    bundled models predict in the examples has been read.
    """
    if any((info.mlm or info.lm) and is_from_elsewhere(info.id) for info in models):
        st.caption(PREJUDICE)


def is_from_elsewhere(model: str) -> bool:
    """Whether a model is neither bundled nor tuned in this app."""
    spec = registry.find(model)
    return not is_id(model) if spec is None else spec.hub_id is not None


def complain(sentences: Sequence[str]) -> None:
    """Warnings about what in the address could not be used."""
    for sentence in sentences:
        st.warning(as_text(sentence), icon=":material/link_off:")


def warn_beyond_training(read: Mapping[str, int], shorter: int = 0) -> None:
    """A sentence, if models read longer texts than they were trained on.

    ``read`` holds the tokens of the longest text that each model reads. A model is left out if a text of
    ``shorter`` tokens is too long for it, too: the page has said so already.
    """
    beyond = {}
    for model, n_tokens in read.items():
        spec = registry.find(model)
        if spec is not None and spec.trained_tokens is not None and shorter <= spec.trained_tokens < n_tokens:
            beyond[model] = spec.trained_tokens
    if not beyond:
        return
    longest = max(read[model] for model in beyond)
    st.warning(
        as_text(
            f"{join_names(beyond)} saw at most {max(beyond.values()):,} tokens at once in training and up to "
            f"{longest:,} here: the results for such a long text, even for its early tokens, may be artefacts of "
            "positions that training never reached."
        ),
        icon=":material/straighten:",
    )


def note_few_vectors(n: int, width: int, noun: str) -> None:
    """A note on CKA over ``n`` vectors of ``width`` numbers, which is biased upwards below twice as many vectors."""
    if n <= 2 * width:
        note(
            f"The vectors are up to {width} numbers wide. With fewer than about {2 * width:,} {noun}, all layers look "
            "more similar than they are."
        )


def note_many_labels(n: int) -> None:
    """A note if there are more labels than colours that can be told apart."""
    if n > MOST_COLOURS:
        st.caption(f"There are {n} labels; more than {MOST_COLOURS} colours cannot be told apart by eye.")


def warn_of_reading(encoding: Encoding, model: str, which: str = "The text", *, masks: bool = False) -> None:
    """What of a text the model did not read: what is longer than it reads, with the ``masks`` that may have been among
    it, and what its vocabulary does not have.
    """
    if encoding.n_dropped:
        whence = ", from the longer text first" if encoding.text_pair else ""
        say_cut(
            f"{which} was cut: the model reads at most {len(encoding):,} tokens on this page. "
            f"{encoding.n_dropped:,} at the end were left out{whence}{', with any mask among them' if masks else ''}. "
            "What you typed is unchanged; shorten it to see all of it."
        )
    if encoding.unplaced:
        tokens = ", ".join(isolated(encoding.tokens[place]) for place in encoding.unplaced[:_MOST_NAMED])
        note(
            f"{counted(len(encoding.unplaced), 'token')} cannot be found in {which[0].lower()}{which[1:]}, because the "
            f"model’s tokenizer rewrites it first: {tokens}. They belong to no word here."
        )
    warn_of_unknown([encoding], model)


def warn_of_unknown(encodings: Iterable[Encoding], model: str) -> None:
    """What of the texts is not in the model's vocabulary."""
    if unknown := not_in_vocabulary(encodings, model):
        note(unknown)


def not_in_vocabulary(encodings: Iterable[Encoding], model: str) -> str:
    """The words of texts that the model's vocabulary does not have, in a sentence; "" where it has all."""
    vocabulary = engine().vocabulary(model)
    if vocabulary.unknown_id is None:
        return ""
    read_as = vocabulary.tokens[vocabulary.unknown_id]
    words = [
        *dict.fromkeys(
            written(encoding, place)
            for encoding in encodings
            for place, token in enumerate(encoding.ids)
            if token == vocabulary.unknown_id
        )
    ]
    words = [word for word in words if word not in ("", read_as)]  # who types [UNK] means it
    if not words:
        return ""
    more = f" and {len(words) - _MOST_NAMED:,} more" if len(words) > _MOST_NAMED else ""
    return f"Not in the vocabulary, read as {read_as}: {', '.join(map(isolated, words[:_MOST_NAMED]))}{more}."


def warn_of_run(run: AttentionRun) -> None:
    """What the text's length, words of no vocabulary or typed special tokens changed in the reading, and a decoder that
    wrote nothing.
    """
    texts = {"The text": run.encoding}
    if run.source is not None:
        texts = {"The encoder's text": run.source, "The decoder's text": run.encoding}
    for which, encoding in texts.items():
        warn_of_reading(encoding, run.model.id, which)
    warn_beyond_training({run.model.id: max(len(encoding) for encoding in texts.values())})
    typed = sorted(
        {
            token
            for encoding in texts.values()
            for token, special, (start, end) in zip(encoding.tokens, encoding.special, encoding.offsets, strict=True)
            if special and end > start
        }
    )
    if typed:
        note(f"{', '.join(typed)} in your text was read as the model's own special token, not as letters.")
    if run.source is not None and not run.encoding.text:
        ask_for(
            "Without a second text, the decoder has written nothing yet: it has only its start token. "
            "Type what it has written as the second text."
        )


def about_run(run: AttentionRun) -> None:
    """What the model is, where it ran, and what it was given."""
    if run.source is None:
        st.caption(about_model(run.model, run.n_tokens))
        return
    if run.encoding.text and run.encoding.text == run.source.text:
        st.caption("The decoder is also given the first text, which it has to restore. A second text replaces it.")
    st.caption(
        f"{about_model(run.model, len(run.source))} The decoder: {run.n_layers} layers × {run.n_heads} heads, "
        f"{run.n_tokens} token{'' if run.n_tokens == 1 else 's'}."
    )


def about_model(info: ModelInfo, n_tokens: int) -> str:
    """One line: the model's name and sizes, the device, the revision, the length of the text, and whether its numbers
    are rounded more than on other devices.
    """
    spec = registry.find(info.id)
    name = spec.name if spec else tuned.name(info.id) or info.id
    limit = f" of at most {info.max_tokens:,}" if info.max_tokens else ""
    if spec is not None and spec.trained_tokens is not None:
        limit += f" (trained on up to {spec.trained_tokens:,})"
    converted = " Its weights were published as a pickle, and converted here." if info.converted else ""
    digits = _DIGITS.get(info.dtype)
    rounded = (
        f" It runs in {info.dtype} here, which keeps about {digits} digits of every number, "
        "so weights and probabilities differ a little from those in float32."
        if digits
        else ""
    )
    return as_text(
        f"{name}: {info.size}, "
        f"width {info.width}, "
        f"{info.parameters / 1e6:.1f} M parameters, {info.dtype} on {info.device}, revision {info.revision[:14]}. "
        f"{n_tokens} tokens{limit}.{converted}{rounded}"
    )
