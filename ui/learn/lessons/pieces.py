"""Lesson 1: how a text is cut into pieces, which are all that a model ever reads of it."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from analysis.wordpiece import CONTINUED, cuts
from model_zoo import registry, sources
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding
from ui import figures
from ui.engine import engine
from ui.learn import options
from ui.learn.case import Case, name_of
from ui.learn.glossary import quoted
from ui.learn.lesson import Choice, Lesson, Option, Source, Step
from ui.messages import as_text
from viz.bars import bars

_SPARE: Final = "unbelievably"  # a word that is cut, for texts of which no word is

_SCHUSTER = Source("Schuster & Nakajima", 2012, "Japanese and Korean Voice Search")
_WU = Source("Wu et al.", 2016, "Google’s Neural Machine Translation System")
_SENNRICH = Source("Sennrich et al.", 2016, "Neural Machine Translation of Rare Words with Subword Units")
_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")


def _own(encoding: Encoding) -> list[str]:
    """The tokens that somebody typed."""
    return [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]


def _boxes(tokens: list[str]) -> str:
    return " ".join(f":primary-background[{as_text(token)}]" for token in tokens)


# ---- how many ---------------------------------------------------------------------------------------------------


def _count_text(_case: Case) -> str:
    return (
        "A model reads neither letters nor words. It reads [[tokens|token]]: pieces from a fixed list, its "
        "[[vocabulary]]. Frequent words are one piece, rare ones are cut. The rest of the model sees only the numbers "
        "of these pieces."
    )


def _count_ask(case: Case) -> Choice:
    encoding = case.encoding
    n, own = len(encoding), len(_own(encoding))
    words, letters = len(case.text.split()), sum(sign.isalpha() for sign in case.text)
    return Choice(
        f"Your text has {words} words between blanks. How many tokens does the model read?",
        options.numbers(
            (n, f"{own} that you typed and {n - own} that the model adds."),
            (
                words,
                "Signs such as a full stop are tokens of their own, rare words are cut, and some tokens are added.",
            ),
            (letters, "So many letters there are. Most tokens have several of them."),
            (own, "These you typed. The model adds some that frame the text."),
            (n + 3, "Count again in the picture: it is a few less."),
        ),
    )


def _count_figure(case: Case) -> None:
    st.markdown(_boxes(case.text.split()))


def _count_reveal(case: Case) -> None:
    st.markdown(_boxes(list(case.encoding.tokens)))
    st.dataframe(_count_numbers(case), hide_index=True, height=280)


def _count_why(case: Case) -> str:
    n = len(engine().vocabulary(case.model).tokens)
    return (
        f"A list of all words would never be complete, and letters would make long rows; {n:,} pieces are in between, "
        "and any text can be put together from them, or nearly any."
    )


def _count_numbers(case: Case) -> pd.DataFrame:
    encoding = case.encoding
    return pd.DataFrame({"place": range(1, len(encoding) + 1), "token": encoding.tokens, "number": encoding.ids})


# ---- where a word is cut ----------------------------------------------------------------------------------------


def _word(case: Case) -> tuple[str, list[str]]:
    """The word that is cut into most pieces, as it is typed, and its pieces; one of ours where no word is cut."""
    encoding = case.encoding
    pieces: dict[int, list[int]] = {}
    for place, word in enumerate(encoding.word_ids):
        if word is not None and not encoding.special[place]:
            pieces.setdefault(word, []).append(place)
    places = max(pieces.values(), key=len, default=[])
    if len(places) > 1:
        start, end = encoding.offsets[places[0]][0], encoding.offsets[places[-1]][1]
        written = case.text[start:end].strip()
        if written.isalpha():
            return written, [encoding.tokens[place] for place in places]
    return _SPARE, _own(engine().encode(case.model, _SPARE))


def _plain(token: str) -> str:
    """A piece without the signs by which vocabularies mark beginnings and continuations."""
    return token.removeprefix(CONTINUED).lstrip("Ġ▁").removesuffix("</w>")


def _cut_text(case: Case) -> str:
    word, _ = _word(case)
    whose = "from your text" if word in case.text else "since no word of your text is cut"
    return (
        f"Take {quoted(word)}, {whose}. It is not in the vocabulary as a whole, or is it? BERT’s **WordPiece** takes "
        "the longest beginning that is in the list, then the longest beginning of what is left, and so on."
    )


def _cut_ask(case: Case) -> Choice:
    word, pieces = _word(case)
    right = " + ".join(map(_plain, pieces))
    third = max(1, len(word) // 3)
    wrong = [
        (word, "As a whole it is not in this vocabulary."),
        (" + ".join(word), "Letters are the last resort: longer pieces are in the list, and they come first."),
        (f"{word[:-third]} + {word[-third:]}", "A cut near the end would need this beginning in the list."),
        (f"{word[:third]} + {word[third:]}", "It goes by the list, and not by where we would part the word."),
    ]
    if len(pieces) == 1:
        wrong[0] = (f"{word[:2]} + {word[2:]}", "It need not be cut at all: the whole word is in the list.")
    kept = [one for one in dict(wrong).items() if one[0].lower() != right.lower()][:3]
    marks = " “##” marks a piece that goes on." if any(piece.startswith(CONTINUED) for piece in pieces) else ""
    found = [
        (right, f"The pieces are {' '.join(map(as_text, pieces))}.{marks}", True),
        *[(*one, False) for one in kept],
    ]
    return Choice(
        f"How is {quoted(word)} cut?",
        tuple(Option(as_text(text), reply, is_right) for text, reply, is_right in sorted(found)),
    )


def _cut_figure(case: Case) -> None:
    word, _ = _word(case)
    st.markdown(_boxes(list(word)))


def _cut_reveal(case: Case) -> None:
    st.markdown(_boxes(_word(case)[1]))
    st.table(_cut_numbers(case))


def _steps(case: Case) -> list[tuple[str, str, int]]:
    """What was left, the piece found, and how many were tried; nothing where this model cuts by another rule."""
    _, pieces = _word(case)
    vocabulary = set(engine().vocabulary(case.model).tokens)
    found = cuts("".join(map(_plain, pieces)), vocabulary)
    if found is None or [cut.piece for cut in found] != pieces:
        return []
    return [(cut.left, cut.piece, cut.tried) for cut in found]


def _cut_why(case: Case) -> str:
    word, pieces = _word(case)
    steps = _steps(case)
    if not steps:
        return (
            "This model cuts by another rule, byte-pair encoding: it begins with single signs and joins the pairs that "
            "were most frequent when the vocabulary was made (Sennrich et al. 2016)."
        )
    tried = sum(many for _, _, many in steps)
    return (
        f"The list was made so that it covers much text with few pieces, not by grammar: {quoted(word)} took {tried} "
        f"look-ups and became {len(pieces)} {'piece' if len(pieces) == 1 else 'pieces'} (Schuster & Nakajima 2012)."
    )


def _cut_numbers(case: Case) -> pd.DataFrame:
    steps = _steps(case)
    if steps:
        return pd.DataFrame(steps, columns=["left of the word", "longest piece in the list", "beginnings tried"])
    return pd.DataFrame({"piece": _word(case)[1]})


# ---- tokens nobody typed ----------------------------------------------------------------------------------------


def _frame_text(_case: Case) -> str:
    return (
        "Some tokens nobody types. BERT puts **[CLS]** in front, whose last vector stands for the whole text in many "
        "tasks, and **[SEP]** at the end of each text. Others exist, too: **[MASK]** hides a word, **[UNK]** stands "
        "for what cannot be written with the list."
    )


def _frame_ask(case: Case) -> Choice:
    added = [token for token, special in zip(case.encoding.tokens, case.encoding.special, strict=True) if special]
    named = ", ".join(map(as_text, added)) or "none"
    return Choice(
        "How many tokens does this model add to your text?",
        options.numbers(
            (len(added), f"It adds: {named}."),
            (0, f"Models such as GPT-2 add none. This one adds {named}."),
            (1, f"One would mark the beginning or the end. This one adds: {named}."),
            (2, f"BERT adds two, one in front and one at the end. This one adds: {named}."),
            (3, f"Three it would be for a pair of texts in BERT. This one adds, to one text: {named}."),
        ),
    )


def _frame_reveal(case: Case) -> None:
    encoding = case.encoding
    st.markdown(
        " ".join(
            f":primary-background[**{as_text(token)}**]" if special else as_text(token)
            for token, special in zip(encoding.tokens, encoding.special, strict=True)
        )
    )


def _frame_why(case: Case) -> str:
    unknown = engine().vocabulary(case.model).unknown_id
    lost = sum(id == unknown for id in case.encoding.ids)
    said = "None of your signs was unknown" if lost == 0 else f"{lost} of your signs became the unknown token"
    return (
        f"A fixed frame gives every text the same places to be read from (Devlin et al. 2019). {said}: for a token "
        "that stands for anything, the model can tell nothing of what it was."
    )


# ---- other lists ------------------------------------------------------------------------------------------------


def _others(case: Case) -> list[tuple[str, Encoding]]:
    """What the models on this machine make of the text: each list once."""
    found: dict[tuple[str, ...], tuple[str, Encoding]] = {}
    for spec in registry.MODELS.values():
        if spec.hub_id is None or sources.downloaded(spec.hub_id) is not None:
            vocabulary = engine().vocabulary(spec.id)
            if vocabulary.tokens not in found:
                found[vocabulary.tokens] = name_of(spec.id), engine().encode(spec.id, case.text)
    return list(found.values())


def _lists_text(case: Case) -> str:
    names = " and ".join(as_text(name) for name, _ in _others(case))
    return (
        f"Every model comes with its own list, made from its own texts by its own rule. On this machine there are "
        f"{len(_others(case))} of them: those of {names}. Do they cut your text alike?"
    )


def _lists_ask(case: Case) -> Choice:
    found = [[_plain(token).lower() for token in _own(encoding)] for _, encoding in _others(case)]
    if len(found) < 2:
        raise InvalidInput("There is one list on this machine only. Download another model on the page Attention.")
    alike = all(one == found[0] for one in found)
    lengths = [len(one) for one in found]
    told = f"They make {' and '.join(map(str, lengths))} tokens, those that frame the text not counted."
    return Choice(
        "What do the lists make of your text?",
        (
            Option("The same pieces, but for capitals", told, alike),
            Option("As many pieces, cut in other places", told, not alike and len(set(lengths)) == 1),
            Option("Different numbers of pieces", told, not alike and len(set(lengths)) > 1),
        ),
    )


def _lists_reveal(case: Case) -> None:
    for name, encoding in _others(case):
        st.markdown(f"{as_text(name)}: {_boxes(_own(encoding))}")
    found = _others(case)
    figures.show(
        bars(
            [name for name, _ in found],
            [("tokens", [float(len(_own(one))) for _, one in found])],
            written=".0f",
            dark=case.dark,
        ),
        "learn lists",
        "vocabularies",
    )


def _lists_why(case: Case) -> str:
    sizes = [
        f"{as_text(name_of(spec.id))} has {len(engine().vocabulary(spec.id).tokens):,}"
        for spec in registry.MODELS.values()
        if name_of(spec.id) in [name for name, _ in _others(case)]
    ]
    return (
        f"Longer lists need fewer pieces a text and more rows in the table of embeddings: {', '.join(sizes)}; so "
        "numbers of tokens, and probabilities of tokens, cannot be compared between models as they are."
    )


def _lists_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": name, "tokens": len(_own(encoding)), "pieces": " ".join(_own(encoding))}
            for name, encoding in _others(case)
        ]
    )


# ---- what is lost -----------------------------------------------------------------------------------------------


def _swapped(case: Case) -> str:
    """The text in capitals; in small letters where it is in capitals already."""
    return case.text.lower() if case.text == case.text.upper() else case.text.upper()


def _lost_text(case: Case) -> str:
    return (
        f"What the cutting throws away, the model can never know. Write the text as {quoted(_swapped(case))}: to us "
        "that is the same text, only louder. And to this model?"
    )


def _lost_ask(case: Case) -> Choice:
    changed = engine().encode(case.model, _swapped(case))
    same = changed.ids == case.encoding.ids
    told = f"{len(case.encoding)} tokens before, {len(changed)} after."
    return Choice(
        "Does the model read other tokens now?",
        (
            Option(
                "No, exactly the same", f"This model’s list is without capitals, or your text has none. {told}", same
            ),
            Option(
                "Yes, some or all are others",
                f"This model’s list has capitals, and they are other pieces. {told}",
                not same,
            ),
        ),
    )


def _lost_reveal(case: Case) -> None:
    st.markdown(_boxes(list(case.encoding.tokens)))
    st.markdown(_boxes(list(engine().encode(case.model, _swapped(case)).tokens)))


def _lost_why(case: Case) -> str:
    same = engine().encode(case.model, _swapped(case)).ids == case.encoding.ids
    if same:
        return "Nothing that follows can tell the two apart: every number in the model will be the same for both."
    return "To the model these are different texts, and what it learned of words in one form holds for them alone."


def _lost_numbers(case: Case) -> pd.DataFrame:
    changed = engine().encode(case.model, _swapped(case))
    rows = max(len(case.encoding), len(changed))

    def filled(tokens: tuple[str, ...]) -> list[str]:
        return [*tokens, *[""] * (rows - len(tokens))]

    return pd.DataFrame({"as typed": filled(case.encoding.tokens), "other letters": filled(changed.tokens)})


LESSON = Lesson(
    name="pieces",
    title="Words to pieces",
    question="What does a model read of a text?",
    examples=(
        ("That was unbelievably good, she whispered.", ""),
        ("The cat sat on the mat because it was tired.", ""),
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
            title="Tokens nobody typed",
            at="pieces",
            text=_frame_text,
            figure=_count_figure,
            ask=_frame_ask,
            reveal=_frame_reveal,
            why=_frame_why,
            numbers=_count_numbers,
            sources=(_DEVLIN,),
        ),
        Step(
            title="Other lists",
            at="pieces",
            text=_lists_text,
            figure=_frame_reveal,
            ask=_lists_ask,
            reveal=_lists_reveal,
            why=_lists_why,
            numbers=_lists_numbers,
            sources=(_SENNRICH,),
        ),
        Step(
            title="What is lost",
            at="text",
            text=_lost_text,
            figure=_count_reveal,
            ask=_lost_ask,
            reveal=_lost_reveal,
            why=_lost_why,
            numbers=_lost_numbers,
        ),
    ),
)
