"""How a text is cut into pieces, which are all that a model ever reads of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby
from typing import ClassVar, Final

import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.wordpiece import CONTINUED, Cut, cuts
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, Vocabulary, counted
from pages.learn import options, pictures
from pages.learn.case import Case, name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Step, recalled
from ui import as_text, is_dark, join_names, token_line
from ui.glossary import quote
from ui.sources import DEVLIN, KUDO, SCHUSTER, SENNRICH, WU
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

    at: ClassVar[Place] = "pieces"

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
    title = "Words and pieces"
    terms = ("token", "vocabulary")

    def text(self) -> str:
        return (
            "A model reads neither letters nor words. It reads [[tokens|token]]: pieces from a fixed list, its "
            "[[vocabulary]]. A word that is not listed is split into listed pieces. The rest of the model sees "
            "nothing but the numbers of these pieces."
        )

    def figure(self) -> None:
        token_line.draw([self.line(self.case.text.split())], "learn pieces")

    def ask(self) -> Choice:
        encoding = self.case.encoding
        n, n_typed = len(encoding), len(_typed_tokens(encoding))
        words, letters = len(self.case.text.split()), sum(sign.isalpha() for sign in self.case.text)
        fact = f"You typed {n_typed} of them, and the model adds {n - n_typed}."
        return Choice(
            f"Your text has {words} words separated by spaces. How many tokens does the model read?",
            options.numbers(
                (n, fact),
                (
                    words,
                    (
                        "A punctuation mark such as a full stop is a token of its own, and a word may be several "
                        f"tokens. {fact}"
                    ),
                ),
                (letters, f"That is the number of letters. Most tokens have several. {fact}"),
                (n_typed, f"Those are the ones you typed. The model adds {n - n_typed} special tokens."),
            ),
        )

    def reveal(self) -> None:
        token_line.draw([self.numbered(self.case.encoding)], "learn pieces")
        st.caption("Below each token is its number in the list. Framed tokens were added by the model.")

    def why(self) -> str:
        encoding, vocabulary = self.case.encoding, self.case.vocabulary
        tokens = zip(encoding.word_ids, encoding.ids, encoding.special, strict=True)
        typed = [(word, number) for word, number, special in tokens if not special]
        words = [[number for _, number in group] for _, group in groupby(typed, key=lambda token: token[0])]
        n_listed = sum(len(numbers) == 1 and numbers[0] != vocabulary.unknown_id for numbers in words)
        return (
            f"{n_listed} of your {len(words)} words and punctuation marks are in this model’s list of "
            f"{len(vocabulary.tokens):,} as they are, one token each: no list of words could ever be complete, and "
            "single letters would make long sequences."
        )

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


def _is_unigram(vocabulary: Vocabulary) -> bool:
    """Whether pieces are marked as SentencePiece marks them, whose published encoders (ALBERT, XLNet, T5, XLM-R) have
    Unigram vocabularies.
    """
    return any(token.startswith("▁") for token in vocabulary.tokens)


def _other_rule(vocabulary: Vocabulary) -> str:
    """How a word is split where not by the longest beginning."""
    if _is_unigram(vocabulary):
        return (
            "This model does not take the longest beginning, as BERT does. Its vocabulary holds a probability for "
            "every piece, and of all ways to split a word the most likely one is taken (Unigram)."
        )
    return (
        "This model does not take the longest beginning, as BERT does. Byte-pair encoding starts from single "
        "characters and joins neighbours, in the order in which the joins were learned."
    )


def _made_by(vocabulary: Vocabulary) -> str:
    """How the list was made where it is not WordPiece's."""
    if _is_unigram(vocabulary):
        return (
            "The list was made by pruning a much larger one, keeping the pieces that make the training text most "
            "likely, not by grammar (Kudo 2018)."
        )
    return (
        "The list was made by joining, again and again, the two neighbours that occur together most often, not by "
        "grammar (Sennrich et al. 2016)."
    )


