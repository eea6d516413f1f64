"""The page "Masked words" without a browser: clicking, filling, every view, and what goes wrong."""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import info
from checkpoints import Checkpoint
from layers_page import figure
from on_screen import Open, button, cell_maps, controls, drawn, prose
from patience import PATIENCE
from run_lines import compute_what_is_shown
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from evidence.lens_sentences import LensSentences, lens_sentences
from jobs import lens_fitting
from jobs.lens_fitting import LensFitting
from model_zoo import Engine
from model_zoo.types import signed
from pages.masked_words import page as masked_words
from pages.masked_words.__main__ import differences, table
from pages.masked_words.fields import EXAMPLES
from ui import MASKS, long_text
from ui.notes import PREJUDICE
from ui.precomputed import lenses
from ui.precomputed.lenses import LENSES
from viz.erasure import LEGEND
from web.process import clear_all

PAGE = "pages/masked_words/page.py"
COMPARE = "pages/compare/page.py"
VIEWS = [view.name for view in masked_words.PAGE.views]
TEXT = "The keys to the cabinet are on the table."


def bars(app: AppTest, number: int = 0) -> list[float]:
    """The probabilities of one mask's bars as they are sent to the browser."""
    x = json.loads(app.get("plotly_chart")[number].proto.spec)["data"][0]["x"]
    if isinstance(x, list):
        return x
    return np.frombuffer(base64.b64decode(x["bdata"]), dtype=x["dtype"]).tolist()


def click(app: AppTest, *words: int) -> None:
    """Click words of the strip, by their place."""
    strip = app.button_group(key="mask_strip")
    chosen = set(strip.value) ^ set(words)
    strip.set_value(sorted(chosen)).run()


def test_no_page_masks_a_word_of_a_text_of_ones_own(open_page: Open) -> None:
    """Nor of another text, which is not an edit of the one before."""
    for page, query in ((PAGE, {}), ("pages/cause/page.py", {}), (COMPARE, {"view": "predictions"})):
        assert "Nothing is masked yet" in prose(open_page(page, text=TEXT, **query)), page
    app = open_page(PAGE)
    assert app.session_state["masks"] == EXAMPLES.all[0].values[MASKS]
    app.text_area(key="text").set_value("The cat ran away from us all, and nobody knew.").run()
    assert "Nothing is masked yet" in prose(app)


def test_a_click_masks_and_another_unmasks(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=TEXT, masks="")
    assert "Nothing is masked yet" in prose(app)
    click(app, 5)
    answer = engine.fill_mask("embedded/bert", TEXT, 10, masked=[6])[0]
    probabilities = [entry.probability for entry in answer.best]
    assert bars(app)[:10] == pytest.approx(probabilities)
    assert "original “are”." in prose(app)
    assert f"rank {answer.rank}" in prose(app)
    assert app.text_area(key="text").value == TEXT
    click(app, 5)
    assert "Nothing is masked yet" in prose(app)


def test_a_word_of_several_pieces_is_masked_and_scored(open_page: Open, engine: Engine) -> None:
    text = "The electroencephalogram worked."
    encoding = engine.encode("embedded/bert", text)
    pieces = tuple(p for p, word in enumerate(encoding.word_ids) if word == 1)
    assert len(pieces) > 2
    app = open_page(PAGE, text=text, masks="")
    click(app, 1)
    assert app.session_state["masks"] == pieces
    app.toggle(key="masked_words_words").set_value(False).run()
    click(app, 2)
    assert app.session_state["masks"] == tuple(p for p in pieces if p != 3)

    text = "She played the clavichord."
    app = open_page(PAGE, text=text, masks="", view="surprise")
    assert "PLL-word-l2r" in prose(app)
    for scheme in ("word l2r", "original"):
        app.session_state["masked_words_pieces_scored"] = scheme
        app.run()
        total = float(np.nansum(engine.token_scores("embedded/bert", text, scheme=scheme).log_probabilities))  # type: ignore[arg-type]
        assert app.metric[0].value == f"{signed(total)} nats"
    assert "not the surprisal of the word" in prose(app)
    plain = open_page(PAGE, text="The dog sat.", masks="", view="surprise")
    assert "pieces_scored" in controls(app)
    assert "pieces_scored" not in controls(plain)


