"""Words that light up: the payload holds the numbers it says, and a text's words stand as they do in it."""

from typing import Any

import numpy as np
import pytest
from builders import encoding, random_maps
from contrast import contrast
from on_screen import unpacked

from analysis.words import token_units, word_units
from model_zoo.errors import InvalidInput
from viz import component, lit_words
from viz.palette import sequential


def word(text: str, **changes: Any) -> lit_words.Word:
    plain = {"text": text, "token": text, "space": True, "piece": False, "special": False, "segment": 0, "dir": "ltr"}
    return lit_words.Word(**(plain | changes))


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
    # A row that is rounded up is a whole and one of nothing is nothing.
    assert decode(make(np.full((3, 1, 1), 1.00001))).max() == 1
    view = make(np.zeros((3, 2, 2)), shares=False)
    assert view["weights"] == bytes(24)
    assert view["limits"] == [1, 1, 1]
    assert [make(np.zeros((3, 2, 2)), chosen=place)["chosen"] for place in (0, 1, 2, -1, None)] == [0, 1] + 3 * [None]
    tokens = [word("שלום"), word("</script>", space=False)]
    view = make(random_maps(1, 3, 2, 2), queries=tokens, group="attention", head=4, n_heads=72)
    header, weights = unpacked(component.pack(view))
    assert weights == view["weights"]
    assert header["queries"] == tokens
    assert (header["keys"], header["group"], header["head"], header["n_heads"]) == (None, "attention", 4, 72)
    of_head, of_layer = make(np.zeros((3, 2, 2))), make(np.zeros((2, 2, 2)), names=["a", "b"], says="takes")
    assert [len(view["choices"]) for view in (of_head, of_layer)] == [3, 2]
    assert [(view["unit"], view["says"]) for view in (of_head, of_layer)] == [("head", "attends"), ("layer", "takes")]


@pytest.mark.parametrize("shares", [True, False])
def test_weights_differ_by_at_most_the_stated_error(shares: bool) -> None:
    weights = random_maps(0, 3, 40, 31) * (1 if shares else np.array([[[0.03]], [[1]], [[17.5]]], dtype=np.float32))
    view = make(weights, shares=shares)
    assert view["limits"] == ([1, 1, 1] if shares else [float(matrix.max()) for matrix in weights])
    assert (np.abs(decode(view) - weights).max(axis=(1, 2)) <= np.array(view["limits"]) / 131070 * (1 + 1e-2)).all()


def test_what_cannot_be_drawn_is_refused() -> None:
    for shape in ((3, 0, 2), (3, 2, 0)):
        with pytest.raises(InvalidInput, match="No token is left"):
            make(np.zeros(shape))
    for wrong in (np.nan, np.inf, -0.1, 1.5):
        with pytest.raises(ValueError, match=r"finite|at most 1"):
            make([[[0.5, wrong]]] * 3)
    for changes in ({"queries": [word("one")]}, {"keys": [word("one")]}, {"names": ["one", "two"]}):
        with pytest.raises(ValueError, match=r"\(3, 2, 4\)"):
            make(np.zeros((3, 2, 4)), **changes)
    with pytest.raises(ValueError, match=r"\(1, 2, 2\)"):
        make(np.zeros((1, 2, 2)), names=["one"])


@pytest.mark.parametrize(("scale", "dark"), [("scale", False), ("dark_scale", True)])
def test_the_app_s_scale_with_a_text_to_be_read_on_each_colour(scale: str, dark: bool) -> None:
    shades = make(np.zeros((3, 1, 1)))[scale]  # type: ignore[literal-required]
    assert (shades[0][0], shades[-1][0]) == (sequential(dark)[0][1], sequential(dark)[-1][1])
    assert min(contrast(ground, ink) for ground, ink in shades) >= 4.5


def written(words: list[lit_words.Word]) -> str:
    return "".join((" " if word["space"] else "") + word["text"] for word in words)


def test_tokens_stand_as_the_text_reads() -> None:
    encoded = encoding(["play", "##ing", "cats"], ["it", "was"])
    words = lit_words.words(encoded, token_units(encoded))
    assert written(words) == " [CLS] playing cats [SEP] it was [SEP]"
    assert [word["special"] for word in words] == [True, False, False, False, True, False, False, True]
    assert [word["segment"] for word in words] == [0, 0, 0, 0, 0, 1, 1, 1]
    assert words[2]["token"] == "##ing"
    # Merged words and what a filter leaves.
    encoded = encoding(["play", "##ing", "cats"])
    merged = lit_words.words(encoded, word_units(encoded))
    assert [word["text"] for word in merged] == ["[CLS]", "playing", "cats", "[SEP]"]
    left = [unit for unit in token_units(encoded) if unit.label in ("play", "cats")]
    assert written(lit_words.words(encoded, left)) == " play cats"
    # Punctuation touches its word and letters are those typed.
    encoded = encoding(
        ["the", "cat", "."], front=None, end=None, text="The\ncat.", offsets=((0, 3), (4, 7), (7, 8))
    )  # an uncased tokenizer
    words = lit_words.words(encoded, token_units(encoded))
    assert written(words) == " The cat."
    assert words[0]["token"] == "the"
    # As byte-level tokenizers have it: a lone space, then a character in three tokens, and a joiner nobody sees.
    tokens, offsets = ["Ġa", "Ġ", "æ", "Ŀ", "±", "x"], ((0, 1), (2, 2), (2, 3), (2, 3), (2, 3), (3, 4))
    encoded = encoding(tokens, continues=None, front=None, end=None, text="a 東\u200d", offsets=offsets)
    assert [word["text"] for word in lit_words.words(encoded, token_units(encoded))] == [
        "a", "Ġ", "東", "Ŀ", "±", "⟨U+200D⟩",
    ]  # fmt: skip
    assert [word["space"] for word in lit_words.words(encoded, token_units(encoded))] == [True, True] + 4 * [False]
