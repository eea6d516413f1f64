"""What results show of themselves in a notebook, by hand: every kind, texts that try to break out, and sizes."""

from __future__ import annotations

import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import builders
import numpy as np
import pandas as pd
import pytest
from result_html import parse, parse_with_table

import analysis
import evidence
import jobs
import model_zoo.types
import reading
import training
from analysis.corpus.coreference import JudgedHeads, KindAccuracy, PronounAttention
from analysis.corpus.examples import Examples
from analysis.corpus.head_statistics import BatchMeasurer, HeadStatistics
from analysis.corpus.importance import Curve, Mean, compare_head, compared_sets, gradient_estimates
from analysis.corpus.looks import Hits, Looks
from analysis.corpus.reading import built_in, read_corpus
from analysis.corpus.relations import Cases, Ensemble, Findings, Relation, RelationQuery, RelationResult, Share
from analysis.corpus.results import Results
from analysis.findings import Ranking
from analysis.heads import head_table
from analysis.latency import Latency, ModelCost
from analysis.lens_fit import Distance, JudgedLens
from analysis.minimal_pairs import accuracies
from analysis.pairs import judge
from analysis.probing import Baseline, LayerResult, Settings, StructuralLayer, StructuralResult, TaskMap, TaskResult
from analysis.probing.structural_results import Estimate, Scores
from analysis.sentence_vectors import Agreement, Measured
from analysis.words import word_units
from evidence.questions.count_unknown import UnknownWords
from evidence.questions.switch_off import Gradients, SwitchedOff
from jobs.explaining import Explained
from jobs.text_ablation import Path
from model_zoo.registry import MODELS
from model_zoo.types import (
    Attribution,
    Contribution,
    CostFailure,
    CostSample,
    CostSubject,
    Decomposition,
    Effects,
    EngineState,
    FittedLens,
    HeldModel,
    HiddenStates,
    LayerContributions,
    LensDistances,
    MaskLens,
    MaskPrediction,
    MaskVectors,
    ModelStatus,
    Positions,
    Prediction,
    Preference,
    Quality,
    Reading,
    RecurrentPass,
    SentenceScore,
    Shift,
    Shows,
    Sinks,
    Target,
    TokenScores,
    TrainingStep,
    Vocabulary,
)
from model_zoo.types.anatomy import Anatomy, Stage
from reading.items import MinimalPair
from training.finetuning.data import Data, Labelled
from training.finetuning.notebook import TunedModel
from training.finetuning.results import Answered, AnswerSpan, Classified, Evaluated, Rated, Score, TaggedWords, Tuned
from training.finetuning.settings import Settings as TuningSettings
from viz import results


def kinds() -> Iterator[type[Shows]]:
    """Every result that shows itself, of the rooms that a notebook asks."""
    for room in (analysis, evidence, jobs, model_zoo.types, reading, training):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                if issubclass(kind, Shows) and kind.__module__ == module.name and kind is not Shows:
                    yield kind


NAN = float("nan")
TEXT = builders.encoding(["a", "b"], front=None, end=None)
INFO = builders.info()
CAT, DOG = Prediction("cat", 1, 0.5), Prediction("dog", 2, 0.25)
UNTOUCHED = Reading(float(np.log(0.5)), 2.0, None, None, 0.0, (CAT, DOG))
CHANGED = Reading(float(np.log(0.25)), 1.0, -1.5, 0.5, 0.125, (DOG, CAT))


def floats(*values: Any) -> np.ndarray:
    return np.array(values, dtype=np.float32)


