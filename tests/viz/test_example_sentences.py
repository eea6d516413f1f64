"""Example sentences: what is sent says which words are framed and how they are tinted, is light, and loses no text."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.component import pack
from viz.example_sentences import ExampleSentence, payload
from viz.lit_words import shades

CAT = "The cat sat on the mat because it was tired."
IT, THE_CAT, THE_MAT = (31, 33), (4, 7), (19, 22)


def row(sentence: ExampleSentence) -> list[str]:
    """The parts of a sentence, written with brackets: [framed], (expected), shade after a colon."""
    written = []
    for part in payload([sentence], "attention")["rows"][0]["parts"]:
        if isinstance(part, str):
            written.append(part)
            continue
        text = f"[{part['text']}]" if part.get("framed") else part["text"]
        text = f"({text})" if part.get("expected") else text
        written.append(text + (f":{part['shade']}" if "shade" in part else ""))
    return written


def test_words_are_framed_and_tinted_by_the_root_of_their_weight() -> None:
    last = len(shades(dark=False)) - 1
    parts = row(ExampleSentence(CAT, IT, ((THE_CAT, 0.25), (THE_MAT, 1.0)), expected=THE_CAT))
    tinted = f"(cat):{round(last / 2)}", f"mat:{last}"
    assert parts == ["The ", tinted[0], " sat on the ", tinted[1], " because ", "[it]", " was tired."]
    assert row(ExampleSentence(CAT)) == [CAT]
    assert row(ExampleSentence(CAT, IT, ((THE_CAT, 0.0),)))[1] == "cat"
    nested = ExampleSentence("do not", (0, 6), (((3, 6), 1.0),))
    assert row(nested) == ["[do ]", f"[not]:{last}"]

    # A sentence says in words what is to be seen.
    def label(sentence: ExampleSentence) -> str:
        return payload([sentence], "attention")["rows"][0]["label"]

    seen = ExampleSentence(CAT, IT, ((THE_MAT, 0.1), (THE_CAT, 0.83)), expected=THE_MAT, beside="83%")
    assert label(seen) == "“it” looks at “cat”, expected “mat”, attention 83%"
    assert label(ExampleSentence(CAT, IT)) == "“it”"
    assert label(ExampleSentence(CAT)) == ""


def test_of_a_long_sentence_what_is_around_its_words_is_shown() -> None:
    text = "begin " * 100 + "verb " + "middle " * 100 + "object " + "end " * 100
    verb, noun = text.index("verb"), text.index("object")
    far = ExampleSentence(text, (verb, verb + 4), (((noun, noun + 6), 0.5), ((0, 5), 0.01)))
    parts = row(far)
    assert "".join(parts).count("…") == 3
    assert [part for part in parts if part.startswith(("[", "object"))] == ["[verb]", "object:23"]
    assert len("".join(parts)) < 300
    for cut in ("begi ", "…egin", "iddle"):
        assert cut not in "".join(parts).replace("middle", "").replace("begin", "")
    near = ExampleSentence(text, (verb, verb + 4), (((verb + 5, verb + 11), 0.5),))
    assert "".join(row(near)).count("…") == 2


@given(
    text=st.text(st.sampled_from(string.ascii_letters + "    …é\U0001f600\n\u202e"), max_size=700),
    places=st.lists(st.floats(0, 1), min_size=6, max_size=6),
)
def test_any_sentence_keeps_its_words(text: str, places: list[float]) -> None:
    first, second, third = (
        tuple(sorted(round(place * len(text)) for place in places[at : at + 2])) for at in (0, 2, 4)
    )
    sentence = ExampleSentence(text, first, ((second, 0.5),), third)
    data = payload([sentence], "attention", {"Attention": ["attention?layer=1"]})
    parts = data["rows"][0]["parts"]
    assert len(json_of(data)) < 40_000
    if len(text) <= 260 and text.isprintable():
        assert "".join(part if isinstance(part, str) else part["text"] for part in parts) == text
    framed = sum(len(part["text"]) for part in parts if not isinstance(part, str) and part.get("framed"))
    if text.isprintable():
        assert framed >= min(first[1] - first[0], 260)


def json_of(data: object) -> bytes:
    return pack({**data, "weights": b""})  # type: ignore[dict-item]


@pytest.mark.parametrize("length", [1, 11, 40, 60])
def test_fifty_sentences_are_light(length: int) -> None:
    text = (CAT + " ") * length
    sentence = ExampleSentence(text, IT, ((THE_CAT, 0.5),), beside="50%", note="layer 3, head 4", layer=2, head=3)
    way = "cause?model=embedded%2Fbert&off=3.4&view=heads&find=1&answer=&against=&pair="
    data = payload([sentence] * 50, "attention", {"Attention": [way] * 50, "Cause": [way] * 50})
    assert len(json_of(data)) < 60_000
    carried = [row["text"] for row in data["rows"]]
    assert carried[0] == (text if length < 60 else "")
    assert set(carried) <= {text, ""}
    assert all(carried) == (length <= 11)


def test_what_does_not_fit_is_refused() -> None:
    outside, backwards = ExampleSentence("cat", (0, 4)), ExampleSentence("cat", None, (((2, 1), 0.5),))
    for sentence, ways in ((outside, {}), (backwards, {}), (ExampleSentence("cat"), {"Attention": []})):
        with pytest.raises(ValueError, match="fit"):
            payload([sentence], "attention", ways)
