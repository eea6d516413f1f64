"""The command ``look-inside-bert``: ``streamlit run app.py``, from any folder."""

from __future__ import annotations

from copy import copy
from pathlib import Path

from streamlit.web.cli import main_run

from web.settings import ROOT

_HELP = """Start the app, until it is interrupted (Ctrl+C).

Options are those of `streamlit run`, such as --server.port. The app has settings of its own, which are environment
variables: `python -m look_inside_bert.web.settings` lists them."""


def main() -> None:
    """Run Streamlit's command on app.py, whose own config.toml goes before one of the folder that it is started in."""
    command, run = copy(main_run), main_run.callback
    assert run is not None
    command.help, command.params = _HELP, [option for option in main_run.params if option.param_type_name == "option"]
    command.callback = lambda **options: run(str(ROOT / "app.py"), **options)
    try:
        Path.home()
    except RuntimeError as error:
        raise SystemExit("Streamlit needs a home folder, and this user has none. Set one: HOME=/tmp") from error
    command(prog_name="look-inside-bert")
