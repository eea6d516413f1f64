"""What a result shows of itself in a notebook: small, static HTML that can be read wherever a notebook is kept.

No scripts and no style sheets, which GitHub and exports leave out; every text is escaped. Colours come in pairs, ink
and ground, or not at all, so that light and dark notebooks can show them. ``body`` is what a kind of result shows;
without an entry of its own it is the first rows of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import singledispatch
from html import escape
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from analysis.agreement import readable
from analysis.corpus.head_statistics import HeadStatistics
from analysis.corpus.importance import Curve
from analysis.corpus.relations import Findings, layers_and_heads
from analysis.corpus.results import Results, Survey
from analysis.findings import Ranking
from analysis.heads import HeadTable
from analysis.lens_fit import JudgedLens
from analysis.probing.results import TaskResult
from analysis.probing.structural_results import StructuralResult
from analysis.thumbnails import thumbnails
from model_zoo.types import (
    AttentionRun,
    Attribution,
    Decomposition,
    Effects,
    Encoding,
    HiddenStates,
    IntArray,
    LayerContributions,
    MaskLens,
    MaskPrediction,
    Preference,
    SentenceScore,
    Shows,
    TokenScores,
    counted,
    set_html_formatter,
    signed,
)
from viz import static, structural
from viz.curves import lens_distances, probe_curve, pruning
from viz.grid import grid
from viz.heatmap import heatmap
from viz.layout import percent, visible_text
from viz.palette import diverging, sequential, supports
from viz.surprisal import SCALE_END
from viz.token_line import Cell, filled

MOST_ROWS: Final = 12
MOST_WORDS: Final = 60
MOST_LETTERS: Final = 60  # of a text in a cell
_GROUPED: Final = 100_000  # from where on thousands are set apart: ids of tokens and years are not
_LONGEST: Final = 1024  # tokens of a run whose heads are drawn: a layer of more takes gigabytes
_LARGEST: Final = 12  # pixels a side of a head's picture,
_PIXELS: Final = 18_000  # and of all heads together
_MAPS: Final[Mapping[str, str]] = {
    "previous": "attention to the token before",
    "next": "attention to the token after",
    "delimiter": "attention to special tokens",
}
"""The measures whose head maps are shown."""
_FOUND: Final = ("right", "low", "high", "lowest", "highest", "words", "offset_right")

Write = Callable[[Any], str]
"""Makes a value into HTML, escaped."""


def html(result: Shows) -> str:
    """What a notebook shows of a result."""
    line = repr(result)
    if line.startswith("<"):
        summary = line[1:-1].partition(" ")[2]
    else:  # a dataclass's own, whose numbers are in the table
        summary = next((value for value in _row(result).values() if isinstance(value, str)), "")
    return f"<div><p><strong>{type(result).__name__}</strong> {_text(summary, 300)}</p>{body(result)}</div>"


set_html_formatter(html)


def _row(result: Shows) -> dict[str, Any]:
    """The fields of a result that its line tells."""
    return {field.name: getattr(result, field.name) for field in fields(result) if field.repr}  # type: ignore[arg-type]


@singledispatch
def body(result: Shows) -> str:
    """What a result shows of itself below its line: HTML."""
    return first_rows(result.to_frame())


def first_rows(table: pd.DataFrame, write: dict[str, Write] | None = None) -> str:
    """A table's first rows; a sentence says what was left out, and how to have it. ``write`` is how columns are
    written, by their names.
    """
    if table.empty:
        return _note("Nothing to show.")
    if len(table) == 1 and table.shape[1] > 6:
        turned = pd.DataFrame({"field": table.columns, "value": [table[name].iloc[0] for name in table]}, dtype=object)
        return _table(turned, {})
    rows = _table(table.head(MOST_ROWS), write or {})
    left = len(table) - MOST_ROWS
    return rows + (_note(f"{left:,} more of {len(table):,} rows: <code>to_frame()</code>.") if left > 0 else "")


def _table(table: pd.DataFrame, write: dict[str, Write]) -> str:
    writes = [write.get(str(name)) for name in table]
    sides = [_align(table[name], way) for name, way in zip(table, writes, strict=True)]
    head = "".join(f'<th scope="col"{side}>{_text(str(name))}</th>' for name, side in zip(table, sides, strict=True))
    columns = [
        [f"<td{side}>{(way or _value)(value)}</td>" for value in table[name]]
        for name, way, side in zip(table, writes, sides, strict=True)
    ]
    rows = "".join(f"<tr>{''.join(cells)}</tr>" for cells in zip(*columns, strict=True))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _align(column: pd.Series, write: Write | None) -> str:
    """Numbers stand on the right, where their digits are below each other; bars begin on the left."""
    numbers = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and write is not _bar
    return f' style="text-align:{"right" if numbers else "left"}"'


def _value(value: Any) -> str:
    """A cell: numbers with the digits that count, "–" where there is none, anything else as text."""
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        integer = int(value)
        return f"{integer:,}".replace("-", "−") if abs(integer) >= _GROUPED else f"{integer}".replace("-", "−")
    if isinstance(value, Real):
        return f"{float(value):.3g}".replace("-", "−")
    return _text(", ".join(map(str, value)) if isinstance(value, tuple) else str(value))


def _text(text: str, most: int = MOST_LETTERS) -> str:
    """A text, cut where it is long, that keeps its direction to itself."""
    if not text:
        return ""
    visible = visible_text(text if len(text) <= most else text[: most - 1] + "…")
    return f"<bdi>{escape(visible)}</bdi>"


def _note(sentence: str) -> str:
    """A sentence below; ``sentence`` is HTML."""
    return f"<p><small>{sentence}</small></p>"


def _bar(share: float) -> str:
    """A share as a bar and as a number; the bar's colour has at least 3:1 on white and on black."""
    size = f"display:inline-block;height:0.7em;width:{100 * min(max(share, 0), 1):.0f}px"
    grown = f"{size};background:{supports(dark=False)}"
    return f'<span style="{grown}"></span> {percent(share)}'


