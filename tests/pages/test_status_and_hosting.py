"""The page Status and its button; the app where strangers use it: listed models, shorter texts, bounded uploads."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkpoints import Checkpoint
from figures_of_a_process import FIGURES
from on_screen import Open, button
from patience import PATIENCE
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

import model_zoo
import web.engine
from jobs.reading import Reading
from model_zoo import DEFAULT_MODEL, Engine
from pages.status import emptying, panel
from web import process, uploads
from web import settings as settings_module
from web.settings import settings

CODE = "sesame 12"


@pytest.fixture
def set_(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """``set_(hosted="1")`` sets settings of the app by their names, as the environment does."""

    def give(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(settings_module.PREFIX + name.upper(), value)
        settings.cache_clear()

    yield give
    monkeypatch.undo()
    settings.cache_clear()


def texts(app: AppTest) -> str:
    """Everything that can be read on the page."""
    read = [*app.markdown, *app.caption, *app.success, *app.info, *app.warning, *app.error]
    return "\n".join(
        [*(element.value for element in read), *(f"{metric.label} {metric.value}" for metric in app.metric)]
    )


def test_the_button_empties_caches(open_page: Open, engine: Engine, checkpoint: Checkpoint) -> None:
    folder = str(checkpoint("bert"))
    app = open_page("pages/status/page.py")  # by way of the home page, which asks questions of its own
    engine.close()
    engine.attend(folder, "A secret sentence.")
    app.run()
    assert [metric.label for metric in app.metric] == ["Visitors", "Visitors waiting", "Processors in use", "Errors"]
    before = texts(app)
    assert "All is well" in app.success[0].value
    assert "1 model in memory" in before
    assert "| another model | CPU, float32 |" in before
    assert folder not in before
    assert "secret" not in before
    button(app, "Empty the caches").click().run()
    assert re.fullmatch(r"Freed [\d.]+ MB: 1 model and 1 answer\.", app.success[-1].value)
    assert engine.held() == []
    button(app, "Empty the caches").click().run()
    assert app.success[-1].value == "There was nothing to empty."


def test_a_code_is_asked_for_where_one_is_set(
    open_page: Open,
    engine: Engine,
    checkpoint: Checkpoint,
    set_: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    guard = emptying.Guard(lambda: now)
    monkeypatch.setattr(emptying, "guard", lambda: guard)
    set_(hosted="1", status_code=CODE)
    engine.info(str(checkpoint("bert")))
    app = open_page("pages/status/page.py")
    app.text_input[0].input("open it")
    button(app, "Empty the caches").click().run()
    assert [warning.value for warning in app.warning] == ["Wrong code. Try again in 2 s."]
    assert engine.held()
    assert not app.query_params
    now += 3
    app.text_input[0].input(CODE)
    button(app, "Empty the caches").click().run()
    assert not app.warning
    assert app.success[-1].value.startswith("Freed ")
    assert engine.held() == []


def test_a_hosted_app_without_a_code_has_no_button(open_page: Open, set_: Callable[..., None]) -> None:
    set_(hosted="1", status_code="")
    app = open_page("pages/status/page.py")
    assert not app.button
    assert any("INSIDE_BERT_STATUS_CODE" in caption.value for caption in app.caption)
    for typed in ("", "\ud800", "\0", "?"):
        assert emptying.Guard(lambda: 100.0).refusal(typed, CODE) == "Wrong code. Try again in 2 s."


def test_the_bar_is_full_at_most(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "look", lambda: replace(FIGURES, memory=2 * FIGURES.memory_limit))
    app = open_page("pages/status/page.py")
    assert "Memory is full" in app.warning[0].value
    assert app.get("progress")[0].proto.value == 100


@pytest.fixture
def hosted(set_: Callable[..., None]) -> None:
    set_(hosted="1")


def warned(app: AppTest) -> str:
    return " ".join(warning.value for warning in app.warning).replace("\\", "")


@pytest.mark.usefixtures("hosted")
def test_only_listed_models_are_named_and_compared(open_page: Open) -> None:
    for model in ("someone/tiny", "/etc", "~", "x" * 300):
        app = open_page("pages/masked_words/page.py", model=model)
        assert f"“{model[:100]}” is not in the list of models" in warned(app)
        (field,) = [box for box in app.selectbox if box.label == "Model"]
        assert field.value == DEFAULT_MODEL
        assert not field.proto.accept_new_options
        assert app.query_params["model"] == DEFAULT_MODEL
        assert "not in the list" not in warned(app.run())
    app = open_page("pages/compare/page.py", models="embedded/bert,/etc,someone/tiny,embedded/tinybert")
    assert "“/etc” and “someone/tiny” are not in the list of models" in warned(app)
    (field,) = app.multiselect
    assert tuple(field.value) == ("embedded/bert", "embedded/tinybert")
    assert not field.proto.accept_new_options
    assert "folder" not in field.proto.placeholder + field.proto.help
    app = open_page("pages/attention/page.py")
    app.text_area(key="text").set_value("word " * 4_001).run()
    assert "The text has 20,005 characters, more than the 20,000 that are read" in warned(app)
    assert app.text_area(key="text").value == "word " * 4_001


def test_anything_can_be_named_on_a_machine_of_ones_own(open_page: Open) -> None:
    app = open_page("pages/compare/page.py", models="embedded/bert,embedded/tinybert")
    assert app.multiselect[0].proto.accept_new_options


@pytest.mark.usefixtures("hosted")
def test_the_engine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {}

    class Told:
        def __init__(self, **options: Any) -> None:
            arguments.update(options)

        def close(self) -> None:
            pass

    process.clear_all()
    monkeypatch.setattr(model_zoo, "Engine", Told)
    web.engine.engine()
    assert not arguments["any_model"]
    assert arguments["download_bytes"] == 2_000 * 10**6
    process.clear_all()


ROOT = Path(__file__).parents[2]
MB = 10**6


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 MB a visitor, 5 MB for all."""
    monkeypatch.setenv(f"{settings_module.PREFIX}UPLOAD_MB", "2")
    monkeypatch.setenv(f"{settings_module.PREFIX}UPLOAD_MEMORY_MB", "5")
    settings.cache_clear()
    yield
    settings.cache_clear()


