"""The figures of masked words and next sentences hold the numbers they were given."""

from __future__ import annotations

import math

import builders
import numpy as np
import pytest

from analysis.corruption import Corruption
from analysis.erasure import Erasure
from analysis.pairs import judge
from analysis.words import Unit
from model_zoo.types import MaskLens, MaskPrediction, Prediction, Shift, Vocabulary
from viz.bars import erasure_bars, predictions, shifts
from viz.coherence import coherence
from viz.corruption import corrupted, legend
from viz.curves import calibration, lens_ranks
from viz.erasure import erased_sentence
from viz.lens_table import lens_table
from viz.matrix import head_map, layer_attention
from viz.palette import diverging, sequential
from viz.sentence_input import sentence_input
from viz.surprisal import SCALE_END, surprisal, surprisals
from viz.token_line import filled, payload

HOSTILE = "<b>$x%{y}"
ENCODING = builders.encoding(["a", HOSTILE], ["c"], ids=(0, 1, 2, 3, 4, 3))
BEST = (Prediction("dog", 7, 0.5), Prediction(HOSTILE, 8, 0.00042))


@pytest.mark.parametrize("dark", [False, True])
def test_predictions_are_bars_with_the_original_marked(dark: bool) -> None:
    answer = MaskPrediction(3, BEST, 1.0, Prediction("cat", 9, 0.0001), 40, math.log(0.0001))
    bars = predictions(answer, dark=dark).data[0]
    assert list(bars.x) == [0.5, 0.00042, 0.0001]
    assert list(bars.customdata) == [7, 8, 9]
    assert list(bars.text) == ["50%", "0.042%", "0.01%, rank 40"]
    assert bars.marker.color[0] == bars.marker.color[1] != bars.marker.color[2]
    labels = predictions(answer, dark=dark).layout.yaxis.ticktext
    assert labels[2] == "cat"
    assert "<b>" not in labels[1]
    among = MaskPrediction(3, BEST, 1.0, BEST[0], 1, math.log(0.5))
    assert len(predictions(among).data[0].x) == 2


def test_the_lens_follows_ranks() -> None:
    lens = MaskLens(2, ((BEST[1],), (BEST[1],), (BEST[0],)), BEST[0], (900, 12, 1), (-9.0, -4.0, -0.7), (5, 6, 7))
    answer, original = lens_ranks(lens, "cat").data
    assert list(answer.y) == [900, 12, 1]
    assert list(original.y) == [5, 6, 7]
    assert original.name == "what was there: cat"
    layout = lens_ranks(lens, "cat").layout
    assert not layout.showlegend  # Plotly's own takes its width from the plot
    assert [entry.text.split("</span> ")[1] for entry in layout.annotations] == ["the answer: dog", original.name]
    assert layout.annotations[0].yshift > layout.annotations[1].yshift
    assert layout.margin.t >= layout.annotations[0].yshift + 36  # under the title
    assert layout.yaxis.type == "log"
    bottom, top = layout.yaxis.range  # powers of ten: the best rank, 1, is on top, and all others fit below
    assert bottom > math.log10(900) > 0 > top
    long = lens_ranks(lens, "telecommunications").data[1].name
    assert long == "what was there: telecommunica…"
    same = MaskLens(2, lens.layers, BEST[0], (900, 12, 1), lens.log_probabilities, (900, 12, 1))
    assert len(lens_ranks(same).data) == 1
    lines = lens_table(lens)
    assert [line.label for line in lines] == ["embeddings", "layer 1", "layer 2"]
    assert [line.items[0].marked for line in lines] == [False, False, True]
    assert lines[2].items[0].cells[0].text == "dog 50%"