class Cuts(PiecesStep):
    title = "Where a word is split"
    terms = ("wordpiece", "byte-pair encoding", "Unigram")
    sources = (SCHUSTER, WU, SENNRICH, KUDO)

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

    def not_so(self, guess: list[str]) -> str:
        """What is wrong with a cut: at the first piece that is another one."""
        parts = list(map(_plain, self.word[1]))
        at = next(place for place, (piece, other) in enumerate(zip(guess, parts, strict=False)) if piece != other)
        mine, right = quote(guess[at]), quote(parts[at])
        if not self.steps:
            return f"This model’s rule gives the pieces {' · '.join(map(as_text, self.word[1]))}."
        where = "" if at == 0 else " as a continuing piece"
        if len(guess[at]) > len(parts[at]):
            return f"{mine} is not in the list{where}. The longest listed beginning is {right}."
        return f"Even if {mine} is in the list, {right} is listed too, and it is longer, so it is taken."

    def text(self) -> str:
        word, _ = self.word
        whose = "from your text" if word in self.case.text else "since no word of your text is split"
        if self.steps:
            rule = (
                "[[WordPiece]] takes the longest beginning of the word that is in the vocabulary, then the longest "
                "beginning of what is left, and so on."
            )
        else:
            rule = _other_rule(self.case.vocabulary)
        return f"Take {quote(word)}, {whose}. {rule}"

    def figure(self) -> None:
        token_line.draw([self.line(list(self.word[0]))], "learn pieces")

    def ask(self) -> Choice:
        word, pieces = self.word
        parts = list(map(_plain, pieces))
        base, third = "".join(parts), max(1, len(word) // 3)
        wrong = [[base], list(base), [base[:-third], base[-third:]], [base[:third], base[third:]], [base[:2], base[2:]]]
        kept = [guess for guess in dict.fromkeys(map(tuple, wrong)) if list(guess) != parts][:3]
        goes_on = (
            " “##” marks a piece that continues a word." if any(piece.startswith(CONTINUED) for piece in pieces) else ""
        )
        right = f"{' · '.join(map(as_text, pieces))}.{goes_on}"
        cuts_and_replies = [(parts, right, True), *[(list(guess), self.not_so(list(guess)), False) for guess in kept]]
        written = sorted((" + ".join(guess), reply, is_right) for guess, reply, is_right in cuts_and_replies)
        return Choice(
            f"How is {quote(word)} split?",
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
            return _made_by(self.case.vocabulary)
        tried = sum(cut.tried for cut in self.steps)
        return (
            "The list was chosen to make its training text likely with few pieces, not by grammar (Schuster & "
            f"Nakajima 2012, Wu et al. 2016): {quote(word)} took {tried} look-ups and became {len(pieces)} pieces."
        )

    def numbers(self) -> pd.DataFrame:
        if self.steps:
            rows = [(cut.left, cut.piece, cut.tried) for cut in self.steps]
            return pd.DataFrame(rows, columns=["left of the word", "longest piece in the list", "beginnings tried"])
        return pd.DataFrame({"piece": self.word[1]})


class NobodyTyped(PiecesStep):
    title = "Special and unknown tokens"
    terms = ("special token",)
    sources = (DEVLIN,)

    @property
    def with_sign(self) -> Encoding:
        """The text with the sign behind it."""
        return engine().encode(self.case.model, f"{self.case.text} {_SIGN}")

    def text(self) -> str:
        added = list(dict.fromkeys(compress(self.tokens, self.case.encoding.special)))
        which = (
            f"this model adds {join_names(list(map(as_text, added)))}" if added else "this model adds none of its own"
        )
        roles = (
            " The vector of \\[CLS\\] is read where one vector is needed for the whole text; \\[SEP\\] ends a text."
            if {"[CLS]", "[SEP]"} <= set(added)
            else ""
        )
        return (
            f"Some tokens are never typed: {which}.{roles} And some characters may be missing from the list. Type "
            f"{_SIGN} after your text: what does the model actually read?"
        )

    def figure(self) -> None:
        token_line.draw([self.line([*self.case.text.split(), _SIGN])], "learn pieces")

    def ask(self) -> Choice:
        encoding, unknown = engine().encode(self.case.model, _SIGN), self.case.vocabulary.unknown_id
        typed = _typed_tokens(encoding)
        if unknown in encoding.ids:
            right, fact = (
                1,
                "The list has neither this character nor bytes to spell it with, so the character is lost.",
            )
        else:
            right, fact = (
                (3, 0, 2)[min(len(typed), 2)],
                f"Its tokens here: {' '.join(map(as_text, typed)) or 'none'}.",
            )
        wrong = (
            ("One token of its own", "That would need the character in the list."),
            ("One token for “unknown”", "A list that has all bytes needs no such token: it can spell any character."),
            (
                "Several tokens, parts of it",
                "That happens where a list has all bytes, which can spell any character.",
            ),
            ("Nothing at all", "An unlisted character is not simply left out: something takes its place."),
        )
        return Choice(
            f"What does this model read for {_SIGN}?",
            tuple(
                options.either(text, place == right, fact, f"{reply} {fact}")
                for place, (text, reply) in enumerate(wrong)
            ),
        )

    def reveal(self) -> None:
        token_line.draw([self.numbered(self.with_sign)], "learn pieces")
        st.caption(
            "Below each token is its number in the list. Framed tokens are special tokens: no word is written that way."
        )

    def why(self) -> str:
        unknown, ids = self.case.vocabulary.unknown_id, self.case.encoding.ids
        n = sum(number == unknown for number in ids)
        if unknown is None:
            return "This list can spell any text, so it needs no token for “unknown”."
        count = (
            "none of your own tokens is"
            if n == 0
            else "1 of your own tokens is"
            if n == 1
            else f"{n} of your own tokens are"
        )
        return (
            "Everything that cannot be spelled with the list becomes the same token, after which nobody can tell "
            f"what it was; {count} unknown to this model."
        )

    def numbers(self) -> pd.DataFrame:
        return _table(self.with_sign)


class OtherLists(PiecesStep):
    title = "Other vocabularies"

    @cached_property
    def others(self) -> list[tuple[str, Encoding, int]]:
        """What this model and those that come with the app make of the text, and how long their lists are: each list
        once, by the name of the first model that has it.
        """
        shipped = [spec.id for spec in registry.MODELS.values() if spec.hub_id is None]
        by_vocabulary: dict[tuple[str, ...], tuple[str, Encoding, int]] = {}
        for model in dict.fromkeys([self.case.model, *shipped]):
            tokens = engine().vocabulary(model).tokens
            if tokens not in by_vocabulary:
                by_vocabulary[tokens] = name_of(model), engine().encode(model, self.case.text), len(tokens)
        return list(by_vocabulary.values())

    def text(self) -> str:
        others = self.others
        sizes = join_names([f"{as_text(name)} ({n:,} pieces)" for name, _, n in others])
        return (
            "A vocabulary belongs to its model: it was made from certain texts by a certain rule, and the model has "
            f"learned a vector for each piece. Here are {len(others)} vocabularies: {sizes}. Do they split your text "
            "the same way?"
        )

    def figure(self) -> None:
        token_line.draw([self.line(_typed_tokens(self.case.encoding), name_of(self.case.model))], "learn pieces")

    def ask(self) -> Choice:
        pieces_of = [
            (name, [_plain(token).lower() for token in _typed_tokens(encoding)]) for name, encoding, _ in self.others
        ]
        lengths = {len(pieces) for _, pieces in pieces_of}
        alike = all(pieces == pieces_of[0][1] for _, pieces in pieces_of)
        fact = join_names([f"{as_text(name)} makes {len(pieces)}" for name, pieces in pieces_of])
        return Choice(
            "What do these vocabularies make of your text?",
            (
                options.either(
                    "The same pieces, apart from capitals",
                    alike,
                    f"Frequent words are in every list. {fact}.",
                    f"Frequent words are in every list, but here at least one word is split differently. {fact}.",
                ),
                Option(
                    "The same number of pieces, split differently",
                    f"Even the numbers differ: {fact}."
                    if len(lengths) > 1
                    else f"The numbers are the same, and so are the pieces: {fact}."
                    if alike
                    else f"{fact}. Equal numbers do not mean equal pieces.",
                    not alike and len(lengths) == 1,
                ),
                options.either(
                    "Different numbers of pieces",
                    len(lengths) > 1,
                    f"{fact}, not counting special tokens.",
                    f"Often true, but on your text the numbers are equal: {fact}.",
                ),
            ),
        )

    def reveal(self) -> None:
        others = self.others
        token_line.draw([self.line(_typed_tokens(encoding), name) for name, encoding, _ in others], "learn pieces")
        names, lengths = (
            [name for name, _, _ in others],
            [float(len(_typed_tokens(encoding))) for _, encoding, _ in others],
        )
        pictures.bars("vocabularies", names, [("tokens", lengths)], written=".0f")

    def why(self) -> str:
        (large, few, longest), (small, many, shortest) = (
            (as_text(name), len(_typed_tokens(encoding)), n)
            for name, encoding, n in (pick(self.others, key=lambda entry: entry[2]) for pick in (max, min))
        )
        made = counted(few, "token")
        if few == many:
            comparison = f"on this text both make {made}. On rarer words a larger one tends to split less"
        elif few < many:
            comparison = f"{made} against {many}. A larger one tends to split less"
        else:
            comparison = f"{made} against {many}, though a larger one tends to split less"
        return (
            f"{large} has the largest vocabulary here, {longest:,} pieces, and {small} the smallest, {shortest:,}: "
            f"{comparison}, and it costs more rows in the embedding table; since the pieces differ, token "
            "probabilities of such models cannot be compared directly."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "model": name,
                    "vocabulary": n,
                    "tokens": len(_typed_tokens(encoding)),
                    "pieces": " ".join(_typed_tokens(encoding)),
                }
                for name, encoding, n in self.others
            ]
        )