SCORES = TokenScores(TEXT, INFO, floats(NAN, np.log(0.25)), (None, CAT))
LENS = FittedLens.from_changes("m", "r", 60, np.ones((2, 3, 2)), np.zeros(2))
QUALITY = Quality(n_total=9, mlm_loss=1.5)
SUBJECT = CostSubject(model="m", info=INFO, n_bytes=40, n_threads=1, pieces_per_word=1.25, lengths=(16,))
LATENCY = Latency(model="m", n_tokens=16, n_words=8, n=7, median=0.002, low=0.001, high=0.003, peak_bytes=None)
MEANS = {"value": [0.5], "low": [0.25], "high": [0.75], "n": [9], "n_clusters": [3]}
MEAN = Mean(*(column[0] for column in MEANS.values()))  # type: ignore[arg-type]
SHARE = Share(0.5, 0.25, 0.75)
UP = Relation("nsubj", "up")
CASES = Cases.build(
    [RelationQuery(UP, 2, (0, 1))], np.array([[True, False, True]]), np.array([7]), np.array([True]), np.array([5])
)
FOUND = RelationResult(
    relation=UP, n_choosing=9, n_judged=12, n_sentences=6, head=2, accuracy=SHARE, offset=-1,
    by_offset=Share(0, 0, 0.5), chance=0.125, p=0.25, choosing=np.zeros(3), judged=np.zeros(3),
)  # fmt: skip


def survey() -> HeadStatistics:
    """Of one sentence, in two layers: a head that looks at the token before, then one that looks everywhere, and one
    like the first.
    """
    (sentence,) = built_in(1)
    encoding = builders.encoding(sentence.words)
    measuring, n = BatchMeasurer([sentence], [encoding]), len(encoding)
    before = np.eye(n, k=-1, dtype=np.float32)
    before[0, 0] = 1
    even = np.full((n, n), 1 / n, dtype=np.float32)
    return measuring.statistics([measuring.layer(np.stack(layer)[None], None) for layer in ([before], [even, before])])


SURVEY = survey()
ITEMS = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.5, 1.5, 2.5], [0.0, 0.0, 0.0]], dtype=np.float32)
MATTERS = compare_head(ITEMS, (ITEMS > 0.75).astype(np.float32), range(3), compared_sets((0, 1), 2))
FORETOLD = gradient_estimates(np.ones((3, 2, 1), np.float32), ITEMS[:3], range(3))
TASK = TaskResult(
    task="t", level="token", labels=("a", "b"), n_train=60, n_development=10, n_test=30,
    baselines=(Baseline("majority", 0.5, 0.4, 0.6, 0.1),),
    c=1.0, random_weights=None, expected_layer=None, centre_of_gravity=None,
    layers=(
        LayerResult(
            task="t", layer=0, accuracy=0.75, low=0.7, high=0.8, development_accuracy=0.7,
            untrained_accuracy=None, control_accuracy=0.5, selectivity=0.25, bits=None, compression=None, wrong=(),
        ),
    ),
    p=((1.0,),), accuracies=((0.75,),), skipped=0, longest=9, notes=(), settings=Settings(),
)  # fmt: skip
TREE_SCORES = Scores(
    uuas=Estimate(0.8, 0.75, 0.85), distance_spearman=None, root_accuracy=Estimate(0.5, 0.4, 0.6), depth_spearman=None
)
TREES = StructuralResult(
    task="t", rank=8, n_train=60, n_development=10, n_test=30, chain=TREE_SCORES,
    layers=(
        StructuralLayer(
            task="t", layer=0, scores=TREE_SCORES, development_uuas=0.8, epochs=9, untrained=None, p_chain=1.0,
            p_untrained=None,
        ),
    ),
    p=((1.0,),), uuas_of_seeds=((0.8,),), sentences=(), skipped=0, longest=9, notes=(), settings=Settings(),
)  # fmt: skip
MAP = TaskMap(
    task="t", points=floats([[1, 2], [3, 4]]), explained=floats([0.5, 0.5]), cka=floats([1]), texts=("x", "y"),
    words=None, labels=("p", "q"),
)  # fmt: skip
DATA = Data("d", "Data", "classification", *[(Labelled("a b", None, "yes"),)] * 3, labels=("no", "yes"))
TUNED = Tuned(
    id="tuned/0", base="m", data=DATA, settings=TuningSettings(), predictions=(Classified("yes", (0.25, 0.75)),),
    scores=(Score("accuracy", 0.75, 0.5, 0.875, 0.5),), rate=1e-3, n_parameters=10, n_learning=5, n_bytes=40,
    latency=0.01, seconds=2.0, steps=(), evaluated=(Evaluated(3, 1.0, 0.5, 0.75),), first_vectors=(),
)  # fmt: skip
SINKS = Sinks(
    encoding=TEXT, model=INFO, places=(1,), share=floats([[0.75], [NAN]]), even=floats([0.5]),
    value=floats([[2], [NAN]]), ordinary_value=floats([4, NAN]), stream=floats(8), added=floats([[0.25], [NAN]]),
    update=floats([0.5, NAN]), common=floats([1, NAN]), rank=floats([1, NAN]),
)  # fmt: skip
AGREEMENT = Agreement(2, "mean", True, 0.5, 0.25, 0.75, 0.0625, 0.125)
HITS = Hits(
    of=np.array([0]), sentence=np.array([3]), query=np.array([1]), key=np.array([0]), query_start=np.array([2]),
    query_end=np.array([3]), key_start=np.array([0]), key_end=np.array([1]), token=np.array([1]), weight=floats(0.75),
    strongest=np.array([True]),
)  # fmt: skip