def test_predictions_are_put_in_one_by_one_or_all_at_once(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=TEXT, masks="3,7")
    answers = engine.fill_mask("embedded/bert", TEXT, 10, masked=[2, 6])
    second = answers[0].best[1]
    app.selectbox(key="put 2").set_value(second.id).run()
    assert app.text_area(key="text").value == TEXT.replace("keys", second.token)
    assert app.session_state["masks"] == (6,)
    assert f"1. keys → {second.token}" in prose(app)
    button(app, "Undo").click().run()
    assert app.text_area(key="text").value == TEXT
    assert app.session_state["masks"] == (2, 6)

    steps = list(engine.fill_all("embedded/bert", TEXT, masked=[2, 6]))
    app = open_page(PAGE, text=TEXT, masks="3,7")

    button(app, "Fill the most confident mask").click().run()
    assert app.session_state["masks"] == (steps[1].position,)
    button(app, "Fill the most confident mask").click().run()
    by_steps = app.text_area(key="text").value
    assert app.session_state["masks"] == ()
    button(app, "Undo").click().run()
    button(app, "Undo").click().run()
    button(app, "Fill all").click().run()
    assert app.text_area(key="text").value == by_steps
    assert f"1. {steps[0].original.token} → {steps[0].best[0].token}" in prose(app)  # type: ignore[union-attr]
    assert "Nothing is masked yet" in prose(app)
    assert prose(app).index("Filled, step by step") < prose(app).index("Until then, an example")


def test_masks_move_with_the_words_when_the_text_is_edited(open_page: Open) -> None:
    app = open_page(PAGE, text=TEXT, masks="6")
    assert "original “cabinet”" in prose(app)
    app.text_area(key="text").set_value("Look: " + TEXT).run()
    assert app.session_state["masks"] == (7,)
    assert "original “cabinet”" in prose(app)
    app.text_area(key="text").set_value("Something else entirely").run()
    assert app.session_state["masks"] == ()
    app = open_page(PAGE, text=TEXT, masks="7", view="attention")
    app.switch_page("pages/attention/page.py")
    app.query_params["text"] = TEXT.replace("are", "[MASK]")
    app.run()
    assert app.text_area(key="text").value == TEXT.replace("are", "[MASK]")
    app.switch_page(PAGE).run()
    assert app.text_area(key="text").value == TEXT
    assert app.session_state["masks"] == (6,)
    for view, both_ways in (("predictions", False), ("what if", True)):
        app = open_page(PAGE, text=TEXT, masks="3,7", view=view, replacement="boxes")
        drawn = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
        ends = [figure["layout"]["xaxis"]["range"] for figure in drawn]
        assert len(ends) == 2
        assert ends[0] == ends[1]
        assert (ends[0][0] < 0) == both_ways


def test_prejudice_is_warned_of_where_a_model_comes_from_elsewhere(open_page: Open, checkpoint: Checkpoint) -> None:
    elsewhere = str(checkpoint("bert"))
    for page, view, model, times in (
        (PAGE, "predictions", "embedded/bert", 0),
        (PAGE, "predictions", elsewhere, 1),
        ("pages/cause/page.py", "heads", elsewhere, 1),
        ("pages/cause/page.py", "sum", elsewhere, 1),
        ("pages/cause/page.py", "sum", "embedded/bert", 1),  # what single parts promote is odder than what all predict
    ):
        app = open_page(page, text=TEXT, masks="6", view=view, model=model)
        assert [caption.value for caption in app.caption].count(PREJUDICE) == times
    app = open_page(COMPARE, text=TEXT, masks="6", view="predictions", models=f"embedded/bert,{elsewhere}")
    assert [caption.value for caption in app.caption].count(PREJUDICE) == 1


def test_typed_masks_count_for_surprisal_and_clicked_ones_do_not(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text="The [MASK] sat.", masks="")
    assert bars(app) == pytest.approx(
        [e.probability for e in engine.fill_mask("embedded/bert", "The [MASK] sat.")[0].best]
    )
    assert "Top prediction" in prose(app)
    assert "it was" not in prose(app)

    text = "The cat [MASK] on the mat."
    surprisals = [
        engine.token_scores("embedded/bert", of).log_probabilities for of in (text, text.replace("[MASK]", "sat"))
    ]
    assert np.isnan(surprisals[0][3])
    assert not np.isclose(surprisals[0][2], surprisals[1][2])
    assert "typed masks stay" in prose(open_page(PAGE, text=text, masks="3", view="surprise"))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_without_a_mask(view: str, open_page: Open) -> None:
    app = open_page(PAGE, text=TEXT, masks="", view=view)
    assert not app.error
    about_masks = view not in ("surprise", "training", "pairs")
    assert ("Nothing is masked yet" in prose(app)) == about_masks == ("mask_strip" in controls(app))
    assert ("Until then, an example: “The cat sat" in prose(app)) == about_masks
    assert drawn(app)
    assert app.session_state["masks"] == ()
    assert not [button for button in app.button if button.label.startswith("Fill")]


