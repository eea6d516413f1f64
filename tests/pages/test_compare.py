"""The page "Compare" without a browser: every view, links, texts that cannot be read, nothing run twice."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import Checkpoint, varied
from compare_page import PAGE, PAIR, TEXT, VIEWS, clean, matrices, on_words, toggles
from on_screen import Open, button, drawn, prose
from patience import PATIENCE

from analysis.alignment import align, all_on_common_words, fertility, shares_on_common_words
from analysis.divergence import best_matches, head_matrix, jensen_shannon
from analysis.views import ContributionView, Measure, Norms, Weights
from model_zoo import Engine, masked, running
from model_zoo.errors import HubUnreachable
from model_zoo.types import ContributionMeasure, Encoding
from pages.compare import choice, scene
from pages.compare.fields import COMPARED
from ui.show import WORDS


def test_tokens_of_two_tokenizers_and_unknown_words(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
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
    # The vocabularies of Small ModernBERT and Small LSTM can spell anything.
    for view in ("attention", "predictions"):
        app = open_page(PAGE, text="The 猫 sat.", view=view)
        assert "Small BERT and Tiny BERT: Not in the vocabulary, read as [UNK]: 猫." in prose(app)


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


@pytest.mark.slow
@pytest.mark.usefixtures("no_answers")
def test_views_run_no_model_again(two: tuple[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("pages/home/page.py")  # it asks questions of its own, once
    ran: list[str] = []

    def counted(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: ran.append(name) or plain(*args)

    for room, name in (
        (running, "attend"),
        (running, "hidden_states"),
        (masked, "mask_and_slots"),
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
    assert sorted(ran) == sorted(["attend", "hidden_states", "mask_and_slots", "token_scores"] * 2)


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


def test_guesses_and_surprisal_on_common_words(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
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

    from analysis.scoring import unit_bits

    app = open_page(PAGE, models=",".join(two), text=TEXT, view="predictions")
    scores = [engine.token_scores(model, TEXT, scheme="word l2r") for model in two]
    alignment = align([score.encoding for score in scores])
    [component] = [element for element in app.main.get("bidi_component") if "compared surprisal" in str(element.proto)]
    for score, units in zip(scores, alignment.units, strict=True):
        for bits in unit_bits(score, units):
            assert f"{bits:.1f}" in str(component.proto)


def test_words_keep_their_masks_and_b_its_name(two: tuple[str, str], open_page: Open) -> None:
    app = open_page(PAGE, models=",".join(two), text="The cat sat.", view="predictions", masks="3")
    app.text_area(key="text").set_value("The old cat sat.").run()
    assert app.session_state["compare_masks"] == (3,)
    assert "“sat” is " in prose(app)
    app.text_area(key="text").set_value("Other words entirely!").run()
    assert app.session_state["compare_masks"] == ()
    # The list on screen would go on naming the model that stood there; values alone do not show that.
    app = open_page(PAGE, view="attention")
    app.run()
    assert not app.selectbox(key="compare_beside").proto.set_value
    app.multiselect(key="compare_models").set_value(["embedded/bert", "embedded/modernbert"]).run()
    beside = app.selectbox(key="compare_beside")
    assert beside.proto.set_value
    assert beside.proto.options[beside.value - 1].startswith("Small ModernBERT")


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


def test_heads_side_by_side_and_which_does_the_same(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", layer="2", head="3", head_2="4")
    a, b = on_words(engine, two, ((1, 2), (1, 3)), TEXT)
    drawn = matrices(app)
    np.testing.assert_array_equal(drawn[0], a)
    np.testing.assert_array_equal(drawn[2], b)
    np.testing.assert_allclose(drawn[1], a - b, atol=1e-7)
    bits = jensen_shannon(a[None], b[None])[0, 0]
    assert f"divergence is {bits:.3f} bits" in prose(app)
    np.testing.assert_allclose(a.sum(-1), 1, atol=1e-5)

    runs = [engine.attend(model, TEXT) for model in two]
    expected = head_matrix(*map(Weights, runs), align([run.encoding for run in runs]))
    np.testing.assert_allclose(drawn[3], expected, atol=1e-6)
    best = best_matches(expected, runs[0].n_heads, runs[1].n_heads)
    table = app.dataframe[0].value
    np.testing.assert_allclose(table["divergence (bits)"], [match.divergence for match in best], atol=1e-6)
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", layer="1", head="2")
    divergences = expected[1]
    layer, head = divmod(int(divergences.argmin()), 4)
    button(app, f"Layer {layer + 1} head {head + 1}: {divergences.min():.3f} bits").click().run()  # the most alike
    a, b = on_words(engine, two, ((0, 1), (layer, head)), TEXT)
    np.testing.assert_array_equal(matrices(app)[0], a)
    np.testing.assert_array_equal(matrices(app)[2], b)
    assert f"Their Jensen–Shannon divergence is {divergences.min():.3f} bits" in prose(app)
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", show="value-weighted", layer="2", head="3")
    clean(app)
    a = Norms(engine.attend(two[0], TEXT))
    units = align([engine.attend(model, TEXT).encoding for model in two]).units[0]
    np.testing.assert_allclose(matrices(app)[0], shares_on_common_words(a, a.map(1, 2), units), atol=1e-6)
    np.testing.assert_allclose(matrices(app)[0].sum(axis=-1), 1, atol=1e-5)


def test_layers_are_matched_by_depth_and_said_so(
    open_page: Open, engine: Engine, checkpoint: Checkpoint, two: tuple[str, str]
) -> None:
    models = ("embedded/bert", str(checkpoint("bert")))  # six layers and three
    app = open_page(PAGE, models=",".join(models), text=TEXT, view="attention", layer="4")
    assert "layer 2 of 3, beside layer 4 of 6: the same relative depth." in prose(app)
    np.testing.assert_array_equal(matrices(app)[2], on_words(engine, models, ((3, 0), (1, 0)), TEXT)[1])
    app.number_input(key="compare_layer_2").set_value(1).run()
    assert ": layer 1 of 3." in prose(app)
    assert "beside layer" not in prose(app)
    np.testing.assert_array_equal(matrices(app)[2], on_words(engine, models, ((3, 0), (0, 0)), TEXT)[1])
    app = open_page(PAGE, models=",".join(two), view="attention", layer="9", head="9", layer_2="8", head_2="7")
    for message in ("layers 1 to 3; layer 9", "heads 1 to 4; head 9", "layers 1 to 3; layer 8", "heads 1 to 4; head 7"):
        assert message in prose(app)
    keys = ("layer", "head", "compare_layer_2", "compare_head_2")
    assert [app.number_input(key=key).value for key in keys] == [3, 4, 3, 4]
    assert len(matrices(app)) == 4


def test_a_model_without_attention(two: tuple[str, str], bilstm: str, open_page: Open) -> None:
    models = ",".join((two[0], bilstm, two[1]))
    app = open_page(PAGE, models=models, text=TEXT, view="attention", beside="3")
    clean(app)
    assert "has no attention to show" in prose(app)
    assert [matrix.shape for matrix in matrices(app)][2:] == [matrices(app)[0].shape, (12, 12)]
    app = open_page(PAGE, models=models, text=TEXT, view="attention", beside="2")
    assert f"{Path(bilstm).name} has no attention, so there is nothing to compare" in prose(app)
    assert len(matrices(app)) == 2
    app.query_params["pair"] = PAIR
    for view in ("tokens", "predictions", "representations"):
        app.query_params["view"] = view
        clean(app.run())
    alone = open_page(PAGE, models=bilstm, text=TEXT, view="attention")
    assert "has no attention to show" in prose(alone)


@pytest.mark.parametrize("measure", ["ALTI", "value zeroing"])
def test_layers_are_compared_where_heads_have_no_maps(
    measure: ContributionMeasure, two: tuple[str, str], open_page: Open, engine: Engine
) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", show=measure, layer="2", layer_2="3")
    clean(app)
    a, b = (ContributionView(engine.contributions(model, TEXT, measure=measure)) for model in two)
    alignment = align([a.encoding, b.encoding])
    of_a, of_b = (all_on_common_words(of, units) for of, units in zip((a, b), alignment.units, strict=True))
    drawn = matrices(app)
    for values, expected in zip(
        drawn, (of_a[1], of_a[1] - of_b[2], of_b[2], head_matrix(a, b, alignment)), strict=True
    ):
        np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_allclose(drawn[0].sum(axis=-1), 1, atol=1e-5)
    assert not {"head", "compare_head_2"} & {str(box.key) for box in app.number_input}
    assert "Which layer of B matches each layer of A?" in [header.value for header in app.header]
    table = app.dataframe[0].value
    assert [name for name in table.columns if name.endswith("head")] == []
    assert ("row is scaled to 100%" in prose(app)) == (measure == "value zeroing")

    best = matrices(app)[3][1]
    button(app, f"Layer {best.argmin() + 1}: {best.min():.3f} bits").click().run()
    np.testing.assert_allclose(matrices(app)[2], of_b[best.argmin()], atol=1e-6)


@pytest.mark.parametrize(
    ("measure", "why"), [("ALTI", "part by part"), ("value-weighted", "finished attention maps only")]
)
def test_a_model_that_lacks_a_measure(
    measure: Measure, why: str, two: tuple[str, str], checkpoint: Checkpoint, open_page: Open, tmp_path: Path
) -> None:
    lacking = varied("deberta", checkpoint("deberta"), tmp_path / "talking", talking_head=True)
    models = ",".join((two[0], str(lacking), two[1]))
    app = open_page(PAGE, models=models, text=TEXT, view="attention", show=measure, beside="3")
    clean(app)
    assert why in prose(app)
    assert len(matrices(app)) == 4
    app.query_params["beside"] = "2"
    app.run()
    assert f"“{WORDS[measure].title}” cannot be shown of talking, so there is nothing to compare" in prose(app)
    assert len(matrices(app)) == 2


@pytest.mark.slow
def test_a_model_that_fails_leaves_the_others(two: tuple[str, str], open_page: Open, tmp_path: Path) -> None:
    app = open_page(PAGE, models=",".join((two[0], str(tmp_path), "no such model!", two[1])), text=TEXT)
    for view in VIEWS:
        app.query_params["view"] = view
        app.run()
        no_folder, no_model = (error.value.replace("\\", "") for error in app.error)
        assert f"{tmp_path}” holds no config.json" in no_folder
        assert "“no such model!” is neither" in no_model
        assert f"Meanwhile {Path(two[0]).name} is compared with {Path(two[1]).name}." in prose(app)
    app = open_page(PAGE, models=f"{tmp_path},{tmp_path / 'other'}", text=TEXT)
    assert len(app.error) == 2
    assert app.text_area(key="text").value == TEXT
    assert app.query_params["text"] == TEXT


def test_models_are_loaded_and_watched(two: tuple[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is done before both have begun, and before their lines have been drawn once more."""
    both, watched = threading.Barrier(2, timeout=PATIENCE), threading.Event()
    announced: list[str] = []
    plain, line = Engine.info, scene._line

    def info(self: Engine, model: str) -> Any:
        if model in two:  # the app warms up its own one beside the first page
            both.wait()
            assert watched.wait(PATIENCE)
        return plain(self, model)

    def watch(*args: Any) -> str:
        announced.append(line(*args))
        if len(announced) > 2:
            watched.set()
        return announced[-1]

    monkeypatch.setattr(Engine, "info", info)
    monkeypatch.setattr(scene, "_line", watch)
    app = open_page(PAGE, models=",".join(two), text=TEXT)
    clean(app)
    assert len(app.dataframe) == 1
    assert [announced[place].split(":")[0].rstrip("\\") for place in (0, 1)] == [Path(model).name for model in two]
    assert all("loading, " in sentence for sentence in announced)


def test_a_failure_stays_until_retried(two: tuple[str, str], open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    plain = Engine.info

    def info(self: Engine, model: str) -> Any:
        if model != two[1]:
            return plain(self, model)
        calls.append(model)
        if len(calls) < 2:
            raise HubUnreachable("The hub is away.")
        return plain(self, model)

    monkeypatch.setattr(Engine, "info", info)
    app = open_page(PAGE, models=",".join(two), text=TEXT)
    app.text_area(key="text").set_value(PAIR).run()
    assert [error.value for error in app.error] == ["The hub is away\\."]
    assert calls == [two[1]]
    app.button[[button.label for button in app.button].index("Try again")].click().run()
    clean(app)
    assert calls == [two[1]] * 2
    assert len(app.dataframe) == 1


def test_too_little_memory(
    two: tuple[str, str], open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [4 * engine.info(model).parameters for model in two]
    monkeypatch.setattr(engine._memory, "budget", sum(sizes) - 1)
    engine.close()
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention")
    assert len(app.error) == 1
    assert "MB" in app.error[0].value
    assert "one" in app.error[0].value
    assert len(matrices(app)) == 3  # one model beside itself
    again = prose(app)
    app.run()
    assert prose(app) == again
