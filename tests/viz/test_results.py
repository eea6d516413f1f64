"""What results show of themselves in a notebook, by hand: every kind, texts that try to break out, and sizes."""

import importlib
import inspect
import json
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
from measured_results import LATENCY, MAP, TASK, TREES
from result_html import parse, parse_with_table

import analysis
import evidence
import jobs
import reading
import training
from analysis.corpus import relations
from analysis.corpus.coreference import JudgedHeads, KindAccuracy, PronounAttention
from analysis.corpus.examples import Examples
from analysis.corpus.head_statistics import BatchMeasurer, HeadStatistics
from analysis.corpus.importance import Curve, Mean, compare_head, compared_sets, gradient_estimates
from analysis.corpus.looks import Hits, Looks
from analysis.corpus.reading import built_in, read_corpus
from analysis.corpus.relations import Cases, Ensemble, Findings, Relation, RelationQuery, RelationResult, Share
from analysis.corpus.results import Results, Survey
from analysis.findings import Ranking
from analysis.heads import head_table
from analysis.latency import ModelCost
from analysis.lens_fit import Distance, JudgedLens
from analysis.minimal_pairs import accuracies
from analysis.pairs import judge
from analysis.sentence_vectors import Agreement, Measured
from analysis.words import word_units
from evidence.questions.count_unknown import UnknownWords
from evidence.questions.switch_off import Gradients, SwitchedOff
from jobs.ablation import Path
from jobs.explaining import Explained
from model_zoo import types
from model_zoo.registry import MODELS
from model_zoo.types.anatomy import Anatomy, Stage
from reading.items import MinimalPair
from training.finetuning.data import Data, Labelled
from training.finetuning.notebook import TunedModel
from training.finetuning.results import Answered, AnswerSpan, Classified, Evaluated, Rated, Score, TaggedWords, Tuned
from training.finetuning.settings import Settings as TuningSettings
from viz import results


def kinds() -> Iterator[type[types.Shows]]:
    """Every result that shows itself, of the packages that a notebook asks."""
    for package in (analysis, evidence, jobs, types, reading, training):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                if issubclass(kind, types.Shows) and kind.__module__ == module.name and kind is not types.Shows:
                    yield kind


NAN = float("nan")
TEXT = builders.encoding(["a", "b"], front=None, end=None)
INFO = builders.info()
CAT, DOG = types.Prediction("cat", 1, 0.5), types.Prediction("dog", 2, 0.25)
UNTOUCHED = types.Reading(float(np.log(0.5)), 2.0, None, None, 0.0, (CAT, DOG))
CHANGED = types.Reading(float(np.log(0.25)), 1.0, -1.5, 0.5, 0.125, (DOG, CAT))


def floats(*values: Any) -> np.ndarray:
    return np.array(values, dtype=np.float32)


