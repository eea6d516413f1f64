"""Widgets of a text's attention: all heads, one as a heatmap, as words that light up, several as lines.

Those that follow each other show the same head, and what is pointed at in one of them is framed in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from propcache.api import cached_property
from traitlets import Int, List, Unicode, observe, validate

import viz.grid
import viz.heatmap
import viz.lines
import viz.lit_words
from analysis.filters import Filter, Filtered, apply_filter
from analysis.thumbnails import Thumbnails, thumbnails
from analysis.views import AttentionView, ContributionView, Weights, all_maps, maps_of_layer, mean_of_all
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray, LayerContributions, ModelInfo, counted
from viz import attended, static
from viz.attended import Head
from viz.layout import clipped
from viz.notebook.widget import COUNTS, LONGEST_TEXT, Widget, check_index

Run = AttentionRun | LayerContributions | AttentionView
"""What the engine's ``attend`` or ``contributions`` gives, or what of it is shown."""


class Group:
    """Widgets that show the same head and the same tokens pointed at."""

    def __init__(self) -> None:
        self.name = f"inside-bert-{uuid4().hex[:12]}"
        self.members: WeakSet[HeadWidget] = WeakSet()


class HeadWidget(Widget):
    """A widget of one head, or of a layer where that has one map, of a text. Where Python's picture shows all that is
    on the screen, it is ``drawn_here``, and kept anew whenever another head is shown.
    """

    drawn_here = True

    layer = Int(0).tag(sync=True)
    head = Int(0, allow_none=True).tag(sync=True)
    token = Int(None, allow_none=True).tag(sync=True)
    key = Int(None, allow_none=True).tag(sync=True)
    _by = Unicode("").tag(sync=True)  # the view in whose picture it is pointed at

    def __init__(
        self, run: Run, layer: int, head: int | None, follow: HeadWidget | None, chosen: Filter | None, **traits: Any
    ) -> None:
        self.attention = _attention(run)
        self.filter = chosen or Filter()
        self._group: Group = Group() if follow is None else follow._group
        if follow is not None:
            layer, head = follow.layer, follow.head
        super().__init__(layer=layer, head=head, **traits)
        self._group.members.add(self)
        if follow is not None:
            self._copy_from(follow, ("token", "key", "_by"))

    @validate("layer")
    def _has_layer(self, proposal: Any) -> int:
        return check_index(proposal["value"], self.attention.n_layers, "layer")

    @validate("head")
    def _has_head(self, proposal: Any) -> int | None:
        head = proposal["value"]
        n = max(self.attention.n_maps(layer) for layer in range(self.attention.n_layers))
        return None if head is None else check_index(head, n, "head" if self._heads else "map")

    @observe("layer", "head")
    def _on_head_change(self, _change: object) -> None:
        self._broadcast(("layer", "head"))
        self._refresh()
        if self.drawn_here and not self._message:
            self._keep_still()

    @observe("token", "key", "_by")
    def _on_pointing(self, change: Any) -> None:
        if self._changer is None and change["name"] != "_by":
            self._by = ""
        self._broadcast(("token", "key", "_by"))

    def _broadcast(self, traits: Sequence[str]) -> None:
        """Set these traits in all that follow each other."""
        if self._changer != "other widget":
            for other in list(self._group.members):
                if other is not self:
                    other._copy_from(self, traits)

    def _copy_from(self, other: HeadWidget, traits: Sequence[str]) -> None:
        """Take these traits over from another. What this one does not have, it says."""
        with self._changed_by("other widget"):
            self._message = ""
            try:
                for trait in traits:
                    value = getattr(other, trait)
                    if trait != "head" or None not in (value, self.head):
                        setattr(self, trait, value)
            except InvalidInput as error:
                self._message = str(error)

    @property
    def _heads(self) -> bool:
        return attended.has_head_maps(self.attention.measure)

    def _state(self) -> object:
        return self.layer, self.head

    def _filtered(self, weights: FloatArray) -> Filtered:
        """What the filter leaves of weights (..., n, m). Raises InvalidInput where that is nothing."""
        filtered = apply_filter(self.attention.encoding, weights, self.filter, self.attention.key_encoding)
        if filtered.reason is not None:
            raise InvalidInput(filtered.reason)
        return filtered

    def _caption(self, subject: str) -> str:
        text = clipped(self.attention.encoding.text, LONGEST_TEXT)
        return f"{subject} in “{text}”, {_model(self.attention).id}"

    def _map_name(self) -> str:
        return attended.map_name(self.attention.measure, self.layer, self.head or 0, COUNTS)

    def about(self) -> dict[str, str]:
        model, encoding = _model(self.attention), self.attention.encoding
        return {
            "Model": model.id,
            "Revision": model.revision,
            "Text": encoding.text,
            "Second text": encoding.text_pair or "",
            "Numbers": attended.WORDS[self.attention.measure].quantity,
        }


