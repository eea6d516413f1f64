"""How a text is cut into pieces, which are all that a model ever reads of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby
from typing import Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.wordpiece import CONTINUED, Cut, cuts
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, Vocabulary, counted
from pages.learn import pictures
from pages.learn.case import Case, name_of
from pages.learn.lesson import Choice, Option, Step, read_lesson
from ui import as_text, is_dark, join_names, token_line
from viz.palette import theme
from viz.token_line import Cell, Item, Line
from web.engine import engine

_SPARE: Final = "unbelievably"  # a word that is cut, for texts of which no word is
_SIGN: Final = "😀"  # which few lists have
_ACCENTS: Final = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")
_MOST_TRIED: Final = 3  # beginnings that are written out


def _typed_tokens(encoding: Encoding) -> list[str]:
    """The tokens that somebody typed."""
    return [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]


def _table(encoding: Encoding) -> pd.DataFrame:
    return pd.DataFrame({"place": range(1, len(encoding) + 1), "token": encoding.tokens, "number": encoding.ids})


class PiecesStep(Step):
    """A step about the tokens of a text."""

    def pieces_by(self, model: str) -> list[str]:
        """What a model makes of the text, without special tokens."""
        return _typed_tokens(engine().encode(model, self.case.text))

    def draw_typed(self, label: str = "") -> None:
        """Draw the tokens that somebody typed."""
        token_line.draw([self.line(_typed_tokens(self.case.encoding), label)], "learn pieces")

    def line(self, tokens: Sequence[str], label: str = "") -> Line:
        """Tokens side by side."""
        fill = theme(is_dark()).surface
        return Line(tuple(Item((Cell(token, fill),)) for token in tokens), label)

    def numbered(self, encoding: Encoding) -> Line:
        """Tokens over their numbers; those that nobody typed are marked."""
        fill = theme(is_dark()).surface
        return Line(
            tuple(
                Item((Cell(token, fill), Cell(str(number), small=True)), f"{token}: number {number:,}", marked=special)
                for token, number, special in zip(encoding.tokens, encoding.ids, encoding.special, strict=True)
            )
        )


def _plain(token: str) -> str:
    """A piece without the signs by which vocabularies mark beginnings and continuations."""
    return token.removeprefix(CONTINUED).lstrip("Ġ▁").removesuffix("</w>")


class WordsAndPieces(PiecesStep):
    def figure(self) -> None:
        token_line.draw([self.line(self.case.text.split())], "learn pieces")

    def ask(self) -> Choice:
        encoding = self.case.encoding
        n, n_typed = len(encoding), len(_typed_tokens(encoding))
        words, letters = len(self.case.text.split()), sum(sign.isalpha() for sign in self.case.text)
        return self.choice(words=words, n=n, n_typed=n_typed, n_added=n - n_typed, letters=letters)

    def reveal(self) -> None:
        token_line.draw([self.numbered(self.case.encoding)], "learn pieces")
        st.caption("Below each token is its number in the list. Framed tokens were added by the model.")

    def why(self) -> str:
        encoding, vocabulary = self.case.encoding, self.case.vocabulary
        tokens = zip(encoding.word_ids, encoding.ids, encoding.special, strict=True)
        typed = [(word, number) for word, number, special in tokens if not special]
        words = [[number for _, number in group] for _, group in groupby(typed, key=lambda token: token[0])]
        n_listed = sum(len(numbers) == 1 and numbers[0] != vocabulary.unknown_id for numbers in words)
        return self.say("why", n_listed=n_listed, n_words=len(words), n_tokens=len(vocabulary.tokens))

    def numbers(self) -> pd.DataFrame:
        return _table(self.case.encoding)


def _misses(cut: Cut) -> str:
    """The beginnings that were tried before the one that is in the list, the longest first."""
    tried = [cut.left[: len(cut.left) - less] for less in range(cut.tried - 1)]
    if not tried:
        return "–"
    if len(tried) <= _MOST_TRIED:
        return ", ".join(tried)
    return f"{', '.join(tried[: _MOST_TRIED - 1])}, … {tried[-1]} ({len(tried)})"


def _other_rule(vocabulary: Vocabulary) -> str:
    """How words are cut if not by the longest beginning. Pieces that are marked as SentencePiece marks them are those
    of published encoders (ALBERT, XLNet, T5, XLM-R) with Unigram vocabularies.
    """
    return "unigram" if any(token.startswith("▁") for token in vocabulary.tokens) else "byte_pairs"


class Cuts(PiecesStep):
    @cached_property
    def word(self) -> tuple[str, list[str]]:
        """The word that is cut into most pieces, as it is typed, and its pieces; one of ours where no word is cut."""
        encoding = self.case.encoding
        places: dict[int, list[int]] = {}
        for place, word in enumerate(encoding.word_ids):
            if word is not None and not encoding.special[place]:
                places.setdefault(word, []).append(place)
        for of_word in sorted(places.values(), key=len, reverse=True):
            written = self.case.text[encoding.offsets[of_word[0]][0] : encoding.offsets[of_word[-1]][1]].strip()
            pieces = [encoding.tokens[place] for place in of_word]
            # Pieces that are bytes do not read like the word.
            if len(of_word) > 1 and written.isalpha() and len(written) == len("".join(map(_plain, pieces))):
                return written, pieces
        return _SPARE, _typed_tokens(engine().encode(self.case.model, _SPARE))

    @cached_property
    def steps(self) -> tuple[Cut, ...]:
        """The longest beginnings, one after the other; nothing where this model cuts by another rule."""
        _, pieces = self.word
        steps = cuts("".join(map(_plain, pieces)), set(self.case.vocabulary.tokens))
        return steps if steps is not None and [cut.piece for cut in steps] == pieces else ()

    @property
    def rule(self) -> str:
        """By which rule this model cuts words, as its words call it."""
        return "wordpiece" if self.steps else _other_rule(self.case.vocabulary)

    def not_so(self, guess: list[str]) -> str:
        """What is wrong with a cut: at the first piece that is another one."""
        parts = list(map(_plain, self.word[1]))
        at = next(place for place, (piece, other) in enumerate(zip(guess, parts, strict=False)) if piece != other)
        if not self.steps:
            return self.say("other_pieces", pieces=" · ".join(map(as_text, self.word[1])))
        name = "shorter" if len(guess[at]) <= len(parts[at]) else "not_listed" if at == 0 else "not_continuing"
        return self.say(name, guess=guess[at], piece=parts[at])

    def text(self) -> str:
        word, _ = self.word
        whose = self.say("from_text" if word in self.case.text else "not_from_text")
        return self.say("text", word=word, whose=whose, rule=self.say(self.rule))

    def figure(self) -> None:
        token_line.draw([self.line(list(self.word[0]))], "learn pieces")

    def ask(self) -> Choice:
        word, pieces = self.word
        parts = list(map(_plain, pieces))
        base, third = "".join(parts), max(1, len(word) // 3)
        wrong = [[base], list(base), [base[:-third], base[-third:]], [base[:third], base[third:]], [base[:2], base[2:]]]
        kept = [guess for guess in dict.fromkeys(map(tuple, wrong)) if list(guess) != parts][:3]
        right = f"{' · '.join(map(as_text, pieces))}."
        if any(piece.startswith(CONTINUED) for piece in pieces):
            right += f" {self.say('continued')}"
        cuts_and_replies = [(parts, right, True), *[(list(guess), self.not_so(list(guess)), False) for guess in kept]]
        written = sorted((" + ".join(guess), reply, is_right) for guess, reply, is_right in cuts_and_replies)
        return Choice(
            self.say("ask", word=word),
            tuple(Option(as_text(guess), reply, is_right) for guess, reply, is_right in written),
        )

    def reveal(self) -> None:
        word, pieces = self.word
        token_line.draw([self.line(pieces)], "learn pieces")
        if self.steps:
            st.table([{"left": cut.left, "not in the list": _misses(cut), "taken": cut.piece} for cut in self.steps])
            return
        default = Case(registry.DEFAULT_MODEL, word)
        st.caption(f"{as_text(name_of(default.model))} has a different list and a different rule:")
        token_line.draw([self.line(_typed_tokens(default.encoding))], "learn other pieces")

    def why(self) -> str:
        word, pieces = self.word
        if not self.steps:
            return self.say(f"why {self.rule}")
        tried = sum(cut.tried for cut in self.steps)
        return self.say("why", word=word, tried=tried, n_pieces=len(pieces))

    def numbers(self) -> pd.DataFrame:
        if self.steps:
            rows = [(cut.left, cut.piece, cut.tried) for cut in self.steps]
            return pd.DataFrame(rows, columns=["left of the word", "longest piece in the list", "beginnings tried"])
        return pd.DataFrame({"piece": self.word[1]})


class NobodyTyped(PiecesStep):
    sign = _SIGN

    @property
    def with_sign(self) -> Encoding:
        """The text with the sign behind it."""
        return engine().encode(self.case.model, f"{self.case.text} {_SIGN}")

    def text(self) -> str:
        added = list(dict.fromkeys(compress(self.tokens, self.case.encoding.special)))
        names = list(map(as_text, added))
        which = self.say("some_added", tokens_added=join_names(names)) if added else self.say("none_added")
        roles = self.say("roles") if {"[CLS]", "[SEP]"} <= set(added) else ""
        return self.say("text", which=which, roles=roles)

    def figure(self) -> None:
        token_line.draw([self.line([*self.case.text.split(), _SIGN])], "learn pieces")

    def ask(self) -> Choice:
        encoding, unknown = engine().encode(self.case.model, _SIGN), self.case.vocabulary.unknown_id
        typed = _typed_tokens(encoding)
        is_unknown = unknown in encoding.ids
        tokens = " ".join(map(as_text, typed)) or "none"
        return self.choice(
            fact=self.say("lost" if is_unknown else "tokens_here", tokens=tokens),
            unknown=is_unknown,
            single=not is_unknown and len(typed) == 1,
            several=not is_unknown and len(typed) > 1,
            nothing=not is_unknown and not typed,
        )

    def reveal(self) -> None:
        token_line.draw([self.numbered(self.with_sign)], "learn pieces")
        st.caption(
            "Below each token is its number in the list. Framed tokens are special tokens: no word is written that way."
        )

    def why(self) -> str:
        unknown, ids = self.case.vocabulary.unknown_id, self.case.encoding.ids
        if unknown is None:
            return self.say("why all spelled")
        n = ids.count(unknown)
        name = ("no_unknown", "single_unknown", "several_unknown")[min(n, 2)]
        return self.say("why", count=self.say(name, n=n))

    def numbers(self) -> pd.DataFrame:
        return _table(self.with_sign)


class OtherLists(PiecesStep):
    @cached_property
    def others(self) -> list[tuple[str, list[str], int]]:
        """What this model and those that come with the app make of the text, and how long their lists are: each list
        once, by the name of the first model that has it.
        """
        shipped = [spec.id for spec in registry.MODELS.values() if spec.hub_id is None]
        by_vocabulary: dict[tuple[str, ...], tuple[str, list[str], int]] = {}
        for model in dict.fromkeys([self.case.model, *shipped]):
            tokens = engine().vocabulary(model).tokens
            if tokens not in by_vocabulary:
                by_vocabulary[tokens] = name_of(model), self.pieces_by(model), len(tokens)
        return list(by_vocabulary.values())

    def text(self) -> str:
        others = self.others
        sizes = join_names([f"{as_text(name)} ({n:,} pieces)" for name, _, n in others])
        return self.say("text", n_others=len(others), sizes=sizes)

    def figure(self) -> None:
        self.draw_typed(name_of(self.case.model))

    def ask(self) -> Choice:
        pieces_of = [[_plain(token).lower() for token in tokens] for _, tokens, _ in self.others]
        lengths = set(map(len, pieces_of))
        alike = all(pieces == pieces_of[0] for pieces in pieces_of)
        fact = join_names([f"{as_text(name)} makes {len(tokens)}" for name, tokens, _ in self.others])
        return self.choice(
            fact=fact,
            alike=alike,
            same_number=not alike and len(lengths) == 1,
            other_numbers=len(lengths) > 1,
            not_same_number=self.say("numbers_differ" if len(lengths) > 1 else "same_pieces", fact=fact),
        )

    def reveal(self) -> None:
        token_line.draw([self.line(tokens, name) for name, tokens, _ in self.others], "learn pieces")
        pictures.bars("vocabularies", self.numbers()[["model", "tokens"]], written=".0f")

    def why(self) -> str:
        (large, few, longest), (small, many, shortest) = (
            (as_text(name), len(tokens), n)
            for name, tokens, n in (pick(self.others, key=lambda entry: entry[2]) for pick in (max, min))
        )
        made = counted(few, "token")
        name = "equal" if few == many else "fewer" if few < many else "more"
        comparison = self.say(name, made=made, many=many)
        return self.say("why", large=large, longest=longest, small=small, shortest=shortest, comparison=comparison)

    def numbers(self) -> pd.DataFrame:
        rows = [(name, n, len(tokens), " ".join(tokens)) for name, tokens, n in self.others]
        return pd.DataFrame(rows, columns=["model", "vocabulary", "tokens", "pieces"])


def _tokens(same: bool) -> str:
    return "the same tokens" if same else "different tokens"


class Lost(PiecesStep):
    @cached_property
    def changed(self) -> dict[str, str]:
        """The text written in other ways: in capitals (in small letters where it is in capitals), with an accent, with
        a double space between words. Raises InvalidInput for a text without a vowel.
        """
        text, offsets = self.case.text, self.case.encoding.offsets
        signs = (sign for place in self.case.typed for sign in range(*offsets[place]))
        vowels = (sign for sign in signs if text[sign].translate(_ACCENTS) != text[sign])
        at = next(vowels, None)
        if at is None:
            raise InvalidInput("This text has no vowel to put an accent on. Type an English word.")
        return {
            "capitals": text.upper() if text != text.upper() else text.lower(),
            "an accent": f"{text[:at]}{text[at].translate(_ACCENTS)}{text[at + 1 :]}",
            "a double space": "  ".join(text.split()),
        }

    @cached_property
    def encodings(self) -> dict[str, Encoding]:
        """What the model makes of these."""
        return {how: engine().encode(self.case.model, text) for how, text in self.changed.items()}

    @property
    def same(self) -> dict[str, bool]:
        """Whether it reads the very same tokens then."""
        return {how: encoding.ids == self.case.encoding.ids for how, encoding in self.encodings.items()}

    def text(self) -> str:
        accented = self.changed["an accent"]
        start = next(at for at, (sign, other) in enumerate(zip(self.case.text, accented, strict=True)) if sign != other)
        word = (accented[:start].split(" ")[-1] + accented[start:].split(" ")[0]).strip()
        return self.say("text", word=word)

    def figure(self) -> None:
        self.draw_typed("as typed")

    def ask(self) -> Choice:
        same = self.same
        capitals, accent = same["capitals"], same["an accent"]
        return self.choice(
            neither=capitals and accent,
            with_capitals=_tokens(capitals),
            with_accent=_tokens(accent),
            only_capitals=accent and not capitals,
            only_accent=capitals and not accent,
            both=not (capitals or accent),
        )

    def reveal(self) -> None:
        encodings = {"as typed": self.case.encoding, **self.encodings}
        token_line.draw(
            [self.line(_typed_tokens(encoding), how) for how, encoding in encodings.items()], "learn pieces"
        )
        st.caption(". ".join(f"{how.capitalize()}: {_tokens(is_same)}" for how, is_same in self.same.items()) + ".")

    def why(self) -> str:
        lost = [how for how, same in self.same.items() if same]
        if not lost:
            return self.say("why nothing")
        return self.say("why", lost=join_names(lost), end=self.say("capitals") if "capitals" in lost else ".")

    def numbers(self) -> pd.DataFrame:
        texts = {"as typed": self.case.text, **self.changed}
        tokens = [" ".join(encoding.tokens) for encoding in (self.case.encoding, *self.encodings.values())]
        same = [True, *self.same.values()]
        return pd.DataFrame({"written": texts.keys(), "text": texts.values(), "tokens": tokens, "same tokens": same})


LESSON = read_lesson(__file__, WordsAndPieces, Cuts, NobodyTyped, OtherLists, Lost)