def _plus(value: float) -> str:
    return "–" if np.isnan(value) else signed(value, 2, plus=True)


def _words(cells: Sequence[Cell]) -> str:
    """Tokens in their order, each on its colour; a sentence says how many were left out."""
    words = " ".join(
        f'<span style="{f"background:{cell.fill};color:{cell.ink};" if cell.fill else ""}padding:1px 3px">'
        f"{_text(cell.text)}</span>"
        for cell in cells[:MOST_WORDS]
    )
    left = len(cells) - MOST_WORDS
    return f'<p style="line-height:1.8">{words}{f" … {left:,} more tokens" if left > 0 else ""}</p>'


def _tokens(encoding: Encoding) -> str:
    return _words([Cell(token) for token in encoding.tokens])


def _side(n: int) -> int:
    """Pixels a side of each of n pictures: fewer where they are many."""
    return min(_LARGEST, int((_PIXELS / n) ** 0.5))


@body.register
def _(run: AttentionRun) -> str:
    read = "" if run.source is None else _tokens(run.source)
    return (
        _tokens(run.encoding)
        + read
        + _heads(run)
        + _note(
            "Layers and heads count from 0. <code>run.head(layer, head)</code> is a matrix, "
            "<code>run.to_frame(layer, head)</code> a table, "
            "<code>look_inside_bert.viz.notebook.grid(run)</code> the same picture to click."
        )
    )


def _heads(run: AttentionRun) -> str:
    if max(run.n_tokens, run.n_keys) > _LONGEST:
        return _note(f"Of more than {_LONGEST:,} tokens no picture is drawn here.")
    layers = (run.layer(layer) for layer in range(run.n_layers))
    small = thumbnails(layers, _side(run.n_layers * run.n_heads))
    picture = static.grid_svg(grid(small, (0, 0), counts=0), framed=False)
    alt = f"Attention of all heads, {counted(run.n_layers, 'layer')} by {counted(run.n_heads, 'head')}"
    return static.image(picture, alt)


