"""Lesson 7: who may look at whom: both ways, back only, across; and what a mask does to predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo import registry, sources
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray, MaskPrediction, ModelSpec
from ui import figures
from ui.engine import engine
from ui.learn import options
from ui.learn.case import Case, name_of
from ui.learn.glossary import quoted
from ui.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui.messages import as_text, enumerated
from viz.bars import bars
from viz.matrices import matrices

_MOST_WORDS: Final = 12  # that one draws over, and whose guesses are computed
_SHOWN: Final = 24  # tokens in a picture of a mask

_VASWANI = Source("Vaswani et al.", 2017, "Attention Is All You Need")
_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_RADFORD = Source("Radford et al.", 2019, "Language Models are Unsupervised Multitask Learners")
_LEWIS = Source("Lewis et al.", 2020, "BART: Denoising Sequence-to-Sequence Pre-training")


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


def _tokens(case: Case) -> list[str]:
    return list(case.encoding.tokens[:_SHOWN])


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


def _mean(case: Case) -> FloatArray:
    """Attention of all heads of all layers, on average, (n, n)."""
    return _mean_of(case.run)


def _mean_of(run: AttentionRun) -> FloatArray:
    found: FloatArray = np.stack([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)]).mean(axis=0)
    return found


def _later(case: Case) -> float:
    """The share of attention that goes to later tokens."""
    mean = _mean(case).astype(np.float64)
    return float(np.triu(mean, 1).sum() / mean.sum())


def _own_text(case: Case) -> str:
    return (
        f"And this model, {as_text(name_of(case.model))}? The picture will show the mean of all its heads on your "
        "text: rows are the tokens that take, columns those that give."
    )


def _own_ask(case: Case) -> Choice:
    later = _later(case)
    told = f"{later:.0%} of all its attention goes to later tokens."
    even = float(np.triu(np.ones((len(case.encoding),) * 2), 1).mean())
    return Choice(
        "How much of this model’s attention goes to tokens that come later in the text?",
        (
            Option(
                "None: it may look back only",
                f"{told} So it was trained to guess the next token." if later == 0 else told,
                later == 0,
            ),
            Option("Some, up to two thirds", f"{told} Spread evenly, it would be {even:.0%}.", 0 < later <= 2 / 3),
            Option("More than two thirds", f"{told} Spread evenly, it would be {even:.0%}.", later > 2 / 3),
        ),
    )


def _own_reveal(case: Case) -> None:
    tokens = _tokens(case)
    mean = _mean(case)[: len(tokens), : len(tokens)]
    figures.show(
        matrices([("mean of all heads", np.sqrt(mean))], tokens, tokens, what="√ of the share", dark=case.dark),
        "learn masks",
        "mean-attention",
    )


def _own_why(case: Case) -> str:
    if _later(case) == 0:
        return "Above the diagonal everything is 0: each token was computed without any that follows it."
    return (
        "There is colour on both sides of the diagonal: the vector of an early word is made from later ones, too, so "
        "it can depend on how the sentence ends."
    )


def _own_numbers(case: Case) -> pd.DataFrame:
    mean = _mean(case)
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
    (blind,) = (
        answer
        for answer in engine().fill_without(case.model, case.text, (case.followed,), without="future")
        if answer.position == case.followed
    )
    return case.guesses(case.followed), blind


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
    told = f"It goes from {usual:.1%} to {blind:.1%}."
    return Choice(
        f"Both ways, {_token(case)} has a probability of {usual:.1%}. And under the causal mask?",
        options.steps(
            ratio,
            (
                (0.1, "Less than a tenth of that"),
                (0.5, "A tenth to half of that"),
                (1.0, "Half of that up to nearly the same"),
                (np.inf, "As much or more"),
            ),
            f"{told} One word more or less on the right can be all that mattered.",
            told,
        ),
    )


def _blind_figure(case: Case) -> None:
    usual, _ = _both(case)
    best = usual.best[:6]
    figures.show(
        bars(
            [p.token for p in best],
            [("probability", [p.probability for p in best])],
            top=1,
            written=".1%",
            dark=case.dark,
        ),
        "learn guesses",
        "both-ways",
    )


def _blind_reveal(case: Case) -> None:
    usual, blind = _both(case)
    ids = list(dict.fromkeys([p.id for p in usual.best[:5]] + [p.id for p in blind.best[:4]]))
    names = {p.id: p.token for answer in (usual, blind) for p in answer.best}
    series = [
        (name, [_probability(answer, id) for id in ids]) for name, answer in (("both ways", usual), ("causal", blind))
    ]
    figures.show(
        bars([names[id] for id in ids], series, top=1, written=".1%", dark=case.dark), "learn guesses", "masks"
    )


def _probability(answer: MaskPrediction, id: int) -> float:
    """That of a token among the best, 0 for one that is not among them: it is below the last of these."""
    return next((p.probability for p in answer.best if p.id == id), 0.0)


def _blind_why(case: Case) -> str:
    usual, blind = _both(case)
    return (
        f"With the right side hidden the best guess goes from {quoted(usual.best[0].token)} to "
        f"{quoted(blind.best[0].token)}; that is no fair test of causal models, which are trained with the mask from "
        "the start."
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
    places = [at for at, special in enumerate(case.encoding.special) if not special and case.is_word(at)]
    if not places:
        raise InvalidInput("There is no word to hide in this text. Type a sentence.")
    return places[:_MOST_WORDS]


def _each(case: Case) -> list[tuple[int, float, float]]:
    """For each of the words its place, and the probability of the right one both ways and under a causal mask."""
    found = []
    for at in _words(case):
        (blind,) = (
            answer
            for answer in engine().fill_without(case.model, case.text, (at,), without="future")
            if answer.position == at
        )
        found.append((at, _right(case.guesses(at)), _right(blind)))
    return found


def _each_text(_case: Case) -> str:
    return (
        "Now every word in turn: hidden, and guessed under the causal mask. The first words have nothing on their "
        "left, the last ones nearly all of the sentence."
    )


def _each_ask(case: Case) -> Sketch:
    found = _each(case)
    names = [case.label(at).replace("\\", "") for at, _, _ in found]
    truth = [blind for _, _, blind in found]

    def reply(drawn: Sequence[float]) -> str:
        best, guessed = names[int(np.argmax(truth))], names[int(np.argmax(drawn))]
        said = "You found the one" if best == guessed else f"You drew {quoted(guessed)} highest"
        return f"{said}: {quoted(best)} keeps most, {max(truth):.0%}. The mean is {np.mean(truth):.0%}."

    return Sketch(
        "Draw how probable each word is to the model when it sees only what stands before.",
        tuple(names),
        tuple(truth),
        reply,
        unit="%",
    )


def _each_figure(case: Case) -> None:
    found = _each(case)
    names = [f"{at + 1} · {case.encoding.tokens[at]}" for at, _, _ in found]
    figures.show(
        bars(
            names,
            [("probability of the right word, both ways", [usual for _, usual, _ in found])],
            top=1,
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
    figures.show(bars(names, series, top=1, written=".0%", dark=case.dark), "learn words", "masks-by-word")


def _each_why(case: Case) -> str:
    found = _each(case)
    lost = sum(blind < usual for _, usual, blind in found)
    return (
        f"{lost} of {len(found)} words become less probable: what stands on the right helps to guess, and a model "
        "that was never trained without it does not make up for its loss."
    )


def _each_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"place": at + 1, "token": case.encoding.tokens[at], "both ways": usual, "causal": blind}
            for at, usual, blind in _each(case)
        ]
    )


# ---- across: cross-attention ------------------------------------------------------------------------------------


def _here(keep: str) -> list[ModelSpec]:
    """Models that are on this machine and look across, or back only."""
    return [
        spec
        for spec in registry.MODELS.values()
        if (spec.cross_attention if keep == "cross" else spec.causal)
        and (spec.hub_id is None or sources.downloaded(spec.hub_id) is not None)
    ]


def _all_names(keep: str) -> str:
    found = [
        spec.name for spec in registry.MODELS.values() if (spec.cross_attention if keep == "cross" else spec.causal)
    ]
    return enumerated(found)


def _across_text(_case: Case) -> str:
    return (
        f"Some models have two stacks: an encoder that reads one text both ways, and a decoder that writes another, "
        f"token by token ({_all_names('cross')}). In its [[cross-attention]] the decoder takes from the encoder’s "
        "tokens."
    )


def _across_ask(_case: Case) -> Choice:
    return Choice(
        "In cross-attention, where do queries and keys come from?",
        options.placed(
            1,
            Option(
                "Queries from the decoder, keys and values from the encoder",
                "What is being written asks, what was read answers. So the picture need not be square.",
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
            [("encoder: both ways", full), ("decoder: causal", np.tril(full)), ("across: all of the encoder", full)],
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
            f"No model with a decoder is on this machine yet. {_all_names('cross')} can be downloaded on the page "
            "Attention, which shows all three parts of them."
        )
        return
    run = engine().attend(found[0].id, case.text, part="cross")
    weights: FloatArray = _mean_of(run)
    rows, columns = run.encoding.tokens[:_SHOWN], run.key_encoding.tokens[:_SHOWN]
    shown = np.sqrt(weights[: len(rows), : len(columns)])
    named = [(f"{found[0].name}: across, mean of all heads", shown)]
    figures.show(matrices(named, rows, columns, what="√ of the share", dark=case.dark), "learn masks", "cross")


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
        ("The dogs near the house are hungry.", ""),
        ("The cat sat on the mat because it was tired.", ""),
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
