"""BertViz's own head view and model view (Vig 2019, arXiv:1906.05714) as one HTML document without network.

The drawing is done by the scripts of the installed ``bertviz`` package, unchanged. They fetch require.js, d3 5 and
jQuery from a network; no package of the requirements carries these as files, and copies in this folder would be foreign
code to keep and to send with every document. So components/bertviz/ answers with the methods that are called, which is
as small as it gets. Python's side of BertViz is replaced: it needs torch, writes the numbers twice and as text, and
lets a token end the script.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.util import find_spec
from math import isqrt
from pathlib import Path
from string import Template
from typing import Any, Final, Literal, get_args

import numpy as np

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray, check_range
from viz import component
from viz.layout import clipped
from viz.palette import MOST_COLOURS, categorical, theme

Kind = Literal["head", "model"]

# Lines a view may draw: BertViz makes an SVG element for every weight it shows. In headless Chromium on two
# cores this many paint in about four seconds, in either view; twice as many tokens take four times as long.
MAX_LINES: Final = 12 * 128 * 128

# BertViz's sizes in pixels: the width of its two columns and the space between, and of one head's square.
_HEAD_VIEW_WIDTH: Final = 335
_HEAD_SQUARE: Final = 20

# Characters of a token that fit into the column of its view; BertViz lets longer ones run over the drawing.
_MAX_CHARACTERS: Final[dict[Kind, int]] = {"head": 13, "model": 11}


def max_tokens(view: Kind, n_layers: int, n_heads: int) -> int:
    """The longest text, in tokens, that the view of a model of this size can show."""
    maps = n_heads if view == "head" else n_layers * n_heads
    return isqrt(MAX_LINES // maps)


def bertviz_html(
    view: Kind,
    layers: Sequence[FloatArray],
    tokens: Sequence[str],
    *,
    sentence_b_start: int | None = None,
    layer: int = 0,
    heads: Sequence[int] | None = None,
    dark: bool = False,
) -> str:
    """A complete HTML document with BertViz's head view or model view, which loads nothing.

    ``layers`` holds one array (heads, n, n) per layer. ``sentence_b_start`` is the first token of the second
    sentence, and adds BertViz's choice of A->A, B->B, A->B and B->A. ``layer`` and ``heads`` (None: all),
    from 0, are what the head view starts with; the document numbers both from 1. Weights above 1, as value-weighted
    attention has them, are divided by the largest of all. What is drawn is rounded to 1/65535, tokens too long for
    their column are cut and end in an ellipsis. Raises InvalidInput for arguments that do not fit together,
    NotSupported beyond ``max_tokens``.
    """
    attention = _stacked(layers, len(tokens))
    n_layers, n_heads, n, _ = attention.shape
    limit = max_tokens(view, n_layers, n_heads)
    if n > limit:
        raise NotSupported(
            f"BertViz's {view} view draws every weight as a separate element and can show at most {limit} tokens for "
            f"this model; this text has {n}. Shorten it, or use the view "
            + ("“Lines”" if view == "head" else "“All heads”")
            + " of this page, which shows the same weights of longer texts."
        )
    if heads is not None and not heads:
        raise InvalidInput("No head is chosen, so there is nothing to draw. Choose at least one head.")
    check_range("The model", "layer", layer, n_layers)
    for head in heads or ():
        check_range("A layer", "head", head, n_heads)
    if sentence_b_start is not None and not 0 < sentence_b_start < n:
        raise InvalidInput(f"The second sentence cannot start at token {sentence_b_start} of {n}.")
    drawn = attention / max(1.0, float(attention.max(initial=0)))
    data = {
        "attention": {
            "packed": base64.b64encode(np.rint(drawn * 65535).astype("<u2").tobytes()).decode("ascii"),
            "shape": attention.shape[:3],
        },
        "colours": categorical(MOST_COLOURS, dark),
        "tokens": [_column_label(token, _MAX_CHARACTERS[view]) for token in tokens],
        "filters": _filters(n, sentence_b_start),
        "default_filter": "0",
        "root_div_id": "bertviz",
        "include_layers": list(range(1, n_layers + 1)),
        "layer": layer + 1,
        "heads": None if heads is None else list(heads),
        "include_heads": list(range(1, n_heads + 1)),
        "total_heads": n_heads,
        "display_mode": "dark" if dark else "light",
    }
    return _document(view, data, dark)


def _stacked(layers: Sequence[FloatArray], n: int) -> FloatArray:
    """All layers as one array (layers, heads, n, n), checked."""
    shapes = {layer.shape for layer in layers}
    if len(shapes) != 1 or shapes.pop()[1:] != (n, n):
        raise InvalidInput(
            f"BertViz needs attention of the same shape (heads, {n}, {n}) in every layer for {n} tokens; "
            f"got {[layer.shape for layer in layers]}."
        )
    return np.stack(list(layers))


def _column_label(token: str, longest: int) -> str:
    """The token without the marks of its tokenizer, as BertViz shows it by default, and cut to its column."""
    plain = token.replace("Ġ", " ").replace("▁", " ").replace("</w>", "")
    return clipped(plain, longest)


def _filters(n: int, b: int | None) -> list[dict[str, Any]]:
    """BertViz's choice of sentence pairs: a name, and the ranges of queries (left) and keys (right)."""
    if b is None:
        return [{"name": None, "left": [0, n], "right": [0, n]}]
    spans = {"A": [0, b], "B": [b, n]}
    pairs = (("A", "A"), ("B", "B"), ("A", "B"), ("B", "A"))
    return [{"name": "All", "left": [0, n], "right": [0, n]}] + [
        {"name": f"Sentence {left} -> Sentence {right}", "left": spans[left], "right": spans[right]}
        for left, right in pairs
    ]


