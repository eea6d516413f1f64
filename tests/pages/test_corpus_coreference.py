"""The view "Coreference and rare words": the best head in a sentence, its examples, sentences of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
from on_screen import button, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

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


def test_what_cannot_be_read_is_refused_and_too_few_say_nothing(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference", pronouns="The cat saw the lamp.")
    assert "The pasted data, line 1: no pronoun is marked." in prose(app)
    app.text_area(key="corpus_pronouns").set_value("The [cat] saw {lamps} when <it> woke.").run()
    button(app, "Compare").click().run()
    _compared(app)
    assert "each half needs at least 10" in prose(app)
