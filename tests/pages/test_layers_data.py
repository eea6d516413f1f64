"""The page "Layers" with one's own data and with syntax trees: what is read, refused and kept; the structural probe."""

import functools

import numpy as np
import pytest
from layers_page import PAGE, ROWS, conllu, figure, results_of, run, table, written
from on_screen import Open, button, prose
from own_files import trees
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from analysis.probing import structural_probe
from analysis.probing.structural import RANK
from analysis.probing.template_trees import template_conllu
from jobs.study import FoundTrees
from model_zoo import Engine
from pages.layers import fields
from pages.layers.structural import edges
from ui import precomputed
from web.settings import settings

# What else can be wrong, and what is read of it, is tested where files are read.
BAD_DATA = {
    "one class only": ("table", table([(text, "a") for text, _ in ROWS]), "fewer than two labels"),
    "wrong split": ("senteval", "tr\tA\ta\nxx\tA\tb", "line 2: the split is “xx”"),
    "malformed CoNLL-U": ("conllu", conllu(30, bad="2 dog"), "line 2: 1 column instead of ten"),
}


def test_bad_data_gets_one_sentence_and_stays(open_page: Open) -> None:
    for case, (format_, typed, message) in BAD_DATA.items():
        app = open_page(PAGE, format=format_)
        app.text_area(key="layers_data").set_value(typed).run()
        assert not app.error, case
        assert len(app.warning) == 1, case
        assert message in app.warning[0].value.replace("\\", "")
        assert app.text_area(key="layers_data").value == typed
        assert button(app, "Run").label == "Run 3 tasks"
    app = open_page(PAGE, **TREES)
    bad = {conllu(5): "5 different sentences with a tree", "text,label\na,b": "line 1: 1 column instead of ten"}
    for typed, message in bad.items():
        app.text_area(key="layers_data").set_value(typed).run()
        assert len(app.warning) == 1
        assert message in app.warning[0].value.replace("\\", "")
        assert button(app, "Run").disabled

    assert fields.RANK.default == RANK
    app = open_page(PAGE)
    assert app.file_uploader(key="probing upload").proto.max_upload_size_mb == settings().upload_mb == 10
    app.file_uploader(key="probing upload").set_value(("big.csv", b"x" * 11 * 2**20, "text/csv")).run()
    assert "big.csv is 11.5 MB; files may be up to 10 MB" in prose(app)


