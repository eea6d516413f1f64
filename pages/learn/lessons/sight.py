"""Lesson 7: who may look at whom: both ways, back only, across; and what a mask does to predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray, MaskPrediction
from pages.learn import options
from pages.learn.case import Case, name_of
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures
from ui.messages import as_text, enumerated
from viz.bars import bars
from viz.matrices import matrices
from viz.predictions import percent, predictions
from web.engine import engine

_MOST_WORDS: Final = 12  # that one draws over, and whose guesses are computed
_SHOWN: Final = 24  # tokens in a picture of a mask
_BEST: Final = 6  # guesses shown

_VASWANI = Source("Vaswani et al.", 2017, "Attention Is All You Need")
_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_RADFORD = Source("Radford et al.", 2019, "Language Models are Unsupervised Multitask Learners")
_LEWIS = Source("Lewis et al.", 2020, "BART: Denoising Sequence-to-Sequence Pre-training")


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


def _tokens(case: Case) -> list[str]:
    return list(case.encoding.tokens[:_SHOWN])


def _known(kind: Literal["causal", "cross"]) -> list[str]:
    """Models that look back only, or across."""
    return [spec.id for spec in registry.MODELS.values() if (spec.causal if kind == "causal" else spec.cross_attention)]


def _here(kind: Literal["causal", "cross"]) -> list[str]:
    """Those of them that are on this machine."""
    return [model for model in _known(kind) if engine().has(model)]


def _names(kind: Literal["causal", "cross"]) -> str:
    return enumerated([name_of(model) for model in _known(kind)])


# ---- the shapes of masks ----------------------------------------------------------------------------------------


def _shapes_text(_case: Case) -> str:
    return (
        "Which tokens a token may take from is set by a [[mask|attention mask]]: hidden ones get a share of 0. **Both "
        "ways**: all tokens (BERT). **Causal**: itself and those before it (GPT-2), so that the next one can be "
        "guessed. To “see” a token means here: its value may enter the sum."
    )


def _shapes_ask(case: Case) -> Choice:
    n, at = len(case.encoding), case.followed
    return Choice(
        f"Under a causal mask, how many of the {n} tokens may {_token(case)} take from?",
        options.numbers(
            (at + 1, f"It is token {at + 1}: the {at} before it, and itself."),
            (at, "Those before it, and itself, too: a token is always allowed its own value."),
            (n, "That is what BERT allows. A causal mask hides all that comes later."),
            (n - at, "Those are the ones from it to the end. A causal mask hides what comes later, and not what came."),
        ),
    )


def _shapes_figure(case: Case) -> None:
    n = len(_tokens(case))
    _show(case, [("both ways", np.ones((n, n), dtype=np.float32))])


def _shapes_reveal(case: Case) -> None:
    n = len(_tokens(case))
    full = np.ones((n, n), dtype=np.float32)
    _show(case, [("both ways", full), ("causal", np.tril(full))])


def _show(case: Case, named: Sequence[tuple[str, FloatArray]]) -> None:
    tokens = _tokens(case)
    figures.show(matrices(named, tokens, tokens, what="may take from", dark=case.dark), "learn masks", "masks")


def _shapes_why(case: Case) -> str:
    n = len(case.encoding)
    return (
        f"Both ways there are {n} · {n} = {n * n:,} pairs, under a causal mask {n * (n + 1) // 2:,}: a model that is "
        "to guess the next token must not be shown it (Radford et al. 2019), and one that fills gaps may use both "
        "sides (Devlin et al. 2019)."
    )


def _shapes_numbers(case: Case) -> pd.DataFrame:
    n = len(case.encoding)
    return pd.DataFrame(
        {
            "place": np.arange(1, n + 1),
            "token": case.encoding.tokens,
            "both ways": n,
            "causal": np.arange(1, n + 1),
        }
    )


# ---- this model's own -------------------------------------------------------------------------------------------


def _mean_of(run: AttentionRun) -> FloatArray:
    """Attention of all heads of all layers, on average, (n, m)."""
    found: FloatArray = np.stack([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)]).mean(axis=0)
    return found


def _later(case: Case) -> float:
    """The share of attention that goes to later tokens."""
    mean = _mean_of(case.run).astype(np.float64)
    return float(np.triu(mean, 1).sum() / mean.sum())


def _own_text(case: Case) -> str:
    return (
        f"And this model, {as_text(name_of(case.model))}? The picture will show the mean of all its heads on your "
        "text: rows are the tokens that take, columns those that give."
    )


def _own_ask(case: Case) -> Choice:
    later = _later(case)
    even = float(np.triu(np.ones((len(case.encoding),) * 2), 1).mean())
    told = f"{percent(later)} of all its attention goes to later tokens; spread evenly it would be {percent(even)}."
    return Choice(
        "How much of this model’s attention goes to tokens that come later in the text?",
        (
            Option(
                "None: it may look back only",
                f"{told} So it was trained to guess the next token."
                if later == 0
                else f"So it is in models that guess the next token. This one may look ahead: {told}",
                later == 0,
            ),
            Option(
                "Some, up to two thirds",
                told if 0 < later <= 2 / 3 else f"More than that, or nothing: {told}",
                0 < later <= 2 / 3,
            ),
            Option(
                "More than two thirds",
                told if later > 2 / 3 else f"Nothing draws it ahead so much: {told}",
                later > 2 / 3,
            ),
        ),
    )


def _own_reveal(case: Case) -> None:
    """The mean of all heads, and beside it that of a model that looks back only, where one is on this machine."""
    other = next((model for model in _here("causal") if model != case.model), None)
    if other is None:
        _show_mean(case.run, case, "learn masks")
        if _later(case) > 0:
            st.caption(
                f"{_names('causal')} would leave all above the diagonal empty. It is not on this machine: choose it as "
                "the model to download it."
            )
        return
    own, back = st.tabs([name_of(case.model), name_of(other)])
    with own:
        _show_mean(case.run, case, "learn masks")
    with back:
        _show_mean(engine().attend(other, case.text), case, "learn causal mask")


def _show_mean(run: AttentionRun, case: Case, key: str) -> None:
    """The mean of all heads of a run, of its first tokens."""
    mean, rows, columns = _mean_of(run), run.encoding.tokens[:_SHOWN], run.key_encoding.tokens[:_SHOWN]
    named = [("mean of all heads of all layers", mean[: len(rows), : len(columns)])]
    figures.show(matrices(named, rows, columns, what="share", root=True, dark=case.dark), key, "mean-attention")


def _own_why(case: Case) -> str:
    if _later(case) == 0:
        return "Above the diagonal everything is 0: each token was computed without any that follows it."
    return (
        "There is colour on both sides of the diagonal: the vector of an early word is made from later ones, too, so "
        "it can depend on how the sentence ends."
    )


def _own_numbers(case: Case) -> pd.DataFrame:
    mean = _mean_of(case.run)
    return pd.DataFrame(
        {
            "place": np.arange(1, len(mean) + 1),
            "token": case.encoding.tokens,
            "to earlier": np.tril(mean, -1).sum(axis=1),
            "to itself": np.diagonal(mean),
            "to later": np.triu(mean, 1).sum(axis=1),
        }
    )


# ---- a causal mask for a model that was trained without ---------------------------------------------------------


def _both(case: Case) -> tuple[MaskPrediction, MaskPrediction]:
    """The guess at the followed token as ever, and when no token may take from later ones."""
    return case.guesses(case.followed, _BEST), _unseeing(case, case.followed)


def _unseeing(case: Case, place: int) -> MaskPrediction:
    """The guess at a hidden token when no token may take from later ones."""
    found = engine().fill_without(case.model, case.text, (place,), without="future", top_k=_BEST)
    return next(answer for answer in found if answer.position == place)


def _right(answer: MaskPrediction) -> float:
    if answer.original is None:
        raise InvalidInput("A mask was typed there, so nothing tells which word is right. Follow another token.")
    return answer.original.probability


def _blind_text(case: Case) -> str:
    return (
        f"Hide {_token(case)} and let the model guess. Then the same with a causal mask in every layer: no token may "
        "take from later ones. The model was trained to use both sides."
    )


def _blind_ask(case: Case) -> Choice:
    usual, blind = map(_right, _both(case))
    ratio = blind / max(usual, 1e-12)
    told = f"It goes from {percent(usual)} to {percent(blind)}."
    bins = (
        (0.1, "Less than a tenth of that"),
        (0.5, "A tenth to half of that"),
        (1.0, "Half of that up to nearly as much"),
        (np.inf, "As much or more"),
    )
    right = next(place for place, (bound, _) in enumerate(bins) if ratio < bound)

    def reply(place: int) -> str:
        if place == right == len(bins) - 1:
            return f"{told} Here what stands on the right was no help."
        if place == right:
            return f"{told} So much of it came from the right."
        more = "The left side alone is worth more" if place < right else "More of it came from the right side"
        return f"{more} than you thought. {told}"

    return Choice(
        f"Both ways, {_token(case)} has a probability of {percent(usual)}. And under the causal mask?",
        tuple(Option(text, reply(place), place == right) for place, (_, text) in enumerate(bins)),
    )


def _blind_figure(case: Case) -> None:
    usual, _ = _both(case)
    figures.show(predictions(usual, "Both ways", dark=case.dark), "learn guesses", "both-ways")


def _blind_reveal(case: Case) -> None:
    both = _both(case)
    highest = max(answer.best[0].probability for answer in both)
    masks = zip(st.columns(2), ("Both ways", "Causal mask"), both, strict=True)
    for place, (column, name, answer) in enumerate(masks):
        figure = predictions(answer, name, dark=case.dark, highest=highest)
        with column:
            figures.show(figure, f"learn guesses {place}", name.lower().replace(" ", "-"))


def _blind_why(case: Case) -> str:
    usual, blind = _both(case)
    first, second = quoted(usual.best[0].token), quoted(blind.best[0].token)
    change = f"stays {first}" if first == second else f"goes from {first} to {second}"
    return (
        f"With the right side hidden the best guess {change}; that is no fair test of causal models, which are trained "
        "with the mask from the start (Radford et al. 2019)."
    )


def _blind_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"mask": name, "token": p.token, "probability": p.probability}
            for name, answer in zip(("both ways", "causal"), _both(case), strict=True)
            for p in answer.best
        ]
    )


# ---- every word under the causal mask ---------------------------------------------------------------------------


def _words(case: Case) -> list[int]:
    """Places of words to hide in turn, the first few."""
    encoding, mask = case.encoding, engine().vocabulary(case.model).mask_id
    places = [
        at
        for at, (number, special) in enumerate(zip(encoding.ids, encoding.special, strict=True))
        if not special and number != mask and case.is_word(at)
    ]
    if not places:
        raise InvalidInput("There is no word to hide in this text. Type a sentence.")
    return places[:_MOST_WORDS]


def _each(case: Case) -> list[tuple[int, float, float]]:
    """For each of the words its place, and the probability of the right one both ways and under a causal mask."""
    return [(at, _right(case.guesses(at, _BEST)), _right(_unseeing(case, at))) for at in _words(case)]


def _each_text(_case: Case) -> str:
    return (
        "Now every word in turn, the first dozen of them: hidden, and guessed under the causal mask. For the first "
        "word hardly anything is left to “see”, for the last one nearly all of the sentence."
    )


def _each_ask(case: Case) -> Sketch:
    found = _each(case)
    names = [case.label(at).replace("\\", "") for at, _, _ in found]
    truth = [blind for _, _, blind in found]

    def reply(drawn: Sequence[float]) -> str:
        best, guessed = names[int(np.argmax(truth))], names[int(np.argmax(drawn))]
        off = float(np.abs(np.array(drawn) - np.array(truth)).mean())
        said = "You found the one" if best == guessed else f"You drew {quoted(guessed)} highest"
        most = f"{quoted(best)} is most probable, {percent(max(truth))}"
        return f"{said}: {most}. You are {percent(off)} off, on average."

    return Sketch(
        "Draw how probable each word is to the model when it sees only what stands before it.",
        tuple(names),
        tuple(truth),
        reply,
        top=_top(case),
        unit="%",
    )


def _top(case: Case) -> float:
    """Where the scale ends: at the next ten percent."""
    return math.ceil(10 * max(max(usual, blind) for _, usual, blind in _each(case)) + 1e-9) / 10


def _each_figure(case: Case) -> None:
    found = _each(case)
    names = [f"{at + 1} · {case.encoding.tokens[at]}" for at, _, _ in found]
    figures.show(
        bars(
            names,
            [("probability of the right word, both ways", [usual for _, usual, _ in found])],
            top=_top(case),
            written=".0%",
            dark=case.dark,
        ),
        "learn words",
        "both-ways",
    )


def _each_reveal(case: Case) -> None:
    found = _each(case)
    names = [f"{at + 1} · {case.encoding.tokens[at]}" for at, _, _ in found]
    series = [("both ways", [one for _, one, _ in found]), ("causal", [other for _, _, other in found])]
    figures.show(bars(names, series, top=_top(case), written=".0%", dark=case.dark), "learn words", "masks-by-word")


def _each_why(case: Case) -> str:
    found = _each(case)
    lost = sum(blind < usual for _, usual, blind in found)
    said = (
        "what stands on the right helps to guess, and a model that was never trained without it cannot make up for it"
        if 2 * lost > len(found)
        else "on this text most of what helps stands on the left"
    )
    return f"{lost} of {len(found)} words become less probable when the right side is hidden: {said}."


def _each_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"place": at + 1, "token": case.encoding.tokens[at], "both ways": usual, "causal": blind}
            for at, usual, blind in _each(case)
        ]
    )


# ---- across: cross-attention ------------------------------------------------------------------------------------


def _across_text(_case: Case) -> str:
    return (
        f"Some models have two stacks: an encoder that reads one text both ways, and a decoder that writes another, "
        f"token by token ({_names('cross')}). In its [[cross-attention]] the decoder takes from the encoder’s "
        "tokens."
    )


def _across_ask(_case: Case) -> Choice:
    return Choice(
        "In cross-attention, where do queries and keys come from?",
        options.placed(
            1,
            Option(
                "Queries from the decoder, keys and values from the encoder",
                "Each token that is written is compared with each that was read, so the picture need not be square.",
                True,
            ),
            Option(
                "Queries from the encoder, keys and values from the decoder",
                "Then the text read would depend on what is written. It is the other way.",
            ),
            Option(
                "Both from the decoder", "That is the decoder’s own attention, which is causal. Across needs two texts."
            ),
        ),
    )


def _across_figure(case: Case) -> None:
    tokens = _tokens(case)
    n = len(tokens)
    full = np.ones((n, n), dtype=np.float32)
    figures.show(
        matrices(
            [("encoder", full), ("decoder", np.tril(full)), ("across", full)],
            tokens,
            tokens,
            what="may take from",
            dark=case.dark,
        ),
        "learn masks",
        "three-masks",
    )


def _across_reveal(case: Case) -> None:
    found = _here("cross")
    if not found:
        _across_figure(case)
        st.caption(
            f"No model with a decoder is on this machine yet. {_names('cross')} can be downloaded on the page "
            "Attention, which shows all three parts of them."
        )
        return
    model = found[0]
    st.caption(f"{as_text(name_of(model))}: the decoder writes your text again (rows) from what was read (columns).")
    _show_mean(engine().attend(model, case.text, case.text, stack="cross"), case, "learn masks")


def _across_why(_case: Case) -> str:
    return (
        "The decoder’s vector makes the query, the encoder’s vectors make keys and values, and no mask is needed, "
        "since the text that was read is there as a whole (Vaswani et al. 2017; BART, Lewis et al. 2020)."
    )


def _across_numbers(case: Case) -> pd.DataFrame:
    n = len(case.encoding)
    return pd.DataFrame(
        {
            "attention": ["encoder", "decoder", "across"],
            "queries from": ["encoder", "decoder", "decoder"],
            "keys and values from": ["encoder", "decoder", "encoder"],
            "pairs, both texts as long as yours": [n * n, n * (n + 1) // 2, n * n],
        }
    )


LESSON = Lesson(
    name="sight",
    title="Who may look at whom",
    question="What may a token see of the text?",
    examples=(
        ("Since she was ill, the girl stayed at home.", ""),
        ("After they had eaten, the children went to bed.", ""),
        ("She opened the door with her key.", ""),
    ),
    controls=("token",),
    pages=("attention", "masked_words"),
    steps=(
        Step(
            title="Masks of attention",
            at="heads",
            text=_shapes_text,
            figure=_shapes_figure,
            ask=_shapes_ask,
            reveal=_shapes_reveal,
            why=_shapes_why,
            numbers=_shapes_numbers,
            sources=(_DEVLIN, _RADFORD),
        ),
        Step(
            title="This model’s own",
            at="heads",
            text=_own_text,
            figure=_shapes_reveal,
            ask=_own_ask,
            reveal=_own_reveal,
            why=_own_why,
            numbers=_own_numbers,
        ),
        Step(
            title="Under a causal mask",
            at="guess",
            text=_blind_text,
            figure=_blind_figure,
            ask=_blind_ask,
            reveal=_blind_reveal,
            why=_blind_why,
            numbers=_blind_numbers,
            sources=(_RADFORD,),
        ),
        Step(
            title="Word by word",
            at="guess",
            text=_each_text,
            figure=_each_figure,
            ask=_each_ask,
            reveal=_each_reveal,
            why=_each_why,
            numbers=_each_numbers,
        ),
        Step(
            title="Across two texts",
            at="heads",
            text=_across_text,
            figure=_across_figure,
            ask=_across_ask,
            reveal=_across_reveal,
            why=_across_why,
            numbers=_across_numbers,
            sources=(_VASWANI, _LEWIS),
        ),
    ),
)