def test_surprisal_shows_its_numbers_and_leaves_special_tokens_out() -> None:
    units = [Unit("[CLS]", 0, 1, 0, True), Unit("cat", 1, 2, 0, False), Unit("[MASK]", 2, 3, 0, False)]
    line = surprisal(units, np.array([np.nan, 8.25, np.nan], dtype=np.float32), [None, BEST[0], None], label="A")
    assert [[cell.text for cell in item.cells] for item in line.items] == [["cat", "8.2"], ["[MASK]", "–"]]
    assert line.items[0].title == "top prediction: dog (50.0%)"
    assert line.items[0].cells[0].fill is not None
    assert line.items[1].cells[0].fill is None


def test_corruption_shows_what_was_given_and_what_stood_there() -> None:
    vocabulary = Vocabulary(("[CLS]", "a", "b", "[SEP]", "c", "[MASK]", "random"), 7, 5, "[MASK]", 0, frozenset())
    drawn = Corruption((0, 5, 6, 3, 4, 3), (None, "masked", "random", None, "kept", None))
    answers = [
        MaskPrediction(1, (Prediction("a", 1, 0.5),), 0.0, Prediction("a", 1, 0.5), 1, math.log(0.5)),
        MaskPrediction(2, (Prediction("z", 9, 0.5),), 0.0, Prediction(HOSTILE, 2, 0.1), 4, math.log(0.1)),
        MaskPrediction(4, (Prediction("c", 4, 1.0),), 0.0, Prediction("c", 4, 1.0), 1, 0.0),
    ]
    items = corrupted(ENCODING, drawn, vocabulary, answers).items
    assert [cell.text for cell in items[1].cells] == ["[MASK]", "a", "✓ a", "0.69"]
    assert [cell.text for cell in items[2].cells] == ["random", HOSTILE, "✗ z", "2.30"]
    assert [cell.text for cell in items[4].cells][:2] == ["c", "✓ c"]
    assert [item.cells[0].text for item in legend(drawn).items] == ["masked: 1", "random token: 1", "kept as it is: 1"]
    assert len({item.cells[0].fill for item in legend(drawn).items}) == 3


def test_the_input_has_token_segment_and_position() -> None:
    items = sentence_input(ENCODING).items
    assert [cell.text for cell in items[2].cells] == [HOSTILE, "A", "2"]
    assert [cell.text for cell in items[4].cells] == ["c", "B", "4"]
    assert items[2].cells[1].fill != items[4].cells[1].fill


def test_coherence_stands_between_sentences() -> None:
    lines = coherence(["One.", "Two.", "Three."], [0.9, 0.125])
    assert [line.items[0].cells[0].text for line in lines] == ["One.", "↓ 0.900", "Two.", "↓ 0.125", "Three."]


def test_what_a_word_does_for_a_guess_is_drawn() -> None:
    """Blue where hiding it costs, orange where it helps; the probability that is left under each word."""
    units = [Unit(label, at, at + 1, 0, False) for at, label in enumerate(["a", HOSTILE, "[MASK]", "c"])]
    effects = [
        Erasure(units[0], 0.5, 0.125, BEST[0]),
        Erasure(units[1], 0.5, 1.0, BEST[0]),
        Erasure(units[3], 0.5, 0.5, BEST[1]),
    ]
    line = erased_sentence(units, effects, [2], {2: "dog 50%"})
    assert [[cell.text for cell in item.cells] for item in line.items] == [
        ["a", "12%"],
        [HOSTILE, "100%"],
        ["[MASK]", "dog 50%"],
        ["c", "50%"],
    ]
    assert [item.marked for item in line.items] == [False, False, True, False]
    assert line.items[0].title == "without “a”: 50% → 12%; the prediction: dog"
    fills = [item.cells[0].fill for item in line.items]
    assert fills[2] is None
    assert fills[0] == filled("", diverging(False), 0.5 + 2 / 6).fill
    assert fills[1] == filled("", diverging(False), 0.5 - 1 / 6).fill
    figure = erasure_bars(effects, "P(dog)")
    assert list(figure.data[0].x) == [2, -1, 0]
    blue, orange, _ = figure.data[0].marker.color
    assert int(blue[5:], 16) > int(blue[1:3], 16)
    assert int(orange[5:], 16) < int(orange[1:3], 16)
    assert figure.layout.yaxis.ticktext[0] == "without “a”: 50% → 12%"
    assert "<b>" not in figure.layout.yaxis.ticktext[1]
    low, high = figure.layout.xaxis.range
    assert low < -1 < 2 < high
    assert erasure_bars([]).data[0].x == ()


