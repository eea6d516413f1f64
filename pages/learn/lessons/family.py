"""The family: what relatives of BERT are trained on and for; GLUE and SQuAD; frozen features; a task before another."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import DEFAULT_MODEL, registry
from model_zoo.types import format_interval
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Option, Sketch, Step, read_lesson
from training.finetuning import transfer
from training.finetuning.data import Labelled, Tagged
from training.finetuning.sets import SETS
from training.finetuning.transfer import TransferScore
from ui import as_text
from ui.sources import SOURCES

_SEED: Final = 5  # of what is hidden in the example of objectives, the same for everybody
_WORDS: Final = 10  # of the visitor’s text that the example shows
_TINY: Final = "embedded/tinybert"
_MASK: Final = "[MASK]"
_SPAN: Final = 2  # words that one mask of BART hides in the example
_SUBSTITUTES: Final = ("green", "seven")


def _read(name: str) -> list[list[str]]:
    """The rows of a table beside this file, without its head."""
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


# Devlin et al. 2019: GLUE test results of both sizes (Table 1), and development F1 on CoNLL-2003 (Table 7).
_SCORES: Final = _read("family_scores.tsv")
GLUE: Final = {task: (float(base), float(large)) for table, task, base, large in _SCORES if table == "GLUE"}
AVERAGES: Final = GLUE.pop("average")
NER: Final = {features: float(base) for table, features, base, _ in _SCORES if table == "CoNLL-2003"}


def _interval(result: TransferScore, how: str = ".0%") -> str:
    """A score with its 95% interval."""
    return format_interval(result.score, result.low, result.high, how)


def _last(n: int) -> int:
    """How many of n words in a random order are predicted in the example: the last third, at least one."""
    return max(1, n // 3)


class Objectives(Step):
    @cached_property
    def objectives(self) -> list[tuple[str, str, str]]:
        """Objective, what the model is given, and what it must predict, on the visitor’s first words."""
        words = self.case.text.split()[:_WORDS] or ["…"]
        rng = np.random.default_rng(_SEED)
        n = len(words)
        hidden = int(rng.integers(n))
        masked = [_MASK if place == hidden else word for place, word in enumerate(words)]
        start = int(rng.integers(max(1, n - 1)))
        infilled = [*words[:start], _MASK, *words[start + _SPAN :]]
        order = rng.permutation(n).tolist()
        read, predicted = order[: n - _last(n)], order[n - _last(n) :]
        other = next(substitute for substitute in _SUBSTITUTES if substitute != words[hidden])
        replaced = [other if place == hidden else word for place, word in enumerate(words)]
        return [
            ("masked words (BERT, RoBERTa)", " ".join(masked), words[hidden]),
            (
                "permutations (XLNet)",
                f"in this order: {', '.join(words[place] for place in read) or 'nothing'}",
                ", then ".join(words[place] for place in predicted),
            ),
            ("restore text (BART)", " ".join(infilled), " ".join(words)),
            (
                "replaced words (ELECTRA)",
                " ".join(replaced),
                " ".join("replaced" if place == hidden else "original" for place in range(n)),
            ),
        ]

    words = _WORDS

    def figure(self) -> None:
        st.table(self.numbers()[["objective", "given"]].map(as_text).to_dict("records"))

    def reveal(self) -> None:
        st.table(self.numbers().map(as_text).to_dict("records"))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.objectives, columns=["objective", "given", "to predict"])


class Which(Step):
    def figure(self) -> None:
        st.dataframe(self.numbers().drop(columns="good for"), hide_index=True)

    def reveal(self) -> None:
        st.dataframe(self.numbers(), hide_index=True)

    def numbers(self) -> pd.DataFrame:
        rows = [(*row, f"{SOURCES[key].authors} {SOURCES[key].year}") for *row, key in _read("family_models.tsv")]
        columns = ["model", "objective", "positions", "training text", "good for", "source"]
        return pd.DataFrame(rows, columns=columns)


class Newer(Step):
    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the texts of a batch, the visitor’s among them."""
        length = len(self.case.encoding)
        return (length, 32, 64, 128, 512)

    def figure(self) -> None:
        names = ["your text", *(f"{n} tokens" for n in self.lengths[1:])]
        pictures.bars("batch-lengths", {"text": names, "tokens": self.lengths}, written=",.0f")

    @property
    def n_padded(self) -> int:
        """How many tokens the batch has with padding."""
        return max(self.lengths) * len(self.lengths)

    @property
    def padding(self) -> float:
        """The share of padding in a batch of these texts."""
        return 1 - sum(self.lengths) / self.n_padded

    def ask(self) -> Choice:
        return self.choice(longest=max(self.lengths))

    def reveal(self) -> None:
        tokens = [self.n_padded, sum(self.lengths)]
        pictures.bars("unpadding", {"way": ["padded", "unpadded"], "tokens that are computed": tokens}, written=",.0f")

    def why(self) -> str:
        return self.say("why", n_unpadded=sum(self.lengths))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"text": range(1, len(self.lengths) + 1), "tokens": self.lengths})