EXAMPLES: list[tuple[Any, dict[str, list[Any]]]] = [
    (TEXT, {"position": [0, 1], "token": ["a", "b"], "word": [0, 1], "start": [0, 2], "end": [1, 3]}),
    (
        builders.run(TEXT, floats([[1, 0], [0.25, 0.75]])),
        {"layer": [0] * 4, "query": [0, 0, 1, 1], "key": [0, 1, 0, 1], "weight": [1, 0, 0.25, 0.75]},
    ),
    (
        LayerContributions(encoding=TEXT, model=INFO, measure="ALTI", maps=floats([[1, 0], [0.25, 0.75]])),
        {"layer": [0] * 4, "query_token": list("aabb"), "key_token": list("abab"), "contribution": [1, 0, 0.25, 0.75]},
    ),
    (
        HiddenStates(TEXT, floats([[3, 4], [0, 1]]), (5,)),
        {"layer": [5] * 4, "position": [0, 0, 1, 1], "dimension": [0, 1] * 2, "value": [3, 4, 0, 1]},
    ),
    (
        MaskPrediction(1, (CAT, DOG), 1.0, DOG, 2, -1.5, (Target("bird", "bird", 3, 0.125, -2.0, 7),)),
        {
            "rank": [1, 2, 7],
            "token": ["cat", "dog", "bird"],
            "probability": [0.5, 0.25, 0.125],
            "asked": ["", "", "bird"],
            "original": ["dog"] * 3,
            "original_rank": [2] * 3,
            "original_ln_p": [-1.5] * 3,
        },
    ),
    (
        MaskLens(1, ((DOG, CAT), (CAT, DOG)), CAT, (2, 1), (-2.0, -0.5), (1, 2)),
        {
            "layer": [0, 0, 1, 1],
            "rank": [1, 2, 1, 2],
            "token": ["dog", "cat", "cat", "dog"],
            "answer_rank": [2, 2, 1, 1],
            "answer_ln_p": [-2.0, -2.0, -0.5, -0.5],
            "original_rank": [1, 1, 2, 2],
        },
    ),
    (Shift("she", 1, -3.0, -1.0), {"token": ["she"], "id": [1], "before": [-3.0], "after": [-1.0]}),
    (
        Vocabulary(("[MASK]", "a"), 2, 0, "[MASK]", None, frozenset({0})),
        {"id": [0, 1], "token": ["[MASK]", "a"], "special": [True, False]},
    ),
    (SCORES, {"position": [1], "token": ["b"], "surprisal_bits": [2.0], "guess": ["cat"], "guess_probability": [0.5]}),
    (Preference(SCORES, SCORES), {"text": ["A", "B"], "position": [1, 1], "surprisal_bits": [2.0, 2.0]}),
    (
        SentenceScore(0.75, (2.0, 1.0), "NSP", TEXT, INFO),
        {"answer": ["is next", "is not"], "logit": [2.0, 1.0], "probability": [0.75, 0.25]},
    ),
    (
        Effects(TEXT, INFO, 1, CAT, None, UNTOUCHED, (UNTOUCHED, CHANGED), first=4),
        {
            "change": [4, 5],
            "ln_p_change": [0.0, float(-np.log(2))],
            "probability": [0.5, 0.25],
            "foil_logit": [None, 0.5],
            "kl_nats": [0.0, 0.125],
            "best": ["cat", "dog"],
        },
    ),
    (
        Attribution(
            encoding=TEXT,
            model=INFO,
            method="occlusion",
            measure="P",
            position=0,
            answer=CAT,
            foil=None,
            scores=floats(0, -0.5),
            counted=(1,),
        ),
        {"position": [1], "token": ["b"], "score": [-0.5]},
    ),
    (
        Decomposition(
            TEXT,
            INFO,
            1,
            CAT,
            None,
            3.0,
            None,
            (
                Contribution("bias", None, None, 1.0, None, (("cat", 1.0), ("dog", 0.5))),
                Contribution("head", 2, 3, 2.0, None, ()),
            ),
            0.0,
        ),
        {"kind": ["bias", "head"], "head": [None, 3], "logit": [1.0, 2.0], "raises": ["cat dog", ""]},
    ),
    (
        SINKS,
        {"layer": [0], "head": [0], "place": [1], "token": ["b"], "share": [0.75], "even": [0.5], "added": [0.25]},
    ),
    (
        Anatomy(
            encoding=TEXT,
            model=INFO,
            embeddings=(Stage("token", floats([3, 4], [0, 1])),),
            stages=(Stage("input", floats([6, 8], [0, 2])),),
            states=floats([[0, 0], [0, 0]]),
            layer=0,
            head=0,
            attention=floats([1, 0], [0, 1]),
        ),
        {
            "stage": ["token"] * 2 + ["input"] * 2,
            "position": [0, 1] * 2,
            "token": list("abab"),
            "length": [5, 1, 10, 2],
        },
    ),
    (
        TrainingStep(
            position=1,
            rate=0.5,
            answer=CAT,
            tokens=(CAT, DOG),
            logits=(1.0, 0.5),
            gradient=(-0.5, 0.25),
            loss=0.7,
            squared_length=1.0,
            by_hand=(0.625, 0.125),
            after=(0.75, 0.0625),
            loss_after=0.25,
            norms=(("token", 1.0),),
        ),
        {"token": ["cat", "dog"], "probability": [0.5, 0.25], "gradient": [-0.5, 0.25], "after": [0.75, 0.0625]},
    ),
    (
        Positions("learned", table=floats([1, 2], [3, 4])),
        {"position": [0, 0, 1, 1], "dimension": [0, 1] * 2, "value": [1, 2, 3, 4]},
    ),
    (RecurrentPass(TEXT, floats([3, 4], [0, 2]), floats(0.5, 1)), {"state_length": [5, 2], "gradient": [0.5, 1]}),
    (LENS, {"layer": [0, 1], "norm_of_A": [2.0, 2.0], "length_of_b": [2**0.5] * 2}),
    (
        MaskVectors(floats([[1, 2], [3, 4]]), np.array([7])),
        {"mask": [0] * 4, "text": [7] * 4, "layer": [0, 0, 1, 1], "dimension": [0, 1] * 2, "value": [1, 2, 3, 4]},
    ),
    (
        LensDistances(floats([1.0, 2.0]), np.array([7, 8]), floats([0.5, 0.25]), floats(3.0, 3.0)),
        {"lens": ["logit"] * 2 + ["fitted"] * 2, "text": [7, 8] * 2, "kl_nats": [1.0, 2.0, 0.5, 0.25]},
    ),
    (INFO, {"id": ["test/model"], "n_layers": [1], "dtype": ["float32"]}),
    (MODELS["embedded/bert"], {"id": ["embedded/bert"], "layers": [6], "heads": [12]}),
    (
        ModelStatus(MODELS["embedded/bert"], True, "Why."),
        {"id": ["embedded/bert"], "usable": [True], "reason": ["Why."]},
    ),
    (HeldModel(INFO, 40, 1.5, False), {"id": ["test/model"], "n_bytes": [40], "idle_seconds": [1.5]}),
    (
        EngineState(
            running=1,
            waiting=0,
            n_answered=5,
            n_runs=3,
            n_remembered=2,
            result_bytes=10,
            result_budget=20,
            model_bytes=0,
            model_budget=9,
        ),
        {"running": [1], "n_answered": [5], "model_budget": [9]},
    ),
    (QUALITY, {"n_total": [9], "mlm_loss": [1.5]}),
    (SUBJECT, {"model": ["m"], "n_bytes": [40], "id": ["test/model"]}),
    (
        CostSample(model="m", n_tokens=16, n_words=8, round=1, seconds=0.5, peak_bytes=None, share=1.0),
        {"n_tokens": [16], "seconds": [0.5]},
    ),
    (CostFailure("m", "Why."), {"model": ["m"], "reason": ["Why."]}),
    (LATENCY, {"n_tokens": [16], "median": [0.002]}),
    (ModelCost(SUBJECT, (LATENCY,), QUALITY), {"model": ["m"], "tokens": [16], "median_ms": [2.0], "mlm_loss": [1.5]}),
    (MEAN, MEANS),
    (SHARE, {"share": [0.5], "low": [0.25], "high": [0.75]}),
    (Distance(5.0, 4.5, 5.5), {"mean": [5.0], "low": [4.5], "high": [5.5]}),
    (
        JudgedLens(LENS, (Distance(5.0, 4.5, 5.5),), (Distance(2.0, 1.5, 2.5),), Distance(3.0, 2.5, 3.5), 40, 10, 10),
        {"layer": [0, 0], "lens": ["logit", "fitted"], "kl_nats": [5.0, 2.0], "high": [5.5, 2.5]},
    ),
    (Curve("random", (0, 2), (MEAN, MEAN)), {"order": ["random"] * 2, "heads_off": [0, 2], "score": [0.5, 0.5]}),
    (MATTERS.head, {"layer": [0], "head": [1], "change": [0.0], "right": [1.0], "items": [3]}),
    (MATTERS, {"layer": [0, 0, 0], "head": [1, 0, "all"], "change": [0.0, 0.5, -1.0]}),
    (FORETOLD, {"place": [0, 1], "importance": [1.0, 1.0], "estimate": [-1.0, -1.0], "change": [0.0, 0.5]}),
    (accuracies([MinimalPair("a", "b")], [1.0])[0], {"n": [1], "accuracy": [1.0], "mean_difference": [1.0]}),
    (judge([0.875, 0.125], [True, False]), {"low": [0.1, 0.8], "n": [1, 1], "share_next": [0.0, 1.0]}),
    (TASK, {"task": ["t"], "layer": [0], "accuracy": [0.75], "majority": [0.5], "best_layer": [0]}),
    (TREES, {"layer": [0], "uuas": [0.8], "chain_uuas": [0.8], "root_accuracy_high": [0.6]}),
    (MAP, {"layer": [0, 0], "text": ["x", "y"], "label": ["p", "q"], "component_1": [1, 3], "component_2": [2, 4]}),
    (
        Ranking(layer=np.array([0, 1]), head=np.array([0, 0]), share=np.array([0.25, 0.75]), even=np.array([0.5, 0.5])),
        {"layer": [1, 0], "share": [0.75, 0.25]},
    ),
    (head_table([builders.run(builders.encoding(["a", "b"]), builders.random_maps(0, 2, 4, 4))]), {"head": [0, 1]}),
    (SURVEY, {"layer": [0, 1, 1], "head": [0, 0, 1], "previous": [1.0, 1 / SURVEY.n_tokens, 1.0]}),
    (CASES, {"relation": ["nsubj"], "sentence": [7], "query": [2], "key": [1], "chance": [0.5], "heads_right": [2]}),
    (FOUND, {"relation": ["nsubj"], "place": [2], "right": [0.5], "offset": [-1], "offset_high": [0.5], "p": [0.25]}),
    (Findings((FOUND,), ()), {"direction": ["up"], "place": [2], "words": [12], "sentences": [6]}),
    (Findings((), ()), {}),
    (Results(statistics=SURVEY, findings=Findings((FOUND,), ())), {"layer": [1], "head": [1], "low": [0.25]}),
    (Ensemble(UP, (1, 3), SHARE), {"relation": ["nsubj"], "places": ["1 3"], "right": [0.5], "high": [0.75]}),
    (
        Looks(
            layer=np.array([2]),
            head=np.array([3]),
            n=np.array([4]),
            strongest=np.array([1]),
            weight=np.array([2.0]),
            even=np.array([1.0]),
            hits=HITS,
            most=50,
            n_sentences=9,
            n_found=1,
            n_cut=0,
        ),
        {"layer": [2], "head": [3], "n": [4], "strongest": [1], "mean": [0.5], "expected": [0.25]},
    ),
    (
        Examples(floats([[0.75, 7, 1, 0], [0.5, -1, 0, 0]]), floats([[[0.25, 3, 2, 1]], [[0, -1, 0, 0]]])),
        {"place": [0, 0], "kept": ["strongest", "drawn"], "sentence": [7, 3], "query": [1, 2], "weight": [0.75, 0.25]},
    ),
    (
        read_corpus([("mine.txt", b"The cat sat.\nIt slept well.\n")]),
        {"words": [4, 4], "text": ["The cat sat.", "It slept well."], "file": ["mine.txt"] * 2, "line": [1, 2]},
    ),
    (
        reading.read(b"good,bad\nI am.,I is.\n", "minimal pairs", name="pairs.csv"),
        {"good": ["I am."], "bad": ["I is."], "line": [2], "split": [""]},
    ),
    (UnknownWords("[UNK]", 2, 5, 3, 0), {"token": ["[UNK]"], "n_words": [5], "n_unknown": [3]}),
    (AGREEMENT, {"layer": [2], "pooling": ["mean"], "rho": [0.5], "high": [0.75], "spread": [0.0625]}),
    (Measured({}, (AGREEMENT,)), {"layer": [2], "removed": [True], "mean_cosine": [0.125]}),
    (HITS, {"sentence": [3], "weight": [0.75], "strongest": [True]}),
    (
        PronounAttention(
            heads=(1, 1),
            numbers=np.array([7]),
            tokens=np.array([2]),
            antecedent=floats([0.5, 0.25]),
            distractor=floats([0.25, 0.5]),
            strongest=np.array([[True, False]]),
            left_out=np.array([], dtype=np.int64),
        ),
        {"sentence": [7, 7], "layer": [0, 1], "head": [0, 0], "antecedent": [0.5, 0.25], "strongest": [True, False]},
    ),
    (
        JudgedHeads(
            by="most",
            heads=(1, 2),
            n_choosing=10,
            n_judging=10,
            order=np.array([2, 0, 1]),
            choosing=np.array([0.5, 0.25, 0.75]),
            shares=(SHARE,) * 3,
            reached={},
            rules={},
        ),
        {"layer": [1, 0, 1], "head": [1, 0, 0], "choosing": [0.75, 0.5, 0.25], "held_out": [0.5] * 3},
    ),
    (KindAccuracy("sense", 9, SHARE, {}), {"kind": ["sense"], "n": [9], "low": [0.25]}),
    (
        Gradients(floats([[1, 2]])),
        {"item": [0, 0], "layer": [0, 0], "head": [0, 1], "gradient": [1, 2]},
    ),
    (
        SwitchedOff(floats([1, 2], [3, NAN]), floats([1, 0], [1, NAN])),
        {"set": [0, 0, 1, 1], "item": [0, 1] * 2, "score": [1, 2, 3, None], "right": [1, 0, 1, None]},
    ),
    (Classified("yes", (0.25, 0.75)), {"label": ["yes"], "probabilities": [(0.25, 0.75)]}),
    (TaggedWords(("a", "b"), ("O", "B-X"), (0.5, 0.75)), {"word": ["a", "b"], "tag": ["O", "B-X"]}),
    (Answered((AnswerSpan(0, 1, "a", 2.5),), 1.0), {"start": [0], "end": [1], "text": ["a"], "score": [2.5]}),
    (Answered((), 1.0), {}),
    (Rated(2.5), {"score": [2.5]}),
    (
        Path([(1, 2), (0, 3)], [0.5, 0.25]),
        {"heads_off": [0, 1], "layer": [None, 1], "head": [None, 2], "probability": [0.5, 0.25]},
    ),
    (
        Explained(
            word_units(TEXT),
            (0, 1),
            Effects(TEXT, INFO, 1, CAT, None, UNTOUCHED, ()),
            "P",
            {"occlusion": np.array([0.5, -0.25])},
        ),
        {"method": ["occlusion"] * 2, "word": ["a", "b"], "first_token": [0, 1], "score": [0.5, -0.25]},
    ),
    (TUNED.scores[0], {"measure": ["accuracy"], "value": [0.75]}),
    (TUNED, {"measure": ["accuracy"], "value": [0.75], "low": [0.5], "baseline": [0.5]}),
    (TunedModel(None, TUNED), {"measure": ["accuracy"], "value": [0.75]}),  # type: ignore[arg-type]
]
"""A result of every kind, and columns of its table."""


