"""Words that light up: the payload holds the numbers it says, and a text's words stand as they do in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builders import encoding, random_maps
from on_screen import unpacked

from analysis.words import token_units, word_units
from model_zoo.errors import InvalidInput
from viz import component, lit_words
from viz.palette import sequential


def word(text: str, **changes: Any) -> lit_words.Word:
    plain: dict[str, Any] = {
        "text": text,
        "token": text,
        "space": True,
        "piece": False,
        "special": False,
        "segment": 0,
        "dir": "ltr",
    }
    return lit_words.Word(**(plain | changes))  # type: ignore[typeddict-item]


def make(weights: Any, **changes: Any) -> lit_words.Payload:
    weights = np.asarray(weights, dtype=np.float32)
    arguments: dict[str, Any] = {"queries": [word(f"q{i}") for i in range(weights.shape[1])], "names": ["a", "b", "c"]}
    if weights.shape[1] != weights.shape[2]:
        arguments["keys"] = [word(f"k{i}") for i in range(weights.shape[2])]
    return lit_words.payload(weights, **(arguments | changes))


def decode(view: lit_words.Payload) -> np.ndarray:
    n, m = len(view["queries"]), len(view["queries"] if view["keys"] is None else view["keys"])
    numbers = np.frombuffer(view["weights"], dtype="<u2").reshape(3, n, m)
    return numbers * (np.array(view["limits"]) / 65535)[:, None, None]


def test_weights_by_hand_in_matrices_queries_keys_order() -> None:
    view = make([[[0, 1, 0.2]], [[0.4, 0.6, 0]], [[0.5, 0.25, 0.25]]])
    numbers = np.frombuffer(view["weights"], dtype="<u2")
    assert list(numbers) == [0, 65535, 13107, 26214, 39321, 0, 32768, 16384, 16384]
    assert view["limits"] == [1, 1, 1]


@pytest.mark.parametrize("shares", [True, False])
def test_weights_differ_by_at_most_the_stated_error(shares: bool) -> None:
    weights = random_maps(0, 3, 40, 31) * (1 if shares else np.array([[[0.03]], [[1]], [[17.5]]], dtype=np.float32))
    view = make(weights, shares=shares)
    assert view["limits"] == ([1, 1, 1] if shares else [float(matrix.max()) for matrix in weights])
    assert (np.abs(decode(view) - weights).max(axis=(1, 2)) <= np.array(view["limits"]) / 131070 * (1 + 1e-2)).all()


def test_a_row_that_is_rounded_up_is_a_whole_and_one_of_nothing_is_nothing() -> None:
    assert decode(make(np.full((3, 1, 1), 1.00001))).max() == 1
    view = make(np.zeros((3, 2, 2)), shares=False)
    assert view["weights"] == bytes(24)
    assert view["limits"] == [1, 1, 1]


@pytest.mark.parametrize("shape", [(3, 0, 2), (3, 2, 0)])
def test_no_words_are_refused(shape: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidInput, match="No token is left"):
        make(np.zeros(shape))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.1, 1.5])
def test_weights_that_are_no_shares_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"finite|at most 1"):
        make([[[0.5, wrong]]] * 3)


@pytest.mark.parametrize("changes", [{"queries": [word("one")]}, {"keys": [word("one")]}, {"names": ["one", "two"]}])
def test_lengths_must_fit(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\(3, 2, 4\)"):
        make(np.zeros((3, 2, 4)), **changes)
    with pytest.raises(ValueError, match=r"\(1, 2, 2\)"):
        make(np.zeros((1, 2, 2)), names=["one"])


def test_a_head_and_its_means_or_a_layer_and_its_mean() -> None:
    of_head, of_layer = make(np.zeros((3, 2, 2))), make(np.zeros((2, 2, 2)), names=["a", "b"], says="takes")
    assert of_head["choices"] == ["This head", "Mean of the layer", "Mean of all heads"]
    assert of_layer["choices"] == ["This layer", "Mean of all layers"]
    assert [(view["unit"], view["says"]) for view in (of_head, of_layer)] == [("head", "attends"), ("layer", "takes")]


def test_a_chosen_word_that_is_not_there_is_dropped() -> None:
    assert [make(np.zeros((3, 2, 2)), chosen=place)["chosen"] for place in (0, 1, 2, -1, None)] == [0, 1] + 3 * [None]


def luminance(colour: str) -> float:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("scale", "dark"), [("scale", False), ("dark_scale", True)])
def test_the_app_s_scale_with_a_text_to_be_read_on_each_colour(scale: str, dark: bool) -> None:
    shades = make(np.zeros((3, 1, 1)))[scale]  # type: ignore[literal-required]
    assert (shades[0][0], shades[-1][0]) == (sequential(dark)[0][1], sequential(dark)[-1][1])
    for ground, ink in shades:
        darker, lighter = sorted(map(luminance, (ground, ink)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_packed_bytes_are_length_header_weights() -> None:
    tokens = [word("שלום"), word("</script>", space=False)]
    view = make(random_maps(1, 3, 2, 2), queries=tokens, group="attention", head=4, n_heads=72)
    header, weights = unpacked(component.pack(view))
    assert weights == view["weights"]
    assert header["queries"] == tokens
    assert (header["keys"], header["group"], header["head"], header["n_heads"]) == (None, "attention", 4, 72)


# ---- words of a text -------------------------------------------------------------------------------------------------


def written(words: list[lit_words.Word]) -> str:
    return "".join((" " if word["space"] else "") + word["text"] for word in words)


def test_tokens_stand_as_the_text_reads() -> None:
    encoded = encoding(["play", "##ing", "cats"], ["it", "was"])
    words = lit_words.words(encoded, token_units(encoded))
    assert written(words) == " [CLS] playing cats [SEP] it was [SEP]"
    assert [word["special"] for word in words] == [True, False, False, False, True, False, False, True]
    assert [word["segment"] for word in words] == [0, 0, 0, 0, 0, 1, 1, 1]
    assert words[2]["token"] == "##ing"


def test_merged_words_and_what_a_filter_leaves() -> None:
    encoded = encoding(["play", "##ing", "cats"])
    assert [word["text"] for word in lit_words.words(encoded, word_units(encoded))] == [
        "[CLS]",
        "playing",
        "cats",
        "[SEP]",
    ]
    left = [unit for unit in token_units(encoded) if unit.label in ("play", "cats")]
    assert written(lit_words.words(encoded, left)) == " play cats"


def test_punctuation_touches_its_word_and_letters_are_those_typed() -> None:
    encoded = encoding(
        ["the", "cat", "."], front=None, end=None, text="The\ncat.", offsets=((0, 3), (4, 7), (7, 8))
    )  # an uncased tokenizer
    words = lit_words.words(encoded, token_units(encoded))
    assert written(words) == " The cat."
    assert words[0]["token"] == "the"


def test_bytes_of_a_character_that_stands_already_are_named_by_their_tokens() -> None:
    """As byte-level tokenizers have it: a lone space, then a character in three tokens, and a joiner nobody sees."""
    tokens, offsets = ["Ġa", "Ġ", "æ", "Ŀ", "±", "x"], ((0, 1), (2, 2), (2, 3), (2, 3), (2, 3), (3, 4))
    encoded = encoding(tokens, continues=None, front=None, end=None, text="a 東\u200d", offsets=offsets)
    assert [word["text"] for word in lit_words.words(encoded, token_units(encoded))] == [
        "a", "Ġ", "東", "Ŀ", "±", "⟨U+200D⟩",
    ]  # fmt: skip
    assert [word["space"] for word in lit_words.words(encoded, token_units(encoded))] == [True, True] + 4 * [False]
