"""The command ``look-inside-bert`` passes its options on to Streamlit's, with the project's app."""

import sys
from pathlib import Path
from typing import Any

import pytest
from streamlit.web.cli import main_run

from web import command
from web.settings import ROOT


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What Streamlit is asked to run, and with which options, in place of its doing so."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def run(target: str, **options: Any) -> None:
        calls.append((target, {name: value for name, value in options.items() if value not in (None, ())}))

    monkeypatch.setattr(main_run, "callback", run)
    return calls


def give(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    """The status that the command ends with."""
    monkeypatch.setattr(sys, "argv", ["look-inside-bert", *words])
    with pytest.raises(SystemExit) as ended:
        command.main()
    return ended.value.code


def test_options_are_passed_on(called: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert give(monkeypatch, "--server.port", "8502", "--server.headless=true") == 0
    assert called == [(str(ROOT / "app.py"), {"server_port": 8502, "server_headless": True})]


@pytest.mark.parametrize(
    ("words", "message"), [(("other.py",), "unexpected extra argument"), (("--server.prt=1",), "--server.port")]
)
def test_what_it_does_not_know_is_refused(words, message, called, monkeypatch, capsys) -> None:
    assert give(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
    assert called == []


def test_a_user_without_a_home_is_told_to_set_one(called, monkeypatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert "HOME=" in str(give(monkeypatch))
    assert called == []


def test_its_help_is_of_the_app(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert give(monkeypatch, "--help") == 0
    output = capsys.readouterr().out
    assert output.startswith("Usage: look-inside-bert [OPTIONS]\n\n  Start the app")
    assert "--server.port" in output