def test_every_kind_of_result_has_an_example() -> None:
    assert set(kinds()) == {type(result) for result, _ in EXAMPLES}


@pytest.mark.parametrize(("result", "columns"), EXAMPLES, ids=[type(result).__name__ for result, _ in EXAMPLES])
def test_a_result_shows_itself_and_its_numbers(result: Any, columns: dict[str, list[Any]]) -> None:
    parse_with_table(result)
    table = result.to_frame()
    for name, values in columns.items():
        column = [None if value is pd.NA or value != value else value for value in table[name]]
        assert column == [pytest.approx(cell) if isinstance(cell, float) else cell for cell in values]


HARMFUL = "<script>alert(1)</script> & \"quotes\" 'single' <b onclick=x> שלום \u202eback\u200b\u0007 " + "long" * 2500


@pytest.mark.parametrize("text", [HARMFUL, "</td></table><img src=x onerror=alert(1)>", "$x$ `code` **bold** \\(y\\)"])
def test_no_text_breaks_out(text: str) -> None:
    tokens = builders.encoding([text, "b"], text=text)
    info = builders.info(id=text)
    odd = Prediction(text, 1, 0.5)
    maps = builders.random_maps(0, 1, len(tokens), len(tokens))
    for result in (
        tokens,
        builders.run(tokens, maps, model=info),
        TokenScores(tokens, info, np.full(len(tokens), -1, np.float32), (odd,) * len(tokens)),
        MaskPrediction(1, (odd,), 1.0, odd, 1, -1.0, (Target(text, text, 1, 0.5, -1.0, 1),)),
        MaskLens(1, ((odd,),), odd, (1,), (-1.0,), None),
        Effects(tokens, info, 1, odd, odd, UNTOUCHED, (UNTOUCHED._replace(best=(odd,)),)),
        SentenceScore(0.5, (0.0, 0.0), "NSP", tokens, info),
        Preference(*(TokenScores(tokens, info, np.full(len(tokens), -1, np.float32), (odd,) * len(tokens)),) * 2),
        info,
        CostFailure(text, text),
        Curve(text, (0, 1), (MEAN, MEAN)),
    ):
        page = parse_with_table(result)  # type: ignore[arg-type]
        assert not set("\u202e\u200b\u0007") & set(page.text)


