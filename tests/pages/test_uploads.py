"""What the server holds of uploads is bounded, and every control takes every kind of file to the app's own words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import PATIENCE
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from jobs.reading import Reading
from web import settings as settings_module
from web import uploads
from web.settings import settings

Open = Callable[..., AppTest]

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
