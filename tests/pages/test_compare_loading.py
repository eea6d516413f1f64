"""The page "Compare": models that load beside each other, fail, or do not fit."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from compare_page import PAGE, PAIR, TEXT, VIEWS, Open, clean, matrices
from on_screen import prose
from patience import PATIENCE

from model_zoo import Engine
from model_zoo.errors import HubUnreachable
from pages.compare import scene


@pytest.mark.slow
def test_a_model_that_fails_leaves_the_others(two: tuple[str, str], open_page: Open, tmp_path: Path) -> None:
    app = open_page(PAGE, models=",".join((two[0], str(tmp_path), "no such model!", two[1])), text=TEXT)
    for view in VIEWS:
        app.query_params["view"] = view
        app.run()
        no_folder, no_model = (error.value.replace("\\", "") for error in app.error)
        assert f"{tmp_path}” holds no config.json" in no_folder
        assert "“no such model!” is neither" in no_model
        assert f"Meanwhile {Path(two[0]).name} is compared with {Path(two[1]).name}." in prose(app)
    app = open_page(PAGE, models=f"{tmp_path},{tmp_path / 'other'}", text=TEXT)
    assert len(app.error) == 2
    assert app.text_area(key="text").value == TEXT
    assert app.query_params["text"] == TEXT


def test_models_are_loaded_beside_each_other_and_watched(
    two: tuple[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is done before both have begun, and before their lines have been drawn once more."""
    both, watched = threading.Barrier(2, timeout=PATIENCE), threading.Event()
    announced: list[str] = []
    plain, line = Engine.info, scene._line

    def info(self: Engine, model: str) -> Any:
        if model in two:  # the app warms up its own one beside the first page
            both.wait()
            assert watched.wait(PATIENCE)
        return plain(self, model)

    def watch(*args: Any) -> str:
        announced.append(line(*args))
        if len(announced) > 2:
            watched.set()
        return announced[-1]

    monkeypatch.setattr(Engine, "info", info)
    monkeypatch.setattr(scene, "_line", watch)
    app = open_page(PAGE, models=",".join(two), text=TEXT)
    clean(app)
    assert len(app.dataframe) == 1
    assert [announced[place].split(":")[0].rstrip("\\") for place in (0, 1)] == [Path(model).name for model in two]
    assert all("loading, " in sentence for sentence in announced)


def test_a_failure_is_kept_until_another_try(
    two: tuple[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    plain = Engine.info

    def info(self: Engine, model: str) -> Any:
        if model != two[1]:
            return plain(self, model)
        calls.append(model)
        if len(calls) < 2:
            raise HubUnreachable("The hub is away.")
        return plain(self, model)

    monkeypatch.setattr(Engine, "info", info)
    app = open_page(PAGE, models=",".join(two), text=TEXT)
    app.text_area(key="text").set_value(PAIR).run()
    assert [error.value for error in app.error] == ["The hub is away\\."]
    assert calls == [two[1]]
    app.button[[button.label for button in app.button].index("Try again")].click().run()
    clean(app)
    assert calls == [two[1]] * 2
    assert len(app.dataframe) == 1


def test_two_models_larger_than_the_memory_for_models(
    two: tuple[str, str], open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [4 * engine.info(model).parameters for model in two]
    monkeypatch.setattr(engine._memory, "budget", sum(sizes) - 1)
    engine.close()
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention")
    assert len(app.error) == 1
    assert "MB" in app.error[0].value
    assert "one" in app.error[0].value
    assert len(matrices(app)) == 3  # one model beside itself
    again = prose(app)
    app.run()
    assert prose(app) == again
