"""What to know of a visitor's own texts before a model is trained or measured on them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import streamlit as st

from evidence.questions.count_unknown import CountUnknown
from model_zoo.errors import ModelZooError
from model_zoo.types import counted
from ui.messages import as_text, note
from ui.tuned import short_name
from web.engine import engine

_MOST_TEXTS: Final = 200
_MOST_CHARACTERS: Final = 1000
_SHARE: Final = 0.05


def warn_of_unknown(model: str, texts: Iterable[tuple[str, str | None]]) -> None:
    """A sentence where a model's tokenizer does not know more than a few of the words of the first texts, or reads
    texts that differ as the same. Nothing where the model cannot be asked: who runs it is told why.
    """
    some = tuple(
        (text[:_MOST_CHARACTERS], pair and pair[:_MOST_CHARACTERS]) for text, pair in islice(texts, _MOST_TEXTS)
    )
    try:
        counts = engine().ask(CountUnknown(model, some))
    except ModelZooError:
        return
    share = counts.n_unknown / max(counts.n_words, 1)
    if max(share, counts.n_identical / counts.n_texts) < _SHARE:
        return
    which = f"the first {_MOST_TEXTS:,} texts" if len(some) == _MOST_TEXTS else "your texts"
    unknown = (
        f"{share:.0%} of the words in {which} are not in the vocabulary of {short_name(model)}, which reads them as "
        f"{counts.token}."
    )
    if not counts.n_identical:
        note(f"{unknown} It does not know what they are.")
        return
    st.warning(
        as_text(
            f"{unknown} That makes {counted(counts.n_identical, 'text')} of {counts.n_texts:,} the same as another: "
            "nothing that is trained or measured can tell these apart. Choose a model that knows their characters, "
            "such as XLM-RoBERTa."
        ),
        icon=":material/translate:",
    )
