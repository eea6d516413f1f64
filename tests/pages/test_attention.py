"""The page "Attention" without a browser: what it shows, what it keeps, what it says when something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from on_screen import grids, heatmaps, prose
from streamlit.testing.v1 import AppTest
from tuning import classifier

from model_zoo import Engine, running
from model_zoo.types import FloatArray

PAGE = "pages/attention/page.py"


def shown_weights(app: AppTest) -> FloatArray:
    """The matrix of the heatmap as it is sent to the browser."""
    (weights,) = heatmaps(app)
    return weights


def test_the_heatmap_holds_the_weights_of_the_chosen_head(open_page: Callable[..., AppTest], engine: Engine) -> None:
    app = open_page(PAGE, text="The dog barked.", layer="3", head="5")
    expected = engine.attend("embedded/bert", "The dog barked.").head(2, 4)
    np.testing.assert_array_equal(shown_weights(app), expected)


@pytest.mark.usefixtures("no_answers")
def test_another_head_does_not_run_the_model_again(
    open_page: Callable[..., AppTest], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    plain = running.attend
    monkeypatch.setattr(
        running, "attend", lambda loaded, *rest, **more: runs.append(rest[0]) or plain(loaded, *rest, **more)
    )
    app = open_page(PAGE, text="A sentence for this test alone.")
    first = shown_weights(app)
    assert runs == ["A sentence for this test alone."] * 2  # its attention; what it does with special tokens
    app.number_input(key="head").set_value(7).run()
    app.number_input(key="layer").set_value(4).run()
    assert len(runs) == 2
    assert not np.array_equal(shown_weights(app), first)
    np.testing.assert_array_equal(
        shown_weights(app), engine.attend("embedded/bert", "A sentence for this test alone.").head(3, 6)
    )


def test_a_second_text_is_read_as_a_pair(open_page: Callable[..., AppTest], engine: Engine) -> None:
    app = open_page(PAGE, text="She left.", pair="He stayed.", layer="1", head="1")
    expected = engine.attend("embedded/bert", "She left.", "He stayed.")
    assert expected.encoding.tokens.count("[SEP]") == 2
    np.testing.assert_array_equal(shown_weights(app), expected.head(0, 0))


def test_what_is_typed_survives_a_change_of_page(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE)
    app.text_area(key="text").set_value("Kept while I look elsewhere.").run()
    app.switch_page("pages/home/page.py").run()
    app.switch_page(PAGE).run()
    assert app.text_area(key="text").value == "Kept while I look elsewhere."


def test_the_address_restores_the_page(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE)
    app.text_area(key="text").set_value("Read me back.").run()
    app.number_input(key="layer").set_value(5).run()
    again = open_page(PAGE, **app.query_params)
    assert again.text_area(key="text").value == "Read me back."
    assert again.number_input(key="layer").value == 5
    np.testing.assert_array_equal(shown_weights(again), shown_weights(app))


BAD_TEXTS = {
    "empty": ("", "The text is empty"),
    "only spaces": (" \n\t ", "The text is empty"),
    "NUL": ("a\x00b", r"U\+0000"),
    "control character": ("a\x07b", r"U\+0007"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_TEXTS)
def test_text_that_cannot_be_read_gets_a_sentence(case: str, open_page: Callable[..., AppTest]) -> None:
    text, message = BAD_TEXTS[case]
    app = open_page(PAGE)
    app.session_state["text"] = text
    app.run()
    assert not app.exception
    assert any(message.replace("\\", "") in warning.value.replace("\\", "") for warning in app.warning)
    assert app.text_area(key="text").value == text
    app.text_area(key="text").set_value("And now a good one.").run()
    assert not app.warning
    assert grids(app)


GOOD_TEXTS = {
    "emoji": "I 👩‍👩‍👧‍👦 love 🍕!",
    "right to left": "שלום עולם مرحبا",
    "script": "<script>alert(1)</script> <b>bold</b>",
    "dollars and percent": "It costs $5 or $x^2$ %{x} per %{z:.2f}",
    "one token": "cat",
    "mask": "The [MASK] sat.",
}


@pytest.mark.parametrize("case", GOOD_TEXTS)
def test_unusual_text_is_shown(case: str, open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE)
    app.text_area(key="text").set_value(GOOD_TEXTS[case]).run()
    assert not app.exception
    assert not app.warning
    assert not app.error
    np.testing.assert_allclose(shown_weights(app).sum(-1), 1, atol=1e-5)


def test_a_typed_separator_is_said_to_be_one(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE)
    app.text_area(key="text").set_value("One [SEP] two").run()
    assert any("own special token" in info.value for info in app.info)


@pytest.mark.slow
def test_a_long_text_is_cut_and_said_so(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE)
    app.text_area(key="text").set_value("word " * 20_000).run()
    assert not app.exception
    assert any("at most 512 tokens" in w.value and "19,490 at the end were left out" in w.value for w in app.warning)
    assert shown_weights(app).shape == (512, 512)
    assert "text" not in app.query_params
    assert any("longer than the 2,000 characters" in caption.value for caption in app.caption)


def test_a_second_text_without_a_first(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE)
    app.text_area(key="text").set_value("")
    app.text_area(key="pair").set_value("Only this one.").run()
    assert any("The first text is empty" in warning.value for warning in app.warning)
    assert app.text_area(key="pair").value == "Only this one."


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("no such model!", "Check the spelling"),
        ("", "Check the spelling"),
        ("somebody/some-model", "cannot be reached"),
    ],
)
def test_a_model_that_cannot_be_had(
    model: str, message: str, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    app = open_page(PAGE, model=model)
    assert not app.exception
    assert any(message in error.value.replace("\\", "") for error in app.error)
    assert app.text_area(key="text").value


def test_a_folder_that_is_no_model(open_page: Callable[..., AppTest], tmp_path: Path) -> None:
    app = open_page(PAGE, model=str(tmp_path))
    assert any("holds no config.json" in error.value.replace("\\", "") for error in app.error)


def test_layer_and_head_out_of_range_in_the_address(open_page: Callable[..., AppTest]) -> None:
    app = open_page(PAGE, layer="99", head="13")
    assert any("layer 99 does not exist" in warning.value for warning in app.warning)
    assert any("head 13 does not exist" in warning.value for warning in app.warning)
    assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (6, 12)
    for bad in ("0", "-1", "x", "1.5", "٣"):
        app = open_page(PAGE, layer=bad)
        assert any("link could not be used" in warning.value for warning in app.warning)
        assert app.number_input(key="layer").value == 2  # that of the first example


def test_a_model_from_a_folder(
    open_page: Callable[..., AppTest], checkpoint: Callable[[str], Path], engine: Engine
) -> None:
    folder = str(checkpoint("modernbert"))
    app = open_page(PAGE, model=folder, text="The cat sat.", layer="3", head="4")
    assert not app.error
    np.testing.assert_array_equal(shown_weights(app), engine.attend(folder, "The cat sat.").head(2, 3))


def test_a_first_model_that_fails_leaves_no_picture_of_loading(
    open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Engine, "started", False)
    app = open_page(PAGE, model=str(tmp_path))
    assert any("holds no config.json" in error.value.replace("\\", "") for error in app.error)
    assert not app.get("plotly_chart")


def ways_to_cause(app: AppTest) -> list[dict[str, str]]:
    """The parameters of the links to the page "Cause"."""
    links = [link.proto for link in app.get("page_link") if link.proto.page == "cause"]
    return [{name: text for name, (text,) in parse_qs(link.query_string, True).items()} for link in links]


@pytest.mark.slow
def test_the_head_can_be_switched_off_on_cause(open_page: Callable[..., AppTest]) -> None:
    text, pair = "She opened the window.", "Cold air came into the room."
    for view in ("grid", "rollout"):
        (way,) = ways_to_cause(open_page(PAGE, text=text, pair=pair, layer="3", head="5", view=view))
        assert (way["text"], way["pair"]) == (text, pair)
    assert "With head 5 of layer 3 off, “is next” " in prose(open_page("pages/cause/page.py", **way))


def test_what_goes_to_cause_is_what_its_model_can_be_asked(
    open_page: Callable[..., AppTest], checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
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


def test_the_word_that_is_pointed_at_is_masked_on_cause(open_page: Callable[..., AppTest]) -> None:
    text = "My dog sat on the bed."
    for query, masks in (
        ({"view": "lines", "locked": "query.4", "token": "4"}, "4"),
        ({"view": "neuron", "token": "3"}, "3"),
        ({"view": "neuron", "token": "1"}, None),  # [CLS]
        ({"view": "rollout", "locked": "query.4", "token": "4"}, None),  # not to be seen there
    ):
        (way,) = ways_to_cause(open_page(PAGE, text=text, **query))
        assert (way.get("masks"), way.get("find")) == (masks, None if masks else "1")


@pytest.mark.slow
def test_a_text_too_long_for_an_address_goes_along_without(open_page: Callable[..., AppTest]) -> None:
    text = "The cat sat on the mat. " * 200
    app = open_page(PAGE)
    app.text_area(key="text").set_value(text).run()
    (way,) = ways_to_cause(app)
    assert "text" not in way
    app.switch_page("pages/cause/page.py")
    for name, value in way.items():
        app.query_params[name] = value
    assert app.run().text_area(key="text").value.strip() == text.strip()
