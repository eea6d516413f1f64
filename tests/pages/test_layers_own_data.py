"""The page "Layers" with one's own data: what is read, what is refused, what is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from layers_page import PAGE, ROWS, conllu, results_of, run, table, written
from on_screen import button, prose
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from web.settings import settings

Open = Callable[..., AppTest]

# What else can be wrong, and what is read of it, is tested where files are read.
BAD_DATA = {
    "one class only": ("table", table([(text, "a") for text, _ in ROWS]), "fewer than two labels"),
    "wrong split": ("senteval", "tr\tA\ta\nxx\tA\tb", "line 2: the split is “xx”"),
    "malformed CoNLL-U": ("conllu", conllu(30, bad="2 dog"), "line 2: 1 column instead of ten"),
}


def test_bad_data_gets_one_sentence_and_stays(open_page: Open) -> None:
    for case, (format_, typed, message) in BAD_DATA.items():
        app = open_page(PAGE, format=format_)
        app.text_area(key="layers_data").set_value(typed).run()
        assert not app.error, case
        assert len(app.warning) == 1, case
        assert message in app.warning[0].value.replace("\\", "")
        assert app.text_area(key="layers_data").value == typed
        assert button(app, "Run").label == "Run 3 tasks"


GOOD_DATA = {
    "repeated and empty": ("table", table([*ROWS, ROWS[0], ("", "a")]), "Left out 1 repeated sentence."),
    "CoNLL-U": ("conllu", conllu(30), "30 different sentences, 90 words, 3 labels"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", GOOD_DATA)
def test_own_data_is_read_said_and_probed(case: str, open_page: Open) -> None:
    format_, typed, message = GOOD_DATA[case]
    app = open_page(PAGE, format=format_, tasks="")
    app.text_area(key="layers_data").set_value(typed).run()
    assert not app.warning
    assert message in prose(app)
    run(app)
    assert not app.warning
    (finished,) = results_of(app).values()
    assert finished.title == "The pasted data"
    assert len(written(app)) == 7 + 2


@pytest.mark.slow
def test_an_uploaded_file_is_kept_over_pages_until_it_is_removed(
    open_page: Open,
    shelf: MemoryUploadedFileManager,  # noqa: ARG001
) -> None:
    app = open_page(PAGE, tasks="")
    app.file_uploader(key="probing upload").set_value(("own.csv", table(ROWS).encode("utf-16"), "text/csv")).run()
    assert "own.csv: 40 different sentences" in prose(app)
    assert "Not in it: the file you uploaded." in prose(app)
    app.switch_page("pages/home/page.py").run()
    app.switch_page(PAGE).run()
    assert "In use: **own.csv**" in prose(app)
    run(app)
    assert next(iter(results_of(app).values())).title == "own.csv"
    button(app, "Remove").click().run()
    assert "own.csv: 40" not in prose(app)
    assert button(app, "Run").disabled
    assert written(app)  # what was computed stays


def test_a_file_over_the_limit_is_refused_with_the_limit(open_page: Open) -> None:
    app = open_page(PAGE)
    assert app.file_uploader(key="probing upload").proto.max_upload_size_mb == settings().upload_mb == 10
    app.file_uploader(key="probing upload").set_value(("big.csv", b"x" * 11 * 2**20, "text/csv")).run()
    assert "big.csv is 11.5 MB; files may be up to 10 MB" in prose(app)
