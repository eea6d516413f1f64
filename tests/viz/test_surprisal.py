"""Lines of words below which numbers stand hold what they were given."""

import math

import builders
import numpy as np
import pytest
from contrast import contrast

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
from viz.pieces import pieces
from viz.sentence_input import sentence_input
from viz.surprisal import SCALE_END, surprisal, surprisals
from viz.token_line import filled

HOSTILE = "<b>$x%{y}"
ENCODING = builders.encoding(["a", HOSTILE], ["c"], ids=(0, 1, 2, 3, 4, 3))
BEST = (Prediction("dog", 7, 0.5), Prediction(HOSTILE, 8, 0.00042))


def test_predictions_are_bars_with_the_original_marked() -> None:
    answer = MaskPrediction(3, BEST, 1.0, Prediction("cat", 9, 0.0001), 40, math.log(0.0001))
    (bars,) = predictions(answer).data
    assert list(bars.x) == [0.5, 0.00042, 0.0001]
    assert list(bars.customdata) == [7, 8, 9]
    assert list(bars.text) == ["50%", "0.042%", "0.01%, rank 40"]
    assert bars.marker.color[0] == bars.marker.color[1] != bars.marker.color[2]
    labels = predictions(answer).layout.yaxis.ticktext
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
    assert layout.margin.t >= layout.annotations[0].yshift + 36  # under the title
    bottom, top = layout.yaxis.range  # powers of ten: the best rank, 1, is on top, and all others fit below
    assert bottom > math.log10(900) > 0 > top
    same = MaskLens(2, lens.layers, BEST[0], (900, 12, 1), lens.log_probabilities, (900, 12, 1))
    assert len(lens_ranks(same).data) == 1
    lines = lens_table(lens)
    assert [line.label for line in lines] == ["embeddings", "layer 1", "layer 2"]
    assert [line.items[0].marked for line in lines] == [False, False, True]
    assert lines[2].items[0].cells[0].text == "dog 50%"


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


def test_coherence_stands_between_sentences() -> None:
    lines = coherence(["One.", "Two.", "Three."], [0.9, 0.125])
    assert [line.items[0].cells[0].text for line in lines] == ["One.", "↓ 0.900", "Two.", "↓ 0.125", "Three."]
    items = sentence_input(ENCODING).items
    assert [cell.text for cell in items[2].cells] == [HOSTILE, "A", "2"]
    assert [cell.text for cell in items[4].cells] == ["c", "B", "4"]
    assert items[2].cells[1].fill != items[4].cells[1].fill
    units = [Unit("[CLS]", 0, 1, 0, True), Unit("cat", 1, 2, 0, False), Unit("[MASK]", 2, 3, 0, False)]
    line = surprisal(units, np.array([np.nan, 8.25, np.nan], dtype=np.float32), [None, BEST[0], None], label="A")
    assert [[cell.text for cell in item.cells] for item in line.items] == [["cat", "8.2"], ["[MASK]", "–"]]
    assert line.items[0].title == "top prediction: dog (50.0%)"
    assert line.items[0].cells[0].fill is not None
    assert line.items[1].cells[0].fill is None
    bars = shifts([Shift("she", 1, -3.0, -1.0), Shift("he", 2, -1.0, -1.5)]).data[0]
    assert list(bars.x) == [2.0, -0.5]
    assert bars.marker.color[0] != bars.marker.color[1]
    assert bars.hovertext[0] == "she: 0.0498 → 0.368"
    judged = judge([0.95, 0.15], [True, False])
    points = calibration(judged).data[1]
    assert list(points.x) == [0.15, 0.95]
    assert list(points.y) == [0, 1]


def test_what_a_word_does_for_a_guess_is_drawn() -> None:
    """Blue where hiding it costs, orange where it helps; the probability that is left under each word."""
    units = [Unit(label, at, at + 1, 0, False) for at, label in enumerate(["a", HOSTILE, "[MASK]", "c"])]
    after = [(units[0], 0.125, BEST[0]), (units[1], 1.0, BEST[0]), (units[3], 0.5, BEST[1])]
    effects = [Erasure(unit, 0.5, left, best) for unit, left, best in after]
    line = erased_sentence(units, effects, [2], {2: "dog 50%"})
    texts = [cell.text for item in line.items for cell in item.cells]
    assert texts == ["a", "12%", HOSTILE, "100%", "[MASK]", "dog 50%", "c", "50%"]
    assert [item.marked for item in line.items] == [False, False, True, False]
    assert line.items[0].title == "without “a”: 50% → 12%; the prediction: dog"
    fills = [item.cells[0].fill for item in line.items]
    blue, orange = (filled("", diverging(False), 0.5 + part).fill for part in (2 / 6, -1 / 6))
    assert fills[:3] == [blue, orange, None]
    figure = erasure_bars(effects, "P(dog)")
    assert list(figure.data[0].x) == [2, -1, 0]
    low, high = figure.layout.xaxis.range
    assert low < -1 < 2 < high
    assert erasure_bars([]).data[0].x == ()


def test_maps_of_heads_and_layers_hold_the_weights() -> None:
    values = np.array([[0.1, 0.2], [0.3, 0.4]], dtype=np.float32)
    np.testing.assert_array_equal(head_map(values, "share").data[0].z, values)
    values[1, 1] = np.nan  # a head that its layer does not have
    assert list(head_map(values, "share").data[1].text) == [".10", ".20", ".30"]
    small = head_map(values / 10, "bits", highest=0.03)
    assert small.data[0].zmax == pytest.approx(0.03)
    assert list(small.data[1].text) == [".010", ".020", ".030"]
    np.testing.assert_array_equal(layer_attention(values, ["a", HOSTILE]).data[0].z, values)
    with pytest.raises(ValueError, match="layers, heads"):
        head_map(values[0], "share")
    with pytest.raises(ValueError, match="do not fit"):
        layer_attention(values, ["a"])


@pytest.mark.parametrize("dark", [False, True])
def test_text_on_colours_can_be_read(dark: bool) -> None:
    for position in np.linspace(-0.1, 1.1, 25):
        cell = filled("x", sequential(dark), float(position))
        assert contrast(cell.fill, cell.ink) >= 4.5


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
    with pytest.raises(ValueError, match="must be those of 2 words"):
        surprisals(["a", "b"], {"A": np.zeros(3, dtype=np.float32)})


def test_each_row_has_the_pieces_of_each_word_the_more_the_darker() -> None:
    (line,) = pieces(["A", "word"], {"one, two": ["a", "wo · ##rd"], "three": ["A", "w · o · r · d"]})
    names, first, second = line.items
    assert [cell.text for cell in names.cells] == ["\u00a0", "one, two", "three"]
    assert [cell.text for cell in first.cells] == ["A", "a", "A"]
    assert [cell.text for cell in second.cells] == ["word", "wo · ##rd", "w · o · r · d"]
    assert first.cells[1].fill == first.cells[2].fill
    assert len({first.cells[1].fill, second.cells[1].fill, second.cells[2].fill}) == 3
    assert second.title == "one, two: 2 pieces, three: 4 pieces"
    lines = pieces(["word"] * 60, {"a": ["word"] * 60})
    assert len(lines) > 1
    assert {line.items[0].cells[1].text for line in lines} == {"a"}
    assert sum(len(line.items) - 1 for line in lines) == 60
    with pytest.raises(ValueError, match="pieces of 2 words"):
        pieces(["a", "b"], {"a": ["a"]})
