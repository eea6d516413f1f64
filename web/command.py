"""The command ``look-inside-bert``: ``streamlit run app.py``, from any folder."""

from __future__ import annotations

import sys

from streamlit.web.cli import main_run

from web.settings import ROOT


def main() -> None:
    """Start the app until it is interrupted. Options are those of ``streamlit run``, such as ``--server.port=8502``."""
    main_run([str(ROOT / "app.py"), *sys.argv[1:]], prog_name="look-inside-bert")