@body.register
def _(result: LayerContributions) -> str:
    shares = result.measure != "value zeroing"
    layers = (result.layer(layer) for layer in range(result.n_layers))
    small = thumbnails(layers, _side(result.n_layers), shares=shares).in_a_row()
    payload = grid(small, (0, 0), names=("layer",), quantity=result.measure, counts=0)
    picture = static.grid_svg(payload, framed=False)
    return (
        _tokens(result.encoding)
        + static.image(picture, f"{result.measure} of {counted(result.n_layers, 'layer')}")
        + _note(
            "Layers count from 0. <code>maps[layer]</code> is a matrix: a row says where a token’s new "
            "vector came from."
        )
    )


@body.register
def _(result: HiddenStates) -> str:
    lengths = np.linalg.norm(result.states, axis=-1).mean(axis=-1)
    table = pd.DataFrame({"layer": result.layers, "mean length of the vectors": lengths})
    return _tokens(result.encoding) + first_rows(table) + _note("<code>states[layer, position]</code> is a vector.")


@body.register
def _(result: MaskPrediction) -> str:
    table = result.to_frame()
    columns = ["rank", "token", "probability"] + (["asked"] if result.targets else [])
    original = ""
    if result.original is not None and result.rank is not None:
        share = percent(result.original.probability)
        original = _note(f"It was {_text(result.original.token)}: {share}, rank {result.rank:,}.")
    return first_rows(table[columns], {"token": _read, "probability": _bar}) + original


def _read(token: str) -> str:
    return _text(readable(token))


@body.register
def _(result: SentenceScore) -> str:
    return first_rows(result.to_frame(), {"probability": _bar})


@body.register
def _(result: TokenScores) -> str:
    table = result.to_frame()
    hardest = table.sort_values("surprisal_bits", ascending=False)[
        ["position", "token", "surprisal_bits", "guess", "guess_probability"]
    ]
    return (
        _scored(result)
        + _note("The darker, the more surprising. The most surprising tokens:")
        + first_rows(hardest, {"guess_probability": _bar})
    )


def _scored(scores: TokenScores) -> str:
    bits = (-scores.log_probabilities / np.log(2)).tolist()
    return _words(
        [
            Cell(token) if np.isnan(value) else filled(token, sequential(False), value / SCALE_END)
            for token, value in zip(scores.encoding.tokens, bits, strict=True)
        ]
    )


@body.register
def _(result: Preference) -> str:
    scores = [(name, text.log_likelihood, text.n_scored) for name, text in (("A", result.a), ("B", result.b))]
    table = pd.DataFrame(scores, columns=["text", "sum of ln P", "tokens"])
    return _scored(result.a) + _scored(result.b) + first_rows(table)


@body.register
def _(result: Effects) -> str:
    columns = ["change", "ln_p_change", "probability", "kl_nats", "best", "best_probability"]
    answer = f"{_text(readable(result.answer.token))}: {percent(result.answer.probability)} with nothing changed"
    return _note(f"{answer}. The largest changes of its ln P:") + first_rows(
        _largest_first(result, "ln_p_change")[columns],
        {"ln_p_change": _plus, "probability": percent, "best": _read, "best_probability": percent},
    )


@body.register
def _(result: Attribution) -> str:
    most = float(np.abs(result.scores[list(result.counted)]).max(initial=0)) or 1.0
    counted = set(result.counted)
    words = [
        filled(token, diverging(False), 0.5 + 0.5 * float(result.scores[place]) / most)
        if place in counted
        else Cell(token)
        for place, token in enumerate(result.encoding.tokens)
    ]
    return (
        _words(words)
        + _note("Blue supports the answer, orange opposes it. The largest scores:")
        + first_rows(_largest_first(result, "score"))
    )