def test_shifts_point_where_they_went() -> None:
    bars = shifts([Shift("she", 1, -3.0, -1.0), Shift("he", 2, -1.0, -1.5)]).data[0]
    assert list(bars.x) == [2.0, -0.5]
    assert bars.marker.color[0] != bars.marker.color[1]
    assert bars.hovertext[0] == "she: 0.0498 → 0.368"


def test_maps_of_heads_and_layers_hold_the_weights() -> None:
    values = np.array([[0.1, 0.2], [0.3, 0.4]], dtype=np.float32)
    np.testing.assert_array_equal(head_map(values, "share").data[0].z, values)
    values[1, 1] = np.nan  # a head that its layer does not have
    assert list(head_map(values, "share").data[1].text) == [".10", ".20", ".30"]
    small = head_map(values / 10, "bits", highest=0.03)
    assert small.data[0].zmax == pytest.approx(0.03)
    assert list(small.data[1].text) == [".010", ".020", ".030"]
    assert small.data[1].textfont.color == head_map(values, "bits", highest=0.3).data[1].textfont.color
    np.testing.assert_array_equal(layer_attention(values, ["a", HOSTILE]).data[0].z, values)
    short, long = (layer_attention(values, ["a", last]).layout.margin.r for last in ("b", "abcdefghijkl"))
    assert long > short > 30  # px: the last label ends before the button at the upper right
    with pytest.raises(ValueError, match="layers, heads"):
        head_map(values[0], "share")
    with pytest.raises(ValueError, match="do not fit"):
        layer_attention(values, ["a"])


def test_calibration_draws_its_bins() -> None:
    judged = judge([0.95, 0.15], [True, False])
    assert judged is not None
    points = calibration(judged).data[1]
    assert list(points.x) == [0.15, 0.95]
    assert list(points.y) == [0, 1]


@pytest.mark.parametrize("dark", [False, True])
def test_text_on_colours_can_be_read(dark: bool) -> None:
    """WCAG 2 contrast of at least 4.5 all along the scale."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for position in np.linspace(-0.1, 1.1, 25):
        cell = filled("x", sequential(dark), float(position))
        assert cell.fill is not None
        assert cell.ink is not None
        high, low = sorted((luminance(cell.fill), luminance(cell.ink)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_the_payload_is_plain_data() -> None:
    lines = payload(coherence(["One.", "Two."], [0.5]))["lines"]
    assert lines[0]["items"][0]["cells"][0]["text"] == "One."


def test_the_surprisal_of_several_models_is_on_one_axis_of_words() -> None:
    """Each word is one column with the numbers of all models, on one scale, under which a line names them again."""
    words = [f"word{place}" for place in range(40)]
    bits = {"A": np.linspace(0, 16, 40, dtype=np.float32), "Model B": np.full(40, np.nan, dtype=np.float32)}
    lines = surprisals(words, bits)
    assert len(lines) > 1
    columns = []
    for line in lines:
        first, *rest = line.items
        assert [cell.text for cell in first.cells[1:]] == ["A", "Model B"]
        assert first.cells[0].text  # an empty cell would have no height, and names would stand beside other rows
        columns += rest
    assert [column.cells[0].text for column in columns] == words
    for column, value in zip(columns, bits["A"].tolist(), strict=True):
        assert column.cells[1] == filled(f"{value:.1f}", sequential(dark=False), value / SCALE_END)
        assert column.cells[2].text == "–"
        assert column.title == f"A: {value:.1f} bits, Model B: not scored"


def test_bits_of_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="must be those of 2 words"):
        surprisals(["a", "b"], {"A": np.zeros(3, dtype=np.float32)})
