"""What holds for every Plotly figure of viz: it has the app's layout, and looks right by itself in light and dark."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from measured_results import LATENCY, MAP, PARSED, TASK, TREES

import viz
from analysis.corpus.importance import Curve as PruningCurve
from analysis.corpus.importance import Mean, compare_head, compared_sets
from analysis.erasure import Erasure
from analysis.lens_fit import Distance, JudgedLens
from analysis.minimal_pairs import MinimalPair, accuracies
from analysis.neuron import query_numbers
from analysis.pairs import judge
from analysis.words import Unit
from model_zoo.types import FittedLens, MaskLens, MaskPrediction, Prediction, Shift
from viz.curves import Ranking
from viz.head_measure import HeadMeasure
from viz.intervals import Entry, RelationScore
from viz.layout import COLOUR_BAR_SPACE, FONT
from viz.palette import diverging, opposes, supports, theme
from viz.strips import Strip
from viz.training_curves import Curve, Point

MAKERS = ("make_figure", "matrix_figure")  # what figures are made with
KINDS = (".py", ".js", ".css", ".html")

WEIGHTS = np.array([[0.75, 0.25], [0.5, 0.5]], dtype=np.float32)
CAT, DOG = Prediction("cat", 1, 0.5), Prediction("dog", 2, 0.25)
MATTERS = compare_head(*[np.eye(6, 9, dtype=np.float32)] * 2, range(9), compared_sets((0, 1), 4))
CURVE = Curve("M", [(0.5, 1.0, 0.7), (1.0, 2.0, 0.6)], [(0.0, 0.0, 0.7, 0.5), (1.0, 2.0, 0.6, 0.6)])
HEADS = [(0, 0), (0, 1)]
A_MEASURE = HeadMeasure("a", *np.array([[0.5, 0.25], [0.4, 0.2], [0.6, 0.3]]), unit="b")
JUDGED_LENS = JudgedLens(
    lens=FittedLens.from_changes("m", "r", 60, np.zeros((2, 3, 2)), np.zeros(2)), logit=(Distance(5.0, 4.5, 5.5),) * 2,
    fitted=(Distance(2.0, 1.75, 2.25),) * 2, average=Distance(3.0, 2.75, 3.25), n_masks=40, n_texts=10, n_units=10,
)  # fmt: skip

LENS = MaskLens(1, ((DOG,), (CAT,)), CAT, (900, 1), (-9.0, -0.7), (5000, 60))
TEXTS = ["a text", "another"]
TWO = [("a", WEIGHTS), ("b", WEIGHTS)]
KEPT = PruningCurve("greedy", (0, 2), (Mean(0.9, 0.8, 1.0, 9, 9),) * 2)
ERASED = [Erasure(Unit(word, 1, 2, 0, False), 0.5, after, CAT) for word, after in (("dog", 0.25), ("a", 0.75))]


def example(*positional: object, **named: object) -> tuple[tuple[object, ...], dict[str, object]]:
    """What a figure is drawn from."""
    return positional, named


EXAMPLES = {
    "bars.bars": example(["a", "b"], [("before", [1.0, 2.0]), ("after", [0.5, 0.0])]),
    "curves.calibration": example(judge([0.95, 0.15], [True, False])),
    "matrix.head_matrix": example(WEIGHTS, 1, 2, 2, 1, names=("A", "B")),
    "curves.by_length": example({"m": (LATENCY,)}, "latency", names={"m": "M"}),
    "curves.curves": example(["1", "2"], [("a", [0.5, 1.0])], quantity="cosine"),
    "bars.erasure_bars": example(ERASED, "Title"),
    "matrix.head_map": example(WEIGHTS, "share"),
    "planes.head_scatter": example(HEADS, A_MEASURE, A_MEASURE, A_MEASURE, chosen=0, matches=[1]),
    "matrix.layer_attention": example(WEIGHTS, ["a", "b"]),
    "planes.plane": example(MAP),
    "matrix.similarity": example(WEIGHTS),
    "matrix.token_movement": example(WEIGHTS, ["a", "b"], "1 − cosine"),
    "curves.lens_distances": example(JUDGED_LENS),
    "curves.lens_ranks": example(LENS, "a long word in the way"),
    "matrix.matrices": example(TWO, ["x", "y"], ["p", "q"], quantity="share", axes=("row", "column")),
    "intervals.measure_dots": example(HEADS, [A_MEASURE], 0),
    "intervals.accuracy_bars": example(accuracies([MinimalPair("a", "b", "word order")], [1.0])),
    "neuron.neuron": example(
        query_numbers(WEIGHTS[0], WEIGHTS, WEIGHTS @ WEIGHTS[0], 1.0), query_label="a", key_labels=["a", "b"]
    ),
    "bars.predictions": example(MaskPrediction(1, (CAT, DOG), 1.0, DOG, 2, -1.4)),
    "curves.probe_curve": example(TASK, "A task"),
    "curves.pruning": example([KEPT], "right", 2, percent=True, baseline=("chance", 0.5)),
    "bars.ranking": example([(0, 1), (0, 0)], [0.75, 0.25], [0.5, 0.5], "attention on “a”"),
    "probing.layers_by_tasks": example([TASK], ["A task"]),
    "intervals.relation_dots": example([RelationScore("a", (0, 1), 9, 0.5, 0.4, 0.6, {"b": 0.2}, 0.7)]),
    "relation_matrix.relation_matrix": example(
        HEADS, ["a", "b"], WEIGHTS, WEIGHTS, WEIGHTS, [0, 1], {"x": [0.5, 0.25]}, chosen=(0, 1)
    ),
    "strips.strips": example([Strip("token", WEIGHTS[0]), Strip("sum", WEIGHTS[1], ["x", "y"], "=", [1])]),
    "intervals.switched_off": example(MATTERS, "change of ln P (nats)"),
    "structural.by_layer": example(TREES),
    "structural.trees": example(PARSED, 0),
    "bars.shifts": example([Shift("she", 1, -3.0, -1.0), Shift("he", 2, -1.0, -3.0)]),
    "planes.cka_by_layer": example(np.array([1.0, 0.5], dtype=np.float32)),
    "planes.learning_plane": example(np.ones((2, 2, 2), dtype=np.float32), (0.6, 0.3), ["0", "1"], TEXTS, ["x", "y"]),
    "matrix.confusion": example(np.array([[3, 1], [0, 2]]), ["a", "b"]),
    "bars.label_bars": example(["a", "b"], [0.25, 0.75]),
    "outcome.span_scores": example(["a", "b"], [1.0, -1.0], [0.5, 2.0], (0, 1), 0.5),
    "intervals.score_by_cost": example([Entry("M", 2.0, 0.8, 0.7, 0.9)], "ms", "Accuracy"),
    "matrix.cosine_matrix": example(np.eye(2, dtype=np.float32), ["a cat", "a dog"]),
    "planes.sentence_plane": example(np.ones((2, 2), dtype=np.float32), (0.6, 0.3), ["a cat", "a dog"]),
    "curves.rho_by_layer": example([Ranking("Mean", False, [(0, 0.5, 0.4, 0.6), (1, 0.6, 0.5, 0.7)])], "removed"),
    "bars.waterfall": example([("head 1.2", 0.5, "raises cat"), ("biases", -1.0, "")], "logit of cat"),
    "training_curves.by_examples": example([Point("trained", 50, 0.7, 0.6, 0.8)], "Accuracy", baseline=0.5),
    "training_curves.losses": example([CURVE]),
    "training_curves.scores": example([CURVE], "Accuracy", baseline=0.5),
}


def figure_functions() -> dict[str, Callable[..., go.Figure]]:
    """Every public function of viz that returns a figure, as "file.function"."""
    functions = {}
    for module in pkgutil.walk_packages(viz.__path__, f"{viz.__name__}."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if function.__module__ != module.name or name.startswith("_") or name in MAKERS:
                continue
            if inspect.signature(function, eval_str=True).return_annotation is go.Figure:
                functions[f"{module.name.removeprefix(f'{viz.__name__}.')}.{name}"] = function
    return functions


FIGURES = figure_functions()


def test_every_figure_has_an_example() -> None:
    assert set(FIGURES) == set(EXAMPLES)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_follows_the_rules(name: str, dark: bool) -> None:
    positional, named = EXAMPLES[name]
    figure = FIGURES[name](*positional, **named, dark=dark)
    has_the_layout(figure, dark)
    shows_a_sign_by_one_pair_of_colours(figure, dark)
    if any(trace.type == "heatmap" for trace in figure.data):
        is_a_heatmap_like_the_others(name, figure)


def has_the_layout(figure: go.Figure, dark: bool) -> None:
    layout, colours = figure.layout, theme(dark)
    assert (layout.paper_bgcolor, layout.plot_bgcolor) == (colours.background, colours.background)
    assert (layout.font.family, layout.font.color) == (FONT, colours.text)
    assert (layout.hoverlabel.bgcolor, layout.hoverlabel.font.color) == (colours.surface, colours.text)
    assert layout.template.layout.to_plotly_json() == {}  # Plotly's own theme is light, and left out
    assert layout.autosize  # as wide as its place on the page,
    assert layout.height is not None  # and as high as it needs
    margins = [layout.margin[side] for side in "lrtb"]
    assert None not in margins
    assert sum(margins[:2]) <= 80  # Plotly's own take 160 of the 296 px of a narrow column
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        assert axis.tickfont.color == colours.text
    # A place for a legend is of no use where none is shown, and one that is shown leaves the width to the plot.
    assert bool(layout.showlegend) == bool(layout.legend.to_plotly_json())
    if layout.showlegend:
        assert layout.legend.y is not None
        assert layout.legend.yref == "container" or not 0 <= layout.legend.y <= 1


def shows_a_sign_by_one_pair_of_colours(figure: go.Figure, dark: bool) -> None:
    for trace in figure.data:
        if trace.type == "heatmap" and trace.zmin is not None and trace.zmin < 0:
            assert trace.colorscale == diverging(dark)
        if trace.type != "bar" or isinstance(trace.marker.color, str | None):
            continue
        of_sign: dict[bool, set[str]] = {True: set(), False: set()}
        for value, colour in zip(trace.x, trace.marker.color, strict=True):
            if colour != theme(dark).primary:  # a sum
                of_sign[value < 0].add(colour)
        if of_sign[True] and of_sign[True] != of_sign[False]:
            assert of_sign[True] == {opposes(dark)}
            assert of_sign[False] <= {supports(dark)}


def test_colours_are_the_palettes_alone() -> None:
    """Whoever writes one into a figure, a page or a component would begin a second pair."""
    root = Path(viz.__file__).parents[1]
    files = [file for package in ("viz", "ui", "pages") for file in (root / package).rglob("*") if file.suffix in KINDS]
    files = [file for file in files if "bertviz" not in file.parts and file.name != "theme.css"]
    with_colours = {file.name for file in files if re.search(r"#[0-9a-fA-F]{6}\b", file.read_text("utf-8"))}
    # Beside the palette: black and white, of text on any colour; and the red of a wrong answer.
    assert with_colours == {"palette.py", "token_line.py", "loop.py"}


def is_a_heatmap_like_the_others(name: str, figure: go.Figure) -> None:
    """What rows and columns are stands at the left and above; below, a bar says what a colour is, in the same place and
    the same form of numbers; nothing has a title of its own.
    """
    layout = figure.layout
    marks = [shape for shape in layout.shapes if shape.name == "mark of a colour bar"]
    titles = [shape for shape in layout.shapes if shape.name == "title of a colour bar"]
    assert not any(trace.showscale for trace in figure.data if trace.type == "heatmap"), "a bar of Plotly's"
    assert layout.title.text is None
    assert titles, "no bar says what the colours are"
    assert all(title.label.text for title in titles)
    assert {(title.y0, title.y1) for title in titles} == {(-34, -52)}
    assert layout.margin.b >= COLOUR_BAR_SPACE
    assert titles[0].xanchor == 0
    number = r"[≤≥]?[−+]?\d+(\.\d+)?(e-\d+)?"
    assert all(re.fullmatch(f"{number}%?|majority", mark.label.text) for mark in marks)
    for axis in figure.select_yaxes():
        assert axis.title.text or not axis.showticklabels
    if name != "neuron.neuron":  # whose columns have headings
        for axis in figure.select_xaxes():
            assert axis.title.text
            assert axis.side == "top"
