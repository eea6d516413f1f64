"""The page "Attention" without a browser: what it shows, what it keeps, what it says when something is wrong."""

from pathlib import Path
from urllib.parse import parse_qs

import builders
import numpy as np
import pytest
from checkpoints import Checkpoint
from on_screen import Open, grids, heatmaps, prose
from sink_runs import SENTENCE, looks_at, run_of
from streamlit.testing.v1 import AppTest
from tuning import classifier

from analysis.sinks import much_attention, strongest, verdict
from model_zoo import Engine
from model_zoo.sinks import measure_run
from model_zoo.types import Encoding, FloatArray
from pages.attention.sinks import RULE, describe_head, table

PAGE = "pages/attention/page.py"


def shown_weights(app: AppTest) -> FloatArray:
    """The matrix of the heatmap as it is sent to the browser."""
    (weights,) = heatmaps(app)
    return weights


def test_the_heatmap_holds_weights(open_page: Open, engine: Engine, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, text="The dog barked.", layer="3", head="5")
    expected = engine.attend("embedded/bert", "The dog barked.").head(2, 4)
    np.testing.assert_array_equal(shown_weights(app), expected)
    app = open_page(PAGE, text="She left.", pair="He stayed.", layer="1", head="1")
    expected = engine.attend("embedded/bert", "She left.", "He stayed.")
    assert expected.encoding.tokens.count("[SEP]") == 2
    np.testing.assert_array_equal(shown_weights(app), expected.head(0, 0))

    folder = str(checkpoint("modernbert"))
    app = open_page(PAGE, model=folder, text="The cat sat.", layer="3", head="4")
    assert not app.error
    np.testing.assert_array_equal(shown_weights(app), engine.attend(folder, "The cat sat.").head(2, 3))


def test_text_that_cannot_be_read_gets_a_sentence(open_page: Open) -> None:
    app = open_page(PAGE)
    for text, message in (
        ("", "The text is empty"),
        (" \n\t ", "is empty"),
        ("a\x00b", "U+0000"),
        ("a\x07b", "U+0007"),
    ):
        app.session_state["text"] = text
        app.run()
        assert any(message in warning.value.replace("\\", "") for warning in app.warning), text
        assert app.text_area(key="text").value == text
    app.text_area(key="pair").set_value("Only this one.").run()
    assert app.text_area(key="pair").value == "Only this one."
    app.text_area(key="text").set_value("").run()
    assert any("The first text is empty" in warning.value for warning in app.warning)
    app.text_area(key="text").set_value("And now a good [SEP] one.").run()
    assert not app.warning
    assert grids(app)
    assert any("own special token" in info.value for info in app.info)


@pytest.mark.slow
def test_long_and_unusual_texts_are_shown(open_page: Open) -> None:
    app = open_page(PAGE, model="embedded/tinybert")
    app.text_area(key="text").set_value("word " * 20_000).run()
    assert any("at most 512 tokens" in w.value and "19,490 at the end were left out" in w.value for w in app.warning)
    assert shown_weights(app).shape == (512, 512)
    assert "text" not in app.query_params
    assert any("longer than the 2,000 characters" in caption.value for caption in app.caption)
    app = open_page(PAGE)
    for text in ("I 👩‍👩‍👧‍👦 love 🍕!", "שלום עולם مرحبا", "It costs $5, $x^2$ or %{z:.2f}", "cat", "The [MASK] sat."):
        app.text_area(key="text").set_value(text).run()
        assert not [*app.warning, *app.error], text
        np.testing.assert_allclose(shown_weights(app).sum(-1), 1, atol=1e-5)