def test_what_is_long_is_cut_with_a_sentence() -> None:
    text = builders.encoding([f"token{place}" for place in range(510)])
    page = parse(builders.run(text, builders.even_layer(np.zeros((16, 512, 1))), builders.random_maps(0, 16, 512, 512)))
    assert "… 452 more tokens" in page.text
    assert "token10" in page.text
    assert "token100" not in page.text
    bits = np.linspace(-9, 0, 512, dtype=np.float32)
    assert "500 more of 512 rows: to_frame()." in parse(TokenScores(text, INFO, bits, (CAT,) * 512)).text


def test_heads_of_a_very_long_text_are_not_computed_to_be_shown() -> None:
    long = builders.run(builders.anonymous(1025), builders.even_layer(np.zeros((1, 1025, 1))))
    page = parse(long)
    assert not page.pictures
    assert "Of more than 1,024 tokens no picture is drawn here." in page.text


def test_large_models_are_shown_in_little_room() -> None:
    text, (layer, head) = builders.encoding(["a"] * 30), np.indices((24, 16)).reshape(2, -1)
    run = builders.run(text, *(builders.random_maps(layer, 16, 32, 32) for layer in range(24)))
    for result in (
        run,
        head_table([run]),
        Ranking(layer=layer, head=head, share=np.random.default_rng(0).uniform(size=384), even=np.full(384, 0.1)),
        Curve("random", tuple(range(60)), (MEAN,) * 60),
        LayerContributions(encoding=text, model=INFO, measure="ALTI", maps=builders.random_maps(0, 24, 32, 32)),
    ):
        parse(result)


