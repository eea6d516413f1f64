"""A text, the attention that a model pays in it, and what a filter leaves of that."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from analysis.filters import Filter, Filtered, apply_filter
from analysis.views import AttentionView, ContributionView, Measure, Norms, Weights
from model_zoo.types import AttentionRun, FloatArray, Stack
from ui import as_python, show
from ui.as_python import Lines
from viz import attended
from viz.attended import LONGEST
from web.engine import engine


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedText:
    """One text, or two, the ``measure`` that its maps show, and the filter that is applied to them."""

    model: str
    text: str
    pair: str | None
    stack: Stack
    filter: Filter = field(default_factory=Filter)
    measure: Measure = "weights"

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
    def maps(self) -> AttentionView:
        """The maps of its measure. Raises NotSupported if this model, or this part of it, has no such measure."""
        return show.compute_maps(self.measure, self.model, self.text, self.pair, max_tokens=LONGEST, stack=self.stack)

    @property
    def of_heads(self) -> bool:
        """Whether every head has a map of its own."""
        return attended.has_head_maps(self.measure)

    @property
    def words(self) -> attended.Words:
        """What is said of the numbers."""
        return attended.WORDS[self.measure]

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

    @property
    def arguments(self) -> str:
        """The arguments by which lines of Python ask the engine about what is read."""
        most = LONGEST if max(self.run.n_tokens, self.run.n_keys) == LONGEST else None  # else the model's own limit
        return as_python.arguments(self.model, self.text, self.pair, max_tokens=most)

    def put_map(self, layer: int, number: int, shows: Callable[[], FloatArray]) -> None:
        """Put lines of Python that compute one map, both from 0."""
        name = self.called(layer, number)
        if self.of_heads:
            call = "run.head" if self.measure == "weights" else "maps.map"
            before = f"layer, head = {layer}, {number}  # {name} on the page\n"
            self.put_python(f"{call}(layer, head)", shows, before=before)
        else:
            self.put_python("maps.map(layer, 0)", shows, before=f"layer = {layer}  # {name} on the page\n")

    def put_python(
        self,
        numbers: str,
        shows: Callable[[], FloatArray | pd.DataFrame],
        *uses: object,
        before: str = "",
        after: str = "",
    ) -> None:
        """Put lines of Python that compute ``numbers``, an expression of the ``run``, if every head has a map of its
        own, and of the ``maps``: a table, or maps (..., n, m), of which the filter makes a ``view``. Lines ``before``
        it may bind names that it uses; those ``after`` it can use ``numbers``.
        """
        kind = {"weights": Weights, "value-weighted": Norms}.get(self.measure, ContributionView)
        lines = Lines("")
        if self.of_heads:
            stack = f', stack="{self.stack}"' if self.stack != "encoder" else ""
            lines += f"run = engine.attend({self.arguments}{stack})\n"
            read, of = "run", "run"
        else:
            read, of = "maps", f'engine.contributions({self.arguments}, measure="{self.measure}")'
        if read == "maps" or re.search(r"\bmaps\b", before + numbers):
            lines += Lines(f"maps = {kind.__name__}({of})\n", (kind,))
        lines += before
        if self.filter == Filter():
            lines += f"numbers = {numbers}\n"
        else:
            keys = ", run.key_encoding" if self.stack == "cross" else ""
            lines += Lines(
                f"kept = {as_python.literal(self.filter)}\n"
                f"view = apply_filter({read}.encoding, {numbers}, kept{keys})\n"
                "numbers = view.weights\n",
                (Filter, apply_filter),
            )
        as_python.put(lines + after, shows, *uses)

    def called(self, layer: int, number: int) -> str:
        """What a map is called: "layer 3, head 5", or "layer 3" where there is one of all heads together."""
        return attended.map_name(self.measure, layer, number)

    def file(self, name: str, layer: int, number: int) -> str:
        """The name of a file about a map: "attention_L3H5", or "attention_L3"."""
        return attended.file_name(self.measure, name, layer, number)
