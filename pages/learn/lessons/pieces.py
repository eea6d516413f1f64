"""Lesson 1: how a text is cut into pieces, which are all that a model ever reads of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

import pandas as pd
import streamlit as st

from analysis.wordpiece import CONTINUED, Cut, cuts
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding
from pages.learn import options
from pages.learn.case import Case, name_of
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Source, Step
from ui import figures, token_line
from ui.messages import as_text, enumerated
from viz.bars import bars
from viz.palette import theme
from viz.token_line import Cell, Item, Line
from web.engine import engine

_SPARE: Final = "unbelievably"  # a word that is cut, for texts of which no word is
_SIGN: Final = "😀"  # which few lists have
_ACCENTS: Final = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")
_MOST_TRIED: Final = 3  # beginnings that are written out

_SCHUSTER = Source("Schuster & Nakajima", 2012, "Japanese and Korean Voice Search")
_WU = Source("Wu et al.", 2016, "Google’s Neural Machine Translation System")
_SENNRICH = Source("Sennrich et al.", 2016, "Neural Machine Translation of Rare Words with Subword Units")
_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")


def _own(encoding: Encoding) -> list[str]:
    """The tokens that somebody typed."""
    return [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]


def _added(encoding: Encoding) -> list[str]:
    return [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if special]


def _line(case: Case, tokens: Sequence[str], label: str = "") -> Line:
    fill = theme(case.dark).surface
    return Line(tuple(Item((Cell(token, fill),)) for token in tokens), label)


def _numbered(case: Case, encoding: Encoding) -> Line:
    """Tokens over their numbers; those that nobody typed are marked."""
    fill = theme(case.dark).surface
    return Line(
        tuple(
            Item((Cell(token, fill), Cell(str(number), small=True)), f"{token}: number {number:,}", marked=special)
            for token, number, special in zip(encoding.tokens, encoding.ids, encoding.special, strict=True)
        )
    )


def _table(encoding: Encoding) -> pd.DataFrame:
    return pd.DataFrame({"place": range(1, len(encoding) + 1), "token": encoding.tokens, "number": encoding.ids})


# ---- how many ---------------------------------------------------------------------------------------------------


def _count_text(_case: Case) -> str:
    return (
        "A model reads neither letters nor words. It reads [[tokens|token]]: pieces from a fixed list, its "
        "[[vocabulary]]. What the list lacks is cut into pieces that it has. All that the rest of the model is given "
        "are the numbers of these pieces."
    )


def _count_ask(case: Case) -> Choice:
    encoding = case.encoding
    n, own = len(encoding), len(_own(encoding))
    words, letters = len(case.text.split()), sum(sign.isalpha() for sign in case.text)
    told = f"You typed {own} of them, and the model adds {n - own}."
    return Choice(
        f"Your text has {words} words between blanks. How many tokens does the model read?",
        options.numbers(
            (n, told),
            (words, f"Signs such as a full stop are tokens of their own, and a word may be several. {told}"),
            (letters, f"So many letters there are. Most tokens have several. {told}"),
            (own, f"These are the ones that you typed. The model adds {n - own}, which frame the text."),
        ),
    )


def _count_figure(case: Case) -> None:
    token_line.draw([_line(case, case.text.split())], "learn pieces")


def _count_reveal(case: Case) -> None:
    token_line.draw([_numbered(case, case.encoding)], "learn pieces")
    st.caption("Under each token its number in the list. Those in a frame nobody typed.")


def _count_why(case: Case) -> str:
    encoding, vocabulary = case.encoding, engine().vocabulary(case.model)
    found = zip(encoding.word_ids, encoding.ids, encoding.special, strict=True)
    typed = [(word, number) for word, number, special in found if not special]
    words = [[number for _, number in group] for _, group in groupby(typed, key=lambda one: one[0])]
    whole = sum(len(numbers) == 1 and numbers[0] != vocabulary.unknown_id for numbers in words)
    return (
        f"{whole} of your {len(words)} words and signs are in this model’s list of {len(vocabulary.tokens):,} as they "
        "are, one token each: a list of all words could never be complete, and single letters would make long rows."
    )


def _count_numbers(case: Case) -> pd.DataFrame:
    return _table(case.encoding)


# ---- where a word is cut ----------------------------------------------------------------------------------------


def _plain(token: str) -> str:
    """A piece without the signs by which vocabularies mark beginnings and continuations."""
    return token.removeprefix(CONTINUED).lstrip("Ġ▁").removesuffix("</w>")


def _word(case: Case) -> tuple[str, list[str]]:
    """The word that is cut into most pieces, as it is typed, and its pieces; one of ours where no word is cut."""
    encoding = case.encoding
    places: dict[int, list[int]] = {}
    for place, word in enumerate(encoding.word_ids):
        if word is not None and not encoding.special[place]:
            places.setdefault(word, []).append(place)
    for of_word in sorted(places.values(), key=len, reverse=True):
        written = case.text[encoding.offsets[of_word[0]][0] : encoding.offsets[of_word[-1]][1]].strip()
        pieces = [encoding.tokens[place] for place in of_word]
        # Pieces that are bytes do not read like the word.
        if len(of_word) > 1 and written.isalpha() and len(written) == len("".join(map(_plain, pieces))):
            return written, pieces
    return _SPARE, _own(engine().encode(case.model, _SPARE))


def _steps(case: Case) -> tuple[Cut, ...]:
    """The longest beginnings, one after the other; nothing where this model cuts by another rule."""
    _, pieces = _word(case)
    found = cuts("".join(map(_plain, pieces)), set(engine().vocabulary(case.model).tokens))
    return found if found is not None and [cut.piece for cut in found] == pieces else ()


def _cut_text(case: Case) -> str:
    word, _ = _word(case)
    whose = "from your text" if word in case.text else "since no word of your text is cut"
    if _steps(case):
        rule = (
            "[[WordPiece]] takes the longest beginning of the word that is in the vocabulary, then the longest "
            "beginning of what is left, and so on."
        )
    else:
        rule = (
            "This model does not go by the longest beginning, as BERT does. Rules such as byte-pair encoding start "
            "from single signs and join neighbours in the order in which they learned to."
        )
    return f"Take {quoted(word)}, {whose}. {rule}"


def _cut_ask(case: Case) -> Choice:
    word, pieces = _word(case)
    parts = list(map(_plain, pieces))
    base, third = "".join(parts), max(1, len(word) // 3)
    wrong = [[base], list(base), [base[:-third], base[-third:]], [base[:third], base[third:]], [base[:2], base[2:]]]
    kept = [one for one in dict.fromkeys(map(tuple, wrong)) if list(one) != parts][:3]
    goes_on = " “##” marks a piece that goes on." if any(piece.startswith(CONTINUED) for piece in pieces) else ""
    right = f"{' · '.join(map(as_text, pieces))}.{goes_on}"
    found = [(parts, right, True), *[(list(one), _not_so(case, list(one)), False) for one in kept]]
    written = sorted((" + ".join(one), said, is_right) for one, said, is_right in found)
    return Choice(
        f"How is {quoted(word)} cut?",
        tuple(Option(as_text(one), said, is_right) for one, said, is_right in written),
    )


def _not_so(case: Case, guess: list[str]) -> str:
    """What is wrong with a cut: at the first piece that is another one."""
    steps, parts = _steps(case), list(map(_plain, _word(case)[1]))
    at = next(place for place, (one, other) in enumerate(zip(guess, parts, strict=False)) if one != other)
    mine, own = quoted(guess[at]), quoted(parts[at])
    if not steps:
        return f"By the rule of this model the pieces are {' · '.join(map(as_text, _word(case)[1]))}."
    where = "" if at == 0 else " as a piece that goes on"
    if len(guess[at]) > len(parts[at]):
        return f"{mine} is not in the list{where}. The longest beginning that is in it is {own}."
    return f"Whether {mine} is in the list or not: {own} is, and it is longer, so it is taken."


def _cut_figure(case: Case) -> None:
    token_line.draw([_line(case, list(_word(case)[0]))], "learn pieces")


def _cut_reveal(case: Case) -> None:
    word, pieces = _word(case)
    token_line.draw([_line(case, pieces)], "learn pieces")
    steps = _steps(case)
    if steps:
        st.table([{"left": cut.left, "not in the list": _misses(cut), "taken": cut.piece} for cut in steps])
        return
    default = Case(registry.DEFAULT_MODEL, word)
    st.caption(f"{as_text(name_of(default.model))} has another list and another rule:")
    token_line.draw([_line(case, _own(default.encoding))], "learn other pieces")


def _misses(cut: Cut) -> str:
    """The beginnings that were tried before the one that is in the list, the longest first."""
    tried = [cut.left[: len(cut.left) - less] for less in range(cut.tried - 1)]
    if not tried:
        return "–"
    if len(tried) <= _MOST_TRIED:
        return ", ".join(tried)
    return f"{', '.join(tried[: _MOST_TRIED - 1])}, … {tried[-1]} ({len(tried)})"


def _cut_why(case: Case) -> str:
    word, pieces = _word(case)
    steps = _steps(case)
    if not steps:
        return (
            "The list was made by joining what stands together often, not by grammar; byte-pair encoding is one way "
            "to do so (Sennrich et al. 2016)."
        )
    tried = sum(cut.tried for cut in steps)
    return (
        "The list was chosen so that much text needs few pieces, not by grammar (Schuster & Nakajima 2012, Wu et al. "
        f"2016): {quoted(word)} took {tried} look-ups and became {len(pieces)} pieces."
    )


def _cut_numbers(case: Case) -> pd.DataFrame:
    steps = _steps(case)
    if steps:
        rows = [(cut.left, cut.piece, cut.tried) for cut in steps]
        return pd.DataFrame(rows, columns=["left of the word", "longest piece in the list", "beginnings tried"])
    return pd.DataFrame({"piece": _word(case)[1]})


# ---- tokens nobody typed, and what is in no list ----------------------------------------------------------------


def _frame_text(case: Case) -> str:
    added = list(dict.fromkeys(_added(case.encoding)))
    said = f"this model adds {enumerated(list(map(as_text, added)))}" if added else "this model adds none"
    roles = (
        " \\[CLS\\] is read where one vector has to stand for the whole text, \\[SEP\\] ends a text."
        if {"[CLS]", "[SEP]"} <= set(added)
        else ""
    )
    return (
        f"Some tokens nobody types: {said}.{roles} And some signs a list may lack. Type {_SIGN} behind your text: "
        "what does the model read in its place?"
    )


def _frame_ask(case: Case) -> Choice:
    encoding, unknown = engine().encode(case.model, _SIGN), engine().vocabulary(case.model).unknown_id
    own = _own(encoding)
    if unknown in encoding.ids:
        right, told = 1, "The list lacks the sign, and bytes to spell it with; what it was is lost."
    else:
        right, told = (3, 0, 2)[min(len(own), 2)], f"Its tokens here: {' '.join(map(as_text, own)) or 'none'}."
    wrong = (
        ("One token that is its own", "So it would be if the list had the sign, as it has words."),
        ("One token that means “unknown”", "A list that has all bytes needs no such token: it can spell any sign."),
        ("Several tokens, parts of it", "So it is where a list has all bytes, from which any sign can be spelled."),
        ("Nothing at all", "What is in no list is not just left out: something stands in its place."),
    )
    return Choice(
        f"What does this model read for {_SIGN}?",
        tuple(
            Option(text, told if place == right else f"{said} {told}", place == right)
            for place, (text, said) in enumerate(wrong)
        ),
    )


def _with_sign(case: Case) -> Encoding:
    return engine().encode(case.model, f"{case.text} {_SIGN}")


def _frame_figure(case: Case) -> None:
    token_line.draw([_line(case, [*case.text.split(), _SIGN])], "learn pieces")


def _frame_reveal(case: Case) -> None:
    token_line.draw([_numbered(case, _with_sign(case))], "learn pieces")
    st.caption("Under each token its number in the list. Those in a frame are special: no word is written so.")


def _frame_why(case: Case) -> str:
    unknown, ids = engine().vocabulary(case.model).unknown_id, case.encoding.ids
    n = sum(number == unknown for number in ids)
    if unknown is None:
        return "This list can spell any text, so it needs no token for what is unknown."
    said = "none of your own signs is" if n == 0 else "1 of your own signs is" if n == 1 else f"{n} of your signs are"
    return (
        "All that cannot be put together from the list becomes one and the same token, after which nobody can tell "
        f"what it was; {said} unknown to this model."
    )


def _frame_numbers(case: Case) -> pd.DataFrame:
    return _table(_with_sign(case))


# ---- other lists ------------------------------------------------------------------------------------------------


def _others(case: Case) -> list[tuple[str, Encoding, int]]:
    """What this model and those that come with the app make of the text, and how long their lists are: each list once,
    by the name of the first model that has it.
    """
    shipped = [spec.id for spec in registry.MODELS.values() if spec.hub_id is None]
    found: dict[tuple[str, ...], tuple[str, Encoding, int]] = {}
    for model in dict.fromkeys([case.model, *shipped]):
        tokens = engine().vocabulary(model).tokens
        if tokens not in found:
            found[tokens] = name_of(model), engine().encode(model, case.text), len(tokens)
    return list(found.values())


def _lists_text(case: Case) -> str:
    found = _others(case)
    sizes = enumerated([f"{as_text(name)} ({n:,} pieces)" for name, _, n in found])
    return (
        "A list belongs to its model: it was made from certain texts by a certain rule, and the model has learned a "
        f"vector for each piece. Here are {len(found)} lists: {sizes}. Do they cut your text alike?"
    )


def _lists_ask(case: Case) -> Choice:
    found = [(name, [_plain(token).lower() for token in _own(encoding)]) for name, encoding, _ in _others(case)]
    lengths = {len(pieces) for _, pieces in found}
    alike = all(pieces == found[0][1] for _, pieces in found)
    told = enumerated([f"{as_text(name)} makes {len(pieces)}" for name, pieces in found])
    return Choice(
        "What do these lists make of your text?",
        (
            Option(
                "The same pieces, but for capitals",
                f"Frequent words are in every list. {told}."
                if alike
                else f"Frequent words are in every list, but here at least one word is cut in other places. {told}.",
                alike,
            ),
            Option(
                "As many pieces, cut in other places",
                f"Not even their number is the same: {told}."
                if len(lengths) > 1
                else f"Their number is the same, and so are the pieces: {told}."
                if alike
                else f"{told}. That is chance: equal numbers do not mean equal pieces.",
                not alike and len(lengths) == 1,
            ),
            Option(
                "Different numbers of pieces",
                f"{told}, those that frame the text not counted."
                if len(lengths) > 1
                else f"Often so, but on your text the numbers are equal: {told}.",
                len(lengths) > 1,
            ),
        ),
    )


def _lists_figure(case: Case) -> None:
    token_line.draw([_line(case, _own(case.encoding), name_of(case.model))], "learn pieces")


def _lists_reveal(case: Case) -> None:
    found = _others(case)
    token_line.draw([_line(case, _own(encoding), name) for name, encoding, _ in found], "learn pieces")
    names, lengths = [name for name, _, _ in found], [float(len(_own(encoding))) for _, encoding, _ in found]
    figures.show(bars(names, [("tokens", lengths)], written=".0f", dark=case.dark), "learn lists", "vocabularies")


def _lists_why(case: Case) -> str:
    most = max(_others(case), key=lambda one: one[2])
    return (
        f"A longer list, here that of {as_text(most[0])}, tends to cut less and costs more rows in the table of "
        "embeddings; since pieces differ, probabilities of tokens cannot be compared between such models as they are."
    )


def _lists_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": name, "vocabulary": n, "tokens": len(_own(encoding)), "pieces": " ".join(_own(encoding))}
            for name, encoding, n in _others(case)
        ]
    )


# ---- what is lost -----------------------------------------------------------------------------------------------


def _changed(case: Case) -> dict[str, str]:
    """The text written in other ways: in capitals (in small letters where it is in capitals), with an accent, with two
    blanks between words. Raises InvalidInput for a text without a vowel.
    """
    text, encoding, mask = case.text, case.encoding, engine().vocabulary(case.model).mask_id
    vowels = (
        place
        for (start, end), number, special in zip(encoding.offsets, encoding.ids, encoding.special, strict=True)
        if not special and number != mask
        for place in range(start, end)
        if text[place].translate(_ACCENTS) != text[place]
    )
    at = next(vowels, None)
    if at is None:
        raise InvalidInput("There is no vowel in this text to put an accent on. Type an English word.")
    capitals = text.upper() if text != text.upper() else text.lower()
    return {
        "capitals": capitals,
        "an accent": f"{text[:at]}{text[at].translate(_ACCENTS)}{text[at + 1 :]}",
        "two blanks": "  ".join(text.split()),
    }


def _same(case: Case) -> dict[str, bool]:
    """Whether the model reads the very same tokens then."""
    return {how: engine().encode(case.model, text).ids == case.encoding.ids for how, text in _changed(case).items()}


def _lost_text(case: Case) -> str:
    changed = _changed(case)
    start = min(
        (at for at, (one, other) in enumerate(zip(case.text, changed["an accent"], strict=True)) if one != other),
        default=0,
    )
    word = (changed["an accent"][:start].split(" ")[-1] + changed["an accent"][start:].split(" ")[0]).strip()
    return (
        "What is thrown away here, no later layer can know. Write your text in capitals, or with an accent: "
        f"{quoted(word)}. To us it stays nearly the same text. Does this model read other tokens then?"
    )


def _lost_ask(case: Case) -> Choice:
    same = _same(case)
    capitals, accent = same["capitals"], same["an accent"]
    told = f"Capitals: {_tokens(capitals)}. An accent: {_tokens(accent)}."
    return Choice(
        "Which of the two gives this model other tokens?",
        (
            Option(
                "Neither of them",
                f"{told} Letters are made small and bare before they are looked up."
                if capitals and accent
                else f"So it is for “uncased” models such as BERT-base-uncased. Here: {told}",
                capitals and accent,
            ),
            Option(
                "Only the capitals",
                told if accent and not capitals else f"That would be a list with capitals and without accents. {told}",
                accent and not capitals,
            ),
            Option(
                "Only the accent",
                told if capitals and not accent else f"That would be a list without capitals, with accents. {told}",
                capitals and not accent,
            ),
            Option(
                "Both of them",
                f"{told} To this model another letter is another piece."
                if not (capitals or accent)
                else f"So it is where a list has all signs. Here: {told}",
                not (capitals or accent),
            ),
        ),
    )


def _tokens(same: bool) -> str:
    return "the same tokens" if same else "other tokens"


def _lost_figure(case: Case) -> None:
    token_line.draw([_line(case, _own(case.encoding), "as typed")], "learn pieces")


def _lost_reveal(case: Case) -> None:
    same = _same(case)
    lines = [_line(case, _own(case.encoding), "as typed")]
    for how, text in _changed(case).items():
        lines.append(_line(case, _own(engine().encode(case.model, text)), how))
    token_line.draw(lines, "learn pieces")
    st.caption(". ".join(f"{how.capitalize()}: {_tokens(is_same)}" for how, is_same in same.items()) + ".")


def _lost_why(case: Case) -> str:
    lost = [how for how, same in _same(case).items() if same]
    if not lost:
        return "Nothing of this is lost: to the model these are different texts, and each form has vectors of its own."
    return (
        f"Equal numbers go in, so every layer computes the same with and without {enumerated(lost)}: what is lost "
        "makes the list shorter, and some words harder to tell apart, such as “US” and “us”."
        if "capitals" in lost
        else f"Equal numbers go in, so every layer computes the same with and without {enumerated(lost)}."
    )


def _lost_numbers(case: Case) -> pd.DataFrame:
    same = _same(case)
    rows = [("as typed", case.text, " ".join(case.encoding.tokens), True)]
    for how, text in _changed(case).items():
        rows.append((how, text, " ".join(engine().encode(case.model, text).tokens), same[how]))
    return pd.DataFrame(rows, columns=["written", "text", "tokens", "same tokens"])


LESSON = Lesson(
    name="pieces",
    title="Words to pieces",
    question="What does a model read of a text?",
    examples=(
        ("That was unbelievably good, she whispered.", ""),
        ("The photographer overslept and misplaced her earrings.", ""),
        ("Xylophonists rarely play the theremin 😀", ""),
    ),
    pages=("compare",),
    steps=(
        Step(
            title="Words and pieces",
            at="pieces",
            text=_count_text,
            figure=_count_figure,
            ask=_count_ask,
            reveal=_count_reveal,
            why=_count_why,
            numbers=_count_numbers,
        ),
        Step(
            title="Where a word is cut",
            at="pieces",
            text=_cut_text,
            figure=_cut_figure,
            ask=_cut_ask,
            reveal=_cut_reveal,
            why=_cut_why,
            numbers=_cut_numbers,
            sources=(_SCHUSTER, _WU, _SENNRICH),
        ),
        Step(
            title="Neither word nor piece",
            at="pieces",
            text=_frame_text,
            figure=_frame_figure,
            ask=_frame_ask,
            reveal=_frame_reveal,
            why=_frame_why,
            numbers=_frame_numbers,
            sources=(_DEVLIN,),
        ),
        Step(
            title="Other lists",
            at="pieces",
            text=_lists_text,
            figure=_lists_figure,
            ask=_lists_ask,
            reveal=_lists_reveal,
            why=_lists_why,
            numbers=_lists_numbers,
        ),
        Step(
            title="What is lost",
            at="text",
            text=_lost_text,
            figure=_lost_figure,
            ask=_lost_ask,
            reveal=_lost_reveal,
            why=_lost_why,
            numbers=_lost_numbers,
        ),
    ),
)
