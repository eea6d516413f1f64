"""The visitor's own data to train on: pasted or uploaded, kept over pages, in the address, and said."""

import pytest
from on_screen import prose
from patience import PATIENCE
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest, local_script_runner
from tried_texts import MARKDOWN, NASTY

from pages.train import own_data
from training.finetuning.data import KINDS
from ui import address

REVIEWS = "text,label\n" + "".join(f"film {i},{'good' if i % 4 else 'bad'}\n" for i in range(40))
TAGGED = "".join(f"Ann{i}\tB-PER\nsleeps\tO\nin\tO\nOslo\tB-LOC\n\n" for i in range(20))
ASKED = "question,context,answer\n" + "".join(f"Who?,Ann {i} did.,{'Ann' if i % 2 else ''}\n" for i in range(20))
ALIKE = "text,text_pair,score\n" + "".join(f"a {i},b {i},{i / 20}\n" for i in range(21))


@pytest.fixture(autouse=True)
def shelf(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """One manager of uploads for all runs, as a server has it; AppTest makes one for every run."""
    manager = MemoryUploadedFileManager("/mock/upload")
    monkeypatch.setattr(local_script_runner, "MemoryUploadedFileManager", lambda _endpoint: manager)
    return manager


def script(**query: str) -> AppTest:
    def page() -> None:
        import streamlit as st

        from pages.train import own_data
        from ui import address

        address.enter("train", "Train", own_data.FIELDS)
        if st.toggle("here", True, key="here"):
            user_data = own_data.draw(seed=int(st.number_input("Seed", 0)))
            data = user_data and user_data.data
            st.text(f"{data.kind} {data.name} {len(data.train)}" if data else "nothing")
        st.text("link whole" if address.publish() else "link without the long text")
        st.text(f"uploaded: {own_data.uploaded()}")

    app = AppTest.from_function(page, default_timeout=PATIENCE)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def texts(app: AppTest) -> list[str]:
    return [text.value for text in app.text]


def test_nothing_yet_and_how_the_data_must_look() -> None:
    app = script()
    assert texts(app) == ["nothing", "link whole", "uploaded: False"]
    for kind in KINDS:
        app.button_group(key="train_own_kind").set_value(kind).run()
        assert app.code[0].value == own_data._TEXTS[kind]["example"]
        assert not app.warning
        assert not app.exception


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_beside_the_controls_is_in_the_right_form(kind: str) -> None:
    """Too little to train on, and nothing else is wrong with it."""
    app = script(own_kind=kind, own_text=own_data._TEXTS[kind]["example"])
    (warning,) = app.warning
    assert "at least 10 are needed" in warning.value or "fewer than two labels" in warning.value
    assert texts(app)[0] == "nothing"
    assert app.text_area[0].value == own_data._TEXTS[kind]["example"]


READ = {
    "classification": (REVIEWS, "40 items: 28 for training, 4 for development and 8", "good (30), bad (10)."),
    "tagging": (TAGGED, "20 items: 14 for training, 2 for development and 4", "2 types: PER (20), LOC (20)."),
    "answering": (ASKED, "20 items: 14 for training", "20 passages; 10 questions without an answer."),
    "similarity": (ALIKE, "21 items: 15 for training", "Scores from 0 to 5, on average 2.5."),
}


@pytest.mark.parametrize("kind", READ)
def test_what_was_read_is_said_and_another_seed_is_another_split(kind: str) -> None:
    typed, parts, holds = READ[kind]
    app = script(own_kind=kind)
    app.text_area[0].set_value(typed).run()
    assert not app.warning
    assert f"The pasted data: {parts}" in prose(app)
    assert holds in prose(app)
    assert ("from 0 to 1, were rescaled" in prose(app)) == (kind == "similarity")
    before = texts(app)[0]
    assert before.startswith(f"{kind} own data ")
    app.number_input[0].set_value(1).run()
    assert texts(app)[0] != before


def test_what_cannot_be_used_gets_one_sentence_and_stays() -> None:
    app = script()
    typed = "text,label\n" + "x,a\n" * 3
    app.text_area[0].set_value(typed).run()
    assert len(app.warning) == 1
    assert "1 usable text; at least 10 are needed" in prose(app)
    assert texts(app)[0] == "nothing"
    assert app.text_area[0].value == typed


def test_a_link_brings_kind_and_text_back_and_a_long_text_stays_out_of_it() -> None:
    app = script()
    app.button_group(key="train_own_kind").set_value("tagging").run()
    app.text_area[0].set_value("a O").run()
    assert app.query_params == {"own_kind": "tagging", "own_text": "a O"}
    app.text_area[0].set_value(TAGGED * 20).run()
    assert app.query_params == {"own_kind": "tagging"}
    assert "link without the long text" in texts(app)
    assert len(TAGGED * 20) > address.LONGEST_VALUE
    again = script(own_kind="nonsense", own_text=REVIEWS)
    assert texts(again)[0].startswith("classification own data")


def test_an_uploaded_file_is_in_use_until_it_is_removed() -> None:
    app = script()
    app.file_uploader(key="training upload").set_value(("own.csv", REVIEWS.encode("utf-16"), "text/csv")).run()
    assert "own.csv: 40 items" in prose(app)
    assert "uploaded: True" in texts(app)
    assert app.text_area[0].disabled
    app.toggle(key="here").set_value(False).run()  # as on another page
    app.toggle(key="here").set_value(True).run()
    assert "In use: **own.csv**" in prose(app)
    assert "own.csv: 40 items" in prose(app)
    app.button[0].click().run()
    assert texts(app)[0] == "nothing"
    assert "uploaded: False" in texts(app)


def test_labels_and_names_of_files_are_shown_as_text() -> None:
    labels = [text for text in NASTY if "\n" not in text]
    quoted = [label.replace('"', '""') for label in labels]
    rows = "".join(f'text {i},"{label}"\n' for i, label in enumerate(quoted * 4))
    app = script()
    app.file_uploader(key="training upload").set_value((f"{NASTY[0]}$x$.csv", f"text,label\n{rows}".encode(), "")).run()
    assert texts(app)[0].startswith("classification")
    visible = [element.value for element in (*app.caption, *app.success, *app.markdown)]
    assert any(labels[0][:4] in text.replace("\\", "") for text in visible)
    assert not [text for text in visible if MARKDOWN.search(text)]
