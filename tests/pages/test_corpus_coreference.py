"""The view "Coreference and rare words": the best head in a sentence, its examples, sentences of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
from on_screen import button, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from analysis.corpus.coreference import By, built_in, judge
from jobs.coreference import CoreferenceJob

PAGE = "pages/corpus/page.py"
TINY = "embedded/tinybert"

Open = Callable[..., AppTest]


def _compared(app: AppTest) -> CoreferenceJob:
    """Wait for the comparison, and look again."""
    job: CoreferenceJob | None = app.session_state["desk"].current(CoreferenceJob)
    assert job is not None
    assert job.wait(PATIENCE)
    app.run()
    return job


@pytest.fixture
def opened(open_page: Open) -> AppTest:
    app = open_page(PAGE, model=TINY, view="coreference")
    _compared(app)
    assert not app.exception
    return app


@pytest.mark.parametrize("by", get_args(By))
def test_a_bundled_model_is_compared_at_once_and_said_in_a_sentence(by: By, opened: AppTest) -> None:
    job = _compared(opened)
    next(group for group in opened.get("button_group") if group.key == "corpus_pronouns_by").set_value(by).run()
    assert job.trained is not None
    judged = judge(built_in(), job.trained, by)
    assert judged is not None
    of_best, text = judged.shares[judged.best], prose(opened)
    assert f"**{of_best.share:.0%}** of {judged.n_judging} held-out sentences" in text
    assert f"chance is {'50%' if by == 'more' else '9%'}" in text
    assert "best head with random weights" in text
    best_rule = max(share.share for share in judged.reached.values())
    assert ("No head is shown to find the noun that is meant" in text) == (of_best.low <= max(0.5, best_rule))


def test_rare_words_come_with_the_app(opened: AppTest) -> None:
    assert "gives the rarest word of a sentence more of its attention than any other head" in prose(opened)
    assert len(opened.get("plotly_chart")) == 2


def test_sentences_right_and_wrong(opened: AppTest) -> None:
    switch = next(group for group in opened.get("button_group") if group.key == "corpus_pronoun_result")
    right, wrong = (int(label.partition("(")[2].rstrip(")")) for label in switch.options)
    assert 150 < right + wrong <= 200
    switch.set_value("wrong").run()
    assert not opened.exception
    assert opened.session_state["corpus_pronoun_result"] == "wrong"


@pytest.mark.slow
def test_pronouns_of_ones_own(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference")
    _compared(app)
    pasted = "\n".join(f"The [cat] saw {n} {{lamps}} when <it> woke." for n in range(60))
    app.text_area(key="corpus_pronouns").set_value(pasted).run()
    assert "Framed: the pronoun." in prose(app)
    assert button(app, "Compare").label == "Compare 60 sentences"
    button(app, "Compare").click().run()
    _compared(app)
    assert "held-out sentences" in prose(app)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("The cat saw the lamp.", "The pasted data, line 1: no pronoun is marked."),
        (
            "text,pronoun,antecedent,distractor\nIt ran.,it,cat,ran",
            "The pasted data, line 2: the antecedent “cat” is not a word of the text.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(typed: str, message: str, open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference", pronouns=typed)
    assert not app.exception
    assert message in prose(app)


def test_too_few_sentences_say_nothing_of_heads(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference", pronouns="The [cat] saw {lamps} when <it> woke.")
    button(app, "Compare").click().run()
    _compared(app)
    assert "each half needs at least 10" in prose(app)


def test_a_model_without_attention_is_refused(open_page: Open) -> None:
    app = open_page(PAGE, model="embedded/bilstm", view="coreference")
    assert "has no attention to show" in prose(app)
