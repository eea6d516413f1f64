"""What a token can see: both ways, back only, across; and what a mask does to predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final, Literal

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray, MaskPrediction
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, Step, recalled
from ui import as_text, join_names
from ui.glossary import quote
from ui.sources import DEVLIN, LEWIS, RADFORD, VASWANI
from viz.predictions import percent, predictions
from web.engine import engine

_MOST_WORDS: Final = 12  # that one draws over, and whose guesses are computed
_SHOWN: Final = 24  # tokens in a picture of a mask
_BEST: Final = 6  # guesses shown
_AXES: Final = ("query: the token that attends", "key: the token attended to")

Kind = Literal["causal", "cross"]
"""What models do that look back only, or across."""


def _known(kind: Kind) -> list[str]:
    """Models that look back only, or across."""
    return [spec.id for spec in registry.MODELS.values() if (spec.causal if kind == "causal" else spec.cross_attention)]


def _here(kind: Kind) -> list[str]:
    """Which of them are on this machine."""
    return [model for model in _known(kind) if engine().has(model)]


def _names(kind: Kind) -> str:
    """What a sentence calls them."""
    return join_names([name_of(model) for model in _known(kind)])


def _mean_of(run: AttentionRun) -> FloatArray:
    """Attention of all heads of all layers, on average, (n, m)."""
    mean: FloatArray = np.stack([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)]).mean(axis=0)
    return mean


def _draw_mean(run: AttentionRun, name: str = "mean-attention") -> None:
    """Draw the mean of all heads of a run, of its first tokens."""
    mean, rows, columns = _mean_of(run), run.encoding.tokens[:_SHOWN], run.key_encoding.tokens[:_SHOWN]
    named = [("mean of all heads of all layers", mean[: len(rows), : len(columns)])]
    pictures.matrices(name, named, rows, columns, quantity="share of attention", axes=_AXES, root=True)


class SightStep(Step):
    """A step about what may be seen of a text."""

    at: ClassVar[Place] = "heads"

    def draw_masks(self, name: str, **causal: bool) -> None:
        """Draw masks by what they are called: of who looks back only where it is ``causal``, else both ways."""
        tokens = self.tokens[:_SHOWN]
        full = np.ones((len(tokens), len(tokens)), dtype=np.float32)
        named = [(title.replace("_", " "), np.tril(full) if back else full) for title, back in causal.items()]
        pictures.matrices(name, named, tokens, tokens, quantity="1: can see, 0: cannot", axes=_AXES)

    def unseeing(self, place: int) -> MaskPrediction:
        """The guess at a hidden token when no token can see later ones."""
        predictions = engine().fill_without(self.case.model, self.case.text, (place,), without="future", top_k=_BEST)
        return next(answer for answer in predictions if answer.position == place)


class Masks(SightStep):
    title = "Attention masks"
    terms = ("attention mask", "causal mask")
    sources = (DEVLIN, RADFORD)

    def text(self) -> str:
        return (
            "A [[mask|attention mask]] sets which tokens a token can see, that is, whose values may enter its sum: "
            "hidden ones get a weight of 0. **Bidirectional**: all tokens (BERT). **Causal**: only itself and "
            "earlier ones (GPT-2), so that the model can be trained to predict the next token."
        )

    def figure(self) -> None:
        self.draw_masks("masks", both_ways=False)

    def ask(self) -> Choice:
        n, at = len(self.case.encoding), self.followed
        return Choice(
            f"Under a causal mask, how many of the {n} tokens can {self.token} see?",
            options.numbers(
                (at + 1, f"It is token {at + 1}: it sees the {at} before it, and itself."),
                (at, "Those are the ones before it. A token can always see itself, too."),
                (n, "That is what BERT allows. A causal mask hides everything later."),
                (
                    n - at,
                    "Those are the ones from it to the end. A causal mask hides later tokens, not earlier ones.",
                ),
            ),
        )

    def reveal(self) -> None:
        self.draw_masks("masks", both_ways=False, causal=True)

    def why(self) -> str:
        n = len(self.case.encoding)
        return (
            f"Without a mask there are {n} · {n} = {n * n:,} pairs, under a causal mask {n * (n + 1) // 2:,}: a model "
            "that learns to predict the next token must not see it (Radford et al. 2019), and one that fills gaps "
            "may use both sides (Devlin et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        n = len(self.tokens)
        return self.by_token({"both ways": [n] * n, "causal": range(1, n + 1)})


def _right(answer: MaskPrediction) -> float:
    """The probability of the word that stands in the text."""
    if answer.original is None:
        raise InvalidInput(
            "A mask was typed there, so there is no original word to compare with. Follow another token."
        )
    return answer.original.probability


class OwnMask(SightStep):
    title = "This model’s own"
    after = Masks

    @cached_property
    def later(self) -> float:
        """The share of attention that goes to later tokens."""
        mean = _mean_of(self.case.run).astype(np.float64)
        return float(np.triu(mean, 1).sum() / mean.sum())

    def text(self) -> str:
        return (
            f"And this model, {as_text(name_of(self.case.model))}? The picture will show the mean of all its heads on "
            "your text: rows are queries, columns are keys."
        )

    def ask(self) -> Choice:
        later = self.later
        even = float(np.triu(np.ones((len(self.case.encoding),) * 2), 1).mean())
        fact = (
            f"{percent(later)} of all its attention goes to later tokens; uniform attention would give {percent(even)}."
        )
        return Choice(
            "How much of this model’s attention goes to tokens that come later in the text?",
            (
                options.either(
                    "None: it can only look back",
                    later == 0,
                    f"{fact} That is how a model is built that predicts the next token.",
                    f"That is true of models that predict the next token. This one can look ahead: {fact}",
                ),
                options.either("Some, up to two thirds", 0 < later <= 2 / 3, fact, f"Not on this text: {fact}"),
                options.either(
                    "More than two thirds", later > 2 / 3, fact, f"It does not look ahead that much: {fact}"
                ),
            ),
        )

    def reveal(self) -> None:
        """The mean of all heads, and beside it that of a model that looks back only, where one is on this machine."""
        other = next((model for model in _here("causal") if model != self.case.model), None)
        if other is None:
            _draw_mean(self.case.run)
            if self.later > 0:
                st.caption(
                    f"{_names('causal')} would leave everything above the diagonal empty. It is not on this machine: "
                    "choose it as the model to download it."
                )
            return
        forward, back = st.tabs([name_of(self.case.model), name_of(other)])
        with forward:
            _draw_mean(self.case.run)
        with back:
            _draw_mean(engine().attend(other, self.case.text), "causal-mean-attention")

    def why(self) -> str:
        if self.later == 0:
            return "Above the diagonal everything is 0: each token was computed without the tokens after it."
        return (
            "There is attention on both sides of the diagonal: the vector of an early word is made from later ones, "
            "too, so it can depend on how the sentence ends."
        )

    def numbers(self) -> pd.DataFrame:
        mean = _mean_of(self.case.run)
        return self.by_token(
            {
                "to earlier": np.tril(mean, -1).sum(axis=1),
                "to itself": np.diagonal(mean),
                "to later": np.triu(mean, 1).sum(axis=1),
            }
        )


class Causal(SightStep):
    title = "Under a causal mask"
    at = "guess"
    sources = (RADFORD,)

    @cached_property
    def both(self) -> tuple[MaskPrediction, MaskPrediction]:
        """The guess at the followed token as ever, and when no token can see later ones."""
        return self.case.guesses(self.followed, _BEST), self.unseeing(self.followed)

    def text(self) -> str:
        return (
            f"Mask {self.token} and let the model predict it. Then do the same with a causal mask in every layer, so "
            "that no token sees later ones. The model was trained to use both sides."
        )

    def figure(self) -> None:
        usual, _ = self.both
        pictures.show("both-ways", partial(predictions, usual, "Both ways"))

    def ask(self) -> Choice:
        usual, blind = map(_right, self.both)
        ratio = blind / max(usual, 1e-12)
        fact = f"It goes from {percent(usual)} to {percent(blind)}."
        bounds = (
            (0.1, "Less than a tenth of that"),
            (0.5, "A tenth to half of that"),
            (1.0, "Half of that to nearly all of it"),
            (np.inf, "The same or more"),
        )

        def reply(place: int, right: int) -> str:
            if place == right == len(bounds) - 1:
                return f"{fact} On this text the right side was no help."
            if place == right:
                return f"{fact} The rest came from the right side."
            more = "The left side alone is worth more" if place < right else "More of it came from the right side"
            return f"{more} than you thought. {fact}"

        return Choice(
            f"With both sides visible, {self.token} has a probability of {percent(usual)}. And under the causal mask?",
            options.ranges(ratio, bounds, reply),
        )

    def reveal(self) -> None:
        usual, blind = self.both
        pictures.guesses([("Both ways", usual), ("Causal mask", blind)])

    def why(self) -> str:
        usual, blind = self.both
        first, second = quote(usual.best[0].token), quote(blind.best[0].token)
        change = f"stays {first}" if first == second else f"goes from {first} to {second}"
        return (
            f"With the right side hidden the top prediction {change}. This is not a fair test of causal models, which "
            "are trained with the mask from the start (Radford et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        named = zip(("both ways", "causal"), self.both, strict=True)
        rows = [(name, p.token, p.probability) for name, answer in named for p in answer.best]
        return pd.DataFrame(rows, columns=["mask", "token", "probability"])


class WordByWord(SightStep):
    title = "Word by word"
    at = "guess"

    @cached_property
    def words(self) -> list[int]:
        """Places of words to hide in turn, the first few."""
        places = list(filter(self.case.is_word, self.case.typed))
        if not places:
            raise InvalidInput("There is no word to mask in this text. Type a sentence.")
        return places[:_MOST_WORDS]

    @cached_property
    def usual(self) -> list[float]:
        """The probability of each of the words, both ways."""
        return [_right(self.case.guesses(at, _BEST)) for at in self.words]

    @cached_property
    def blind(self) -> list[float]:
        """The probability of each of the words under a causal mask."""
        return [_right(self.unseeing(at)) for at in self.words]

    @property
    def top(self) -> float:
        """Where the scale ends: at the next ten percent."""
        return math.ceil(10 * max(*self.usual, *self.blind) + 1e-9) / 10

    def text(self) -> str:
        return (
            "Now each of the first dozen words in turn: masked, and predicted under the causal mask. The first word "
            "has hardly anything to go on, the last one nearly the whole sentence."
        )

    def figure(self) -> None:
        series = [("probability of the original word, both sides visible", self.usual)]
        pictures.bars("both-ways", self.labels(self.words), series, top=self.top, written=".0%")

    def ask(self) -> Sketch:
        names, truth = tuple(self.labels(self.words)), tuple(self.blind)

        def reply(drawn: Sequence[float]) -> str:
            best, guessed = options.highest(names, truth), options.highest(names, drawn)
            start = "You found it" if best == guessed else f"You drew {quote(guessed)} highest"
            most = f"{quote(best)} is most probable, {percent(max(truth))}"
            return f"{start}: {most}. You miss by {percent(options.mean_gap(drawn, truth))} on average."

        return Sketch(
            "Draw how probable the model finds each word when it sees only the words before it.",
            names,
            truth,
            reply,
            top=self.top,
            unit="%",
        )

    def reveal(self) -> None:
        series = [("both ways", self.usual), ("causal", self.blind)]
        pictures.bars("masks-by-word", self.labels(self.words), series, top=self.top, written=".0%")

    def why(self) -> str:
        n, lost = len(self.words), sum(blind < usual for blind, usual in zip(self.blind, self.usual, strict=True))
        verdict = (
            "the right side helps, and a model that was never trained without it cannot make up for it"
            if 2 * lost > n
            else "on this text most of what helps is on the left"
        )
        return f"{lost} of {n} words become less probable when the right side is hidden: {verdict}."

    def numbers(self) -> pd.DataFrame:
        table = self.by_token({}).iloc[self.words].reset_index(drop=True)
        return table.assign(**{"both ways": self.usual, "causal": self.blind})


class Across(SightStep):
    title = "From one text to another"
    terms = ("cross-attention", "encoder", "decoder")
    sources = (VASWANI, LEWIS)

    def text(self) -> str:
        return (
            "Some models have two stacks: an encoder that reads one text both ways, and a decoder that writes "
            f"another, token by token ({_names('cross')}). In its [[cross-attention]] the decoder attends to the "
            "encoder’s tokens."
        )

    def figure(self) -> None:
        self.draw_masks("three-masks", encoder=False, decoder=True, across=False)

    def ask(self) -> Choice:
        return Choice(
            "In cross-attention, where do queries and keys come from?",
            options.placed(
                1,
                Option(
                    "Queries from the decoder, keys and values from the encoder",
                    "Each token being written is compared with each token that was read, so the matrix need not be "
                    "square.",
                    True,
                ),
                Option(
                    "Queries from the encoder, keys and values from the decoder",
                    "Then the text that was read would depend on what is written. It is the other way round.",
                ),
                Option(
                    "Both from the decoder",
                    "That is the decoder’s own attention, which is causal. Across needs two texts.",
                ),
            ),
        )

    def reveal(self) -> None:
        models = _here("cross")
        if not models:
            self.figure()
            st.caption(
                f"No model with a decoder is on this machine yet. {_names('cross')} can be downloaded on the page "
                "Attention, which shows all three parts of them."
            )
            return
        model = models[0]
        st.caption(
            f"{as_text(name_of(model))}: the decoder writes your text again (rows) from what was read (columns)."
        )
        _draw_mean(engine().attend(model, self.case.text, self.case.text, stack="cross"))

    def why(self) -> str:
        return (
            "The decoder’s vector makes the query, the encoder’s vectors make keys and values, and no causal mask is "
            "needed, since the whole text has been read (Vaswani et al. 2017; BART, Lewis et al. 2020)."
        )

    def numbers(self) -> pd.DataFrame:
        n = len(self.case.encoding)
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
    title="What a token can see",
    question="Which tokens can a token see?",
    examples=(
        ("Since she was ill, the girl stayed at home.", ""),
        ("After they had eaten, the children went to bed.", ""),
        ("She opened the door with her key.", ""),
    ),
    controls=("token",),
    pages=("attention", "masked_words"),
    aims=(
        "tell a bidirectional mask from a causal one",
        "say why a model that predicts the next token must not see it",
        "explain what queries and keys are in cross-attention",
    ),
    terms=("attention mask",),
    steps=(
        Masks,
        OwnMask,
        Causal,
        WordByWord,
        Across,
        *recalled(
            "heads",
            Recall(
                "What does a causal mask hide?",
                (
                    Option("Earlier tokens", "Then nothing would be left to predict from."),
                    Option("Later tokens", "So a token’s vector depends only on itself and what came before.", True),
                    Option("Special tokens", "They are visible like any other."),
                ),
                "An attention mask sets which tokens a token can see: in BERT all of them, under a causal mask only "
                "itself and earlier ones.",
            ),
            Recall(
                "Why is GPT-2 trained with a causal mask and BERT without one?",
                (
                    Option("GPT-2 is larger", "Size has nothing to do with it."),
                    Option(
                        "GPT-2 predicts the next token, BERT fills gaps",
                        "The answer must stay hidden; for a gap both sides may help.",
                        True,
                    ),
                    Option("BERT reads shorter texts", "Length has nothing to do with it."),
                ),
                "A model that predicts the next token must not see it; a model that fills gaps may use both sides.",
            ),
            Recall(
                "In cross-attention, where do the keys come from?",
                (
                    Option("From the encoder", "The text that was read.", True),
                    Option("From the decoder", "The decoder makes the queries."),
                    Option("From both", "Keys and values come from one side."),
                ),
                "In cross-attention the decoder’s queries meet the encoder’s keys and values: two texts, not one.",
            ),
        ),
    ),
)