class Grid(HeadWidget, part="grid", source=viz.grid.SOURCE):
    """All heads of a text as small pictures; a click opens one: ``layer`` and ``head``."""

    title = "All heads"

    @cached_property
    def _small(self) -> Thumbnails:
        attention = self.attention
        layers = (self._filtered(attention.layer(layer)).weights for layer in range(attention.n_layers))
        small = thumbnails(layers, shares=attention.shares)
        return small if self._heads else small.in_a_row()

    @property
    def _names(self) -> tuple[str, ...]:
        return ("layer", "head") if self._heads else ("layer",)

    def _state(self) -> object:
        return None  # the frame follows the traits in the browser

    def payload(self) -> viz.grid.Payload:
        return viz.grid.grid(
            self._small,
            (self.layer, self.head or 0) if self._heads else (0, self.layer),
            names=self._names,
            quantity=attended.WORDS[self.attention.measure].quantity,
            group=self._group.name,
            counts=COUNTS,
        )

    def _svg(self) -> str:
        return static.grid_svg(self.payload())

    def __str__(self) -> str:
        return self._caption("All heads" if self._heads else "All layers")


class MapWidget(HeadWidget):
    """A widget of one map, which it names."""

    def _file(self, name: str) -> str:
        return attended.file_name(self.attention.measure, name, self.layer, self.head or 0, COUNTS)

    def about(self) -> dict[str, str]:
        return super().about() | {"Head" if self._heads else "Layer": self._map_name()}


class Heatmap(MapWidget, part="heatmap", source=viz.heatmap.SOURCE):
    """A head as a heatmap; what is pointed at in it: ``token``, the query, and ``key``."""

    title = "A head as a heatmap"

    def __init__(self, *arguments: Any, stretch: bool) -> None:
        self._stretch = stretch
        super().__init__(*arguments)

    def payload(self) -> viz.heatmap.Payload:
        return attended.heatmap_payload(
            self._filtered(self.attention.map(self.layer, self.head or 0)),
            self.attention.measure,
            file=self._file("attention"),
            stretch=self._stretch or not self.attention.shares,
            group=self._group.name,
        )

    def _svg(self) -> str:
        return static.heatmap_svg(self.payload())

    def __str__(self) -> str:
        return self._caption(f"Heatmap of {self._map_name()}")


class Words(MapWidget, part="words", source=viz.lit_words.SOURCE):
    """A text whose words light up; the word kept or pointed at: ``token`` as a query, ``key`` as a key."""

    title = "Word by word"
    drawn_here = False

    @cached_property
    def _mean(self) -> FloatArray:
        return mean_of_all(self.attention)

    def _words(self) -> viz.lit_words.Payload:
        return attended.words_payload(
            self.attention,
            self._filtered(attended.word_maps(self.attention, self.layer, self.head or 0, self._mean)),
            self.layer,
            self.head or 0,
            steps=True,
            counts=COUNTS,
            group=self._group.name,
            file=self._file("words"),
        )

    def payload(self) -> dict[str, Any]:
        return {**self._words(), "maps": all_maps(self.attention)}

    def _svg(self) -> str:
        return static.lit_words_svg(self._words())

    def __str__(self) -> str:
        return self._caption(f"Words lit by {self._map_name()}")


