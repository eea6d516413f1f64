"""The heatmap of one head: exact weights, colours by the square root, every token as it was typed."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
import pytest

from model_zoo.types import FloatArray
from viz.heatmap import heatmap
from viz.layout import text_width, token_text
from viz.palette import sequential, theme

TWO: FloatArray = np.array([[0.25, 0.75], [0.98, 0.02]], dtype=np.float32)


def marks_of(figure: go.Figure) -> dict[float, float]:
    """The weights that the colour bar names, and how far along it each stands, 0 to 1."""
    length = max(shape.x1 for shape in figure.layout.shapes)
    return {float(s.label.text): s.x0 / length for s in figure.layout.shapes if s.label.text and s.x0 == s.x1}


def colour_at(figure: go.Figure, weight: float) -> FloatArray:
    """The colour Plotly gives a weight: between the two stops around it, linear in red, green and blue."""
    trace = figure.data[0]
    place = (weight - trace.zmin) / (trace.zmax - trace.zmin)
    positions = [stop[0] for stop in trace.colorscale]
    channels = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for _, c in trace.colorscale])
    return np.array([np.interp(place, positions, channel) for channel in channels.T], dtype=np.float32)


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def test_the_trace_holds_the_exact_weights_as_float32() -> None:
    figure = heatmap(TWO, ["a", "b"], ["a", "b"])
    assert figure.data[0].z.dtype == np.float32
    np.testing.assert_array_equal(figure.data[0].z, TWO)
    assert figure.to_dict()["data"][0]["z"]["dtype"] == "f4"


@pytest.mark.parametrize("dark", [False, True])
def test_colour_follows_the_square_root_on_one_scale_for_every_head(dark: bool) -> None:
    scale = sequential(dark)
    for weights in (TWO, TWO / 10):
        figure = heatmap(weights, ["a", "b"], ["a", "b"], dark=dark)
        for weight, colour in (
            (0.0, scale[0][1]),
            (0.25, scale[16][1]),
            (1 / 64, scale[4][1]),
            (1.0, scale[32][1]),
        ):
            np.testing.assert_allclose(colour_at(figure, weight), rgb(colour), atol=0.01)
    assert figure.layout.paper_bgcolor == theme(dark).background
    assert figure.layout.font.color == theme(dark).text


def test_stretch_ends_the_scale_at_the_largest_weight() -> None:
    figure = heatmap(TWO / 2, ["a", "b"], ["a", "b"], stretch=True)
    assert figure.data[0].zmax == pytest.approx(0.49)
    np.testing.assert_allclose(colour_at(figure, 0.49), rgb(sequential(False)[-1][1]), atol=0.01)
    marks = marks_of(figure)
    for weight, place in marks.items():
        assert place == pytest.approx(np.sqrt(weight / 0.49), abs=0.005)  # to a pixel
    assert max(marks) == 0.49
    assert heatmap(np.zeros((2, 2), np.float32), ["a", "b"], ["a", "b"], stretch=True).data[0].zmax == 1


def test_the_colour_bar_names_weights_at_the_place_of_their_root_and_says_so() -> None:
    figure = heatmap(TWO, ["a", "b"], ["a", "b"], what="share of attention")
    marks = marks_of(figure)
    assert (marks[0], marks[0.2], marks[1]) == (0, pytest.approx(np.sqrt(0.2), abs=0.005), 1)
    assert min(np.diff(sorted(marks.values()))) * 180 > 22  # px: two labels beside each other
    assert figure.layout.shapes[-1].label.text == "share of attention (square-root scale)"


@pytest.mark.parametrize("dark", [False, True])
def test_the_colour_bar_has_the_colours_of_the_cells_in_equal_pieces(dark: bool) -> None:
    figure = heatmap(TWO, ["a", "b"], ["a", "b"], dark=dark)
    pieces = [shape for shape in figure.layout.shapes if shape.fillcolor is not None]
    width = 180 / len(pieces)
    assert width < 12
    for number, piece in enumerate(pieces):
        assert piece.x0 == pytest.approx(number * width, abs=0.5)
        # The first piece is the colour of 0, the last that of 1, and those between follow the square root.
        weight = (number / (len(pieces) - 1)) ** 2
        np.testing.assert_allclose(colour_at(figure, weight), rgb(piece.fillcolor), atol=0.01)


def test_repeated_tokens_keep_their_own_rows_and_columns() -> None:
    tokens = ["the", "cat", "the"]
    figure = heatmap(np.eye(3, dtype=np.float32), tokens, tokens)
    assert figure.data[0].x == ("1 · the", "2 · cat", "3 · the")
    assert figure.data[0].y == ("1 · the", "2 · cat", "3 · the")
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert axis.categoryarray == figure.data[0].x
        assert axis.labelalias == {"1 · the": "the", "2 · cat": "cat", "3 · the": "the"}
    assert (figure.layout.xaxis2.matches, figure.layout.yaxis2.matches) == ("x", "y")


def test_queries_run_down_and_keys_along_the_top_also_when_they_differ() -> None:
    figure = heatmap(np.full((2, 3), 1 / 3, np.float32), ["q1", "q2"], ["k1", "k2", "k3"])
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.side == "top"
    assert "query" in figure.layout.yaxis.title.text
    assert "key" in figure.layout.xaxis.title.text
    assert (len(figure.data[0].y), len(figure.data[0].x)) == (2, 3)


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2, 3)])
def test_tokens_that_do_not_fit_the_matrix_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="do not fit 2 queries and 2 keys"):
        heatmap(np.zeros(shape, np.float32), ["a", "b"], ["a", "b"])


@pytest.mark.parametrize("n", [1, 5, 8, 24, 120, 200, 512])
def test_cells_are_never_giant_and_the_figure_never_endless(n: int) -> None:
    figure = heatmap(np.zeros((n, n), np.float32), ["a"] * n, ["a"] * n)
    cells = figure.layout.height - 184  # labels and colour bar
    assert cells / n <= 64.5
    assert cells <= 620
    assert cells >= min(64 * n, 310)
    assert figure.layout.width is None


def test_bytes_grow_with_the_matrix_alone() -> None:
    n = 128
    figure = heatmap(np.full((n, n), 1 / n, np.float32), ["token"] * n, ["token"] * n)
    assert len(figure.to_json()) < n * n * 4 * 4 / 3 + 200 * n + 10_000


@pytest.mark.parametrize(
    "token",
    [
        "<script>",
        "<b>",
        "&",
        "&lt;",
        "%{x}",
        "$x$",
        "a<br>b",
        "🙂",
        "שלום",
        "##ing",
        "Ġthe",
        "▁the",
        "a\u200db",
    ],
)
def test_markup_in_a_token_is_shown_as_typed(token: str) -> None:
    text = token_text(token)
    assert html.unescape(text) == token
    assert not set("<>$%{}") & set(text)


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("\x00", "⟨U+0000⟩"),
        ("a\nb", "a⟨U+000A⟩b"),
        ("\ud800", "⟨U+D800⟩"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("\u200b", "⟨U+200B⟩"),
        ("\u200d", "⟨U+200D⟩"),
        (" ", "␣"),
        (" a", "␣a"),
        ("\u00a0", "␣"),
        ("", "(empty)"),
    ],
)
def test_what_cannot_be_seen_is_named(token: str, shown: str) -> None:
    assert token_text(token) == shown


def test_long_tokens_are_cut_beside_the_matrix_and_whole_when_hovering() -> None:
    token = "x" * 50
    figure = heatmap(np.ones((1, 1), np.float32), [token], [token])
    (name,) = figure.data[0].x
    assert name == f"1 · {token}"
    assert figure.layout.xaxis.labelalias[name] == "x" * 15 + "…"
    assert "%{x}" in figure.data[0].hovertemplate
    assert "%{z:.4f}" in figure.data[0].hovertemplate


def test_any_token_can_be_sent_as_json() -> None:
    tokens = ["\ud800", "\x00", "<b>", "\uffff"]
    heatmap(np.eye(4, dtype=np.float32), tokens, tokens).to_json().encode("utf-8")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("", 0, 0), ("the", 15, 25), ("MMM", 24, 34), ("中文", 24, 24), ("e\u0301", 6, 8), ("&#60;b&#62;", 15, 25)],
)
def test_width_of_a_label_is_near_what_a_browser_needs(text: str, low: float, high: float) -> None:
    """At 12 px; markup signs count as the one character that they are shown as."""
    assert low <= text_width(text) <= high


def test_labels_have_the_room_that_they_need() -> None:
    long, short = (heatmap(TWO, tokens, ["a", "b"]) for tokens in (["internationally", "b"], ["a", "b"]))
    assert long.layout.margin.l - short.layout.margin.l > 80
    assert long.layout.margin.t == short.layout.margin.t