def test_surprise_sets_two_sentences_against_each_other(open_page: Open, engine: Engine) -> None:
    other = TEXT.replace("are", "is")
    app = open_page(PAGE, text=TEXT, view="surprise", against=other)
    a, b = (float(np.nansum(engine.token_scores("embedded/bert", t).log_probabilities)) for t in (TEXT, other))
    assert [m.value for m in app.metric][::3] == [f"{signed(a)} nats", f"{signed(b)} nats"]
    assert f"by {abs(a - b):.2f} nats" in prose(app)
    (saving,) = [b for b in app.get("download_button") if b.proto.label == "Surprisal (CSV)"]
    assert "apostrophe" in saving.proto.help
    app.query_params["against"] = TEXT
    app.run()
    assert "the same score" in prose(app)
    assert "higher, by" not in prose(app)


@pytest.mark.parametrize("name", ["bert", "bart"])
def test_masks_are_filled_in_a_decoder(name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, text=TEXT, masks="4", view="attention", model=str(checkpoint(name)))
    assert ("fills masks in its decoder" in prose(app)) == (name == "bart")


def test_the_softmax_by_hand_and_its_draws(open_page: Open) -> None:
    """The logit of all others together does not exist."""
    app = open_page(PAGE, text=TEXT, view="training")
    table = app.dataframe[0].value
    assert table["logit z"].iloc[-1] == "–"
    assert not table.isna().any(axis=None)
    float(table["logit z"][0])
    assert [b.proto.label for b in app.get("download_button")] == ["Softmax by hand (CSV)"]
    app = open_page(PAGE, text=TEXT, view="training", rate="50")
    button(app, "Draw again").click().run()
    assert app.session_state["masked_words_seed"] == 1
    app.number_input(key="masked_words_rate_random").set_value(60).run()
    assert "more than the chosen tokens" in prose(app)
    assert app.text_area(key="text").value == TEXT


BAD: dict[str, tuple[dict[str, str], str]] = {
    "empty": ({"text": " "}, "The text is empty"),
    "another model's mask": ({"text": "The <mask> sat."}, "is the mask of other models"),
    "a mask in small letters": ({"text": "The [mask] sat."}, "[mask] looks like a mask"),
    "a mask with spaces": ({"text": "The [ Mask ] sat."}, "Type [MASK] instead"),
    "a mask beyond the cut": ({"text": "word " * 380 + "a " * 200 + "[MASK]"}, "with any mask among them"),
    "an unknown word": ({"text": "A 𓀀 sat."}, "Not in the vocabulary, read as [UNK]: 𓀀"),
    "positions that are none": ({"masks": "901,1"}, "Nothing is masked yet"),
    "a model that is none": ({"model": "no such model!"}, "Check the spelling"),
}


def test_bad_input_gets_a_sentence(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE)
    headless = {"text": TEXT, "model": str(checkpoint("bert_headless")), "masks": "3"}
    for case, (query, message) in {**BAD, "no head": (headless, "cannot fill masks")}.items():
        app.query_params.update({"text": TEXT, "masks": "", "model": "embedded/bert"} | query)
        app.run()
        assert message in prose(app), case
        assert app.text_area(key="text").value == query.get("text", TEXT), case


def test_everything_masked_and_sentences_that_are_cut(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, text=TEXT, masks=",".join(str(p + 1) for p in range(1, 10)))
    assert len(app.get("plotly_chart")) == 3
    assert app.multiselect[0].label == "Masks shown (of 9)"
    app.text_area(key="text").set_value("[MASK] " * 100).run()
    assert app.multiselect[0].label == "Masks shown (of 100)"
    app = open_page(
        PAGE, text="The cat.", masks="", view="surprise", against="the cat " * 60,
        model=str(checkpoint("bert")),
    )  # fmt: skip
    assert "B was cut: the model reads at most 64 tokens" in prose(app)