def held(manager: uploads.Bounded) -> dict[str, list[str]]:
    return {session: list(files) for session, files in manager.file_storage.items() if files}


def send(manager: uploads.Bounded, session: str, name: str, size: int) -> None:
    manager.add_file(session, UploadedFileRec(name, name, "text/plain", b"x" * size))


@pytest.mark.usefixtures("small")
def test_files_of_one_visitor_and_of_all_are_bounded() -> None:
    manager = uploads.Bounded("/upload")
    for name in "abc":
        send(manager, "me", name, MB)
    assert held(manager) == {"me": ["b", "c"]}
    send(manager, "me", "large", 2 * MB)
    assert held(manager) == {"me": ["large"]}
    assert manager._total_bytes == 2 * MB

    manager = uploads.Bounded("/upload")
    for number in range(uploads.MOST_FILES + 20):
        send(manager, "me", str(number), 1)
    assert held(manager) == {"me": [str(number) for number in range(20, uploads.MOST_FILES + 20)]}

    manager = uploads.Bounded("/upload")
    for visitor in ("first", "second", "third"):
        send(manager, visitor, visitor, 2 * MB)
    assert held(manager) == {"second": ["second"], "third": ["third"]}
    for number in range(60):
        send(manager, f"visitor {number}", f"file {number}", 2 * MB)
    assert manager._total_bytes <= 5 * MB


def test_controls_are_bounded_and_drawn_by_one_function(open_page: Open, shelf: object) -> None:
    app = open_page("pages/next_sentence/page.py", view="many pairs")
    assert type(shelf) is uploads.Bounded
    assert app.file_uploader(key="pairs file").proto.max_upload_size_mb == settings().upload_mb

    files = [path for room in ("ui", "pages", "classroom", "web") for path in (ROOT / room).rglob("*.py")]
    outside = [path for path in files if re.search(r"\.file_uploader\(", path.read_text("utf-8"))]
    assert [path.name for path in outside] == ["uploads.py"]


KINDS = {
    "plain.csv": b"a,b\n1,2\n",
    "array.json": b'[{"good": "a", "bad": "b"}]',
    "page.html": b"<script>alert(1)</script>",
    "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00",
    "table.xlsx": b"PK\x03\x04\x14\x00",
    "archive.zip": b"PK\x05\x06" + b"\x00" * 18,
    "packed.gz": b"\x1f\x8b\x08\x00",
    "nul.txt": b"a\x00b",
    "none": b"",
    "old.txt": "Füße".encode("cp1252"),
    "wide.txt": "Füße".encode("utf-16"),
    "cell.csv": b'a,b\n"' + b"x" * 200_000,
    "deep.json": b'{"good":' * 5_000,
    "name\x00of\u202ea file.exe": b"MZ\x90\x00",
    "x" * 300: b"text",
    "no-unicode.txt": b"\x81\x8d",
}
CONTROLS = {
    "pair files": ("pages/masked_words/page.py", "predictions", "pairs"),
    "pairs file": ("pages/next_sentence/page.py", "probability", "many pairs"),
    "probing upload": ("pages/layers/page.py", "summary", "curve"),
    "training upload": ("pages/train/page.py", "race", "train"),
}
OWN = {"training upload": {"set": "own"}}  # where a control stands behind a choice


@pytest.mark.slow
@pytest.mark.parametrize("key", CONTROLS)
def test_files_of_every_kind_end_in_the_apps_own_words_after_another_view(key: str, open_page: Open) -> None:
    """Streamlit refuses a file by the end of its name before the page runs, and the app cannot catch that."""
    page, before, view = CONTROLS[key]
    app = open_page(page, view=before, **OWN.get(key, {}))
    app.button_group(key=f"{Path(page).parent.name}_view").set_value(view).run()
    several = app.file_uploader(key=key).proto.multiple_files
    for name, data in KINDS.items():
        file = (name, data, "text/plain")
        app.file_uploader(key=key).set_value([file] if several else file).run()
        job = app.session_state["desk"].current(Reading) if "desk" in app.session_state else None
        if job is not None and job.running:  # archives are read by a process of its own
            assert job.wait(PATIENCE), name
            app.run()
        assert not app.error, name  # what is no text gets one sentence, which an open box says as well
        assert len({warning.value for warning in app.warning}) <= 1, name
        if data.startswith((b"PK", b"\x89", b"\x1f")):
            assert name in app.warning[0].value.replace("\\", ""), name


@pytest.mark.slow
def test_a_file_that_is_no_longer_held_is_said_to_be_gone(open_page: Open, shelf: uploads.Bounded) -> None:
    app = open_page("pages/layers/page.py", tasks="")
    rows = "".join(f"sentence {i},{'ab'[i % 2]}\n" for i in range(30))
    app.file_uploader(key="probing upload").set_value(("own.csv", f"text,label\n{rows}".encode(), "text/csv")).run()
    assert any("own\\.csv\\: 30 different" in element.value for element in app.success)
    app.switch_page("pages/home/page.py").run()
    shelf.file_storage.clear()
    app.switch_page("pages/layers/page.py").run()
    assert ["no longer has" in element.value for element in app.warning] == [True]
    next(button for button in app.button if button.label == "Remove").click().run()
    assert not app.warning
