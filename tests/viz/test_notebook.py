"""Widgets of a notebook: they read what the pages' components read, follow each other, and say what is wrong."""

import base64
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from builders import encoding, random_maps
from builders import run as make_run
from in_a_notebook import as_sent, looked_at, sent
from in_deno import deno
from pages_of_html import Page

from analysis.filters import Filter
from analysis.thumbnails import thumbnails
from analysis.views import ContributionView, Norms, Weights, mean_of_all
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun, LayerContributions
from viz import attended, notebook
from viz.grid import grid as grid_payload

TOKENS = ["the", "cat", "sat", "<b>"]
N = len(TOKENS) + 2


@pytest.fixture
def run() -> AttentionRun:
    return make_run(encoding(TOKENS), random_maps(0, 3, N, N), random_maps(1, 3, N, N))


@pytest.fixture
def contributions(run: AttentionRun) -> LayerContributions:
    return LayerContributions(encoding=run.encoding, model=run.model, measure="ALTI", maps=random_maps(2, 4, N, N))


def test_a_heatmap_reads_what_that_of_the_page_reads(run: AttentionRun) -> None:
    widget = looked_at(notebook.heatmap(run, layer=1, head=2))
    attention = Weights(run)
    filtered = widget._filtered(attention.map(1, 2))
    expected = attended.heatmap_payload(filtered, "weights", file="", group=widget._group.name)
    assert sent(widget) == as_sent(expected, widget)
    assert sent(widget)["weights"] == run.head(1, 2).tobytes()
    lit = looked_at(notebook.words(run, 1, 2))
    filtered = lit._filtered(attended.word_maps(attention, 1, 2, mean_of_all(attention)))
    expected = attended.words_payload(attention, filtered, 1, 2, steps=True, group=lit._group.name, counts=0)
    maps = [[layer, head] for layer in range(2) for head in range(3)]
    assert sent(lit) == as_sent(expected, lit, maps=maps)
    assert maps[sent(lit)["head"]] == [1, 2]


def test_a_grid_reads_what_that_of_the_page_reads(run: AttentionRun, contributions: LayerContributions) -> None:
    heads = looked_at(notebook.grid(run, 1, 2))
    small = thumbnails(run.layer(layer) for layer in range(2))
    assert sent(heads) == as_sent(grid_payload(small, (1, 2), group=heads._group.name, counts=0), heads)
    layers = looked_at(notebook.grid(contributions, 3))
    assert sent(layers)["names"] == ["layer"]
    assert (sent(layers)["heads"], sent(layers)["selected"]) == ([4], [0, 3])
    widget = looked_at(notebook.heatmap(contributions, 2))
    assert sent(widget)["weights"] == ContributionView(contributions).map(2, 0).tobytes()
    assert str(widget).startswith("Heatmap of layer 2 in")
    with pytest.raises(InvalidInput, match=r"There are maps 0 to 0"):
        notebook.heatmap(contributions, 2, 1)
    assert "layer 2" in looked_at(notebook.words(contributions, 2)).html()


def test_lines_are_of_a_layer_or_of_heads_by_name(run: AttentionRun) -> None:
    for chosen, names, front in (
        ({}, ["0", "1", "2"], None),
        ({"head": 1}, ["0", "1", "2"], 1),
        ({"heads": [2, 0]}, ["2", "0"], None),
        ({"heads": [(0, 1), (1, 2)]}, ["0.1", "1.2"], None),
    ):
        drawn = looked_at(notebook.lines(run, 1, **chosen))
        assert (sent(drawn)["head_names"], sent(drawn)["in_front"]) == (names, front)


def test_nothing_is_computed_before_somebody_looks(run: AttentionRun) -> None:
    widget = notebook.heatmap(run)
    assert widget._data == b""
    widget.layer = 1
    assert widget._data == b""
    looked_at(widget)
    before = widget._data
    widget.set_state({"_views": 0})
    widget.layer = 0
    assert widget._data == before
    widget.set_state({"_views": 1})
    assert sent(widget)["weights"] == run.head(0, 0).tobytes()


