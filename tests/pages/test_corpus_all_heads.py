"""The view "All heads" of the page "Corpus": three measures, a finder, and the table, of what was found of a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from walks.visitor import Visitor

from analysis.corpus.relations import Relation
from analysis.corpus.results import Results
from pages.corpus.measures import Numbers
from ui.precomputed.heads import HEADS

PAGE = "pages/corpus/page.py"
TINY = "embedded/tinybert"
SPECIAL = {"first": "[CLS]", "separator": "[SEP]"}

Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def results() -> Results:
    return HEADS.load(TINY)


@pytest.fixture(scope="module")
def numbers(results: Results) -> Numbers:
    return Numbers(results, SPECIAL)


def figure_of(app: AppTest) -> dict[str, Any]:
    figure: dict[str, Any] = json.loads(app.get("plotly_chart")[0].proto.spec)
    return figure


# --- the numbers


def test_every_measure_says_where_attention_goes(numbers: Numbers, results: Results) -> None:
    previous = numbers.of("previous")
    assert previous.title == "on the token before (share of attention)"
    assert previous.values.tolist() == results.statistics.measure("previous").tolist()
    assert ((previous.lows <= previous.values) & (previous.values <= previous.highs)).all()
    assert numbers.titles["first"] == "on [CLS]"
    assert numbers.titles["value_delimiter"] == "carried by special tokens"
    assert "own_sentence" not in numbers.measures  # there is one sentence at a time
    assert set(numbers.measures) == set(results.statistics.defined()) - {"own_evenness"}


def test_a_relation_is_a_number_of_every_head_on_the_half_that_judges(numbers: Numbers, results: Results) -> None:
    finding = results.findings.get(Relation("obj", "down"))
    assert finding is not None
    right = numbers.of("obj.down")
    assert right.title == "obj: verb → object (share of held-out words)"
    assert right.values == pytest.approx(finding.judged)
    assert right.values[finding.head] == pytest.approx(finding.accuracy.share)
    assert right.lows[finding.head] == pytest.approx(finding.accuracy.low, abs=0.03)


def test_the_finder_ranks_by_the_rule_and_relations_by_the_half_that_chooses(
    numbers: Numbers, results: Results
) -> None:
    criteria = numbers.sought()
    assert {"previous", "next", "delimiter", "itself", "spread", "same_word", "rare"} <= set(criteria)
    assert criteria["separator"].says == "looks at [SEP]"
    assert criteria["previous"].best() == np.argsort(-results.statistics.measure("previous"))[:5].tolist()
    for finding in results.findings.relations:
        assert criteria[".".join(finding.relation)].best(1) == [finding.head]
    assert criteria["obj.down"].says == "looks from a verb at its object (obj)"
    assert "2 places after is right in 0.39" in criteria["obj.down"].condition


def test_the_table_has_every_head_and_every_interval(numbers: Numbers) -> None:
    frame = numbers.frame()
    assert list(zip(frame["layer"], frame["head"], strict=True)) == [(n, m) for n in (1, 2) for m in range(1, 5)]
    assert {"label", "entropy", "entropy_low", "entropy_high", "value_previous_high"} <= set(frame)


# --- the view


def test_the_scatter_has_the_chosen_measures_and_marks_the_chosen_head(open_page: Open) -> None:
    app = open_page(PAGE, view="all", model=TINY, across="obj.down", up="distance", colour="next", layer="2", head="3")
    figure = figure_of(app)
    assert figure["layout"]["xaxis"]["title"]["text"] == "obj: verb → object (share of held-out words)"
    assert figure["layout"]["yaxis"]["title"]["text"] == "distance (tokens)"
    points, chosen = figure["data"]
    assert [point[:2] for point in points["customdata"]] == [[n, m] for n in (0, 1) for m in range(4)]
    assert chosen["name"] == "Layer 2, head 3"


def test_the_finder_names_the_best_heads_with_their_numbers(open_page: Open, numbers: Numbers) -> None:
    app = open_page(PAGE, view="all", model=TINY, find="previous")
    best = numbers.sought()["previous"].best()
    layer, head = divmod(best[0], 4)
    previous = numbers.of("previous")
    first, *_ = [element.value for element in app.markdown if "looks at the token before most" in element.value]
    assert first.startswith(f"**Layer {layer + 1}, head {head + 1}** looks at the token before most: ")
    assert re.search(rf"\*\*{previous.values[best[0]]:.2f}\*\* \(0\.\d\d to 0\.\d\d\)\. Then", first)
    assert first.count(" to 0.") == 5
    trace = figure_of(app)["data"][-1]
    assert trace["text"] == [f"{place // 4 + 1}.{place % 4 + 1}" for place in best]


def test_a_link_to_a_measure_that_the_data_do_not_have_shows_another(open_page: Open) -> None:
    app = open_page(PAGE, view="all", model=TINY, up="iobj.down", find="iobj.up")
    assert figure_of(app)["layout"]["yaxis"]["title"]["text"] == "entropy (bits)"
    notes = [element.value.replace("\\", "") for element in app.info]
    assert [re.findall("“(.*?)”", element) for element in notes] == [["iobj.up"], ["iobj.down"]]
    assert "find" not in app.query_params


def test_a_click_on_a_point_or_a_row_opens_the_head(visitor: Callable[..., Visitor]) -> None:
    for kind, selection, layer, head in (
        ("plotly_chart", {"points": [{"customdata": [1, 2, "0.1", "0.2", "0.3"]}]}, "2", "3"),
        ("dataframe", {"rows": [1], "columns": [], "cells": []}, "1", "2"),
    ):
        here = visitor(PAGE, view="all", model=TINY, layer="1", head="1")
        here.choose(here.tree.get(kind)[0], selection)
        query = dict(here.address.query)
        assert (query["view"], query["layer"], query["head"]) == ("head", layer, head)
