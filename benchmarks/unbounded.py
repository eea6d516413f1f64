"""Streamlit's command line, serving an app without what keeps it fast and bounded: the baseline of ``benchmarks.load``.

``python -m benchmarks.unbounded run app.py``: nothing is ever frozen, so every script run is followed by a look at all
objects; pages and questions run as they come, one by one, each with all of torch's threads.
"""

from __future__ import annotations

import gc
import importlib.util
import os
from contextlib import ExitStack
from unittest import mock

from streamlit.web import cli

OPEN = {
    "INSIDE_BERT_PAGE_RUNS": "1000",
    "INSIDE_BERT_RUNS": "1000",
    "INSIDE_BERT_BATCH": "1",
    "INSIDE_BERT_THREADS": str(os.cpu_count() or 1),
    "STREAMLIT_RUNNER_POST_SCRIPT_GC": "true",
}


def _nothing() -> None:
    """Stands in for freezing, and for the watch that would do so."""


def main() -> None:
    os.environ.update(OPEN)
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(gc, "freeze", _nothing))
        if importlib.util.find_spec("web.garbage") is not None:
            for name in ("watch", "collect_soon"):
                patches.enter_context(mock.patch(f"web.garbage.{name}", _nothing))
        cli.main(prog_name="streamlit")


if __name__ == "__main__":
    main()
