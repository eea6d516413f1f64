"""The family: what relatives of BERT are trained on and for; GLUE and SQuAD; frozen features; a task before another."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import DEFAULT_MODEL, registry
from model_zoo.types import format_interval
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Option, Place, Sketch, Step, read_lesson
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


class FamilyStep(Step):
    """A step about BERT's relatives."""

    at: ClassVar[Place] = "layers"


class Objectives(FamilyStep):
    at = "guess"

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

    def text(self) -> str:
        return self.say("text", words=_WORDS)

    def figure(self) -> None:
        st.table([{"objective": name, "given": as_text(text)} for name, text, _ in self.objectives])

    def reveal(self) -> None:
        st.table(
            [
                {"objective": name, "given": as_text(text), "to predict": as_text(wanted)}
                for name, text, wanted in self.objectives
            ]
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.objectives, columns=["objective", "given", "to predict"])


class Which(FamilyStep):
    @property
    def table(self) -> pd.DataFrame:
        """A row a model."""
        rows = [(*row, f"{SOURCES[key].authors} {SOURCES[key].year}") for *row, key in _read("family_models.tsv")]
        columns = ["model", "objective", "positions", "training text", "good for", "source"]
        return pd.DataFrame(rows, columns=columns)

    def figure(self) -> None:
        st.dataframe(self.table.drop(columns="good for"), hide_index=True)

    def reveal(self) -> None:
        st.dataframe(self.table, hide_index=True)

    def numbers(self) -> pd.DataFrame:
        return self.table


