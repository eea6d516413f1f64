"""The view "Layer by layer" with a fitted lens and without one, and the lenses that come with the app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from builders import info
from on_screen import button, prose
from patience import PATIENCE
from run_lines import compute_what_is_shown
from streamlit.testing.v1 import AppTest

from evidence.lens_sentences import LensSentences, lens_sentences
from jobs import lens_fitting
from jobs.lens_fitting import LensFitting
from model_zoo import Engine
from pages.masked_words.__main__ import differences, table
from ui.precomputed import lenses
from ui.precomputed.lenses import LENSES
from web.process import clear_all

PAGE = "pages/masked_words/page.py"
TINY = "embedded/tinybert"

Open = Callable[..., AppTest]
Checkpoint = Callable[[str], Path]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer sentences to fit to; one's own are among them."""
    built_in = lens_sentences()
    monkeypatch.setattr(
        lens_fitting,
        "lens_sentences",
        lambda sentences: LensSentences(
            (*built_in.fitted[:20], *sentences), built_in.templates[:10], built_in.judging[::20], built_in.units[::20]
        ),
    )


def opened(open_page: Open, model: str, **query: str) -> AppTest:
    return open_page(PAGE, model=model, view="layers", masks="5", **query)


def tables(app: AppTest) -> int:
    """How many tables of best tokens are shown."""
    return len(
        [component for component in app.get("bidi_component") if component.proto.component_name.endswith("token_line")]
    )


def fitted(app: AppTest) -> LensFitting:
    """Wait for the fit, and look again."""
    job: LensFitting | None = app.session_state["desk"].current(LensFitting)
    assert job.wait(PATIENCE)
    app.run()
    return job


@pytest.mark.parametrize("model", LENSES.models)
def test_lenses_that_came_with_the_app_hold_for_its_models(model: str, engine: Engine) -> None:
    known = engine.info(model)
    judged = LENSES.find(known)
    assert (judged.lens.n_layers, judged.lens.width) == (known.n_layers, known.width)
    assert 1_900 < judged.lens.n_masks < 2_100
    assert judged.n_texts == len(lens_sentences().judging)
    for logit, fit in zip(judged.logit[1:], judged.fitted[1:], strict=True):
        assert fit.low < fit.mean < fit.high < logit.low
    assert LENSES.file_of(model).stat().st_size < 2e6
    (lens,) = engine.mask_lens(model, "She opened the [MASK] with a key.", fitted=judged.lens)
    assert lens.ranks[-1] == 1


def test_one_of_other_weights_or_sentences_is_not_handed_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    known = engine.info(TINY)
    assert LENSES.find(replace(known, revision="sha256:000000000000")) is None
    assert LENSES.find(info(id="someone/else")) is None
    clear_all()
    monkeypatch.setattr(lenses, "lens_sentences", lambda: replace(lens_sentences(), judging=("It rained.",)))
    assert LENSES.find(known) is None
    clear_all()


def test_the_check_tells_what_differs_and_the_readme_has_the_distances() -> None:
    stored = LENSES.load(TINY)
    assert not list(differences(stored, stored))
    logit = (stored.logit[0], replace(stored.logit[1], mean=stored.logit[1].mean + 0.05))
    assert list(differences(stored, replace(stored, logit=logit))) == ["layer 1, logit lens: 0.431 nats, and was 0.381"]
    assert next(differences(stored, replace(stored, n_masks=3))).startswith("was fitted to other weights")

    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert table() in readme


def test_both_lenses_are_shown_and_how_far_they_are(open_page: Open) -> None:
    app = opened(open_page, TINY)
    assert tables(app) == 2
    assert len(app.get("plotly_chart")) == 2
    lens = LENSES.load(TINY)
    text = prose(app)
    assert f"**{lens.fitted[1].mean:.2f} nats**" in text
    assert f"Measured at {lens.n_masks} masks of {lens.n_texts} sentences" in text
    assert "It does not prove that the model uses what it finds" in text
    assert "Fit a lens" not in [button.label for button in app.button]


@pytest.mark.usefixtures("few")
def test_without_a_lens_one_is_fitted_on_request(open_page: Open, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    app = opened(open_page, model)
    assert tables(app) == 1
    assert len(app.get("plotly_chart")) == 1
    button(app, "Fit a lens").click().run()
    button(app, "Stop").click().run()
    assert fitted(app).judged_lens is None
    assert tables(app) == 1
    button(app, "Fit a lens").click().run()
    job = fitted(app)
    assert job.complete
    assert job.model == model
    assert tables(app) == 2
    assert len(app.get("plotly_chart")) == 2
    assert "Measured at" in prose(app)


@pytest.mark.usefixtures("few")
def test_own_sentences_make_their_own_lens(open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(open_page, TINY)
    sentences = "The ship left the harbour.\nNobody saw it again.\nIt was a cold night."
    app.text_area(key="masked_words_lens_sentences").input(sentences).run()
    assert tables(app) == 1
    button(app, "Fit a lens").click().run()
    job = fitted(app)
    assert job.user_texts == tuple(sentences.split("\n"))
    assert tables(app) == 2
    compute_what_is_shown(app, engine, monkeypatch)
    app.text_area(key="masked_words_lens_sentences").input("").run()
    assert tables(app) == 2  # the one of the app
    lens = LENSES.load(TINY)
    assert f"Measured at {lens.n_masks} masks" in prose(app)


@pytest.mark.usefixtures("few")
def test_a_causal_model_has_both_too(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint("gpt2")), view="layers", text="The cat sat on the")
    button(app, "Fit a lens").click().run()
    assert fitted(app).complete
    assert tables(app) == 2


def test_an_encoder_decoder_is_refused_in_a_sentence(open_page: Open, checkpoint: Checkpoint) -> None:
    app = opened(open_page, str(checkpoint("bart")))
    assert "reads its decoder" in prose(app)
    assert not app.get("plotly_chart")