@body.register
def _(result: Decomposition) -> str:
    table = _largest_first(result, "logit")
    if result.foil is None:
        table = table.drop(columns="foil_logit")
    return _note("The largest parts:") + first_rows(table, {"logit": _plus, "foil_logit": _plus})


def _largest_first(result: Shows, column: str) -> pd.DataFrame:
    """The table of a result, in the order of the sizes in a column."""
    return result.to_frame().sort_values(column, key=np.abs, ascending=False, kind="stable")


@body.register
def _(result: MaskLens) -> str:
    table = result.to_frame()
    best = table[table["rank"] == 1][["layer", "token", "probability", "answer_rank"]]
    ranks = best.rename(columns={"token": "best token", "answer_rank": f"rank of “{readable(result.answer.token)}”"})
    return first_rows(ranks, {"best token": _read, "probability": _bar})


def _head_map(layer: IntArray, head: IntArray, values: npt.NDArray[np.floating], quantity: str) -> str:
    """A number of every head as a picture, layers down the side and heads along the top."""
    cells = np.full((layer.max() + 1, head.max() + 1), np.nan, dtype=np.float32)
    cells[layer, head] = values
    rows, columns = ([str(place) for place in range(n)] for n in cells.shape)
    picture = static.heatmap_svg(heatmap(cells, rows, columns, quantity=quantity), names=("", ""))
    return static.image(picture, f"{quantity}, by layer and head") + " "


@body.register
def _(result: HeadStatistics) -> str:
    names = [name for name in _MAPS if name in result.defined()]
    layer, head = layers_and_heads(result.heads)
    maps = "".join(_head_map(layer, head, result.measure(name), _MAPS[name]) for name in names)
    skipped = " ".join(result.skipped.notices())
    return (
        maps
        + first_rows(result.to_frame()[["layer", "head", "label", *names]])
        + (_note(escape(skipped)) if skipped else "")
    )


@body.register
def _(result: HeadTable) -> str:
    names = [name for name in _MAPS if not np.isnan(getattr(result.measures, name)).all()]
    maps = "".join(_head_map(result.layer, result.head, getattr(result.measures, name), _MAPS[name]) for name in names)
    return maps + first_rows(result.to_frame()[["layer", "head", "label", *names]])


@body.register
def _(result: Ranking) -> str:
    return _head_map(result.layer, result.head, result.share, "share of attention") + first_rows(result.to_frame())


@body.register
def _(result: Results) -> str:
    columns = ["relation", "direction", "layer", "head", *_FOUND]
    table = result.to_frame()
    return body(result.statistics) + (first_rows(table[columns]) if len(table) else "")


@body.register
def _(result: Survey) -> str:
    return body(result.results)


@body.register
def _(result: Findings) -> str:
    table = result.to_frame()
    return first_rows(table[["relation", "direction", "place", *_FOUND]] if len(table) else table)


@body.register
def _(result: TaskResult) -> str:
    picture = _curve(probe_curve(result, ""), f"Accuracy of {result.task} by layer") if result.layers else ""
    return picture + first_rows(result.to_frame()[["layer", "accuracy", "low", "high", "selectivity"]])


@body.register
def _(result: StructuralResult) -> str:
    picture = _curve(structural.by_layer(result), "UUAS by layer") if result.layers else ""
    return picture + first_rows(result.to_frame()[["layer", "uuas", "uuas_low", "uuas_high", "development_uuas"]])


@body.register
def _(result: JudgedLens) -> str:
    return _curve(lens_distances(result), "KL to the final prediction (nats)") + first_rows(result.to_frame())


@body.register
def _(result: Curve) -> str:
    picture = pruning([result], "score", max(result.counts, default=0), percent=False) if result.counts else None
    return ("" if picture is None else _curve(picture, result.name)) + first_rows(result.to_frame())


def _curve(figure: go.Figure, alt: str) -> str:
    return static.image(static.curves_svg(figure), alt)