class Newer(FamilyStep):
    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the texts of a batch, the visitor’s among them."""
        length = len(self.case.encoding)
        return (length, 32, 64, 128, 512)

    def figure(self) -> None:
        names = ["your text", *(f"{n} tokens" for n in self.lengths[1:])]
        pictures.bars("batch-lengths", names, [("tokens", [float(n) for n in self.lengths])], written=",.0f")

    @property
    def padding(self) -> float:
        """The share of padding in a batch of these texts."""
        return 1 - sum(self.lengths) / (max(self.lengths) * len(self.lengths))

    def ask(self) -> Choice:
        share = self.padding

        return self.choice(share=share, longest=max(self.lengths))

    def reveal(self) -> None:
        longest, total = max(self.lengths), sum(self.lengths)
        sizes = {"padded": float(longest * len(self.lengths)), "unpadded": float(total)}
        pictures.bars("unpadding", list(sizes), [("tokens that are computed", list(sizes.values()))], written=",.0f")

    def why(self) -> str:
        return self.say("why", n_unpadded=sum(self.lengths), n_padded=max(self.lengths) * len(self.lengths))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"text": range(1, len(self.lengths) + 1), "tokens": self.lengths})


class Benchmarks(FamilyStep):
    @property
    def average(self) -> float:
        """The mean of BERT-base’s GLUE scores as the table has it: MNLI’s two test sets count as two columns."""
        return float(np.mean([base for base, _ in GLUE.values()]))

    def figure(self) -> None:
        pictures.bars("glue", list(GLUE), [("BERT-base", [base for base, _ in GLUE.values()])], written=".1f")

    def ask(self) -> Choice:
        right = f"{self.average:.1f}"
        return self.choice(right=right, total=sum(base for base, _ in GLUE.values()), n_glue=len(GLUE))

    def reveal(self) -> None:
        series = [
            ("BERT-base", [base for base, _ in GLUE.values()]),
            ("BERT-large", [large for _, large in GLUE.values()]),
        ]
        pictures.bars("glue-both", list(GLUE), series, written=".1f")

    def why(self) -> str:
        gains = {task: large - base for task, (base, large) in GLUE.items()}
        most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
        return self.say(
            "why", averages=AVERAGES, gain_of_most=gains[most], most=most, gain_of_least=gains[least], least=least
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame([(task, *both) for task, both in GLUE.items()], columns=["task", "BERT-base", "BERT-large"])


class Frozen(FamilyStep):
    @property
    def measured(self) -> dict[str, TransferScore]:
        """Entity F1 of the bundled BERT, by which features were read, and fine-tuned."""
        return transfer.scores_by_way("entities")

    def text(self) -> str:
        return self.say("text", bundled=name_of(DEFAULT_MODEL))

    def figure(self) -> None:
        items = [item for item in SETS["entities"].build().test[:4] if isinstance(item, Tagged)]
        st.table([{"sentence": as_text(item.text), "tags": as_text(" ".join(item.tags))} for item in items])

    def ask(self) -> Choice:
        measured = self.measured
        worst = min(measured.values(), key=lambda result: result.score)

        def option(way: str) -> Option:
            return Option(way.capitalize(), f"F1 {_interval(measured[way])}.", measured[way] is worst)

        return Choice(
            self.say("ask", bundled=name_of(DEFAULT_MODEL)),
            tuple(option(way) for way in ("embeddings", "second-to-last layer", "last layer", "fine-tuned")),
        )

    def reveal(self) -> None:
        measured = self.measured
        tiny = transfer.scores_by_way("entities", _TINY)
        for name, model, scores in (("ner-small", DEFAULT_MODEL, measured), ("ner-tiny", _TINY, tiny)):
            label = f"{name_of(model)}, entity F1"
            pictures.shares(name, list(scores), [(label, [result.score for result in scores.values()])])
        pictures.bars("ner-published", list(NER), [("BERT-base, CoNLL-2003, F1", list(NER.values()))], written=".1f")

    def why(self) -> str:
        measured = self.measured
        tuned, frozen = measured[transfer.FINE_TUNED], measured["second-to-last layer"]
        tiny = transfer.scores_by_way("entities", _TINY)
        small_tuned, small_frozen = tiny[transfer.FINE_TUNED], tiny["second-to-last layer"]
        close = tuned.low <= frozen.high and frozen.low <= tuned.high
        return self.say(
            "why",
            bundled=name_of(DEFAULT_MODEL),
            tuned_score=_interval(tuned),
            frozen_score=_interval(frozen),
            whether_they_overlap="overlap" if close else "do not overlap",
            tiny_model=name_of(_TINY),
            tiny_tuned=_interval(small_tuned),
            tiny_frozen=_interval(small_frozen),
        )

    def numbers(self) -> pd.DataFrame:
        every = [*self.measured.values(), *transfer.scores_by_way("entities", _TINY).values()]
        rows = [
            (name_of(result.model), result.way, result.score, result.low, result.high, result.seeds) for result in every
        ]
        return pd.DataFrame(rows, columns=["model", "features", "entity F1", "low", "high", "seeds"])


class Intermediate(FamilyStep):
    @property
    def measured(self) -> dict[str, TransferScore]:
        """Spearman’s ρ on the built-in similarity pairs: directly, and after another set."""
        return transfer.scores_by_way("similarity")

    def text(self) -> str:
        n = transfer.SMALL.examples
        return self.say("text", glue=GLUE, n=n)

    def figure(self) -> None:
        rows = [item for item in SETS["inference"].build().train[:4] if isinstance(item, Labelled)]
        st.table([{"first": as_text(i.text), "second": as_text(i.pair or ""), "label": i.label} for i in rows])

    def ask(self) -> Choice:
        measured = self.measured
        direct, after = measured[transfer.DIRECTLY], measured["inference"]
        return self.choice(
            bundled=name_of(DEFAULT_MODEL),
            helped=after.low > direct.high,
            direct=direct,
            score_after=_interval(after, ".2f"),
            unclear=after.low <= direct.high and direct.low <= after.high,
            hurt=after.high < direct.low,
        )

    def reveal(self) -> None:
        measured = self.measured
        names = [way if way == transfer.DIRECTLY else f"after {way}" for way in measured]
        pictures.bars("intermediate", names, [("Spearman’s ρ", [result.score for result in measured.values()])])

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


class Sized(FamilyStep):
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
        table = [registry.MODELS[model] for model in self._SHOWN]
        st.dataframe(
            pd.DataFrame({"model": [s.name for s in table], "vocabulary": [s.vocabulary for s in table]}),
            hide_index=True,
        )

    def ask(self) -> Sketch:
        names, truth = tuple(self.millions), tuple(self.millions.values())

        def reply(drawn: Sequence[float]) -> str:
            gap = options.mean_gap(drawn, truth)
            return self.say("reply", gap=gap, largest=options.highest(names, truth))

        return Sketch(self.say("ask"), names, truth, reply, top=400.0, unit="M")

    def reveal(self) -> None:
        millions = self.millions
        pictures.bars("family-sizes", list(millions), [("million parameters", list(millions.values()))], written=".0f")

    def why(self) -> str:
        spec = registry.MODELS["FacebookAI/xlm-roberta-base"]
        table = spec.vocabulary * spec.width / 1e6
        return self.say("why", spec=spec, table=table, all_parameters=spec.parameters / 1e6)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"model": self.millions.keys(), "million parameters": self.millions.values()})


LESSON = read_lesson(__file__, Objectives, Which, Sized, Newer, Benchmarks, Frozen, Intermediate)
