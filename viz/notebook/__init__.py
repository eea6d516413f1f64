"""The pictures of the pages as widgets of a notebook: JupyterLab, Notebook, VS Code, Colab, marimo.

    run = engine.attend("embedded/bert", "The cat sat on the mat because it was tired.")
    heads = grid(run)
    one = heatmap(run, follow=heads)

A widget is shown by being the last line of its cell. Layers and heads count from 0, as everywhere in Python, in
the picture, too. What a reader clicks and points at are traits of the widget: ``heads.layer``, ``heads.head``,
``one.token``, ``one.key``. No picture asks the network for anything.
"""

from __future__ import annotations

from model_zoo.errors import NotSupported

try:
    import anywidget as _anywidget  # noqa: F401
except ImportError as error:
    raise NotSupported(
        "Pictures in a notebook need the package anywidget, which is not installed. "
        "Install it (pip install anywidget), and restart the kernel."
    ) from error

from viz import results as _results  # noqa: F401  (it registers how results are shown)
from viz.notebook.attention import grid, heatmap, lines, words
from viz.notebook.numbers import anatomy, cells, example_sentences, sketch, token_line

__all__ = ["anatomy", "cells", "example_sentences", "grid", "heatmap", "lines", "sketch", "token_line", "words"]