def test_minimal_pairs_are_judged_by_phenomenon(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, view="pairs")
    assert "Test 12 pairs" in [button.label for button in app.button]
    good, bad = "The keys to the cabinet are here.", "The keys to the cabinet is here."
    csv = f'good,bad,phenomenon\n"{good}","{bad}",agreement\n"{bad}","{good}",nonsense\n"{good}","{good}",nonsense\n'
    app.text_area(key="masked_words_minimal_pairs").set_value(csv).run()
    button(app, "Test 3 pairs").click().run()
    table = next(element.value for element in app.dataframe if "right" in element.value)
    assert list(table["phenomenon"]) == ["all pairs", "agreement", "nonsense"]
    assert list(table["right"]) == [0.5, 1.0, 0.25]  # a tie is half
    assert list(table["ties"]) == [1, 0, 1]
    assert app.metric[0].value == "50.0%"
    difference = engine.prefer("embedded/bert", good, bad, scheme="word l2r").difference
    assert table["mean difference (nats)"][1] == pytest.approx(difference, abs=1e-3)
    assert "embedded/bert, over 3 pairs, 1 of them tied and counted as half." in prose(app)
    assert "PLL-word-l2r" in prose(app)


def test_a_causal_model_says_what_comes_next(open_page: Open, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    app = open_page(PAGE, text="The cat was on the", model=model)
    assert not app.error
    answer = engine.next_tokens(model, "The cat was on the")
    assert bars(app) == pytest.approx([best.probability for best in answer.best])
    assert "It predicts what comes next from what came before" in prose(app)
    for view, message in {
        "layers": "The token after the last one",
        "surprise": "those before it",
        "training": "has no mask, so nothing can be hidden",
        "attention": "reads from left to right and cannot fill masks",
        "what if": "reads from left to right and cannot fill masks",
        "why": "reads from left to right and cannot fill masks",
    }.items():
        app = open_page(PAGE, text="The cat was on the", model=model, view=view)
        assert message in prose(app), view
        assert "Pseudo" not in " ".join(metric.label for metric in app.metric)
    app = open_page(PAGE, text="The cat was on the", model=model, view="surprise", against="The cat")
    score = engine.token_scores(model, "The cat was on the")
    assert app.metric[0].label == "Log-likelihood A"
    assert app.metric[0].value == f"{signed(score.log_likelihood)} nats"
    app = open_page(PAGE, text="The cat", model=model, view="pairs")
    button(app, "Test 12 pairs").click().run()
    assert "of every token given those before it" in prose(app)


def test_a_pair_that_is_cut_or_cannot_be_read_is_named(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, view="pairs", model=str(checkpoint("bert")))

    def paste(csv: str) -> None:
        app.text_area(key="masked_words_minimal_pairs").set_value(csv).run()

    paste("a,b\n1,2\n")
    assert "there is no column for the right sentence" in prose(app)
    assert app.text_area(key="masked_words_minimal_pairs").value == "a,b\n1,2\n"
    paste(f"good,bad\nthe cat,cat the\n{'the cat ' * 60},cat\n")
    button(app, "Test 2 pairs").click().run()
    assert "In 1 pair a sentence was cut" in prose(app)
    paste("good,bad\nthe cat,cat the\nthe cat,cat \x07\n")
    button(app, "Test 2 pairs").click().run()
    assert "The bad sentence of pair 2 holds a control character" in prose(app)
    assert "Stop" not in [button.label for button in app.button]
    app.run()
    assert "Test 2 pairs" in [button.label for button in app.button]


def test_why_this_word_counts_by_hand(open_page: Open, engine: Engine) -> None:
    """Against masks typed into the text, one word after the other."""
    text = "The dogs near the house are hungry."
    words = ["The", "dogs", "near", "the", "house", "[MASK]", "hungry", "."]
    before = engine.fill_mask("embedded/bert", text, masked=[6])[0].best[0]
    after = {}
    for place in {*range(len(words))} - {5}:
        typed = " ".join("[MASK]" if at == place else word for at, word in enumerate(words))
        answers = engine.fill_mask("embedded/bert", typed, 1, targets=[before.token])
        (answer,) = [candidate for candidate in answers if candidate.position == 6]
        after[place] = answer.targets[0].probability
    app = open_page(PAGE, text=text, masks="7", view="why")
    assert min(after, key=after.__getitem__) == 1
    change = f"{before.probability:.0%}", f"{100 * after[1]:.2g}%"
    assert "Masking “dogs” costs the prediction most: from {} to {}.".format(*change) in prose(app)
    drawn = figure(app)
    names = drawn["layout"]["yaxis"]["ticktext"]
    assert names[0] == "without “dogs”: {} → {}".format(*change)
    assert len(names) == len(after)
    expected = sorted((np.log2(before.probability / p) for p in after.values()), key=lambda bits: -abs(bits))
    assert drawn["data"][0]["x"] == pytest.approx(expected, abs=1e-3)


def test_why_this_word_follows_what_stood_there_too(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text="Paris is the capital of France.", masks="7", view="why")
    (answer,) = engine.fill_mask("embedded/bert", "Paris is the capital of France.", masked=[6])
    assert answer.best[0].token == "paris"
    assert figure(app)["layout"]["title"]["text"] == "P(paris)"
    app.segmented_control(key="masked_words_followed").set_value("original").run()
    assert figure(app)["layout"]["title"]["text"] == "P(france)"
    assert f": {100 * answer.original.probability:.2g}% →" in figure(app)["layout"]["yaxis"]["ticktext"][0]
    app = open_page(PAGE, text="She played the clavichord again.", masks="3", view="why")
    assert sum("clavichord" in name for name in figure(app)["layout"]["yaxis"]["ticktext"]) == 1
    app = open_page(PAGE, text="Hello", masks="2", view="why")
    assert "There is no other word to mask" in prose(app)


@pytest.mark.slow
def test_both_views_that_hide_words_say_the_same(open_page: Open) -> None:
    """The bars here and the row "Occlusion" on the page "Cause": one number, one sign, one colour, one legend."""
    query = {"text": "The dogs near the house are hungry.", "masks": "7"}
    why, cause = open_page(PAGE, **query, view="why"), open_page("pages/cause/page.py", **query, view="words")
    bars, occlusion = figure(why), cell_maps(cause)[0]
    assert occlusion["rows"][0].startswith("Occlusion")
    theirs = dict(zip(occlusion["columns"], occlusion["values"][0].tolist(), strict=True))
    names = [name.removeprefix("without “").partition("”")[0] for name in bars["layout"]["yaxis"]["ticktext"]]
    mine = dict(zip(names, bars["data"][0]["x"], strict=True))
    assert mine == pytest.approx(theirs, abs=1e-3)
    assert min(mine.values()) < -0.1
    assert max(mine.values()) > 0.1
    scale = occlusion["scale"]  # from what opposes to what supports
    for bits, colour in zip(bars["data"][0]["x"], bars["data"][0]["marker"]["color"], strict=True):
        assert colour in (scale[len(scale) // 2 :] if bits > 0 else scale[: len(scale) // 2])
    assert LEGEND in prose(why)
    assert LEGEND in prose(cause)


@pytest.mark.parametrize("view", ["surprise", "why"])
def test_a_long_text_takes_long(view: str, open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "LONG", 8)
    monkeypatch.setattr(long_text, "_A_RUN", 0)
    monkeypatch.setattr(long_text, "_AT_ONCE", 2)
    said_on_the_way: list[str] = []
    monkeypatch.setattr(DeltaGenerator, "progress", lambda _bar, _share, words: said_on_the_way.append(words))
    app = open_page(PAGE, text=TEXT, masks="6", view=view)
    (waiting,) = [button for button in app.button if "long text" in button.label]
    assert not app.metric
    assert not app.get("plotly_chart")
    waiting.click().run()
    assert app.query_params["long"] == "1"
    shares = [int(text.partition("%")[0]) for text in said_on_the_way]
    assert len(shares) >= 3
    assert shares == sorted(set(shares))
    assert all(re.fullmatch(r"\d+% done, about \d+ (second|minute)s? left", text) for text in said_on_the_way)
    if view == "surprise":
        scores = engine.token_scores("embedded/bert", TEXT, scheme="word l2r")
        assert app.metric[0].value == f"{signed(scores.log_likelihood)} nats"
    else:
        assert app.get("plotly_chart")


TINY = "embedded/tinybert"


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