GOOD_DATA = {
    "repeated and empty": ("table", table([*ROWS, ROWS[0], ("", "a")]), "Left out 1 repeated sentence."),
    "CoNLL-U": ("conllu", conllu(30), "30 different sentences, 90 words, 3 labels"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", GOOD_DATA)
def test_own_data_is_read_said_and_probed(case: str, open_page: Open) -> None:
    format_, typed, message = GOOD_DATA[case]
    app = open_page(PAGE, format=format_, tasks="")
    app.text_area(key="layers_data").set_value(typed).run()
    assert not app.warning
    assert message in prose(app)
    run(app)
    assert not app.warning
    (finished,) = results_of(app).values()
    assert finished.title == "The pasted data"
    assert len(written(app)) == 7 + 2


@pytest.mark.slow
def test_an_uploaded_file_is_kept_until_it_is_removed(
    open_page: Open,
    shelf: MemoryUploadedFileManager,  # noqa: ARG001
) -> None:
    app = open_page(PAGE, tasks="")
    app.file_uploader(key="probing upload").set_value(("own.csv", table(ROWS).encode("utf-16"), "text/csv")).run()
    assert "own.csv: 40 different sentences" in prose(app)
    assert "Not in it: the file you uploaded." in prose(app)
    app.switch_page("pages/home/page.py").run()
    app.switch_page(PAGE).run()
    assert "In use: **own.csv**" in prose(app)
    run(app)
    assert next(iter(results_of(app).values())).title == "own.csv"
    button(app, "Remove").click().run()
    assert "own.csv: 40" not in prose(app)
    assert button(app, "Run").disabled
    assert written(app)  # what was computed stays


TREES = {"tasks": "", "format": "conllu", "target": "trees", "model": "embedded/tinybert", "rank": "8", "view": "trees"}


@pytest.mark.parametrize(
    ("model", "name"), [("embedded/tinybert", "Tiny BERT"), ("google-bert/bert-base-uncased", "Small BERT")]
)
def test_the_view_opens_on_trees_that_came_with_the_app(model: str, name: str, open_page: Open) -> None:
    """Of the model that is chosen; of the default one where that did not come with the app."""
    app = open_page(PAGE, view="trees", model=model)
    assert not app.error
    assert f"**An example, computed before**: {name}" in prose(app)
    upper = figure(app, 0)["data"][0]  # type: ignore[index]
    trees = precomputed.trees("embedded/tinybert" if name == "Tiny BERT" else "embedded/bert")
    np.testing.assert_allclose(upper["y"], [layer.scores.uuas.value for layer in trees.result.layers])
    assert len(app.get("plotly_chart")) == 2
    assert len(app.selectbox(key="layers_tree_sentence").options) == precomputed.TREES_KEPT
    assert app.select_slider(key="layers_tree_layer").value == trees.result.best.layer  # whose tree is shown first


@pytest.mark.slow
def test_trees_of_the_example_are_probed_and_shown(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, **TREES, sentences="60")
    assert app.number_input(key="layers_rank").value == 8
    assert button(app, "Run").disabled
    button(app, "Use the example").click().run()
    assert "template-trees.conllu: 400 different sentences" in prose(app)
    assert "with trees; 120 sentences held out" in prose(app)
    assert "There are no results yet for template-trees.conllu" in prose(app)
    run(app)
    assert not app.warning
    assert not app.error
    (finished,) = results_of(app).values()
    assert isinstance(finished, FoundTrees)
    # The page's numbers are those of the function for notebooks.
    encode = functools.partial(engine.iter_hidden_states, "embedded/tinybert")
    by_chance = functools.partial(engine.iter_hidden_states, "untrained:embedded/tinybert")
    treebank = trees(template_conllu().encode(), "template-trees.conllu")
    expected = structural_probe(encode, treebank, rank=8, sentences=60, untrained=True, untrained_encode=by_chance)
    assert finished.result == expected
    upper = figure(app, 0)["data"][0]  # type: ignore[index]
    np.testing.assert_allclose(upper["y"], [layer.scores.uuas.value for layer in expected.layers])
    text = prose(app)
    assert f"**{100 * expected.best.scores.uuas.value:.0f}% (" in text
    assert f"chain {100 * expected.chain.uuas.value:.0f}% (" in text
    assert "random weights" in text
    assert "That does not show that the model uses it" in text
    assert not [info for info in app.info if "Bring sentences" in info.value]
    assert app.dataframe[-1].value["UUAS"].tolist() == [100 * layer.scores.uuas.value for layer in expected.layers]
    labels = [b.label for b in app.get("download_button")]
    assert labels == ["Example file", "These numbers (CSV)", "Edges of the test sentences at this layer (CSV)"]
    # Another sentence and layer than those that are shown first.
    app.session_state["layers_tree_layer"] = 1
    app.session_state["layers_tree_sentence"] = 3
    app.session_state["layers_tree_probe"] = "depth"
    app.run()
    parsed = expected.sentences[2]
    assert f"{parsed.right(1)} of {len(parsed.edges)} edges are recovered." in prose(app)
    words = [note["text"] for note in figure(app, 1)["layout"]["annotations"]][: len(parsed.words)]  # type: ignore[index]
    assert words == [word if len(word) <= 16 else word[:15] + "…" for word in parsed.words]
    assert figure(app, 0)["layout"]["yaxis"]["title"]["text"] == "root found"  # type: ignore[index]
    table = edges(expected.sentences, 1)
    assert int(table["in_tree"].sum()) == sum(len(sentence.edges) for sentence in expected.sentences)
    both = table[(table["in_tree"] == 1) & (table["found"] == 1)]
    assert len(both) == sum(sentence.right(1) for sentence in expected.sentences)


@pytest.mark.slow
def test_trees_and_tasks_are_run_beside_each_other(open_page: Open) -> None:
    app = open_page(PAGE, **{**TREES, "tasks": "tense"}, sentences="60", data=conllu(40), untrained="0")
    run(app)
    assert not app.warning
    assert [type(result).__name__ for result in results_of(app).values()] == ["Finished", "FoundTrees"]
    assert len(app.get("plotly_chart")) == 2  # scores by layer, a tree
    assert "no Spearman correlation: no test sentence has 5 to 50 words" in prose(app)
    (trees,) = (result for result in results_of(app).values() if isinstance(result, FoundTrees))
    assert all(layer.untrained is None for layer in trees.result.layers)
    assert button(app, "Run").disabled
    app.number_input(key="layers_rank").set_value(4).run()
    assert button(app, "Run").label == "Run 1 task"
