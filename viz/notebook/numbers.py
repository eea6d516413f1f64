"""Widgets of other results: effects as cells, scores as words with numbers, a text on its way through a model,
sentences as evidence, and heights to draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from traitlets import Float, Int, List, Tuple, Unicode, observe, validate

import viz.anatomy
import viz.cells
import viz.example_sentences
import viz.sketch
import viz.token_line
from analysis.effects import By, lost, recovered
from analysis.words import to_follow
from model_zoo.errors import InvalidInput
from model_zoo.types import Anatomy, Effects, MaskPrediction, ModelInfo, TokenScores, counted
from viz import static
from viz.example_sentences import ExampleSentence
from viz.head_effects import head_effects
from viz.layout import clipped
from viz.lit_words import shades
from viz.notebook.widget import COUNTS, LONGEST_TEXT, Widget, check_index
from viz.surprisal import surprisal_line
from viz.token_line import Cell, Item, Line

Numbers = npt.NDArray[np.floating[Any]]


class Cells(Widget, part="cells", source=viz.cells.SOURCE):
    """A number for every row and column; those clicked are ``picked``: (row, column) from 0, in their order."""

    title = "Cells"
    picked = List(Tuple(Int(), Int())).tag(sync=True)
    _clicks = Int(0).tag(sync=True)

    def __init__(self, payload: viz.cells.Payload, values: Numbers, about: Mapping[str, str]) -> None:
        self._payload, self._values, self._about = payload, values, about
        super().__init__()

    @validate("picked")
    def _have(self, proposal: Any) -> list[tuple[int, int]]:
        picked = [(int(row), int(column)) for row, column in proposal["value"]]
        for row, column in picked:
            check_index(row, self._values.shape[0], "row")
            check_index(column, self._values.shape[1], "column")
        return picked

    @observe("picked")
    def _on_picks(self, _change: object) -> None:
        self._keep_still()

    def payload(self) -> viz.cells.Payload:
        return viz.cells.Payload(**{**self._payload, "picked": list(self.picked)})

    def _svg(self) -> str:
        return static.cells_svg(self.payload())

    def __str__(self) -> str:
        rows, columns = self._values.shape
        return f"{self._payload['quantity']}: {rows} by {columns} cells"


class TokenLine(Widget, part="token_line", source=viz.token_line.SOURCE):
    """Words in their order with colours and numbers."""

    title = "Words and numbers"

    def __init__(self, light: Sequence[Line], dark: Sequence[Line], quantity: str, about: Mapping[str, str]) -> None:
        self._light, self._dark, self._quantity, self._about = light, dark, quantity, about
        super().__init__()

    def payload(self) -> dict[str, Any]:
        return viz.token_line.payload(self._light, "words-and-numbers", others=self._dark)

    def _svg(self) -> str:
        return static.token_line_svg(self._light)

    def __str__(self) -> str:
        return self._quantity


class Walk(Widget, part="anatomy", source=viz.anatomy.SOURCE):
    """A text on its way through a model. ``token`` is followed and ``layer`` opened, by a click, too; ``stage`` is the
    part that was clicked or entered last.
    """

    title = "The walk through the model"
    token = Int(0).tag(sync=True)
    layer = Int(0).tag(sync=True)
    head = Int(0).tag(sync=True)
    stage = Unicode("").tag(sync=True)

    def __init__(
        self, anatomy: Anatomy, engine: Dissects | None, predictions: MaskPrediction | None, token: int
    ) -> None:
        self._anatomy, self._engine, self._predictions = anatomy, engine, predictions
        self._about = _about(anatomy.model, anatomy.encoding.text)
        super().__init__(token=token, layer=anatomy.layer, head=anatomy.head)

    @property
    def anatomy(self) -> Anatomy:
        """What is drawn, computed where a layer or a head was opened."""
        anatomy = self._anatomy
        if self._engine is not None and (self.layer, self.head) != (anatomy.layer, anatomy.head):
            text, pair = anatomy.encoding.text, anatomy.encoding.text_pair
            self._anatomy = self._engine.dissect(anatomy.model.id, text, pair, layer=self.layer, head=self.head)
        return self._anatomy

    @validate("token")
    def _has_token(self, proposal: Any) -> int:
        return check_index(proposal["value"], len(self._anatomy.encoding), "token")

    @validate("layer")
    def _has_layer(self, proposal: Any) -> int:
        layer = check_index(proposal["value"], len(self._anatomy.states) - 1, "layer")
        return self._resolve(layer, self._anatomy.layer)

    @validate("head")
    def _has_head(self, proposal: Any) -> int:
        return self._resolve(check_index(proposal["value"], self._anatomy.model.n_heads, "head"), self._anatomy.head)

    def _resolve(self, wanted: int, there: int) -> int:
        """Without an engine there is the layer and the head that were computed."""
        if wanted != there and self._engine is None and self._changer is None:
            raise InvalidInput(
                "Another layer or head has to be computed. Give the engine, too: anatomy(result, engine=engine)."
            )
        return there if self._engine is None else wanted

    @observe("token", "layer", "head")
    def _on_selection_change(self, _change: object) -> None:
        self._refresh()

    def _state(self) -> object:
        return self.token, self.layer, self.head

    def payload(self) -> viz.anatomy.Payload:
        return viz.anatomy.payload(self.anatomy, predictions=self._predictions, position=self.token, counts=COUNTS)

    def __str__(self) -> str:
        layer, head = self._anatomy.layer + COUNTS, self._anatomy.head + COUNTS
        text = clipped(self._anatomy.encoding.text, LONGEST_TEXT)
        return f"“{text}” on its way through layer {layer}, head {head} of {self._anatomy.model.id}"


class Sentences(Widget, part="example_sentences", source=viz.example_sentences.SOURCE):
    """Sentences as evidence, one below the other."""

    title = "Sentences"

    def __init__(self, sentences: Sequence[ExampleSentence], quantity: str, first: int) -> None:
        self._sentences, self._quantity, self._first = sentences, quantity, first
        self._about = {"Numbers": quantity}
        super().__init__()

    def payload(self) -> viz.example_sentences.Payload:
        return viz.example_sentences.payload(self._sentences, self._quantity, first=self._first, file="sentences")

    def _svg(self) -> str:
        colours = shades(dark=False)
        lines = []
        for row in self.payload()["rows"][: self._first]:
            words = []
            for part in row["parts"]:
                if isinstance(part, str):
                    words += [Item((Cell(word),)) for word in part.split()]
                else:
                    fill, ink = colours[part["shade"]] if part.get("shade") else (None, None)
                    framed = part.get("framed", False) or part.get("expected", False)
                    words.append(Item((Cell(part["text"], fill, ink),), marked=framed))
            lines.append(Line(tuple(words), row["beside"]))
        return static.token_line_svg(lines)

    def __str__(self) -> str:
        return counted(len(self._sentences), "sentence")


class Sketch(Widget, part="sketch", source=viz.sketch.SOURCE):
    """Heights to draw as a guess: ``drawn``, empty until somebody has; then what is true is shown beside it."""

    title = "A guess and what is true"
    unseen = "It is drawn with the pointer or with keys, while the kernel runs."
    drawn = List(Float()).tag(sync=True)

    def __init__(
        self, labels: Sequence[str], truth: Sequence[float], top: float, unit: str, kind: Literal["bars", "curve"]
    ) -> None:
        self._labels, self._truth, self._top, self._unit, self._kind = labels, truth, top, unit, kind
        super().__init__()

    @observe("drawn")
    def _on_drawing(self, _change: object) -> None:
        self._refresh()
        self._keep_still()

    def _state(self) -> object:
        return tuple(self.drawn)

    def payload(self) -> viz.sketch.Payload:
        return viz.sketch.payload(
            self._labels,
            self.drawn or None,
            self._truth if self.drawn else None,
            top=self._top,
            unit=self._unit,
            kind=self._kind,
        )

    def _svg(self) -> str | None:
        """A table, once somebody has drawn."""
        if not self.drawn:
            return None
        rows = ["", *self._labels], ["drawn", *self._written(self.drawn)], ["true", *self._written(self._truth)]
        items = tuple(Item(tuple(map(Cell, column))) for column in zip(*rows, strict=True))
        return static.token_line_svg([Line(items, dir="ltr")])

    def _written(self, heights: Sequence[float]) -> list[str]:
        return [f"{height:.0%}" if self._unit == "%" else f"{height:.3g} {self._unit}".rstrip() for height in heights]

    def __str__(self) -> str:
        return f"A guess over {len(self._labels)} labels, and what is true"


class Dissects(Protocol):
    """An engine, as far as the walk needs it."""

    @property
    def dissect(self) -> Any: ...


def cells(
    numbers: Effects | Numbers,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    by: By = "bits",
    quantity: str = "",
    down: str = "",
    across: str = "",
    signed: bool = True,
) -> Cells:
    """A number for every row and column, by their names; or the effects of changes, one after the other in rows, by
    what is measured. Of effects of every head of a model, in order, the names are known: ``cells(effects)``.

    Effects of another run's values are shares of the difference between the two runs. Raises InvalidInput where there
    are not as many numbers as rows and columns.
    """
    about: dict[str, str] = {}
    if isinstance(numbers, Effects):
        about = _about(numbers.model, numbers.encoding.text) | {"Answer": numbers.answer.token}
        patched = numbers.other is not None
        values = recovered(numbers, by) if patched else lost(numbers, by)
        signed = signed and (patched or by != "divergence")
        quantity = quantity or ("share of the difference" if patched else "")
        n_layers, n_heads = numbers.model.n_layers, numbers.model.n_heads
        n, rest = divmod(len(values), n_layers)
        if rows is None and columns is None and rest == 0 and n_heads <= n <= n_heads + 2 and not patched:
            values = values.reshape(n_layers, n)
            return Cells(head_effects(values, n_heads, by, counts=COUNTS), values, about)
        if rows is None and columns is None and len(values) == n_layers * n_heads:
            rows, columns = ([str(number + COUNTS) for number in range(n)] for n in (n_layers, n_heads))
            down, across = down or "layer", across or "head"
    else:
        values = np.asarray(numbers, dtype=np.float64)
    rows = rows if rows is not None or values.ndim < 2 else [str(number) for number in range(len(values))]
    columns = columns if columns is not None or values.ndim < 2 else [str(n) for n in range(values.shape[-1])]
    if rows is None or columns is None or values.size != len(rows) * len(columns) or not values.size:
        raise InvalidInput(
            f"There are {values.size:,} numbers, and it is not known which rows and columns they are in. "
            "Name these: cells(numbers, rows, columns)."
        )
    values = values.reshape(len(rows), len(columns))
    payload = viz.cells.cells(
        values, rows, columns, quantity=quantity or "number", down=down, across=across, signed=signed, pick=True
    )
    return Cells(payload, values, about)


def token_line(scores: TokenScores | Sequence[TokenScores] | Sequence[Line], *, words: bool = False) -> TokenLine:
    """The surprisal of every token, or of every word; of several texts a line each. Or any lines of words with colours
    and numbers, the same in light and dark.
    """
    texts = [scores] if isinstance(scores, TokenScores) else list(scores)
    scored = [text for text in texts if isinstance(text, TokenScores)]
    if len(scored) < len(texts) or not texts:
        lines = [text for text in texts if isinstance(text, Line)]
        if len(lines) < len(texts) or not texts:
            raise InvalidInput("A token line is made of scores: give what engine.token_scores(model, text) returns.")
        return TokenLine(lines, lines, f"{len(lines)} lines of words", {})
    light, dark = ([surprisal_line(text, words=words, dark=dark) for text in scored] for dark in (False, True))
    of = _about(scored[0].model, "; ".join(text.encoding.text for text in scored)) if scored else {}
    quantity = f"Surprisal in bits, {'of words' if words else 'of tokens'}"
    return TokenLine(light, dark, quantity, of | {"Numbers": quantity})


def anatomy(
    anatomy: Anatomy,
    *,
    engine: Dissects | None = None,
    predictions: MaskPrediction | None = None,
    token: int | None = None,
) -> Walk:
    """A text on its way through one layer and head: what ``engine.dissect`` gives. ``token`` is the place of the one
    that is followed, by default one that is worth it. With an ``engine`` a click on a layer opens it; ``predictions``
    are drawn as the model's output.
    """
    if token is None:
        token = to_follow(anatomy.encoding) or 0
    return Walk(anatomy, engine, predictions, token)


def example_sentences(
    sentences: Sequence[ExampleSentence], quantity: str = "attention", *, first: int = 10
) -> Sentences:
    """Sentences in the order given, the ``first`` at once; ``quantity`` names the number beside each. Raises
    InvalidInput where there is none.
    """
    if not sentences:
        raise InvalidInput("There is no sentence to show. Give at least one.")
    return Sentences(list(sentences), quantity, first)


def sketch(
    labels: Sequence[str],
    truth: Sequence[float],
    *,
    top: float | None = None,
    unit: str = "",
    kind: Literal["bars", "curve"] = "bars",
) -> Sketch:
    """Heights over labels to be guessed by drawing them; then those that are true are shown. ``top`` is the end of the
    scale, by default the largest; with the unit "%" heights are shares of one. Raises ValueError where heights do not
    fit the labels, or none is above 0.
    """
    top = max(truth, default=0.0) if top is None else top
    viz.sketch.payload(labels, None, truth, top=top, unit=unit, kind=kind)  # whether it can be drawn
    return Sketch(labels, truth, top, unit, kind)


def _about(model: ModelInfo, text: str) -> dict[str, str]:
    return {"Model": model.id, "Revision": model.revision, "Text": text}