def test_a_run_shows_its_heads_by_numbers_from_0() -> None:
    run = builders.run(TEXT, builders.random_maps(0, 3, 2, 2), builders.random_maps(1, 3, 2, 2))
    ((alt, picture),) = parse_with_table(run).pictures
    assert alt == "Attention of all heads, 2 layers by 3 heads"
    written = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert written[:7] == ["0", "1", "0", "1", "2", "layer", "head"]


def test_the_surprising_word_is_the_darkest() -> None:
    html = results.html(SCORES)
    assert "background" not in html.split("<bdi>a</bdi>")[0].rsplit("<span", 1)[1]  # it has no score
    assert "background:#" in html.split("<bdi>b</bdi>")[0].rsplit("<span", 1)[1]


def test_importing_results_loads_no_pictures() -> None:
    code = "import sys, model_zoo, model_zoo.types; assert not {'viz', 'viz.results', 'plotly'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_the_project_is_installed_results_are_shown_whatever_was_imported(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(model_zoo.__file__).parents[1]
    groups = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    installed = tmp_path / "look_inside_bert-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: look-inside-bert\nVersion: 1\n")
    (installed / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n{name} = {module}\n" for group, modules in groups.items() for name, module in modules.items()
        )
    )
    code = "from model_zoo.types import Quality; assert Quality(n_total=9)._repr_html_().startswith('<div>')"
    path = {"PYTHONPATH": os.pathsep.join([str(root), str(tmp_path)])}
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | path)
