"""The result types check what they are given, show themselves in a short line, and load no table package."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from runs_by_hand import ENCODING, INFO, array, run_of, two_tokens

from model_zoo.types import (
    Encoding,
    HiddenStates,
    MapsLayer,
    MaskLens,
    MaskPrediction,
    Prediction,
    SentenceScore,
    TokenScores,
    Vocabulary,
    duration,
    format_interval,
)


@pytest.mark.parametrize("field", ["ids", "word_ids", "offsets", "segment_ids", "special"])
def test_fields_of_an_encoding_have_one_entry_a_token(field: str) -> None:
    assert len(Encoding(**ENCODING)) == 2
    with pytest.raises(ValueError, match="one entry a token; got 2 tokens"):
        Encoding(**(ENCODING | {field: ENCODING[field][:1]}))


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 4), (3, 1, 2, 4)])
def test_hidden_states_have_one_vector_a_token(shape: tuple[int, ...]) -> None:
    encoding = Encoding(**ENCODING)
    assert HiddenStates(encoding, np.zeros((3, 2, 4), np.float32)).states.shape == (3, 2, 4)
    with pytest.raises(ValueError, match=r"states are \(layers \+ 1, 2, width\)"):
        HiddenStates(encoding, np.zeros(shape, np.float32))


def test_the_unnormed_last_layer_has_the_shape_of_a_layer() -> None:
    with pytest.raises(ValueError, match=r"last_unnormed is \(2, 4\)"):
        HiddenStates(Encoding(**ENCODING), np.zeros((3, 2, 4), np.float32), last_unnormed=np.zeros((3, 4), np.float32))


PREDICTIONS = tuple(Prediction(token, place, 0.5 / (place + 1)) for place, token in enumerate("abcde"))
SCORES = TokenScores(Encoding(**ENCODING), INFO, np.array([-1.25, np.nan], np.float32), (None, None))
CROSS = dataclasses.replace(run_of(MapsLayer(np.zeros((2, 2, 2)))), stack="cross", source=Encoding(**ENCODING))
PAIR = Encoding(**(ENCODING | {"text": "a\n" + "b" * 99, "text_pair": "c", "n_dropped": 7}))


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (PAIR, r"2 tokens \(7 left out\) of 'a\\nb{37}…' \+ 'c'"),
        (HiddenStates(Encoding(**ENCODING), np.zeros((3, 2, 4), np.float32)), "3 layers, width 4, 2 tokens of 'a b'"),
        (run_of(two_tokens(), two_tokens()), "tiny: 2 layers × 1 head, 2 tokens of 'a b'"),
        (CROSS, "tiny, cross: 1 layer × 2 heads, 2 tokens of 'a b', encoder read 2 tokens of 'a b'"),
        (two_tokens(), r"1 head, query \(1, 2, 2\), key \(1, 2, 2\)"),
        (SCORES, "tiny: sum of ln P -1.25, 2 tokens of 'a b'"),
        (
            MaskPrediction(4, PREDICTIONS, 1.0, PREDICTIONS[4], 1500, -2.3),
            r"'a' 0\.500, .* 2 more, was 'e' \(rank 1,500\)",
        ),
        (MaskLens(4, (PREDICTIONS,) * 2, PREDICTIONS[0], (1200, 1), (-9.0, -0.1), None), "'a', rank by layer 1,200, 1"),
        (Vocabulary(tuple("abc") * 10_000, 30_000, 0, "[MASK]", None, frozenset()), "30,000 tokens"),
        (SentenceScore(0.98765, (2.0, -2.0), "NSP", Encoding(**ENCODING), INFO), "NSP 0.9877"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_result_shows_itself_in_one_short_line(result: Any, line: str) -> None:
    assert re.match(f"<{type(result).__name__} .*{line}.*>$", repr(result))


def test_arrays_that_are_handed_out_cannot_be_written_to() -> None:
    """The engine gives one result to everybody who asks. What made it is not locked."""
    query, key = array([[[2, 0], [0, 2]]]), array([[[1, 0], [0, 1]]])
    layer = two_tokens(query=query, key=key, mask=np.ones((1, 2, 2), dtype=bool))
    run = run_of(layer, MapsLayer(np.full((2, 2, 2), 0.5, np.float32)), projections=(array([np.eye(2)]), None))
    handed_out = [
        *(getattr(layer, name) for name in ("query", "key", "value", "mask")),
        *(run.head(number, 0) for number in (0, 1)),
        *(run.layer(number) for number in (0, 1)),
        *run.query_key(0, 0),
        run.value(0, 0),
        run.value_norms(0),
        run.norms_of_sum(0),
        run.output_projections[0],
        HiddenStates(Encoding(**ENCODING), np.zeros((3, 2, 4), np.float32)).states,
        SCORES.log_probabilities,
    ]
    for number, values in enumerate(handed_out):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
        assert values.copy().flags.writeable, number
    query[0, 0, 0] = 2
    assert query.flags.writeable


def test_hidden_states_know_their_layers() -> None:
    states = np.zeros((2, 2, 4), np.float32)
    assert HiddenStates(Encoding(**ENCODING), states).layers == (0, 1)
    assert HiddenStates(Encoding(**ENCODING), states, (4, 1)).layers == (4, 1)
    with pytest.raises(ValueError, match="2 states cannot be those of 1 layers"):
        HiddenStates(Encoding(**ENCODING), states, (4,))


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (0, "1 second"),
        (39.6, "40 seconds"),
        (119, "2 minutes"),
        (600, "10 minutes"),
        (5399, "90 minutes"),
        (4e4, "11 hours"),
    ],
)
def test_a_time_is_told_in_whole_numbers(seconds: float, message: str) -> None:
    assert duration(seconds) == message


def test_a_number_is_told_with_its_interval() -> None:
    assert format_interval(0.824, 0.71, 0.896, ".0%") == "82% (71% to 90%)"
    assert format_interval(0.054, -0.126, 0.2, ".2f") == "0.05 (−0.13 to 0.20)"
