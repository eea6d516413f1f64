"""The page "Compare" without a browser: every view, links, texts that cannot be read, nothing run twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare_page import PAGE, PAIR, TEXT, VIEWS, Open, clean, matrices, on_words, toggles
from on_screen import drawn, prose

from analysis.alignment import align, fertility
from model_zoo import Engine, masked, running
from model_zoo.types import Encoding
from pages.compare import choice
from pages.compare.fields import COMPARED


def test_tokens_of_two_tokenizers(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="tokens")
    encodings = [engine.encode(model, TEXT) for model in two]
    pieces = fertility(align(encodings), encodings)
    for place, encoding in enumerate(encodings):
        assert f": {len(encoding)} tokens including special tokens, and {pieces[place]:.2f}" in prose(app)
    table = app.dataframe[0].value
    assert "didn't" in list(table["word"])
    names = [Path(model).name for model in two]
    assert list(table.columns) == ["word", *names]
    tokens = [token for cell in table[names[0]] for token in cell.split(" · ")]
    assert tokens == [t for t, special in zip(encodings[0].tokens, encodings[0].special, strict=True) if not special]


def test_models_that_split_alike_share_a_row_and_a_sentence(open_page: Open) -> None:
    app = open_page(PAGE, view="tokens")
    clean(app)
    assert tuple(app.multiselect(key="compare_models").value) == COMPARED.default
    assert any(b"Small ModernBERT, Small LSTM" in picture for picture in drawn(app))
    assert "Small BERT, Tiny BERT, Small ModernBERT and Small LSTM each: 13 tokens" in prose(app).replace("\\", "")
    app.text_area(key="text").set_value(TEXT).run()  # the bare address restores what one sees until something changes
    assert app.query_params["models"] == ",".join(COMPARED.default)
    app.segmented_control(key="compare_view").set_value("attention").run()
    clean(app)
    pictures = matrices(app)  # three with attention and a difference; the fourth model takes no place among them
    assert len(pictures) == 5
    assert len({picture.shape for picture in pictures[:4]}) == 1
    payloads = [str(element.proto) for element in app.get("bidi_component") if "compare-" in str(element.proto)]
    assert len(payloads) == 4  # what is pointed at in one is shown by all
    assert all('"group":"compare"' in payload.replace("\\", "").replace(" ", "") for payload in payloads)
    assert "has no attention to show" in prose(app)


def test_each_model_s_unknown_words_are_named_in_every_view(open_page: Open) -> None:
    """The vocabularies of Small ModernBERT and Small LSTM can spell anything."""
    for view in ("attention", "predictions"):
        app = open_page(PAGE, text="The 猫 sat.", view=view)
        assert "Small BERT and Tiny BERT: Not in the vocabulary, read as [UNK]: 猫." in prose(app)


@pytest.mark.slow
@pytest.mark.usefixtures("no_answers")
def test_filters_views_and_heads_never_run_a_model_again(
    two: tuple[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_page("pages/home/page.py")  # it asks questions of its own, once
    ran: list[str] = []

    def counted(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: ran.append(name) or plain(*args)

    for room, name in (
        (running, "attend"),
        (running, "hidden_states"),
        (masked, "fill_mask"),
        (masked, "token_scores"),
    ):
        monkeypatch.setattr(room, name, counted(name, getattr(room, name)))
    once = "Run me once a model, and only once."
    app = open_page(PAGE, models=",".join(two), text=once, sentences=once, view="attention", masks="4")
    app.number_input(key="head").set_value(3).run()
    app.number_input(key="layer").set_value(2).run()
    app.number_input(key="compare_head_2").set_value(2).run()
    app.number_input(key="compare_layer_2").set_value(3).run()
    for view in VIEWS * 2:
        app.segmented_control(key="compare_view").set_value(view).run()
        clean(app)
        if view == "predictions":
            app.slider(key="compare_guesses").set_value(len(ran)).run()
    assert sorted(ran) == sorted(["attend", "hidden_states", "fill_mask", "token_scores"] * 2)


@pytest.mark.slow
def test_a_model_compared_with_itself(two: tuple[str, str], open_page: Open) -> None:
    """By a link that names it twice, and by choosing A itself."""
    twice = open_page(PAGE, models=f"{two[0]},{two[0]}", text=TEXT, view="attention", head="2")
    assert f"{two[0]} is named twice, and is shown once" in prose(twice)
    assert "The model is compared with itself" in prose(twice)
    chosen = open_page(PAGE, models=",".join(two), beside="1", text=TEXT, view="attention", head="2")
    clean(chosen)
    for app in (twice, chosen):
        _, difference, *_, divergence = matrices(app)
        assert not difference.any()
        assert not divergence.diagonal().any()
        table = app.dataframe[0].value
        assert (table.iloc[:, 0] == table.iloc[:, 2]).all()
        assert (table.iloc[:, 1] == table.iloc[:, 3]).all()
        app.segmented_control(key="compare_view").set_value("representations").run()
        np.testing.assert_allclose(matrices(app)[-1].diagonal(), 1, atol=1e-6)
    twice.segmented_control(key="compare_view").set_value("tokens").run()
    assert list(twice.dataframe[0].value.columns) == ["word", Path(two[0]).name]


@pytest.mark.slow
def test_texts_that_one_model_must_cut(open_page: Open, two: tuple[str, str], engine: Engine) -> None:
    models, text = ("embedded/bert", two[0]), "The cat sat on the mat. " * 20
    for view in ("tokens", "attention", "predictions"):
        app = open_page(PAGE, models=",".join(models), text=text, view=view)
        assert not app.error
        if view == "predictions":
            toggles(app)[0].set_value(True).run()
        assert f"For {Path(two[0]).name} the text was cut" in prose(app)
    full, cut = (engine.encode(model, text) for model in models)
    assert full.n_dropped == 0 < cut.n_dropped


def test_a_pair_of_texts(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, pair=PAIR, view="attention", layer="1", head="2")
    a, b = on_words(engine, two, ((0, 1), (0, 0)), TEXT, PAIR)
    np.testing.assert_array_equal(matrices(app)[0], a)
    np.testing.assert_array_equal(matrices(app)[2], b)
    app.segmented_control(key="compare_view").set_value("predictions").run()
    assert [metric.value for metric in app.metric] == [f"{engine.next_sentence(two[0], TEXT, PAIR).p_next:.4f}"]
    assert f"{two[1]} cannot say whether one sentence follows another" in prose(app)
    clean(app)


def test_guesses_for_clicked_and_typed_masks(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    app = open_page(
        PAGE, models=",".join(two), text="The cat sat on <mask> mat.", view="predictions", masks="2",
        guesses="3", mask="2",
    )  # fmt: skip
    clean(app)
    answers = [engine.fill_mask(model, "The [MASK] sat on [MASK] mat.", 50) for model in two]
    table = app.dataframe[0].value
    assert list(table["mask"]) == ["Mask 1: was “cat”", "Mask 2: typed"]
    for model, every in zip(two, answers, strict=True):
        best = [f"{answer.best[0].token} ({answer.best[0].probability:.1%})" for answer in every]
        assert list(table[Path(model).name]) == best
    for chart, every in zip(app.get("plotly_chart"), answers, strict=True):
        x = json.loads(chart.proto.spec)["data"][0]["x"]
        assert x == pytest.approx([entry.probability for entry in every[1].best[:3]])
    app.button_group(key="mask_strip").set_value([]).run()
    app.text_area(key="text").set_value("The cat sat.").run()
    assert "Nothing is masked yet" in prose(app)


def test_a_clicked_word_stays_masked_when_the_text_is_edited(two: tuple[str, str], open_page: Open) -> None:
    app = open_page(PAGE, models=",".join(two), text="The cat sat.", view="predictions", masks="3")
    app.text_area(key="text").set_value("The old cat sat.").run()
    assert app.session_state["compare_masks"] == (3,)
    assert "“sat” is " in prose(app)
    app.text_area(key="text").set_value("Other words entirely!").run()
    assert app.session_state["compare_masks"] == ()


def test_b_is_told_anew_where_another_model_has_its_place(open_page: Open) -> None:
    """The list on screen would go on naming the model that stood there; values alone do not show that."""
    app = open_page(PAGE, view="attention")
    app.run()
    assert not app.selectbox(key="compare_beside").proto.set_value
    app.multiselect(key="compare_models").set_value(["embedded/bert", "embedded/modernbert"]).run()
    beside = app.selectbox(key="compare_beside")
    assert beside.proto.set_value
    assert beside.proto.options[beside.value - 1].startswith("Small ModernBERT")


def test_surprisal_on_common_words(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    from analysis.scoring import unit_bits

    app = open_page(PAGE, models=",".join(two), text=TEXT, view="predictions")
    scores = [engine.token_scores(model, TEXT, scheme="word l2r") for model in two]
    alignment = align([score.encoding for score in scores])
    [component] = [element for element in app.main.get("bidi_component") if "compared surprisal" in str(element.proto)]
    for score, units in zip(scores, alignment.units, strict=True):
        for bits in unit_bits(score, units):
            assert f"{bits:.1f}" in str(component.proto)


def test_layers_of_two_models_on_sentences_of_ones_own(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    sentences = ["The cat sat on the mat.", "Unhappy people are working.", "She walked home, and he did not."]
    app = open_page(PAGE, models=",".join(two), view="representations", sentences="\n".join([*sentences, "  "]))
    clean(app)

    def words(model: str, which: int, encodings: list[tuple[Encoding, ...]]) -> np.ndarray:
        """Mean vectors of common words, by loops: (layers + 1, words, width)."""
        words_used = [
            states[:, unit.start : unit.stop].mean(axis=1)
            for states, pair in zip(engine.hidden_states(model, sentences), encodings, strict=True)
            for unit in align(pair).units[which]
        ]
        return np.stack(words_used, axis=1).astype(np.float64)

    encodings = [tuple(engine.encode(model, sentence) for model in two) for sentence in sentences]
    x, y = (words(model, which, encodings) for which, model in enumerate(two))
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    expected = [
        [
            np.linalg.norm(b.T @ a) ** 2 / (np.linalg.norm(a.T @ a) * np.linalg.norm(b.T @ b))
            for b in y
        ]
        for a in x
    ]  # fmt: skip
    np.testing.assert_allclose(matrices(app)[0], expected, atol=1e-4)
    assert f"of {x.shape[1]} words" in prose(app)
    assert "all layers look more similar than they are" in prose(app)


def test_no_model_and_too_many(two: tuple[str, str], open_page: Open) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="nonsense", masks="a")
    assert any("Part of the link could not be used" in warning.value for warning in app.warning)
    assert len(app.dataframe) == 1
    app.selectbox(key="reference-model").set_value(two[1]).run()
    assert tuple(app.multiselect(key="compare_models").value) == (two[1], two[0])
    assert app.query_params["models"] == f"{two[1]},{two[0]}"
    app.multiselect(key="compare_models").set_value([two[0], f"{two[1]}, {two[0]}"]).run()  # typed in one go
    assert tuple(app.multiselect(key="compare_models").value) == two
    app.multiselect(key="compare_models").set_value([]).run()
    assert "No model is chosen" in prose(app)
    assert app.text_area(key="text").value == TEXT
    app = open_page(PAGE, models=",".join([*two, "embedded/bert", "a/b", "c/d"]), text=TEXT)
    assert "At most 4 models can be compared; c/d was left out." in prose(app)
    assert len(app.multiselect(key="compare_models").value) == 4


@pytest.mark.parametrize("view", ["tokens", "attention", "predictions"])
def test_a_text_that_cannot_be_read_is_said_once(view: str, two: tuple[str, str], open_page: Open) -> None:
    app = open_page(PAGE, models=",".join(two), view=view)
    for text, pair, message in (("", "", "is empty"), (" ", PAIR, "first text is empty"), ("a\x07b", "", "U+0007")):
        app.session_state["text"], app.session_state["pair"] = text, pair
        app.run()
        assert [message in warning.value.replace("\\", "") for warning in app.warning] == [True]
        assert app.text_area(key="text").value == text


@pytest.mark.slow
def test_a_long_text_waits_to_be_asked(open_page: Open) -> None:
    """All pairs of heads, and a score for every token, take seconds. A link says that they were asked for."""
    app = open_page(PAGE, models="embedded/bert", text="The cat sat on the mat. " * 30, view="attention")
    assert len(matrices(app)) == 2
    [toggle] = toggles(app)
    assert "210 words" in toggle.label
    app.segmented_control(key="compare_view").set_value("predictions").run()
    [toggle] = toggles(app)
    assert "212 runs of each model" in toggle.label
    app = open_page(PAGE, models="embedded/bert", text="The cat sat on the mat. " * 30, view="attention", long="1")
    assert not app.error
    [warning] = app.warning  # of nothing but the length
    assert "saw at most 128 tokens" in warning.value
    [toggle] = toggles(app)
    assert toggle.value
    assert [matrix.shape for matrix in matrices(app)][-1] == (72, 72)
    assert app.query_params["long"] == "1"


def test_names_are_short_and_told_apart(tmp_path: Path) -> None:
    """They stand in tags, on axes and over columns; a folder is called by its end where that says which it is."""
    first, other = tmp_path / "a" / "model", tmp_path / "b" / "model"
    assert [choice.name(model) for model in COMPARED.default] == [
        "Small BERT",
        "Tiny BERT",
        "Small ModernBERT",
        "Small LSTM",
    ]
    assert choice.name("google-bert/bert-base-uncased") == "BERT base"
    assert [choice.name(str(folder), (str(first), str(other))) for folder in (first, other)] == [str(first), str(other)]
    assert choice.name(str(first), (str(first), "embedded/bert")) == "model"
