"""What to know of the visitor's own sentences beside the chosen model: words that it does not know, and sentences that
it was pretrained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analysis.corpus.pretraining import n_pretrained
from model_zoo import registry
from pages.corpus.source import Source
from ui import note
from ui.own_texts import warn_of_unknown
from ui.tuned import short_name
from web.process import process_cache

_SHARE: Final = 0.01  # phrases that anybody writes are fewer


def draw(model: str, source: Source) -> None:
    if not source.from_user:
        return
    texts = source.corpus.texts
    warn_of_unknown(model, ((text, None) for text in texts))
    spec = registry.find(model)
    if spec is None or spec.hub_id is not None:
        return
    n, n_compared = _n_pretrained(source.fingerprint, texts)
    if n_compared and n / n_compared >= _SHARE:
        note(
            f"{n:,} of the {n_compared:,} sentences of more than five words ({n / n_compared:.0%}) stand in the text "
            f"that {short_name(model)} was pretrained on. What is measured on them, relations above all, says less "
            "about new text."
        )


@process_cache(most=4, key=lambda fingerprint, _: fingerprint)
def _n_pretrained(fingerprint: str, texts: Sequence[str]) -> tuple[int, int]:  # noqa: ARG001
    return n_pretrained(texts)
