"""What people type: checks before a tokenizer sees it, and the words it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from model_zoo.errors import InvalidInput

Text = str | tuple[str, str]
"""A text, or a pair of texts."""

# No model reads more than 8,192 tokens; what lies far behind them would be cut into tokens only to be counted.
MAX_CHARACTERS = 100_000

# A word is what people write between spaces, without the punctuation around it: "don't" and "3.14" are one
# word, a Chinese character is one (no spaces there to go by), every other visible sign is one by itself.
# Invisible signs inside a word (soft hyphen, zero-width joiner and non-joiner) do not end it.
_WORD = regex.compile(
    r"""(?V1)
      \p{Han}
    | \p{N}+(?:[.,]\p{N}+)+
    | [[\p{L}\p{M}\p{N}_]--\p{Han}]+(?:['’\u00ad\u200c\u200d][[\p{L}\p{M}]--\p{Han}]+)*
    | (?!\s)\X
    """,
    regex.VERBOSE,
)

# The masks of common families, and what people write for one.
_MASKS = ("[MASK]", "<mask>", "<extra_id_0>")
_LIKE_A_MASK = regex.compile(r"<mask>|<extra_id_0>|\[\s*mask\s*\]", regex.IGNORECASE)

# Halves of surrogate pairs, and control characters other than tab and the ends of lines.
_UNREADABLE = regex.compile(r"(?V1)[[\p{Cs}\p{Cc}]--[\t\n\r]]")


def check(text: str, noun: str = "The text") -> str:
    """The text itself if a tokenizer can read it; otherwise InvalidInput says what to change."""
    if not text.strip():
        raise InvalidInput(f"{noun} is empty. Type at least one word.")
    refuse_too_long(text, noun)
    unreadable = _UNREADABLE.search(text)
    if unreadable is not None:
        character, position = unreadable[0], unreadable.start() + 1
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise InvalidInput(
                f"{noun} holds a broken character (half of a surrogate pair) at position {position}. Delete it."
            )
        raise InvalidInput(
            f"{noun} holds a control character (U+{ord(character):04X}) at position {position}, "
            "which no tokenizer can read. Delete it."
        )
    return text


def refuse_too_long(text: str, noun: str = "The text", most: int = MAX_CHARACTERS) -> None:
    """Raises InvalidInput for a text of more than ``most`` characters."""
    if len(text) > most:
        raise InvalidInput(
            f"{noun} has {len(text):,} characters, more than the {most:,} that are read. Paste a part of it."
        )


def check_pair(text: str, text_pair: str | None, which: str = "") -> tuple[str, str | None]:
    """A text, or a pair, that a tokenizer can read; ``which`` tells one of a list."""
    if text_pair is None:
        return check(text, which or "The text"), None
    of_pair = f" of {which}" if which else ""
    return check(text, f"The first text{of_pair}"), check(text_pair, f"The second text{of_pair}")


def check_texts(texts: Sequence[str]) -> list[str]:
    """The texts of a list, if a tokenizer can read each of them."""
    return [check(text, f"Text {number}") for number, text in enumerate(texts, start=1)]


def check_list(texts: Sequence[Text], text_pair: str | None = None) -> list[tuple[str, str | None]]:
    """The texts and pairs of a list, after the checks of single ones."""
    if text_pair is not None:
        raise InvalidInput("A list of texts has no second text. Put pairs into the list, as tuples of two.")
    return [
        check_pair(text, None, f"Text {number}")
        if isinstance(text, str)
        else check_pair(*_two(text, number), f"pair {number}")
        for number, text in enumerate(texts, start=1)
    ]


def pairs_of(a: str | Sequence[tuple[str, str]], b: str | None) -> list[tuple[str, str]]:
    """One pair of sentences, or those of a list, that a tokenizer can read."""
    if isinstance(a, str):
        if b is None:
            raise InvalidInput("There is one text only. Give two, or a list of pairs.")
        return check_sentences([(a, b)])
    if b is not None:
        raise InvalidInput("A list of pairs has no second text. Put both texts of a pair into the list.")
    return check_sentences([_two(pair, number) for number, pair in enumerate(a, start=1)])


def check_sentences(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of sentences that a tokenizer can read."""
    for number, (a, b) in enumerate(pairs, start=1):
        which = f" of pair {number}" if len(pairs) > 1 else ""
        check(a, f"Sentence A{which}")
        check(b, f"Sentence B{which}")
    return list(pairs)


def _two(pair: tuple[str, str], number: int) -> tuple[str, str]:
    if isinstance(pair, str) or len(pair) != 2:
        raise InvalidInput(f"Pair {number} is not two texts: {pair!r:.80}. Give each pair as a tuple of two.")
    first, second = pair
    return first, second


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans (start, end) of the words of a text, in order."""
    return [match.span() for match in _WORD.finditer(text)]


def foreign_mask(text: str, mask_token: str) -> str | None:
    """A sentence about the first mask of a text that is none to a model whose mask is ``own``; [MASK] is one to all."""
    foreign = next((mask for mask in _LIKE_A_MASK.findall(text) if mask not in (mask_token, "[MASK]")), None)
    if foreign is None:
        return None
    is_what = "is the mask of other models" if foreign in _MASKS else "looks like a mask"
    return f"{single_line(foreign)} {is_what}, but is plain text to this model. Type {mask_token} instead."


def single_line(text: str) -> str:
    """The text with ends of lines, halves of surrogate pairs and other signs that cannot be seen written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
