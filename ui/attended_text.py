"""A text, the attention that a model pays in it, and what a filter leaves of that."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.filters import Filter, Filtered, apply_filter, head_weights, layer_weights
from model_zoo.types import AttentionRun, FloatArray, Stack
from web.engine import engine

LONGEST = 1024  # tokens: what a browser can show


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedText:
    """One text, or two, and what of its attention is shown; ``value_weighted`` shows ‖α f(x)‖ instead of α."""

    model: str
    text: str
    pair: str | None
    stack: Stack
    filter: Filter = field(default_factory=Filter)
    value_weighted: bool = False

    @property
    def run(self) -> AttentionRun:
        """The engine remembers its runs, so asking again costs nothing and no session holds one in memory."""
        return engine().attend(self.model, self.text, self.pair, max_tokens=LONGEST, stack=self.stack)

    @property
    def run_key(self) -> tuple[object, ...]:
        """What tells its run from others, for what is remembered of it."""
        run = self.run
        return run.model.id, run.model.revision, run.stack, *self.texts.values(), run.n_tokens, run.n_keys

    @property
    def what(self) -> str:
        """What the numbers are, for colour bars."""
        return "‖αf(x)‖" if self.value_weighted else "attention weight"

    @property
    def number(self) -> str:
        """What one of the numbers is, in a word."""
        return "‖αf(x)‖" if self.value_weighted else "weight"

    @property
    def texts(self) -> dict[str, str]:
        """What was read and written, by name, for files."""
        run = self.run
        if run.source is None:
            return {"Text": run.encoding.text, "Second text": run.encoding.text_pair or ""}
        stack = {"decoder": "decoder", "cross": "cross-attention"}[run.stack]
        return {"Part of the model": stack, "Text": run.source.text, "Written by the decoder": run.encoding.text}

    def filtered(self, weights: FloatArray) -> Filtered:
        """The filter applied to weights (..., n, m) of the run's tokens."""
        return apply_filter(self.run.encoding, weights, self.filter, self.run.key_encoding)

    def of_head(self, layer: int, head: int) -> Filtered:
        """The attention of a head, filtered; layer and head from 0."""
        return self.filtered(head_weights(self.run, layer, head, self.value_weighted))

    def of_layer(self, layer: int) -> Filtered:
        return self.filtered(layer_weights(self.run, layer, self.value_weighted))