class Benchmarks(Step):
    """The mean of GLUE scores is taken as BERT’s authors did: MNLI’s two test sets count as two columns."""

    def figure(self) -> None:
        pictures.bars("glue", self.numbers()[["task", "BERT-base"]], written=".1f")

    def ask(self) -> Choice:
        scores = self.numbers()["BERT-base"]
        return self.choice(average=scores.mean(), total=scores.sum(), n_glue=len(GLUE))

    def reveal(self) -> None:
        pictures.bars("glue-both", self.numbers(), written=".1f")

    def why(self) -> str:
        gains = {task: large - base for task, (base, large) in GLUE.items()}
        most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
        return self.say(
            "why", averages=AVERAGES, gain_of_most=gains[most], most=most, gain_of_least=gains[least], least=least
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame([(task, *both) for task, both in GLUE.items()], columns=["task", "BERT-base", "BERT-large"])


class Frozen(Step):
    bundled = name_of(DEFAULT_MODEL)
    tiny_model = name_of(_TINY)

    @property
    def measured(self) -> dict[str, TransferScore]:
        """Entity F1 of the bundled BERT, by which features were read, and fine-tuned."""
        return transfer.scores_by_way("entities")

    @property
    def of_tiny(self) -> dict[str, TransferScore]:
        """The same of Tiny BERT."""
        return transfer.scores_by_way("entities", _TINY)

    def figure(self) -> None:
        items = [item for item in SETS["entities"].build().test[:4] if isinstance(item, Tagged)]
        st.table([{"sentence": as_text(item.text), "tags": as_text(" ".join(item.tags))} for item in items])

    def ask(self) -> Choice:
        measured = self.measured
        worst = min(measured.values(), key=lambda result: result.score)

        def option(way: str) -> Option:
            return Option(way.capitalize(), f"F1 {_interval(measured[way])}.", measured[way] is worst)

        ways = ("embeddings", "second-to-last layer", "last layer", "fine-tuned")
        return Choice(self.say("ask"), tuple(map(option, ways)))

    def reveal(self) -> None:
        table = self.numbers()
        for name, model in (("ner-small", self.bundled), ("ner-tiny", self.tiny_model)):
            scores = table.loc[table["model"] == model, ["features", "entity F1"]]
            pictures.shares(name, scores.set_axis(["features", f"{model}, entity F1"], axis=1))
        columns = {"features": NER.keys(), "BERT-base, CoNLL-2003, F1": NER.values()}
        pictures.bars("ner-published", columns, written=".1f")

    def why(self) -> str:
        tuned, frozen = self.measured[transfer.FINE_TUNED], self.measured["second-to-last layer"]
        close = tuned.low <= frozen.high and frozen.low <= tuned.high
        return self.say(
            "why",
            tuned_score=_interval(tuned),
            frozen_score=_interval(frozen),
            whether_they_overlap="overlap" if close else "do not overlap",
            tiny_tuned=_interval(self.of_tiny[transfer.FINE_TUNED]),
            tiny_frozen=_interval(self.of_tiny["second-to-last layer"]),
        )

    def numbers(self) -> pd.DataFrame:
        every = [*self.measured.values(), *self.of_tiny.values()]
        rows = [
            (name_of(result.model), result.way, result.score, result.low, result.high, result.seeds) for result in every
        ]
        return pd.DataFrame(rows, columns=["model", "features", "entity F1", "low", "high", "seeds"])


class Intermediate(Step):
    bundled = name_of(DEFAULT_MODEL)
    glue = GLUE
    n = transfer.SMALL.examples

    @property
    def measured(self) -> dict[str, TransferScore]:
        """Spearman’s ρ on the built-in similarity pairs: directly, and after another set."""
        return transfer.scores_by_way("similarity")

    def figure(self) -> None:
        rows = [item for item in SETS["inference"].build().train[:4] if isinstance(item, Labelled)]
        st.table([{"first": as_text(i.text), "second": as_text(i.pair or ""), "label": i.label} for i in rows])

    def ask(self) -> Choice:
        measured = self.measured
        direct, after = measured[transfer.DIRECTLY], measured["inference"]
        return self.choice(
            helped=after.low > direct.high,
            direct=direct,
            score_after=_interval(after, ".2f"),
            unclear=after.low <= direct.high and direct.low <= after.high,
            hurt=after.high < direct.low,
        )

    def reveal(self) -> None:
        measured = self.measured
        names = [way if way == transfer.DIRECTLY else f"after {way}" for way in measured]
        scores = [result.score for result in measured.values()]
        pictures.bars("intermediate", {"way": names, "Spearman’s ρ": scores})

    def why(self) -> str:
        other = transfer.scores_by_way("inference")
        return self.say(
            "why",
            n_seeds=self.measured[transfer.DIRECTLY].seeds,
            directly=_interval(other[transfer.DIRECTLY]),
            afterwards=_interval(other["similarity"]),
        )

    def numbers(self) -> pd.DataFrame:
        rows = [
            (name, result.way, result.score, result.low, result.high, result.seeds)
            for name in transfer.ORDERS
            for result in transfer.scores_by_way(name).values()
        ]
        return pd.DataFrame(rows, columns=["learned", "before", "score", "low", "high", "seeds"])


class Sized(Step):
    """How large the relatives are, drawn by the visitor."""

    _SHOWN: ClassVar[tuple[str, ...]] = (
        "google-bert/bert-base-uncased",
        "google-bert/bert-large-uncased",
        "FacebookAI/roberta-base",
        "FacebookAI/xlm-roberta-base",
        "microsoft/deberta-v3-base",
        "answerdotai/ModernBERT-base",
    )

    @property
    def millions(self) -> dict[str, float]:
        """Parameters in millions, by name."""
        specs = [registry.MODELS[model] for model in self._SHOWN]
        return {spec.name: spec.parameters / 1e6 for spec in specs}

    def figure(self) -> None:
        specs = [registry.MODELS[model] for model in self._SHOWN]
        rows = [(spec.name, spec.vocabulary) for spec in specs]
        st.dataframe(pd.DataFrame(rows, columns=["model", "vocabulary"]), hide_index=True)

    def ask(self) -> Sketch:
        return self.sketch(self.millions, self.millions.values(), top=400.0, unit="M")

    def reveal(self) -> None:
        pictures.bars("family-sizes", self.numbers(), written=".0f")

    def why(self) -> str:
        spec = registry.MODELS["FacebookAI/xlm-roberta-base"]
        table = spec.vocabulary * spec.width / 1e6
        return self.say("why", spec=spec, table=table, all_parameters=spec.parameters / 1e6)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"model": self.millions.keys(), "million parameters": self.millions.values()})


LESSON = read_lesson(__file__, Objectives, Which, Sized, Newer, Benchmarks, Frozen, Intermediate)
