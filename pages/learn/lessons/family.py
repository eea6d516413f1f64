"""The family: what relatives of BERT are trained on and for; GLUE and SQuAD; frozen features; a task before another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from model_zoo import DEFAULT_MODEL, registry
from model_zoo.types import format_interval
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, Step, recalled
from training.finetuning import transfer
from training.finetuning.data import Labelled, Tagged
from training.finetuning.sets import SETS
from training.finetuning.transfer import TransferScore
from ui import as_text
from ui.sources import (
    BELTAGY,
    CHALKIDIS,
    CLARK_2020,
    CONNEAU_2020,
    DAO,
    DEVLIN,
    FENG,
    GU,
    GURURANGAN,
    HE_2023,
    JIAO,
    LAN,
    LASRI,
    LEWIS,
    LIU,
    PETERS,
    PHANG,
    RAJPURKAR,
    WANG_GLUE,
    WARNER,
    YANG,
)

_SEED: Final = 5  # of what is hidden in the example of objectives, the same for everybody
_WORDS: Final = 10  # of the visitor’s text that the example shows
_TINY: Final = "embedded/tinybert"
_MASK: Final = "[MASK]"
_SPAN: Final = 2  # words that one mask of BART hides in the example
_SUBSTITUTES: Final = ("green", "seven")

# What each was trained on, by the source in its row: objective, positions, training text, and what it is good for.
_TABLE: Final = (
    ("BERT", "masked words, next sentence", "learned", "books, Wikipedia", "a first choice; many tools", DEVLIN),
    ("RoBERTa", "masked words", "learned", "160 GB: books, news, web", "English texts in general", LIU),
    ("XLNet", "permutations", "relative", "books, Wikipedia, news, web", "texts without a fixed limit", YANG),
    ("BART", "restore damaged text", "learned", "160 GB: books, news, web", "summaries: it can write", LEWIS),
    ("ALBERT", "masked words, sentence order", "learned", "books, Wikipedia", "little memory", LAN),
    ("ELECTRA", "spot replaced words", "learned", "as BERT, or as XLNet", "short pretraining of one’s own", CLARK_2020),
    ("DeBERTa-v3", "spot replaced words", "relative", "160 GB: books, news, web", "accuracy at base size", HE_2023),
    ("TinyBERT", "imitate the layers of BERT", "learned", "Wikipedia", "low latency", JIAO),
    ("SciBERT", "as BERT", "learned", "1.14 million papers", "science", BELTAGY),
    ("PubMedBERT", "as BERT", "learned", "biomedical abstracts and papers", "biomedicine", GU),
    ("Legal-BERT", "as BERT", "learned", "12 GB: laws, cases, contracts", "law", CHALKIDIS),
    ("EconBERTa", "as DeBERTa-v3", "relative", "papers in economics", "economics", LASRI),
    ("CodeBERT", "masked words, replaced words", "learned", "code and its comments", "program code", FENG),
    ("XLM-RoBERTa", "masked words", "learned", "2.5 TB in 100 languages", "many languages", CONNEAU_2020),
    (
        "ModernBERT",
        "masked words",
        "rotary",
        "2 trillion tokens: web, code, science",
        "long texts, up to 8,192 tokens",
        WARNER,
    ),
)
_COLUMNS: Final = ("model", "objective", "positions", "training text", "good for", "source")
_JOBS: Final = (
    "medical reports",
    "forty languages",
    "texts of 6,000 tokens",
    "program code",
    "quick answers",
)

# Devlin et al. 2019, Table 1: GLUE test results.
GLUE: Final = {
    "MNLI": (84.6, 86.7),
    "MNLI-mm": (83.4, 85.9),
    "QQP": (71.2, 72.1),
    "QNLI": (90.5, 92.7),
    "SST-2": (93.5, 94.9),
    "CoLA": (52.1, 60.5),
    "STS-B": (85.8, 86.5),
    "MRPC": (88.9, 89.3),
    "RTE": (66.4, 70.1),
}
AVERAGES: Final = (79.6, 82.1)

# Devlin et al. 2019, Table 7: CoNLL-2003 development F1 of BERT-base.
NER: Final = {
    "embeddings": 91.0,
    "last layer": 94.9,
    "second-to-last layer": 95.6,
    "weighted sum of the last four": 95.9,
    "last four concatenated": 96.1,
    "fine-tuned": 96.4,
}


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
    title = "What they are asked to predict"
    at = "guess"
    terms = ("permutation language modelling", "replaced token detection")
    sources = (DEVLIN, YANG, LEWIS, CLARK_2020)

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
        return (
            "Relatives of BERT differ first of all in what they are trained to predict. Here are four objectives on "
            f"the first words of your text (at most {_WORDS}), and what the model is given in each. One mask in BART’s "
            "input can hide several words. The table has whole words; models work with their tokens."
        )

    def figure(self) -> None:
        st.table([{"objective": name, "given": as_text(text)} for name, text, _ in self.objectives])

    def ask(self) -> Choice:
        return Choice(
            "Which of these gets a training signal from every token that it reads?",
            options.placed(
                2,
                Option("Replaced words (ELECTRA)", "Every token has a label: replaced or original.", True),
                Option("Masked words (BERT)", "Only the selected tokens give a signal: 15% of a text."),
                Option("Masked words, drawn anew each time (RoBERTa)", "Other tokens each time, but still about 15%."),
                Option(
                    "Permutations (XLNet)",
                    "It could, but only the last tokens of each order are predicted: the first ones have too little "
                    "context.",
                ),
            ),
        )

    def reveal(self) -> None:
        st.table(
            [
                {"objective": name, "given": as_text(text), "to predict": as_text(wanted)}
                for name, text, wanted in self.objectives
            ]
        )

    def why(self) -> str:
        return (
            "A signal from every token makes more of the same text (Clark et al. 2020). XLNet predicts tokens in "
            "random orders and needs no [MASK] (Yang et al. 2019); BART’s decoder writes the whole text again, so it "
            "can generate text, too (Lewis et al. 2020)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.objectives, columns=["objective", "given", "to predict"])


class Which(FamilyStep):
    title = "Which one for what?"
    terms = ("domain adaptation",)
    sources = (GURURANGAN, LIU, HE_2023, JIAO, GU, FENG, CONNEAU_2020, WARNER)

    def text(self) -> str:
        return (
            "Here is the family: objective, positions and training text, each by the model’s own paper. Further "
            "training on texts of your own field usually improves results there ([[domain adaptation]]). You have five "
            f"jobs: {'; '.join(f'**{place}** {job}' for place, job in enumerate(_JOBS, 1))}."
        )

    @property
    def table(self) -> pd.DataFrame:
        """A row a model."""
        rows = [(*row, f"{source.authors} {source.year}") for *row, source in _TABLE]
        return pd.DataFrame(rows, columns=_COLUMNS)

    def figure(self) -> None:
        st.dataframe(self.table.drop(columns="good for"), hide_index=True)

    def ask(self) -> Choice:
        def option(reply: str, *models: str, right: bool = False) -> Option:
            return Option(", ".join(models), reply, right)

        return Choice(
            "Which models do you try first for these jobs, in their order?",
            options.placed(
                1,
                option(
                    "Each has read texts of this kind or length, or is small.",
                    *("PubMedBERT", "XLM-RoBERTa", "ModernBERT", "CodeBERT", "TinyBERT"),
                    right=True,
                ),
                option(
                    "TinyBERT is trained on English, and XLM-RoBERTa is the largest of these.",
                    *("PubMedBERT", "TinyBERT", "ModernBERT", "CodeBERT", "XLM-RoBERTa"),
                ),
                option(
                    "SciBERT would do for reports, but BERT reads 512 tokens at most, so it cuts the long texts.",
                    *("SciBERT", "XLM-RoBERTa", "BERT", "CodeBERT", "TinyBERT"),
                ),
                option(
                    "CodeBERT has read code, Legal-BERT laws and contracts: neither has read what it gets here.",
                    *("CodeBERT", "XLM-RoBERTa", "ModernBERT", "Legal-BERT", "TinyBERT"),
                ),
            ),
        )

    def reveal(self) -> None:
        st.dataframe(self.table, hide_index=True)

    def why(self) -> str:
        return (
            "Language and field come first, then length and latency, then rankings: a model that has read texts like "
            "yours usually does better on them (Gururangan et al. 2020)."
        )

    def numbers(self) -> pd.DataFrame:
        return self.table


class Newer(FamilyStep):
    title = "The long text"
    terms = ("unpadding", "flash attention")
    sources = (WARNER, DAO)

    def text(self) -> str:
        return (
            "ModernBERT (2024) reads 8,192 tokens and was trained on 2 trillion. Three things make it fast: most "
            "layers look only at near tokens; [[flash attention]] never stores the n × n weights; and [[unpadding]] "
            "computes nothing for padding."
        )

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
        bounds = ((0.3, "Less than 30%"), (0.6, "30% to 60%"), (np.inf, "60% or more"))
        fact = f"{share:.0%}: all five are padded to {max(self.lengths)} tokens."

        def reply(place: int, right: int) -> str:
            return fact if place == right else f"{'More' if place < right else 'Less'}. {fact}"

        return Choice(
            "These five texts form one batch. What share of it is padding?", options.ranges(share, bounds, reply)
        )

    def reveal(self) -> None:
        longest, total = max(self.lengths), sum(self.lengths)
        sizes = {"padded": float(longest * len(self.lengths)), "unpadded": float(total)}
        pictures.bars("unpadding", list(sizes), [("tokens that are computed", list(sizes.values()))], written=",.0f")

    def why(self) -> str:
        return (
            f"Without padding {sum(self.lengths):,} instead of {max(self.lengths) * len(self.lengths):,} tokens are "
            "computed, and the result is the same. Flash attention is exact, too: it only orders the work so that "
            "little memory is needed (Dao et al. 2022; Warner et al. 2024)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"text": range(1, len(self.lengths) + 1), "tokens": self.lengths})


class Benchmarks(FamilyStep):
    title = "GLUE and SQuAD"
    terms = ("GLUE", "SQuAD")
    sources = (WANG_GLUE, RAJPURKAR, DEVLIN)

    @property
    def average(self) -> float:
        """The mean of BERT-base’s GLUE scores as the table has it: MNLI’s two test sets count as two columns."""
        return float(np.mean([base for base, _ in GLUE.values()]))

    def text(self) -> str:
        return (
            "[[GLUE]] is nine English tasks: two sentences each (does one follow from the other? do they ask the "
            "same?) or one (is it positive? acceptable?). Its score is a mean. [[SQuAD]] asks for answers in "
            "passages. These are the GLUE test scores of BERT-base in its paper (without WNLI; MNLI has two test "
            "sets)."
        )

    def figure(self) -> None:
        pictures.bars("glue", list(GLUE), [("BERT-base", [base for base, _ in GLUE.values()])], written=".1f")

    def ask(self) -> Choice:
        right = f"{self.average:.1f}"
        return Choice(
            "What is their mean, which the paper gives as BERT-base’s average?",
            (
                Option("52.1", "That is the lowest of them, CoLA."),
                Option("75.1", "That is the average of OpenAI GPT in the same table."),
                Option(
                    right, f"The sum is {sum(base for base, _ in GLUE.values()):.1f}, divided by {len(GLUE)}.", True
                ),
                Option("93.5", "That is the highest of them, SST-2."),
            ),
        )

    def reveal(self) -> None:
        series = [
            ("BERT-base", [base for base, _ in GLUE.values()]),
            ("BERT-large", [large for _, large in GLUE.values()]),
        ]
        pictures.bars("glue-both", list(GLUE), series, written=".1f")

    def why(self) -> str:
        gains = {task: large - base for task, (base, large) in GLUE.items()}
        most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
        return (
            f"BERT-base averages {AVERAGES[0]} and BERT-large {AVERAGES[1]} (Devlin et al. 2019, Table 1); on SQuAD "
            "1.1 they reach an F1 of 88.5 and 90.9 on the development set. A mean hides a lot: the larger model gains "
            f"{gains[most]:.1f} on {most} and {gains[least]:.1f} on {least}."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame([(task, *both) for task, both in GLUE.items()], columns=["task", "BERT-base", "BERT-large"])


class Frozen(FamilyStep):
    title = "Frozen, or fine-tuned?"
    terms = ("feature-based", "named entity recognition")
    minutes = 2.0
    sources = (PETERS, DEVLIN)

    @property
    def measured(self) -> dict[str, TransferScore]:
        """Entity F1 of the bundled BERT, by which features were read, and fine-tuned."""
        return transfer.scores_by_way("entities")

    def text(self) -> str:
        return (
            "ELMo (Peters et al. 2018) was used **feature-based**: its vectors are inputs, its weights stay frozen. "
            "With BERT you can choose. Devlin et al. tried both on names of people and places; we did the same in "
            f"small, with {as_text(name_of(DEFAULT_MODEL))} and the built-in entities."
        )

    def figure(self) -> None:
        items = [item for item in SETS["entities"].build().test[:4] if isinstance(item, Tagged)]
        st.table([{"sentence": as_text(item.text), "tags": as_text(" ".join(item.tags))} for item in items])

    def ask(self) -> Choice:
        measured = self.measured
        worst = min(measured.values(), key=lambda result: result.score)

        def option(way: str) -> Option:
            return Option(way.capitalize(), f"F1 {_interval(measured[way])}.", measured[way] is worst)

        return Choice(
            f"With {as_text(name_of(DEFAULT_MODEL))}: which of these is clearly worst?",
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
        return (
            f"Of {as_text(name_of(DEFAULT_MODEL))} and of BERT-base, the embeddings alone do worst: a name needs its "
            f"context. Fine-tuned, {as_text(name_of(DEFAULT_MODEL))} reaches {_interval(tuned)}, and with the frozen "
            f"second-to-last layer {_interval(frozen)}: these intervals {'overlap' if close else 'do not overlap'}. "
            f"Fine-tuning is not always better: {as_text(name_of(_TINY))}, trained with the same settings, reaches "
            f"{_interval(small_tuned)}, and {_interval(small_frozen)} with frozen features."
        )

    def numbers(self) -> pd.DataFrame:
        every = [*self.measured.values(), *transfer.scores_by_way("entities", _TINY).values()]
        rows = [
            (name_of(result.model), result.way, result.score, result.low, result.high, result.seeds) for result in every
        ]
        return pd.DataFrame(rows, columns=["model", "features", "entity F1", "low", "high", "seeds"])


class Intermediate(FamilyStep):
    title = "One task before another"
    terms = ("intermediate-task training",)
    sources = (PHANG, DEVLIN)

    @property
    def measured(self) -> dict[str, TransferScore]:
        """Spearman’s ρ on the built-in similarity pairs: directly, and after another set."""
        return transfer.scores_by_way("similarity")

    def text(self) -> str:
        n = transfer.SMALL.examples
        return (
            "RTE has few examples. A model that is fine-tuned on MNLI first, a large task of the same kind, can do "
            "better on it (Phang et al. 2018, with BERT-large). Courses quote 63.5 and then 78.1 for BERT-base; its "
            f"paper gives {GLUE['RTE'][0]} without MNLI. We tried it in small: {n} "
            "similarity pairs, directly, and after the built-in inference set."
        )

    def figure(self) -> None:
        rows = [item for item in SETS["inference"].build().train[:4] if isinstance(item, Labelled)]
        st.table([{"first": as_text(i.text), "second": as_text(i.pair or ""), "label": i.label} for i in rows])

    def ask(self) -> Choice:
        measured = self.measured
        direct, after = measured[transfer.DIRECTLY], measured["inference"]
        fact = (
            f"Spearman’s ρ is {direct.score:.2f} directly ({direct.low:.2f} to {direct.high:.2f}) and "
            f"{_interval(after, '.2f')} afterwards."
        )
        return Choice(
            f"Did it help {as_text(name_of(DEFAULT_MODEL))} here? (Clear means that the 95% intervals do not overlap.)",
            (
                options.either("It clearly helped", after.low > direct.high, fact, f"Not here. {fact}"),
                options.either(
                    "No clear difference",
                    after.low <= direct.high and direct.low <= after.high,
                    fact,
                    f"There is. {fact}",
                ),
                options.either("It clearly hurt", after.high < direct.low, fact, f"Not clearly. {fact}"),
            ),
        )

    def reveal(self) -> None:
        measured = self.measured
        names = [way if way == transfer.DIRECTLY else f"after {way}" for way in measured]
        pictures.bars("intermediate", names, [("Spearman’s ρ", [result.score for result in measured.values()])])

    def why(self) -> str:
        other = transfer.scores_by_way("inference")
        return (
            f"These are means over {self.measured[transfer.DIRECTLY].seeds} seeds. Our sets are small and written for "
            "this app. The other way round, with a few inference pairs, accuracy is "
            f"{_interval(other[transfer.DIRECTLY])} directly and {_interval(other['similarity'])} after the similarity "
            "pairs, where guessing gives 33%. An intermediate task is no sure gain: Phang et al. saw most with a large "
            "one, close to the target, and few examples of the target."
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

    title = "How large?"
    terms = ("transfer learning",)
    sources = (DEVLIN, WARNER)
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

    def text(self) -> str:
        return (
            "Base models here have 12 layers of width 768 (ModernBERT 22), yet their sizes differ a lot: a large "
            "vocabulary means a large embedding table. BERT-large has 24 layers of width 1,024. BERT-base has "
            f"{self.millions['BERT base']:.0f} million parameters."
        )

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
            return f"You miss by {gap:.0f} million on average; the largest is {options.highest(names, truth)}."

        return Sketch("Draw how many million parameters each has.", names, truth, reply, top=400.0, unit="M")

    def reveal(self) -> None:
        millions = self.millions
        pictures.bars("family-sizes", list(millions), [("million parameters", list(millions.values()))], written=".0f")

    def why(self) -> str:
        spec = registry.MODELS["FacebookAI/xlm-roberta-base"]
        table = spec.vocabulary * spec.width / 1e6
        return (
            f"XLM-RoBERTa’s table has {spec.vocabulary:,} rows of {spec.width} numbers, {table:.0f} of its "
            f"{spec.parameters / 1e6:.0f} million parameters: words in 100 languages need room."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"model": self.millions.keys(), "million parameters": self.millions.values()})


LESSON = Lesson(
    name="family",
    title="The family",
    question="Which relatives does BERT have, and what is each for?",
    aims=(
        "name four training objectives and what they give",
        "choose a model for a language, a field or a length",
        "read GLUE and SQuAD scores",
        "tell feature-based use from fine-tuning, and say what an intermediate task is",
    ),
    terms=("replaced token detection", "GLUE"),
    examples=(("The old bakery opens at six in the morning.", ""), ("She looked at him and shook her head.", "")),
    pages=("compare", "train"),
    steps=(
        Objectives,
        Which,
        Sized,
        Newer,
        Benchmarks,
        Frozen,
        Intermediate,
        *recalled(
            "layers",
            Recall(
                "What is ELECTRA trained to do?",
                (
                    Option("Fill masks", "Its small generator does; ELECTRA itself does not."),
                    Option("Spot replaced words", "So every token gives a signal.", True),
                    Option("Write text", "That is BART."),
                ),
                "Relatives differ in objective: masked words, permutations, damaged text, replaced words.",
            ),
            Recall(
                "A model for contracts in English: what matters most?",
                (
                    Option("That it has read texts like these", "Such as Legal-BERT.", True),
                    Option("That it has the most layers", "Size helps less than the right texts."),
                    Option("That it is the newest", "New models may never have read a contract."),
                ),
                "Choose by language and field first, then by length and memory; rankings such as GLUE come last.",
            ),
            Recall(
                "What is feature-based use of a model?",
                (
                    Option("Its vectors are used, its weights stay frozen", "Only what comes after is trained.", True),
                    Option("All its weights are trained", "That is fine-tuning."),
                    Option("It is trained on two tasks", "That is intermediate-task training."),
                ),
                "Frozen features and fine-tuning can be close; an intermediate task helps if it is large and similar.",
            ),
        ),
    ),
)
