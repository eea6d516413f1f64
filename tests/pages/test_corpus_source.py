"""The sentences of the page "Corpus": built-in, pasted, uploaded; read once, described, refused with file and line."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any, get_args

import pytest
from on_screen import button, prose
from patience import PATIENCE
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from analysis.corpus.coreference import By, built_in, judge
from analysis.probing.template_trees import template_conllu
from jobs.coreference import CoreferenceJob
from jobs.measure_heads import MeasureHeadsJob
from pages.corpus import source
from ui import own_file

PAGE = "pages/corpus/page.py"
TINY = "embedded/tinybert"

Open = Callable[..., AppTest]


def test_what_is_pasted_is_read_and_described_or_refused_with_its_line(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference")
    for typed, message in (
        ("The cat sat.\nA dog ran.\n", "2 sentences, 8 words, without trees."),
        (template_conllu(30), "words, with trees."),
        ("1\tThe\n" + template_conllu(5), "The pasted data, line 1: 2 columns instead of ten"),
    ):
        app.text_area(key="corpus_data").set_value(typed).run()
        assert not app.error
        assert bool(app.warning) == ("line 1" in message)
        assert message in prose(app)
        assert app.text_area(key="corpus_data").value == typed
    app.text_area(key="corpus_data").set_value("").run()
    assert button(app, "Measure").label == "Measure 1,000 sentences"


def test_notes_samples_and_frequencies(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY)
    app.text_area(key="corpus_data").set_value("One two.\nOne two.\none  two.\n").run()
    (notes,) = (expander for expander in app.expander if expander.label.startswith("How the sentences were read"))
    assert notes.label == "How the sentences were read: 2 notes"
    assert not notes.proto.expanded
    assert "Left out 1: sentences that had come before (line 2)." in prose(app)

    app = open_page(PAGE, model=TINY, sentences="50")
    assert button(app, "Measure").label == "Measure 50 sentences"
    assert "50 sentences drawn from 1,000" in prose(app)
    first = app.session_state["corpus_source"].corpus.texts
    app.number_input(key="corpus_seed").set_value(1).run()
    assert app.session_state["corpus_source"].corpus.texts != first

    app = open_page(PAGE, model=TINY, data="The cat saw the dog.")
    assert app.session_state["corpus_source"].corpus.sentence(0).rare == (1, None)
    app.text_area(key="corpus_frequencies").set_value("the 10\ncat 5\nsaw 1\ndog 5").run()
    assert app.session_state["corpus_source"].corpus.sentence(0).rare == (1, 2)
    app.text_area(key="corpus_frequencies").set_value("the").run()
    assert "line 1: “the” is not a word and how often it occurs" in prose(app)


def test_several_files_and_an_archive_are_read_together_once(
    open_page: Open,
    shelf: MemoryUploadedFileManager,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_read = 0
    really_read = source.read_corpus

    def counting(*arguments: Any) -> object:
        nonlocal n_read
        n_read += 1
        return really_read(*arguments)

    monkeypatch.setattr(source, "read_corpus", counting)
    monkeypatch.setattr(own_file, "unpacks", lambda _data: False)  # at once: another process would not be counted
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("b.conllu", template_conllu(38))
    app = open_page(PAGE, model=TINY)
    app.file_uploader(key="corpus_upload").set_value(
        [("a.txt", b"One two.\nThree four.", "text/plain"), ("b.zip", packed.getvalue(), "application/zip")]
    ).run()
    assert "40 sentences, " in prose(app)
    assert "Not in it: the files you uploaded." in prose(app)
    app.run()
    app.switch_page("pages/home/page.py").run()
    app.switch_page(PAGE).run()
    assert "In use: **a.txt, b.zip**" in prose(app)
    for label, value in (("Sentences at most", 20), ("Seed", 7)):
        next(control for control in app.number_input if control.label == label).set_value(value)
        app.run()
    assert "20 sentences drawn from 40, " in prose(app)
    assert n_read == 1, "drawn from what was read before"
    button(app, "Remove").click().run()
    assert button(app, "Measure").label == "Measure 20 sentences"


@pytest.mark.slow
def test_heads_are_measured_by_the_list_of_frequencies(open_page: Open) -> None:
    text = "The cat saw the dog.\nA dog ran after the old cat.\nThe old dog saw a cat."
    app = open_page(PAGE, model=TINY, view="coreference", data=text, frequencies="the 9\na 8\ndog 5\ncat 4\nsaw 1")
    assert "Nothing was measured yet" in prose(app)
    button(app, "Measure").click().run()
    assert app.session_state["desk"].current(MeasureHeadsJob).wait(PATIENCE)
    app.run()
    assert "gives the rarest word of a sentence more of its attention than any other head" in prose(app)
    figure = json.loads(app.get("plotly_chart")[-1].proto.spec)
    assert [name.partition("<br>")[0] for name in figure["layout"]["yaxis"]["ticktext"]] == [
        "on the rarest word here",
        "the same by value",
        "on the rarest by your list",
        "the same by value (list)",
    ]


def _compared(app: AppTest) -> CoreferenceJob:
    """Wait for the comparison, and look again."""
    job: CoreferenceJob | None = app.session_state["desk"].current(CoreferenceJob)
    assert job is not None
    assert job.wait(PATIENCE)
    app.run()
    return job


def test_a_bundled_model_is_compared_at_once_and_said_in_a_sentence(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference")
    job = _compared(app)
    assert "gives the rarest word of a sentence more of its attention than any other head" in prose(app)
    assert len(app.get("plotly_chart")) == 2
    for by in get_args(By):
        _switch(app, "corpus_pronouns_by").set_value(by).run()
        assert job.trained is not None
        judged = judge(built_in(), job.trained, by)
        assert judged is not None
        of_best, text = judged.shares[judged.best], prose(app)
        assert f"**{of_best.share:.0%}** of {judged.n_judging} held-out sentences" in text
        assert f"chance is {'50%' if by == 'more' else '9%'}" in text
        assert "best head with random weights" in text
        best_rule = max(share.share for share in judged.reached.values())
        assert ("No head is shown to find the noun that is meant" in text) == (of_best.low <= max(0.5, best_rule))
    switch = _switch(app, "corpus_pronoun_result")
    right, wrong = (int(label.partition("(")[2].rstrip(")")) for label in switch.options)
    assert 150 < right + wrong <= 200
    switch.set_value("wrong").run()
    assert app.session_state["corpus_pronoun_result"] == "wrong"


def _switch(app: AppTest, key: str) -> ButtonGroup:
    return next(group for group in app.get("button_group") if group.key == key)


@pytest.mark.slow
def test_pronouns_of_ones_own_are_compared_or_refused(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference", pronouns="The cat saw the lamp.")
    assert "The pasted data, line 1: no pronoun is marked." in prose(app)
    app.text_area(key="corpus_pronouns").set_value("The [cat] saw {lamps} when <it> woke.").run()
    button(app, "Compare").click().run()
    _compared(app)
    assert "each half needs at least 10" in prose(app)

    app = open_page(PAGE, model=TINY, view="coreference")
    _compared(app)
    pasted = "\n".join(f"The [cat] saw {n} {{lamps}} when <it> woke." for n in range(60))
    app.text_area(key="corpus_pronouns").set_value(pasted).run()
    assert "Framed: the pronoun." in prose(app)
    assert button(app, "Compare").label == "Compare 60 sentences"
    button(app, "Compare").click().run()
    _compared(app)
    assert "held-out sentences" in prose(app)