def test_a_click_in_one_reaches_those_that_follow_and_python(run: AttentionRun) -> None:
    heads = looked_at(notebook.grid(run))
    follower = looked_at(notebook.heatmap(run, follow=heads))
    drawn = looked_at(notebook.lines(run, 0, head=0, follow=follower))
    seen: list[Any] = []
    heads.observe(lambda change: seen.append((change["name"], change["new"])), names=["layer", "head"])
    heads.set_state({"layer": 1, "head": 2, "_requests": 1})
    assert sorted(seen) == [("head", 2), ("layer", 1)]
    assert heads._answers == 1
    assert (follower.layer, follower.head, drawn.layer, drawn.head) == (1, 2, 1, 2)
    assert sent(follower)["weights"] == run.head(1, 2).tobytes()
    assert sent(drawn)["in_front"] == 2
    follower.head = 0
    assert (heads.head, drawn.head) == (0, 0)


def test_who_follows_begins_where_the_other_is(run: AttentionRun) -> None:
    heads = notebook.grid(run, 1, 2)
    heads.token = 3
    follower = notebook.heatmap(run, follow=heads)
    assert (follower.layer, follower.head, follower.token) == (1, 2, 3)
    alone = notebook.heatmap(run)
    heads.layer = 0
    assert (follower.layer, alone.layer) == (0, 0)
    assert sent(looked_at(alone))["group"] != sent(looked_at(follower))["group"]
    # What is pointed at says by whom unless python says it.
    heads = notebook.grid(run)
    follower = notebook.heatmap(run, follow=heads)
    follower.set_state({"_by": "a view", "token": 1, "key": 2})
    assert (heads.token, heads.key, heads._by) == (1, 2, "a view")
    heads.token = 4
    assert (follower.token, follower.key, follower._by) == (4, 2, "")
    follower.set_state({"_by": "a view", "token": None, "key": None})
    assert (heads.token, heads.key) == (None, None)
    # Lines of a layer do not take a head that they do not have.
    drawn = notebook.lines(run, 0)
    drawn._group = heads._group
    drawn._copy_from(heads, ("layer", "head"))
    assert drawn.head is None


def test_what_does_not_exist_is_refused_in_a_sentence_and_nothing_moves(run: AttentionRun) -> None:
    heads = notebook.grid(run, 1, 1)
    for trait, last, value in (("layer", 1, 2), ("layer", 1, -1), ("head", 2, 3)):
        message = rf"^There are {trait}s 0 to {last}; {trait} {value} does not exist\."
        with pytest.raises(InvalidInput, match=message):
            setattr(heads, trait, value)
        assert (heads.layer, heads.head) == (1, 1)
        with pytest.raises(InvalidInput, match=message):
            notebook.heatmap(run, **{trait: value})
    for value in ("a text", [], None):
        for make in (notebook.grid, notebook.heatmap, notebook.words, notebook.lines):
            with pytest.raises(InvalidInput, match=rf"this is a {type(value).__name__}\. Give what engine\.attend"):
                make(value)


def test_what_a_follower_cannot_show_it_says_and_the_other_goes_on(run: AttentionRun) -> None:
    heads = looked_at(notebook.grid(run))
    small = make_run(run.encoding, random_maps(3, 1, N, N))
    follower = looked_at(notebook.heatmap(small, follow=heads))
    before = follower._data
    heads.set_state({"layer": 1, "_requests": 1})
    assert (heads.layer, heads._answers, follower.layer, follower._data) == (1, 1, 0, before)
    assert follower._message.startswith("There are layers 0 to 0; layer 1 does not exist.")
    heads.layer = 0
    assert follower._message == ""
    # A view of what cannot be shown says why.
    widget = looked_at(notebook.heatmap(Norms(run)))
    assert widget._data == b""
    assert widget._message.startswith("test/model (bert) gives finished attention maps only")
    with pytest.raises(NotSupported, match="finished attention maps only"):
        widget._ipython_display_()


def test_a_filter_takes_special_tokens_out_of_every_picture(run: AttentionRun) -> None:
    chosen = Filter(hide_special=True)
    for make in (notebook.heatmap, notebook.lines):
        assert sent(looked_at(make(run, filter=chosen)))["queries"] == TOKENS
    assert len(sent(looked_at(notebook.words(run, filter=chosen)))["queries"]) == len(TOKENS)
    assert sent(looked_at(notebook.grid(run, filter=chosen)))["tokens"] == [len(TOKENS)] * 2
    nothing = make_run(encoding([]), random_maps(0, 1, 2, 2))
    widget = notebook.heatmap(nothing, filter=chosen)
    with pytest.raises(InvalidInput, match="Nothing is left to show"):
        widget.payload()