def _tokens(same: bool) -> str:
    return "the same tokens" if same else "different tokens"


class Lost(PiecesStep):
    title = "What is lost"
    at = "text"

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
    def same(self) -> dict[str, bool]:
        """Whether the model reads the very same tokens then."""
        return {
            how: engine().encode(self.case.model, text).ids == self.case.encoding.ids
            for how, text in self.changed.items()
        }

    def text(self) -> str:
        accented = self.changed["an accent"]
        start = next(at for at, (sign, other) in enumerate(zip(self.case.text, accented, strict=True)) if sign != other)
        word = (accented[:start].split(" ")[-1] + accented[start:].split(" ")[0]).strip()
        return (
            "What is thrown away here is unknown to every later layer. Write your text in capitals, or with an "
            f"accent: {quote(word)}. To us it is nearly the same text. Does this model read different tokens?"
        )

    def figure(self) -> None:
        token_line.draw([self.line(_typed_tokens(self.case.encoding), "as typed")], "learn pieces")

    def ask(self) -> Choice:
        same = self.same
        capitals, accent = same["capitals"], same["an accent"]
        fact = f"Capitals: {_tokens(capitals)}. An accent: {_tokens(accent)}."
        return Choice(
            "Which of the two changes the tokens that this model reads?",
            (
                options.either(
                    "Neither of them",
                    capitals and accent,
                    f"{fact} Letters are lower-cased and stripped of accents before they are looked up.",
                    f"That is true of “uncased” models such as BERT-base-uncased. Here: {fact}",
                ),
                options.either(
                    "Only the capitals",
                    accent and not capitals,
                    fact,
                    f"That would be a vocabulary with capitals and without accents. {fact}",
                ),
                options.either(
                    "Only the accent",
                    capitals and not accent,
                    fact,
                    f"That would be a vocabulary without capitals, with accents. {fact}",
                ),
                options.either(
                    "Both of them",
                    not (capitals or accent),
                    f"{fact} To this model a different letter is a different piece.",
                    f"That is true where a vocabulary has all characters. Here: {fact}",
                ),
            ),
        )

    def reveal(self) -> None:
        same = self.same
        lines = [self.line(_typed_tokens(self.case.encoding), "as typed")]
        for how, text in self.changed.items():
            lines.append(self.line(_typed_tokens(engine().encode(self.case.model, text)), how))
        token_line.draw(lines, "learn pieces")
        st.caption(". ".join(f"{how.capitalize()}: {_tokens(is_same)}" for how, is_same in same.items()) + ".")

    def why(self) -> str:
        lost = [how for how, same in self.same.items() if same]
        if not lost:
            return "None of this is lost: to the model these are different texts, and each form has vectors of its own."
        end = (
            ": ignoring capitals makes the vocabulary smaller, and some words harder to tell apart, such as “US” "
            "and “us”."
        )
        return (
            "The same numbers go in, so every layer computes the same with and without "
            f"{join_names(lost)}{end if 'capitals' in lost else '.'}"
        )

    def numbers(self) -> pd.DataFrame:
        same = self.same
        rows = [("as typed", self.case.text, " ".join(self.tokens), True)]
        for how, text in self.changed.items():
            rows.append((how, text, " ".join(engine().encode(self.case.model, text).tokens), same[how]))
        return pd.DataFrame(rows, columns=["written", "text", "tokens", "same tokens"])