@cache
def _script(view: Kind) -> str:
    """BertViz's script of a view, made to read its parameters from the document."""
    package = find_spec("bertviz")  # finds the folder without importing the package, and torch with it
    if package is None or package.origin is None:
        raise NotSupported("BertViz is not installed. Install the package bertviz, or use the view “Lines”.")
    script = (Path(package.origin).parent / f"{view}_view.js").read_text(encoding="utf-8")
    return script.replace("PYTHON_PARAMS", "bertvizParams()")


def script_sources() -> list[str]:
    """Content-Security-Policy sources of the scripts of both views, for a page that frames their documents."""
    scripts = [*_own_scripts(), *(_script(view) for view in get_args(Kind))]
    return [component.source_of(script) for script in scripts]


def _own_scripts() -> tuple[str, str]:
    """What comes before BertViz's script, and what after it."""
    before, after = (component.enclosed(component.FILES / "bertviz" / name) for name in ("offline.js", "saving.js"))
    return before, after


def _document(view: Kind, data: dict[str, Any], dark: bool) -> str:
    offline, saving = _own_scripts()
    script = _script(view)
    width = max(_HEAD_VIEW_WIDTH, data["total_heads"] * _HEAD_SQUARE)
    style = component.text("bertviz/offline.css") + component.colours_css(theme(dark))
    style += f":root {{ --min-width: {width}px; }}\n"
    controls = '<label>Layer <select id="layer"></select></label>' if view == "head" else ""
    if len(data["filters"]) > 1:
        names = [escape(choice["name"]) for choice in data["filters"]]
        options = "".join(f'<option value="{i}">{name}</option>' for i, name in enumerate(names))
        controls += f'<label>Attention <select id="filter">{options}</select></label>'
    scripts = " ".join(map(component.source_of, (offline, script, saving)))
    return Template(component.text("bertviz/page.html")).substitute(
        mode="dark" if dark else "light",
        policy=(
            f"default-src 'none'; script-src {scripts}; "
            f"style-src {component.source_of(style)}; img-src blob:; base-uri 'none'; form-action 'none'"
        ),
        view=view,
        style=style,
        controls=controls,
        # "<" as an escape keeps a token such as "</script>" inside the data.
        data=json.dumps(data).replace("<", "\\u003c"),
        offline=offline,
        script=script,
        saving=saving,
    )