class Lines(HeadWidget, part="lines", source=viz.lines.SOURCE):
    """Heads as lines from queries to keys; a token kept or pointed at: ``token`` at the left, ``key`` at the right;
    ``off`` are places of heads that are switched off.
    """

    title = "Line by line"
    drawn_here = False
    off = List(Int()).tag(sync=True)

    def __init__(self, run: Run, layer: int, heads: Sequence[int] | Sequence[Head] | None, *arguments: Any) -> None:
        self._chosen = heads
        super().__init__(run, layer, *arguments)

    @property
    def _drawn_heads(self) -> list[Head]:
        every = (
            maps_of_layer(self.attention, self.layer)
            if self._chosen is None
            else [(self.layer, head) if isinstance(head, int) else head for head in self._chosen]
        )
        return attended.distinguishable(every, self._front if self._front in every else None)

    @property
    def _front(self) -> Head | None:
        return None if self.head is None else (self.layer, self.head)

    def payload(self) -> viz.lines.Payload:
        heads = self._drawn_heads
        if not heads:
            raise InvalidInput("No head is chosen, so there is nothing to draw. Choose at least one.")
        return attended.lines_payload(
            self._filtered(np.stack([self.attention.map(*head) for head in heads])),
            self.attention.measure,
            heads,
            self._front if self._front in heads else None,
            off=self.off,
            group=self._group.name,
            file="attention-lines",
            counts=COUNTS,
        )

    def _svg(self) -> str:
        return static.lines_svg(self.payload())

    def about(self) -> dict[str, str]:
        named = "; ".join(attended.map_name(self.attention.measure, *head, COUNTS) for head in self._drawn_heads)
        return super().about() | {"Heads" if self._heads else "Layer": named}

    def __str__(self) -> str:
        return self._caption(f"Lines of {counted(len(self._drawn_heads), 'head' if self._heads else 'layer')}")


def grid(
    run: Run, layer: int = 0, head: int = 0, *, follow: HeadWidget | None = None, filter: Filter | None = None
) -> Grid:
    """All heads of a text, a row a layer; of layer contributions all layers. The framed head is ``layer`` and ``head``,
    which a click sets; set in Python they move the frame.

    ``follow`` is another widget whose head this one shows, and the other way round. Raises InvalidInput for a layer or
    a head that does not exist, and where the ``filter`` leaves nothing.
    """
    return Grid(run, layer, head, follow, filter)


def heatmap(
    run: Run,
    layer: int = 0,
    head: int = 0,
    *,
    follow: HeadWidget | None = None,
    stretch: bool = False,
    filter: Filter | None = None,
) -> Heatmap:
    """A head, as queries down the side and keys along the top. With ``stretch`` colours run to its own maximum. The
    rest is as for ``grid``.
    """
    return Heatmap(run, layer, head, follow, filter, stretch=stretch)


def words(
    run: Run, layer: int = 0, head: int = 0, *, follow: HeadWidget | None = None, filter: Filter | None = None
) -> Words:
    """The text, each word tinted by how much the head, its layer or all heads give it from the word that is pointed at.
    The rest is as for ``grid``. Raises InvalidInput for more than 1024 tokens.
    """
    _check_length(_attention(run))
    return Words(run, layer, head, follow, filter)


def lines(
    run: Run,
    layer: int = 0,
    heads: Sequence[int] | Sequence[Head] | None = None,
    head: int | None = None,
    *,
    follow: HeadWidget | None = None,
    filter: Filter | None = None,
) -> Lines:
    """Heads as lines, a colour a head: those of a layer, the ``heads`` of it by number, or any by (layer, head).
    ``head`` lies in front of the others. The rest is as for ``words``. No more than 24 heads are drawn: more colours
    cannot be told apart.
    """
    _check_length(_attention(run))
    return Lines(run, layer, heads, head, follow, filter)


def _attention(run: Run) -> AttentionView:
    if isinstance(run, AttentionRun):
        return Weights(run)
    if isinstance(run, LayerContributions):
        return ContributionView(run)
    if isinstance(run, Weights | ContributionView):
        return run
    raise InvalidInput(
        f"A picture of attention is made of one run, and this is a {type(run).__name__}. Give what "
        "engine.attend(model, text) or engine.contributions(model, text) returns; of several texts, one of them."
    )


def _model(attention: AttentionView) -> ModelInfo:
    of: Any = attention
    model: ModelInfo = of.contributions.model if isinstance(attention, ContributionView) else of.run.model
    return model


def _check_length(attention: AttentionView) -> None:
    n = max(len(attention.encoding), len(attention.key_encoding))
    if n > attended.LONGEST:
        raise InvalidInput(
            f"The text has {n:,} tokens, and a browser can show {attended.LONGEST:,} of them as text. Look at them as "
            "a heatmap or a grid, or read fewer: max_tokens= of the engine's method."
        )