def test_a_model_that_cannot_be_had(open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(Engine, "started", False)
    app = open_page(PAGE, model=str(tmp_path))
    assert any("holds no config.json" in error.value.replace("\\", "") for error in app.error)
    assert not app.get("plotly_chart")  # a picture of loading
    for model, message in (("no such model!", "spelling"), ("", "spelling"), ("somebody/some-model", "be reached")):
        app = open_page(PAGE, model=model)
        assert any(message in error.value.replace("\\", "") for error in app.error), model
        assert app.text_area(key="text").value


def test_layer_and_head_out_of_range_in_the_address(open_page: Open) -> None:
    app = open_page(PAGE, layer="99", head="13")
    assert any("layer 99 does not exist" in warning.value for warning in app.warning)
    assert any("head 13 does not exist" in warning.value for warning in app.warning)
    assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (6, 12)
    app = open_page(PAGE, layer="0")
    assert any("link could not be used" in warning.value for warning in app.warning)
    assert app.number_input(key="layer").value == 2  # that of the first example


def ways_to_cause(app: AppTest) -> list[dict[str, str]]:
    """The parameters of the links to the page "Cause"."""
    links = [link.proto for link in app.get("page_link") if link.proto.page == "cause"]
    return [{name: text for name, (text,) in parse_qs(link.query_string, True).items()} for link in links]


@pytest.mark.slow
def test_ways_to_cause_take_all_along(open_page: Open, checkpoint: Checkpoint, tmp_path: Path) -> None:
    text, pair = "She opened the window.", "Cold air came into the room."
    for view in ("grid", "rollout"):
        (way,) = ways_to_cause(open_page(PAGE, text=text, pair=pair, layer="3", head="5", view=view))
        assert (way["text"], way["pair"]) == (text, pair)
    assert "With head 5 of layer 3 off, “is next” " in prose(open_page("pages/cause/page.py", **way))

    text = "My dog sat on the bed."
    for query, masks in (
        ({"view": "lines", "locked": "query.4", "token": "4"}, "4"),
        ({"view": "neuron", "token": "3"}, "3"),
        ({"view": "neuron", "token": "1"}, None),  # [CLS]
        ({"view": "rollout", "locked": "query.4", "token": "4"}, None),  # not to be seen there
    ):
        (way,) = ways_to_cause(open_page(PAGE, text=text, **query))
        assert (way.get("masks"), way.get("find")) == (masks, None if masks else "1")

    text, pair = "The cat sat.", "The dog sat."
    classifier(checkpoint("bert"), tmp_path)
    for model, sent, follows in (
        (str(tmp_path), pair, "With head 4 of layer 2 off, "),
        (str(checkpoint("gpt2")), pair, "With head 4 of layer 2 off, "),
        ("embedded/modernbert", "", "With head 4 of layer 2 off, "),
    ):
        (way,) = ways_to_cause(open_page(PAGE, text=text, pair=pair, model=model))
        assert way["pair"] == sent
        assert follows in prose(open_page("pages/cause/page.py", **way))
    for name in ("electra_discriminator", "bert_headless"):
        assert not ways_to_cause(open_page(PAGE, text=text, pair=pair, model=str(checkpoint(name))))


@pytest.mark.slow
def test_a_text_too_long_for_an_address_goes_along_without(open_page: Open) -> None:
    text = " ".join(["incomprehensible" * 16] * 9)  # as long for an address, and short for a model
    app = open_page(PAGE)
    app.text_area(key="text").set_value(text).run()
    (way,) = ways_to_cause(app)
    assert "text" not in way
    app.switch_page("pages/cause/page.py")
    for name, value in way.items():
        app.query_params[name] = value
    assert app.run().text_area(key="text").value.strip() == text.strip()


TEXT = "The cat sat on the mat because it was tired."
N = len(SENTENCE)


def sentence(share: float, sep: float, encoding: Encoding = SENTENCE, place: int = N - 1) -> str | None:
    """What is said of a head that gives so much to a token whose value has this length, others 1, the stream 10."""
    n = len(encoding)
    values = np.eye(n)
    values[place] *= sep
    return describe_head(
        measure_run(run_of(looks_at(place, share, n), values[None], np.full((n, n), 10 / n**0.5), encoding)), 0, 0
    )


def test_each_case_is_said_with_its_numbers() -> None:
    assert sentence(0.4, 1.0) is None
    nothing = sentence(0.9, 0.2)
    for number in ("90%", "(uniform: 14%)", "0.20 times", "is 1.8% as long", "adds, 1.8%.", "**does nothing**"):
        assert number in str(nothing)
    one_vector = sentence(0.9, 5.0)
    for number in ("5.00 times", "is 45.0% as long", "adds, 45.0%.", "Of that, 100% is", "**broadcasts**"):
        assert number in str(one_vector)
    neither = str(sentence(0.9, 0.4))
    assert "is 3.6% as long" in neither
    assert neither.endswith("one vector for all tokens.")

    pair = builders.encoding(["she", "left"], ["he", "stayed"])
    assert "goes to \\[SEP\\] (token 7) (" in str(sentence(0.9, 0.1, pair, 6))
    without = builders.encoding(["she", "left", "him"], front=None, end=None)
    assert "goes to the first token, “she” (" in str(sentence(0.9, 0.1, without, 0))


@pytest.mark.parametrize("model", ["embedded/bert", "embedded/tinybert"])
def test_something_is_said_of_exactly_the_heads_that_give_much(model: str, engine: Engine) -> None:
    sinks = engine.sinks(model, TEXT)
    layers, heads, _ = sinks.share.shape
    words = {"does nothing": "**does nothing**", "broadcasts": "**broadcasts**", "neither": "neither next to nothing"}
    for layer in range(layers):
        for head in range(heads):
            sentence, token = describe_head(sinks, layer, head), strongest(sinks, layer, head)
            assert (sentence is not None) == bool(much_attention(sinks)[layer, head, token])
            assert sentence is None or words[verdict(sinks, layer, head, token)] in sentence
    rows = table(sinks)
    assert rows[["layer", "head", "place"]].min().tolist() == [1, 1, 1]
    assert len(rows) == layers * heads * 2


def test_sinks_are_told_of_the_chosen_head(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, text=TEXT, layer="3", head="5")
    (finding,) = (element for element in app.main.get("markdown") if element.value.startswith("On this text, "))
    assert finding.value.endswith("Looking at \\[CLS\\] **does nothing** here.")
    assert finding.help == RULE
    app.number_input(key="layer").set_value(1).run()
    assert "On this text, " not in prose(app)
    for arguments in (
        {"text": "[SEP]"},
        {"text": TEXT, "pair": TEXT, "model": str(checkpoint("bart")), "model_part": "cross"},
    ):
        app = open_page(PAGE, **arguments)
        assert not app.error
        assert not app.warning
        assert "On this text, " not in prose(app)