LESSON = Lesson(
    name="pieces",
    title="Words and pieces of words",
    question="What does a model actually read?",
    examples=(
        ("That was unbelievably good, she whispered.", ""),
        ("The photographer overslept and misplaced her earrings.", ""),
        ("Xylophonists rarely play the theremin 😀", ""),
    ),
    aims=(
        "say what a model actually reads",
        "split a word by WordPiece’s rule, by hand",
        "tell what [CLS], [SEP] and the unknown token are for",
        "explain why token counts of two models differ",
    ),
    terms=("tokenization",),
    pages=("compare",),
    steps=(
        WordsAndPieces,
        Cuts,
        NobodyTyped,
        OtherLists,
        Lost,
        *recalled(
            "pieces",
            Recall(
                "What does the rest of the model get to see of your text?",
                (
                    Option("Its letters", "Letters are gone after tokenization: “cat” is one number."),
                    Option("Its words", "A word outside the vocabulary is seen as several pieces."),
                    Option("The numbers of its tokens", "Everything later is computed from these.", True),
                ),
                "A model reads tokens, pieces from a fixed vocabulary; all it sees are their numbers.",
            ),
            Recall(
                "How does WordPiece split a word that is not in its vocabulary?",
                (
                    Option(
                        "It takes the longest listed beginning, again and again",
                        "First of the word, then of what is left.",
                        True,
                    ),
                    Option(
                        "By grammar: stem and ending", "No grammar is involved, though pieces may look like endings."
                    ),
                    Option("Into single letters", "Only if no longer piece of it is listed."),
                ),
                "WordPiece splits an unlisted word by taking the longest listed beginning again and again; byte-pair "
                "encoding and Unigram follow other rules.",
            ),
            Recall(
                "Why can the token probabilities of two models not always be compared?",
                (
                    Option("One of the models is larger", "Size alone would be no obstacle."),
                    Option(
                        "They may split the same word into different tokens",
                        "One probability is then of a whole word, the other of a piece.",
                        True,
                    ),
                    Option("Probabilities are never comparable", "With one vocabulary they are."),
                ),
                "A vocabulary belongs to its model, so models may split the same text differently, and some throw away "
                "capitals and accents.",
            ),
        ),
    ),
)
