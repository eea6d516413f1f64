"""A text cut into sentences where a reader would cut it."""

import pytest

from reading.sentences import split

TEXTS = {
    "plain": ("One. Two! Three?", ["One.", "Two!", "Three?"]),
    "no end": ("One. And two", ["One.", "And two"]),
    "abbreviation": ("Dr. Jones met Mr. Smith. They talked.", ["Dr. Jones met Mr. Smith.", "They talked."]),
    "initials": ("J. R. Smith left. He ran.", ["J. R. Smith left.", "He ran."]),
    "the word I": ("It was I. He knew.", ["It was I.", "He knew."]),
    "e.g.": ("Fruit, e.g. Apples, is good. So is tea.", ["Fruit, e.g. Apples, is good.", "So is tea."]),
    "numbers": ("It costs 2.50 today. Tomorrow 3.", ["It costs 2.50 today.", "Tomorrow 3."]),
    "ellipsis": ("Well… maybe not. Or yes.", ["Well… maybe not.", "Or yes."]),
    "quotes": ("“Come in.” She did.", ["“Come in.”", "She did."]),
    "question inside": ("“Why?” she asked. He left.", ["“Why?” she asked.", "He left."]),
    "empty lines": ("A title\n\nThe text begins.", ["A title", "The text begins."]),
    "Chinese": ("你好。再见！走吧", ["你好。", "再见！", "走吧"]),
    "Chinese, in quotes": ("他说：「你好！」猫坐下。（完｡）", ["他说：「你好！」", "猫坐下。", "（完｡）"]),
    "Arabic": ("القطة هنا. أين الكلب؟ هو هنا.", ["القطة هنا.", "أين الكلب؟", "هو هنا."]),
    "Urdu": ("بلی یہاں ہے۔ کتا کہاں ہے؟", ["بلی یہاں ہے۔", "کتا کہاں ہے؟"]),
    "Hindi": ("बिल्ली बैठी। कुत्ता कहाँ है? यहाँ ॥", ["बिल्ली बैठी।", "कुत्ता कहाँ है?", "यहाँ ॥"]),
    "nothing": (" \n ", []),
}


@pytest.mark.parametrize("case", TEXTS)
def test_split(case: str) -> None:
    text, expected = TEXTS[case]
    assert list(split(text)) == expected


def test_nothing_is_lost() -> None:
    text = "Dr. Who? Yes... e.g. this! “No.” J. R. said.\n\nThe end"
    assert "".join("".join(split(text)).split()) == "".join(text.split())
