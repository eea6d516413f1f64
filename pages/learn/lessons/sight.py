"""What a token can see: both ways, back only, across; and what a mask does to predictions."""

from __future__ import annotations

import math
from functools import partial
from typing import Final, Literal

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, FloatArray, MaskPrediction
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from ui import as_text, join_names
from ui.glossary import quote
from viz.bars import predictions
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
    named = {"mean of all heads of all layers": mean[: len(rows), : len(columns)]}
    pictures.matrices(name, named, rows, columns, quantity="share of attention", axes=_AXES, root=True)


class SightStep(Step):
    """A step about what may be seen of a text."""

    def draw_masks(self, name: str, **causal: bool) -> None:
        """Draw masks by what they are called: of who looks back only where it is ``causal``, else both ways."""
        tokens = self.tokens[:_SHOWN]
        full = np.ones((len(tokens), len(tokens)), dtype=np.float32)
        named = {title.replace("_", " "): np.tril(full) if back else full for title, back in causal.items()}
        pictures.matrices(name, named, tokens, tokens, quantity="1: can see, 0: cannot", axes=_AXES)

    def unseeing(self, place: int) -> MaskPrediction:
        """The guess at a hidden token when no token can see later ones."""
        predictions = engine().fill_without(self.case.model, self.case.text, (place,), without="future", top_k=_BEST)
        return next(answer for answer in predictions if answer.position == place)


class Masks(SightStep):
    def figure(self) -> None:
        self.draw_masks("masks", both_ways=False)

    def ask(self) -> Choice:
        n, at = len(self.case.encoding), self.followed
        return self.choice(n=n, at=at + 1, n_before=at, n_from_there=n - at)

    def reveal(self) -> None:
        self.draw_masks("masks", both_ways=False, causal=True)

    def why(self) -> str:
        n = len(self.case.encoding)
        return self.say("why", n=n, n_pairs=n * n, n_causal=n * (n + 1) // 2)

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
    after = Masks

    @cached_property
    def later(self) -> float:
        """The share of attention that goes to later tokens."""
        mean = _mean_of(self.case.run).astype(np.float64)
        return float(np.triu(mean, 1).sum() / mean.sum())

    def text(self) -> str:
        return self.say("text", model=name_of(self.case.model))

    def ask(self) -> Choice:
        later = self.later
        even = float(np.triu(np.ones((len(self.case.encoding),) * 2), 1).mean())
        return self.choice(looks_back=later == 0, later=later, even=even, some=0 < later <= 2 / 3, most=later > 2 / 3)

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
        return self.say("why causal" if self.later == 0 else "why")

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
    @cached_property
    def both(self) -> tuple[MaskPrediction, MaskPrediction]:
        """The guess at the followed token as ever, and when no token can see later ones."""
        return self.case.guesses(self.followed, _BEST), self.unseeing(self.followed)

    def figure(self) -> None:
        usual, _ = self.both
        pictures.show("both-ways", partial(predictions, usual, "Both ways"))

    def ask(self) -> Choice:
        usual, blind = map(_right, self.both)
        return self.choice(usual=usual, blind=blind, ratio=blind / max(usual, 1e-12))

    def reveal(self) -> None:
        usual, blind = self.both
        pictures.guesses([("Both ways", usual), ("Causal mask", blind)])

    def why(self) -> str:
        usual, blind = self.both
        first, second = quote(usual.best[0].token), quote(blind.best[0].token)
        change = self.say("stays" if first == second else "changes", first=first, second=second)
        return self.say("why", change=change)

    def numbers(self) -> pd.DataFrame:
        named = zip(("both ways", "causal"), self.both, strict=True)
        rows = [(name, p.token, p.probability) for name, answer in named for p in answer.best]
        return pd.DataFrame(rows, columns=["mask", "token", "probability"])


class WordByWord(SightStep):
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

    def figure(self) -> None:
        label = "probability of the original word, both sides visible"
        columns = {"word": self.labels(self.words), label: self.usual}
        pictures.bars("both-ways", columns, top=self.top, written=".0%")

    def ask(self) -> Sketch:
        return self.sketch(self.labels(self.words), self.blind, top=self.top, unit="%")

    def reveal(self) -> None:
        columns = {"word": self.labels(self.words), "both ways": self.usual, "causal": self.blind}
        pictures.bars("masks-by-word", columns, top=self.top, written=".0%")

    def why(self) -> str:
        n, lost = len(self.words), sum(blind < usual for blind, usual in zip(self.blind, self.usual, strict=True))
        verdict = self.say("right_side_helps" if 2 * lost > n else "left_side_helps")
        return self.say("why", lost=lost, n=n, verdict=verdict)

    def numbers(self) -> pd.DataFrame:
        table = self.by_token({}).iloc[self.words].reset_index(drop=True)
        return table.assign(**{"both ways": self.usual, "causal": self.blind})


class Across(SightStep):
    models = _names("cross")

    def figure(self) -> None:
        self.draw_masks("three-masks", encoder=False, decoder=True, across=False)

    def reveal(self) -> None:
        here = _here("cross")
        if not here:
            self.figure()
            st.caption(
                f"No model with a decoder is on this machine yet. {self.models} can be downloaded on the page "
                "Attention, which shows all three parts of them."
            )
            return
        name = as_text(name_of(here[0]))
        st.caption(f"{name}: the decoder writes your text again (rows) from what was read (columns).")
        _draw_mean(engine().attend(here[0], self.case.text, self.case.text, stack="cross"))

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


LESSON = read_lesson(__file__, Masks, OwnMask, Causal, WordByWord, Across)
