"""Widgets of results that are not a text's attention: cells, token lines, the walk, sentences and sketches."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from anatomies import bert
from builders import encoding, info
from in_a_notebook import as_sent, looked_at, sent

from model_zoo.errors import InvalidInput, Unreachable
from model_zoo.types import Anatomy, Effects, Prediction, Reading, TokenScores
from viz import component, example_sentences, notebook, sketch
from viz.anatomy import payload as anatomy_payload
from viz.example_sentences import ExampleSentence
from viz.head_effects import head_effects
from viz.notebook.widget import Widget
from viz.surprisal import surprisal_line
from viz.token_line import Cell, Item, Line
from viz.token_line import payload as line_payload


def effects(n: int, *, other: bool = False, **of_model: Any) -> Effects:
    """n changes, each of which takes another number of bits."""

    def reading(bits: float) -> Reading:
        return Reading(-bits * np.log(2), -bits, None, None, bits, (Prediction("are", 7, 0.5),))

    readings = tuple(reading(1 + place) for place in range(n))
    are = Prediction("are", 7, 0.5)
    return Effects(encoding(["a"]), info(**of_model), 1, are, None, reading(1), readings, reading(5) if other else None)


SCORES = TokenScores(
    encoding=encoding(["a", "##b", "c"]),
    model=info(),
    log_probabilities=np.array([np.nan, -1, -2, -3, np.nan], dtype=np.float32),
    guesses=(None, *[Prediction("x", 1, 0.5)] * 3, None),
)


@pytest.mark.parametrize("blocks", [0, 2])
def test_effects_of_every_head_are_the_cells_of_the_page(blocks: int) -> None:
    measured = effects(2 * (3 + blocks), n_layers=2, n_heads=3)
    widget = looked_at(notebook.cells(measured))
    expected = head_effects(np.arange(2 * (3 + blocks), dtype=float).reshape(2, -1), 3, "bits", counts=0)
    assert sent(widget) == as_sent(expected, widget)


def test_cells_that_are_picked_come_back_and_can_be_set() -> None:
    widget = looked_at(notebook.cells(np.eye(2), ["a", "b"], ["c", "d"], quantity="weight"))
    widget.set_state({"picked": [[0, 1], [1, 0]], "_clicks": 2, "_requests": 1})
    assert widget.picked == [(0, 1), (1, 0)]
    assert widget._answers == 1
    widget.picked = [(1, 1)]
    assert widget.payload()["picked"] == [(1, 1)]
    with pytest.raises(InvalidInput, match="There are rows 0 to 1; row 2 does not exist"):
        widget.picked = [(2, 0)]
    assert ">weight<" in str(widget._svg())
    assert str(widget._svg()).count('stroke-width="2"') == 1
    # Numbers without names count from 0 and effects of anything need names.
    assert looked_at(notebook.cells(np.eye(3))).payload()["rows"] == ["0", "1", "2"]
    for wrong in (effects(5, n_layers=2, n_heads=3), np.ones(3), np.ones((0, 2))):
        with pytest.raises(InvalidInput, match=r"Name these: cells\(numbers, rows, columns\)"):
            notebook.cells(wrong)
    named = notebook.cells(effects(5), ["block"], list("abcde"))
    assert named.payload()["columns"] == list("abcde")


@pytest.mark.parametrize("words", [False, True])
def test_scores_are_the_line_of_the_page_in_both_themes(words: bool) -> None:
    widget = looked_at(notebook.token_line(SCORES, words=words))
    light, dark = (surprisal_line(SCORES, words=words, dark=dark) for dark in (False, True))
    expected = {**line_payload([light], others=[dark]), "weights": b""}
    assert sent(widget) == as_sent(expected, widget)
    assert (">ab<" if words else ">##b<") in str(widget._svg())


def test_several_scores_are_a_line_each_and_any_lines_are_shown() -> None:
    assert len(notebook.token_line([SCORES, SCORES]).payload()["lines"]) == 2
    line = Line((Item((Cell("word"),)),))
    assert notebook.token_line([line]).payload()["lines"] == line_payload([line])["lines"]
    for value in ("a text", [], [1.0]):
        with pytest.raises(InvalidInput, match="A token line is made of scores"):
            notebook.token_line(value)
    widget = looked_at(notebook.cells(effects(6, other=True, n_layers=2, n_heads=3)))
    assert np.frombuffer(sent(widget)["weights"], dtype="<f4").tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25]
    names = [sent(widget)[name] for name in ("quantity", "down", "across")]
    assert names == ["share of the difference", "layer", "head"]


class Engine:
    """Takes a text apart as often as it is asked to, until it is gone."""

    gone = False

    def __init__(self) -> None:
        self.requests: list[tuple[Any, ...]] = []

    def dissect(self, model: str, text: str, pair: str | None, *, layer: int, head: int) -> Anatomy:
        if self.gone:
            raise Unreachable("The models do not answer.")
        self.requests.append((model, text, pair, layer, head))
        return replace(bert(), layer=layer, head=head)


def test_the_walk_is_that_of_the_page_and_follows_a_click_on_a_token() -> None:
    dissected = bert()
    walk = looked_at(notebook.anatomy(dissected, token=2))
    expected = anatomy_payload(dissected, position=2, counts=0)
    assert sent(walk) == as_sent(expected, walk)
    walk.set_state({"token": 3, "_requests": 1})
    assert sent(walk)["position"] == 3
    with pytest.raises(InvalidInput, match="There are tokens 0 to 5"):
        walk.token = 6
    assert "once a browser has drawn it" in walk._still()["text/html"]


def test_with_an_engine_a_click_on_a_layer_opens_it() -> None:
    engine = Engine()
    walk = looked_at(notebook.anatomy(bert(), engine=engine, token=2))
    walk.set_state({"layer": 2, "_requests": 1})
    ((model, _, pair, layer, head),) = engine.requests
    assert (model, pair, layer, head) == ("test/model", None, 2, 1)
    assert (walk.anatomy.layer, sent(walk)["layer"], sent(walk)["position"]) == (2, 2, 2)
    # Without an engine no other layer opens.
    walk = looked_at(notebook.anatomy(bert()))
    walk.set_state({"layer": 2, "_requests": 1})
    assert walk.layer == 1
    with pytest.raises(InvalidInput, match=r"Give the engine, too"):
        walk.layer = 2
    # When the engine is gone the picture stays and says so.
    walk = looked_at(notebook.anatomy(bert(), engine=engine))
    before, engine.gone = walk._data, True
    walk.set_state({"layer": 2, "_requests": 1})
    assert (walk._message, walk._data, walk._answers) == ("The models do not answer.", before, 1)
    engine.gone = False
    walk.set_state({"layer": 0, "_requests": 2})
    assert (walk._message, sent(walk)["layer"]) == ("", 0)


def test_sentences_are_those_of_the_page() -> None:
    sentences = [ExampleSentence("The <b> sat.", (8, 11), (((4, 7), 0.83),), beside="83%")]
    widget = looked_at(notebook.example_sentences(sentences, "weight"))
    expected = {**example_sentences.payload(sentences, "weight"), "weights": b""}
    assert sent(widget) == as_sent(expected, widget)
    svg = str(widget._svg())
    assert re.findall(r">([^<>]+)</text>", svg) == ["83%", "The", "&lt;b&gt;", "sat", "."]
    assert str(widget) == "1 sentence"
    with pytest.raises(InvalidInput, match="There is no sentence to show"):
        notebook.example_sentences([])


def test_what_is_true_is_told_once_somebody_has_drawn() -> None:
    guess = looked_at(notebook.sketch(["a", "b"], [0.25, 0.5], unit="%", top=1))
    assert (sent(guess)["truth"], sent(guess)["drawn"]) == (None, None)
    assert "25%" not in guess._still()["text/html"]
    guess.set_state({"drawn": [0.1, 0.9], "_requests": 1})
    expected = {**sketch.payload(["a", "b"], [0.1, 0.9], [0.25, 0.5], top=1, unit="%", kind="bars"), "weights": b""}
    assert sent(guess) == as_sent(expected, guess)
    assert re.findall(r">([^<>]+)</text>", str(guess._svg())) == ["drawn", "true", "a", "10%", "25%", "b", "90%", "50%"]
    with pytest.raises(ValueError, match="do not fit 2 labels"):
        notebook.sketch(["a", "b"], [1.0])


def test_each_is_a_file_that_works_by_itself() -> None:
    sentences = notebook.example_sentences([ExampleSentence("It is so.")])
    numbers = notebook.cells(np.eye(2)), notebook.token_line(SCORES), notebook.anatomy(bert())
    for widget in (*numbers, sentences, notebook.sketch(["a"], [1.0])):
        html = widget.html()
        assert f"<h1>{widget.title}</h1>" in html
        assert "default-src 'none'" in html


def test_every_component_of_the_pages_is_a_widget_too() -> None:
    def below(kind: type) -> list[type]:
        return [descendant for child in kind.__subclasses__() for descendant in (child, *below(child))]

    widgets = {
        widget.source["js"]
        for widget in below(Widget)
        if widget.__module__.startswith("look_inside_bert.viz.notebook") and "source" in vars(widget)
    }
    apart = {"bertviz", "notebook", "saver", "shared", "standalone"}  # what is no picture of ours by itself
    names = {folder.name for folder in component.FILES.iterdir() if folder.is_dir()} - apart
    assert widgets == {component.linked(component.FILES / name / f"{name}.js") for name in names}
    parts = set(re.findall(r"^  (\w+): \{", component.text("notebook/parts.js"), re.MULTILINE))
    assert parts <= names