def test_a_text_too_long_to_be_read_is_refused_and_a_long_one_is_not() -> None:
    n = 512
    long = make_run(encoding(["t"] * n, front=None, end=None), random_maps(0, 1, n, n))
    sizes = {}
    for make in (notebook.grid, notebook.heatmap, notebook.words, notebook.lines):
        widget = looked_at(make(long))
        sizes[make.__name__] = len(widget._data)
        assert len(widget._still()["text/html"]) < 100_000
    assert sizes["grid"] < 20_000
    assert sizes["heatmap"] < 1_100_000
    assert sizes["words"] < 1_700_000
    n = 1025
    longer = make_run(encoding(["t"] * n, front=None, end=None), np.zeros((1, n, n), dtype=np.float32))
    for make in (notebook.words, notebook.lines):
        with pytest.raises(InvalidInput, match=r"1,025 tokens, and a browser can show 1,024"):
            make(longer)


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, dict[str, Any]]]]:
    """What is displayed, and how, in their order."""
    import IPython.display

    outputs: list[tuple[Any, dict[str, Any]]] = []
    for name in ("display", "update_display"):
        monkeypatch.setattr(IPython.display, name, lambda output, _name=name, **how: outputs.append((output, how)))
    return outputs


def test_two_outputs_a_picture_that_stands_still_and_the_widget(
    run: AttentionRun, displayed: list[tuple[Any, dict[str, Any]]]
) -> None:
    widget = notebook.heatmap(run, 0, 1)
    widget._ipython_display_()
    (still, how), (bundle, raw) = displayed
    page = Page(still["text/html"])
    assert page.tags == ["div", "img", "style"]
    assert still["text/plain"] == f"<{widget}>"
    (_, (_, image), _) = page.elements
    assert widget._id in {attributes.get("class") for _, attributes in page.elements}
    assert image["alt"] == "Heatmap of layer 0, head 1 in “the cat sat <b>”, test/model"
    assert raw["raw"] is True
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert bundle["text/plain"] == f"<{widget}>"
    assert sent(widget)["still"] == widget._id

    widget._handle_custom_msg({"svg": "<svg>drawn & done</svg>"}, [])
    after, again = displayed[-1]
    assert again == {"display_id": how["display_id"], "raw": True}
    (source,) = (attributes["src"] for _, attributes in Page(after["text/html"]).elements if "src" in attributes)
    assert base64.b64decode(str(source).partition(",")[2]) == b"<svg>drawn & done</svg>"
    widget._handle_custom_msg({"png": base64.b64encode(b"PNG").decode()}, [])
    assert "data:image/png;base64,UE5H" in displayed[-1][0]["text/html"]
    widget._handle_custom_msg({}, [])
    assert displayed[-1][0] == still
    widget.head = 2
    assert displayed[-1] == (widget._still(), again)
    assert displayed[-1][0]["text/html"] != still["text/html"]
    before = len(displayed)
    widget._handle_custom_msg({"png": '"><script>'}, [])  # ipywidgets logs the error of a message
    assert len(displayed) == before


def test_a_file_of_it_says_what_it_is(run: AttentionRun) -> None:
    html = notebook.heatmap(run, 1, 2).html()
    assert "<dt>Head</dt><dd>layer 1, head 2</dd>" in html
    assert "<dt>Counting</dt><dd>Layers, heads and tokens count from 0.</dd>" in html
    assert "the cat sat &lt;b&gt;" in html
    assert "attention_L1H2" in html
    assert "1; 2" not in notebook.lines(run, 1).html()


def test_the_script_of_a_widget_is_that_of_its_component_and_asks_for_nothing(run: AttentionRun, tmp_path: Any) -> None:
    probe = tmp_path / "probe.js"
    loaded = ""
    for name in ("grid", "heatmap", "words", "lines"):
        widget = getattr(notebook, name)(run)
        script = str(widget._esm)
        assert widget.source["js"].replace("export default ", "") in script
        assert "fetch(" not in script
        assert "import " not in script.replace("@import", "import ")
        (tmp_path / f"{name}.js").write_text(script + "\n", encoding="utf-8")
        loaded += f'import {name} from "./{name}.js"; console.log(typeof {name}.render);\n'
    probe.write_text(loaded, encoding="utf-8")
    assert deno("run", "--no-config", probe) == "function\n" * 4
    # Colours are those of the notebook and not of the system.
    script = str(notebook.heatmap(run)._esm)
    assert "prefers-color-scheme: dark) {" not in script
    assert ":host(.dark) .themed { --own-background: #11131A;" in script


def test_without_anywidget_a_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "try:\n    import viz.notebook\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("NotSupported ")
    assert "pip install anywidget" in done.stdout