SCORES = types.TokenScores(TEXT, INFO, floats(NAN, np.log(0.25)), (None, CAT))
LENS = types.FittedLens.from_changes("m", "r", 60, np.ones((2, 3, 2)), np.zeros(2))
QUALITY = types.Quality(n_total=9, mlm_loss=1.5)
SUBJECT = types.CostSubject(model="m", info=INFO, n_bytes=40, n_threads=1, pieces_per_word=1.25, lengths=(16,))
MEANS = {"value": [0.5], "low": [0.25], "high": [0.75], "n": [9], "n_clusters": [3]}
MEAN = Mean(*(column[0] for column in MEANS.values()))  # type: ignore[arg-type]
SHARE = Share(0.5, 0.25, 0.75)
SPREAD = relations.Spread(0.25, 0.5, 7, 9)
UP = Relation("nsubj", "up")
CASES = Cases.build([RelationQuery(UP, 2, (0, 1))], np.array([[True, False, True]]), np.array([7]), np.array([5]))
FOUND = RelationResult(
    relation=UP, n_choosing=9, n_judged=12, n_sentences=6, head=2, accuracy=SHARE,
    spread=SPREAD, offset=-1, by_offset=Share(0, 0, 0.5), chance=0.125, p=0.25, choosing=np.zeros(3),
    judged=np.zeros(3),
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
RESULTS = Results(statistics=SURVEY, findings=Findings((FOUND,), ()))
ITEMS = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.5, 1.5, 2.5], [0.0, 0.0, 0.0]], dtype=np.float32)
MATTERS = compare_head(ITEMS, (ITEMS > 0.75).astype(np.float32), range(3), compared_sets((0, 1), 2))
FORETOLD = gradient_estimates(np.ones((3, 2, 1), np.float32), ITEMS[:3], range(3))
DATA = Data("d", "Data", "classification", *[(Labelled("a b", None, "yes"),)] * 3, labels=("no", "yes"))
TUNED = Tuned(
    id="tuned/0", base="m", data=DATA, settings=TuningSettings(), predictions=(Classified("yes", (0.25, 0.75)),),
    scores=(Score("accuracy", 0.75, 0.5, 0.875, 0.5),), rate=1e-3, n_parameters=10, n_learning=5, n_bytes=40,
    latency=0.01, seconds=2.0, steps=(), evaluated=(Evaluated(3, 1.0, 0.5, 0.75),), first_vectors=(),
)  # fmt: skip
SINKS = types.Sinks(
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

LOOKS = Looks(
    layer=np.array([2]), head=np.array([3]), n=np.array([4]), strongest=np.array([1]), weight=np.array([2.0]),
    even=np.array([1.0]), hits=HITS, most=50, n_sentences=9, n_found=1, n_cut=0,
)  # fmt: skip
ATTRIBUTION = types.Attribution(
    encoding=TEXT, model=INFO, method="occlusion", measure="P", position=0, answer=CAT, foil=None,
    scores=floats(0, -0.5), counted=(1,),
)  # fmt: skip
CONTRIBUTIONS = (
    types.Contribution("bias", None, None, 1.0, None, (("cat", 1.0), ("dog", 0.5))),
    types.Contribution("head", 2, 3, 2.0, None, ()),
)
ANATOMY = Anatomy(
    encoding=TEXT, model=INFO, embeddings=(Stage("token", floats([3, 4], [0, 1])),),
    stages=(Stage("input", floats([6, 8], [0, 2])),), states=floats([[0, 0], [0, 0]]), layer=0, head=0,
    attention=floats([1, 0], [0, 1]),
)  # fmt: skip
STEP = types.TrainingStep(
    position=1, rate=0.5, answer=CAT, tokens=(CAT, DOG), logits=(1.0, 0.5), gradient=(-0.5, 0.25), loss=0.7,
    squared_length=1.0, by_hand=(0.625, 0.125), after=(0.75, 0.0625), loss_after=0.25, norms=(("token", 1.0),),
)  # fmt: skip
ENGINE = types.EngineState(
    running=1, waiting=0, n_answered=5, n_runs=3, n_remembered=2, result_bytes=10, result_budget=20, model_bytes=0,
    model_budget=9,
)  # fmt: skip
PRONOUNS = PronounAttention(
    heads=(1, 1), numbers=np.array([7]), tokens=np.array([2]), antecedent=floats([0.5, 0.25]),
    distractor=floats([0.25, 0.5]), strongest=np.array([[True, False]]), left_out=np.array([], dtype=np.int64),
)  # fmt: skip
JUDGED = JudgedHeads(
    by="most", heads=(1, 2), n_choosing=10, n_judging=10, order=np.array([2, 0, 1]),
    choosing=np.array([0.5, 0.25, 0.75]), shares=(SHARE,) * 3, spread=SPREAD,
    reached={}, rules={},
)  # fmt: skip
EXPLAINED = Explained(
    word_units(TEXT), (0, 1), types.Effects(TEXT, INFO, 1, CAT, None, UNTOUCHED, ()), "P",
    {"occlusion": np.array([0.5, -0.25])},
)  # fmt: skip

EXAMPLES: list[Any] = [
    TEXT,
    builders.run(TEXT, floats([[1, 0], [0.25, 0.75]])),
    types.LayerContributions(encoding=TEXT, model=INFO, measure="ALTI", maps=floats([[1, 0], [0.25, 0.75]])),
    types.HiddenStates(TEXT, floats([[3, 4], [0, 1]]), (5,)),
    types.Recording(TEXT, INFO, ("embeddings",), (floats([[3, 4], [0, 1]])[0],)),
    types.MaskPrediction(1, (CAT, DOG), 1.0, DOG, 2, -1.5, (types.Target("bird", "bird", 3, 0.125, -2.0, 7),)),
    types.MaskLens(1, ((DOG, CAT), (CAT, DOG)), CAT, (2, 1), (-2.0, -0.5), (1, 2)),
    types.Shift("she", 1, -3.0, -1.0),
    types.Vocabulary(("[MASK]", "a"), 2, 0, "[MASK]", None, frozenset({0})),
    SCORES,
    types.Preference(SCORES, SCORES),
    types.SentenceScore(0.75, (2.0, 1.0), "NSP", TEXT, INFO),
    types.Effects(TEXT, INFO, 1, CAT, None, UNTOUCHED, (UNTOUCHED, CHANGED), first=4),
    ATTRIBUTION,
    types.Decomposition(TEXT, INFO, 1, CAT, None, 3.0, None, CONTRIBUTIONS, 0.0),
    SINKS,
    ANATOMY,
    STEP,
    types.Positions("learned", table=floats([1, 2], [3, 4])),
    types.RecurrentPass(TEXT, floats([3, 4], [0, 2]), floats(0.5, 1)),
    LENS,
    types.MaskVectors(floats([[1, 2], [3, 4]]), np.array([7])),
    types.LensDistances(floats([1.0, 2.0]), np.array([7, 8]), floats([0.5, 0.25]), floats(3.0, 3.0)),
    INFO,
    MODELS["embedded/bert"],
    types.ModelStatus(MODELS["embedded/bert"], True, "Why."),
    types.HeldModel(INFO, 40, 1.5, False),
    ENGINE,
    QUALITY,
    SUBJECT,
    types.CostSample(model="m", n_tokens=16, n_words=8, round=1, seconds=0.5, peak_bytes=None, share=1.0),
    types.CostFailure("m", "Why."),
    LATENCY,
    ModelCost(SUBJECT, (LATENCY,), QUALITY),
    MEAN,
    SHARE,
    Distance(5.0, 4.5, 5.5),
    JudgedLens(LENS, (Distance(5.0, 4.5, 5.5),), (Distance(2.0, 1.5, 2.5),), Distance(3.0, 2.5, 3.5), 40, 10, 10),
    Curve("random", (0, 2), (MEAN, MEAN)),
    MATTERS.head,
    MATTERS,
    FORETOLD,
    accuracies([MinimalPair("a", "b")], [1.0])[0],
    judge([0.875, 0.125], [True, False]),
    TASK,
    TREES,
    MAP,
    Ranking(layer=np.array([0, 1]), head=np.array([0, 0]), share=np.array([0.25, 0.75]), even=np.array([0.5, 0.5])),
    head_table([builders.run(builders.encoding(["a", "b"]), builders.random_maps(0, 2, 4, 4))]),
    SURVEY,
    CASES,
    FOUND,
    Findings((FOUND,), ()),
    Findings((), ()),
    SPREAD,
    RESULTS,
    Survey("m", built_in(1), RESULTS),
    Survey("m", built_in(1), RESULTS).head(1, 1),
    Ensemble(UP, (1, 3), SHARE),
    LOOKS,
    Examples(floats([[0.75, 7, 1, 0], [0.5, -1, 0, 0]]), floats([[[0.25, 3, 2, 1]], [[0, -1, 0, 0]]])),
    read_corpus([("mine.txt", b"The cat sat.\nIt slept well.\n")]),
    reading.read(b"good,bad\nI am.,I is.\n", "minimal pairs", name="pairs.csv"),
    UnknownWords("[UNK]", 2, 5, 3, 0),
    AGREEMENT,
    Measured({}, (AGREEMENT,)),
    HITS,
    PRONOUNS,
    JUDGED,
    KindAccuracy("sense", 9, SHARE, {}),
    Gradients(floats([[1, 2]])),
    SwitchedOff(floats([1, 2], [3, NAN]), floats([1, 0], [1, NAN])),
    Classified("yes", (0.25, 0.75)),
    TaggedWords(("a", "b"), ("O", "B-X"), (0.5, 0.75)),
    Answered((AnswerSpan(0, 1, "a", 2.5),), 1.0),
    Answered((), 1.0),
    Rated(2.5),
    Path([(1, 2), (0, 3)], [0, 1], [Mean(0.5, NAN, NAN, 1, 1), Mean(0.25, NAN, NAN, 1, 1)]),
    EXPLAINED,
    TUNED.scores[0],
    TUNED,
    TunedModel(None, TUNED),  # type: ignore[arg-type]
]
"""A result of every kind; ``result_columns.json`` has columns of the tables of each, in this order."""


def test_every_kind_of_result_has_an_example() -> None:
    assert set(kinds()) == {type(result) for result in EXAMPLES}


def test_every_result_shows_itself_and_its_numbers() -> None:
    expected = json.loads((pathlib.Path(__file__).parent / "result_columns.json").read_text(encoding="utf-8"))
    for result, (kind, columns) in zip(EXAMPLES, expected, strict=True):
        assert type(result).__name__ == kind
        parse_with_table(result)
        table = result.to_frame()
        for name, values in columns.items():
            column = [None if value is pd.NA or value != value else value for value in table[name]]
            column = [list(cell) if isinstance(cell, tuple) else cell for cell in column]
            assert column == [pytest.approx(cell) if isinstance(cell, float) else cell for cell in values], (kind, name)


HARMFUL = "<script>alert(1)</script> & \"quotes\" 'single' <b onclick=x> שלום \u202eback\u200b\u0007 " + "long" * 2500


@pytest.mark.parametrize("text", [HARMFUL, "</td></table><img src=x onerror=alert(1)>", "$x$ `code` **bold** \\(y\\)"])
def test_no_text_breaks_out(text: str) -> None:
    tokens = builders.encoding([text, "b"], text=text)
    info = builders.info(id=text)
    odd = types.Prediction(text, 1, 0.5)
    maps = builders.random_maps(0, 1, len(tokens), len(tokens))
    scores = types.TokenScores(tokens, info, np.full(len(tokens), -1, np.float32), (odd,) * len(tokens))
    for result in (
        tokens,
        builders.run(tokens, maps, model=info),
        scores,
        types.MaskPrediction(1, (odd,), 1.0, odd, 1, -1.0, (types.Target(text, text, 1, 0.5, -1.0, 1),)),
        types.MaskLens(1, ((odd,),), odd, (1,), (-1.0,), None),
        types.Effects(tokens, info, 1, odd, odd, UNTOUCHED, (UNTOUCHED._replace(best=(odd,)),)),
        types.SentenceScore(0.5, (0.0, 0.0), "NSP", tokens, info),
        types.Preference(scores, scores),
        info,
        types.CostFailure(text, text),
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
    assert "500 more of 512 rows: to_frame()." in parse(types.TokenScores(text, INFO, bits, (CAT,) * 512)).text
    # Heads of a very long text are not computed to be shown.
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
        types.LayerContributions(encoding=text, model=INFO, measure="ALTI", maps=builders.random_maps(0, 24, 32, 32)),
    ):
        parse(result)


def test_a_run_shows_its_heads_by_numbers_from_0() -> None:
    run = builders.run(TEXT, builders.random_maps(0, 3, 2, 2), builders.random_maps(1, 3, 2, 2))
    ((alt, picture),) = parse_with_table(run).pictures
    assert alt == "Attention of all heads, 2 layers by 3 heads"
    written = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert written[:7] == ["0", "1", "0", "1", "2", "layer", "head"]
    # The surprising word is the darkest.
    html = results.html(SCORES)
    assert "background" not in html.split("<bdi>a</bdi>")[0].rsplit("<span", 1)[1]  # it has no score
    assert "background:#" in html.split("<bdi>b</bdi>")[0].rsplit("<span", 1)[1]


def test_importing_results_loads_no_pictures() -> None:
    code = "import sys, model_zoo, model_zoo.types; assert not {'viz', 'viz.results', 'plotly'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_the_project_is_installed_results_are_shown_whatever_was_imported(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(types.__file__).parents[2]
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
