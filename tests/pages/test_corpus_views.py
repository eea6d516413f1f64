"""The views of heads, relations and pronouns of the page "Corpus", and its sentences: built-in, pasted, uploaded."""

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from builders import info
from layers_page import figure
from on_screen import Open, button, prose, to_save
from patience import PATIENCE
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup
from walks.visitor import OpenVisitor

from analysis.corpus.coreference import By, judge
from analysis.corpus.coreference import built_in as built_in_pronouns
from analysis.corpus.reading import built_in
from analysis.corpus.relations import ALL, Relation
from analysis.corpus.results import Results
from analysis.corpus.sentences import Corpus
from analysis.probing.template_trees import template_conllu
from jobs.coreference import CoreferenceJob
from jobs.measure_heads import MeasureHeadsJob
from model_zoo import Engine, registry
from pages.corpus import relations, source
from pages.corpus.__main__ import differences, table
from pages.corpus.measures import Numbers
from pages.corpus.relations import baselines, describe_baselines, evidence
from pages.corpus.scene import Scene
from pages.corpus.source import Source
from ui import own_file
from ui.precomputed.heads import HEADS
from viz.layout import percent

PAGE = "pages/corpus/page.py"
BERT, TINY = "embedded/bert", "embedded/tinybert"
OBJ = Relation("obj", "down")
README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def results() -> Results:
    return HEADS.load(TINY)


@pytest.fixture(scope="module")
def scene(results: Results) -> Scene:
    corpus = built_in()
    return Scene(Source(corpus, "", False, len(corpus)), info(id=TINY, n_layers=2, n_heads=4), results)


# --- what came with the app


@pytest.mark.slow
@pytest.mark.parametrize("model", HEADS.models)
def test_what_came_with_the_app_holds_for_its_weights_and_sentences(engine: Engine, model: str) -> None:
    stored = HEADS.find(engine.info(model))
    assert stored.statistics.n_texts == len(built_in())
    assert stored.statistics.heads == (registry.MODELS[model].heads,) * registry.MODELS[model].layers
    assert stored.at_random is not None
    found_in_ensembles = {finding.relation for finding in stored.ensembles}
    assert found_in_ensembles == {finding.relation for finding in stored.findings.relations}
    assert HEADS.find(replace(engine.info(model), revision="sha256:000000000000")) is None
    assert HEADS.find(info(id="someone/else")) is None


def test_the_readme_has_the_table_and_a_check_tells_what_has_changed(results: Results) -> None:
    stored = HEADS.load(BERT)
    assert table(stored) in README.read_text(encoding="utf-8")

    assert list(differences(results, results)) == []
    statistics = results.statistics
    moved = replace(statistics, moments=replace(statistics.moments, s=statistics.moments.s * 1.01))
    assert any(
        line.startswith("previous differs by") for line in differences(results, replace(results, statistics=moved))
    )
    findings = replace(results.findings, relations=results.findings.relations[1:])
    (line,) = differences(replace(results, findings=findings), results)
    assert line.endswith("and was in none")


# --- in words


def test_the_evidence_has_the_numbers_of_the_half_that_judges(scene: Scene, results: Results) -> None:
    finding = results.findings.get(OBJ)
    text = f"{evidence(scene, finding, finding.head)} {describe_baselines(scene, finding, finding.head)}"
    assert f"in **{percent(finding.accuracy.share)}** ({percent(finding.accuracy.low)} to " in text
    assert f"of {finding.n_judged:,} held-out words, the object is where its verb looks most." in text
    lowest, highest = percent(finding.spread.lowest), percent(finding.spread.highest)
    assert f"right in {lowest} to {highest} of the other; {finding.spread.n_same} of 10 choose this head." in text
    assert f"(2 words after) {percent(finding.by_offset.share)}; uniform attention {percent(finding.chance)}" in text
    random = results.at_random.get(OBJ)
    assert f"the best head with random weights {percent(random.accuracy.share)}." in text
    assert ("more than the offset" if finding.p <= 0.05 else "not clearly better") in text


def test_of_another_head_nothing_is_claimed_beyond_its_share(scene: Scene, results: Results) -> None:
    finding = results.findings.get(OBJ)
    other = next(place for place in range(8) if place != finding.head)
    text = f"{evidence(scene, finding, other)} {describe_baselines(scene, finding, other)}"
    assert f"in **{percent(float(finding.judged[other]))}** (" in text
    assert not {"Holm", "choose"} & set(text.split())
    every = results.findings.get(ALL)
    assert "the head of its phrase is where a word looks most" in evidence(scene, every, every.head)

    finding = results.findings.get(OBJ)
    alone = replace(scene, results=replace(results, at_random=None))
    assert "random weights" not in describe_baselines(alone, finding, finding.head)
    assert set(baselines(scene, finding)) == {*baselines(alone, finding), "random weights"}

    frame = relations.published_table(scene)
    assert frame["relation"].tolist() == ["det", "dobj", "poss", "pobj", "nsubj", "all"]
    assert frame["published"].tolist() == [94.3, 86.8, 80.5, 76.3, 58.5, 34.7]
    assert frame["published offset"].tolist() == [51.7, 40.0, 47.7, 34.6, 45.5, 26.7]
    assert not frame["right here"].isna().any()


def test_it_is_told_what_was_halved(scene: Scene) -> None:
    assert scene.units == scene.halved
    assert "416 frames" in scene.halved
    corpus = Corpus()
    for number in range(40):
        corpus.add(f"Word{number}", [(0, 4)], document=number // 2)
    documents = replace(scene, source=replace(scene.source, corpus=corpus))
    assert (documents.halved, documents.units) == (
        "the 20 documents",
        "sentences (of relations: over the 20 documents)",
    )


# --- the views


def test_relations_open_on_the_best_heads(open_page: Open, results: Results) -> None:
    app = open_page(PAGE, view="relations", model=TINY)
    best = figure(app)["data"][0]
    assert len(best["x"]) == len(results.findings.relations)
    assert sorted(best["x"]) == pytest.approx(sorted(finding.accuracy.share for finding in results.findings.relations))
    assert "Whole trees." in prose(app)
    assert "Relations (CSV)" in to_save(app)
    assert "Penn Treebank" not in prose(app)  # of another model
    app = open_page(
        PAGE, view="relations", model=TINY, relation="obj.down", show="all", layer="2", head="3", result="wrong"
    )
    finding = results.findings.get(OBJ)
    assert app.selectbox(key="corpus_relation").value == "obj.down"
    assert f"**Layer 2, head 3**: in **{percent(float(finding.judged[6]))}**" in prose(app)
    wrong = finding.n_judged - round(float(finding.judged[6]) * finding.n_judged)
    assert f"Wrong ({wrong:,})" in app.segmented_control(key="corpus_result").options
    cells = figure(app)["data"][1]  # those that can be clicked
    assert len(cells["customdata"]) == 8 * len(results.findings.relations)


def test_a_relation_that_is_not_there_is_replaced(open_page: Open) -> None:
    for relation in ("iobj.up", "nonsense"):
        app = open_page(PAGE, view="relations", model=TINY, relation=relation)
        assert not app.error
        assert app.selectbox(key="corpus_relation").value == "all.up"
    app.query_params["sentences"] = "100"
    assert "Press “Measure 100 sentences” above." in prose(app.run())
    app.query_params["model"] = "embedded/bilstm"
    for view in ("head", "relations", "all", "coreference"):
        app.query_params["view"] = view
        assert "has no attention to show" in prose(app.run())


def test_a_head_is_told_in_a_sentence_in_numbers_and_in_examples(open_page: Open, results: Results) -> None:
    app = open_page(PAGE, view="head", model=TINY, layer="1", head="2")
    text = prose(app)
    assert "**Layer 1, head 2**" in text
    label = results.statistics.table().labels[1]
    assert label in text if label != "mixed" else "No rule of “Kinds of heads” fits it" in text
    dots = figure(app)["data"][1]
    assert dots["name"] == "Layer 1, head 2"
    assert "The strongest pair of words of each sentence" in text
    n_components = len(app.get("bidi_component"))
    app.query_params.update({"examples": "sample", "own": "The old dog saw a cat."})  # which is tried on the head
    app.run()
    assert "Drawn at random from the sentences" in prose(app)
    assert len(app.get("bidi_component")) > n_components
    app.query_params["own"] = "Hello"
    assert "fewer than two words" in prose(app.run())
    app.query_params["own"] = "x" * 200_000
    app.run()


TINY = "embedded/tinybert"
SPECIAL = {"first": "[CLS]", "separator": "[SEP]"}


@pytest.fixture(scope="module")
def numbers(results: Results) -> Numbers:
    return Numbers(results, SPECIAL)


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

    finding = results.findings.get(Relation("obj", "down"))
    right = numbers.of("obj.down")
    assert right.title == "obj: verb → object (share of held-out words)"
    assert right.values == pytest.approx(finding.judged)
    assert right.values[finding.head] == pytest.approx(finding.accuracy.share)
    assert right.lows[finding.head] == pytest.approx(finding.accuracy.low, abs=0.03)

    criteria = numbers.sought()
    assert {"previous", "next", "delimiter", "itself", "spread", "same_word", "rare"} <= set(criteria)
    assert criteria["separator"].says == "looks at [SEP]"
    assert criteria["previous"].best() == np.argsort(-results.statistics.measure("previous"))[:5].tolist()
    for finding in results.findings.relations:
        assert criteria[".".join(finding.relation)].best(1) == [finding.head]
    assert criteria["obj.down"].says == "looks from a verb at its object (obj)"
    assert "2 places after is right in 0.41" in criteria["obj.down"].condition

    frame = numbers.frame()
    assert list(zip(frame["layer"], frame["head"], strict=True)) == [(n, m) for n in (1, 2) for m in range(1, 5)]
    assert {"label", "entropy", "entropy_low", "entropy_high", "value_previous_high"} <= set(frame)


# --- the view


def test_the_scatter_has_the_chosen_measures_and_the_finder_names_the_best(open_page: Open, numbers: Numbers) -> None:
    app = open_page(PAGE, view="all", model=TINY, across="obj.down", up="distance", colour="next", layer="2", head="3")
    scatter = figure(app)
    assert scatter["layout"]["xaxis"]["title"]["text"] == "obj: verb → object (share of held-out words)"
    assert scatter["layout"]["yaxis"]["title"]["text"] == "distance (tokens)"
    points, chosen = scatter["data"]
    assert [point[:2] for point in points["customdata"]] == [[n, m] for n in (0, 1) for m in range(4)]
    assert chosen["name"] == "Layer 2, head 3"
    app = open_page(PAGE, view="all", model=TINY, find="previous")
    best = numbers.sought()["previous"].best()
    layer, head = divmod(best[0], 4)
    previous = numbers.of("previous")
    first, *_ = [element.value for element in app.markdown if "looks at the token before most" in element.value]
    assert first.startswith(f"**Layer {layer + 1}, head {head + 1}** looks at the token before most: ")
    assert re.search(rf"\*\*{previous.values[best[0]]:.2f}\*\* \(0\.\d\d to 0\.\d\d\)\. Then", first)
    assert first.count(" to 0.") == 5
    trace = figure(app)["data"][-1]
    assert trace["text"] == [f"{place // 4 + 1}.{place % 4 + 1}" for place in best]
    app = open_page(PAGE, view="all", model=TINY, up="iobj.down", find="iobj.up")
    assert figure(app)["layout"]["yaxis"]["title"]["text"] == "entropy (bits)"
    notes = [element.value.replace("\\", "") for element in app.info]
    assert [re.findall("“(.*?)”", element) for element in notes] == [["iobj.up"], ["iobj.down"]]
    assert "find" not in app.query_params


def test_a_click_on_a_point_or_a_row_opens_the_head(visitor: OpenVisitor) -> None:
    for kind, selection, layer, head in (
        ("plotly_chart", {"points": [{"customdata": [1, 2, "0.1", "0.2", "0.3"]}]}, "2", "3"),
        ("dataframe", {"rows": [1], "columns": [], "cells": []}, "1", "2"),
    ):
        here = visitor(PAGE, view="all", model=TINY, layer="1", head="1")
        here.choose(here.tree.get(kind)[0], selection)
        query = dict(here.address.query)
        assert (query["view"], query["layer"], query["head"]) == ("head", layer, head)


def test_what_is_pasted_is_read_and_described_or_refused_with_its_line(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference")
    for typed, message in (
        ("The cat sat.\nA dog ran.\n", "2 sentences, 8 words, without trees."),
        (template_conllu(30), "words, with trees."),
        ("1\tThe\n" + template_conllu(5), "The pasted data, line 1: 2 columns instead of ten"),
    ):
        app.text_area(key="corpus_data").set_value(typed).run()
        assert not app.error
        assert bool(app.warning) == ("line 1" in message)
        assert message in prose(app)
        assert app.text_area(key="corpus_data").value == typed
    app.text_area(key="corpus_data").set_value("").run()
    assert button(app, "Measure").label == "Measure 1,000 sentences"


def test_notes_samples_and_frequencies(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY)
    app.text_area(key="corpus_data").set_value("One two.\nOne two.\none  two.\n").run()
    (notes,) = (expander for expander in app.expander if expander.label.startswith("How the sentences were read"))
    assert notes.label == "How the sentences were read: 2 notes"
    assert not notes.proto.expanded
    assert "Left out 1: sentences that had come before (line 2)." in prose(app)
    app = open_page(PAGE, model=TINY, sentences="50")
    assert button(app, "Measure").label == "Measure 50 sentences"
    assert "50 sentences drawn from 1,000" in prose(app)
    first = app.session_state["corpus_source"].corpus.texts
    app.number_input(key="corpus_seed").set_value(1).run()
    assert app.session_state["corpus_source"].corpus.texts != first
    app = open_page(PAGE, model=TINY, data="The cat saw the dog.")
    assert app.session_state["corpus_source"].corpus.sentence(0).rare == (1, None)
    app.text_area(key="corpus_frequencies").set_value("the 10\ncat 5\nsaw 1\ndog 5").run()
    assert app.session_state["corpus_source"].corpus.sentence(0).rare == (1, 2)
    app.text_area(key="corpus_frequencies").set_value("the").run()
    assert "line 1: “the” is not a word and how often it occurs" in prose(app)


def test_several_files_and_an_archive_are_read_together_once(
    open_page: Open,
    shelf: MemoryUploadedFileManager,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_read = 0
    really_read = source.read_corpus

    def counting(*arguments: Any) -> object:
        nonlocal n_read
        n_read += 1
        return really_read(*arguments)

    monkeypatch.setattr(source, "read_corpus", counting)
    monkeypatch.setattr(own_file, "unpacks", lambda _data: False)  # at once: another process would not be counted
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("b.conllu", template_conllu(38))
    app = open_page(PAGE, model=TINY)
    app.file_uploader(key="corpus_upload").set_value(
        [("a.txt", b"One two.\nThree four.", "text/plain"), ("b.zip", packed.getvalue(), "application/zip")]
    ).run()
    assert "40 sentences, " in prose(app)
    assert "Not in it: the files you uploaded." in prose(app)
    app.run()
    app.switch_page("pages/home/page.py").run()
    app.switch_page(PAGE).run()
    assert "In use: **a.txt, b.zip**" in prose(app)
    for label, value in (("Sentences at most", 20), ("Seed", 7)):
        next(control for control in app.number_input if control.label == label).set_value(value)
        app.run()
    assert "20 sentences drawn from 40, " in prose(app)
    assert n_read == 1, "drawn from what was read before"
    button(app, "Remove").click().run()
    assert button(app, "Measure").label == "Measure 20 sentences"


@pytest.mark.slow
def test_heads_are_measured_by_the_list_of_frequencies(open_page: Open) -> None:
    text = "The cat saw the dog.\nA dog ran after the old cat.\nThe old dog saw a cat."
    app = open_page(PAGE, model=TINY, view="coreference", data=text, frequencies="the 9\na 8\ndog 5\ncat 4\nsaw 1")
    assert "Nothing was measured yet" in prose(app)
    button(app, "Measure").click().run()
    assert app.session_state["desk"].current(MeasureHeadsJob).wait(PATIENCE)
    app.run()
    assert "gives the rarest word of a sentence more of its attention than any other head" in prose(app)
    figure = json.loads(app.get("plotly_chart")[-1].proto.spec)
    assert [name.partition("<br>")[0] for name in figure["layout"]["yaxis"]["ticktext"]] == [
        "on the rarest word here",
        "the same by value",
        "on the rarest by your list",
        "the same by value (list)",
    ]


def _compared(app: AppTest) -> CoreferenceJob:
    """Wait for the comparison, and look again."""
    job: CoreferenceJob | None = app.session_state["desk"].current(CoreferenceJob)
    assert job.wait(PATIENCE)
    app.run()
    return job


def test_a_bundled_model_is_compared_at_once_and_said_in_a_sentence(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference")
    job = _compared(app)
    assert "gives the rarest word of a sentence more of its attention than any other head" in prose(app)
    assert len(app.get("plotly_chart")) == 2
    for by in get_args(By):
        _switch(app, "corpus_pronouns_by").set_value(by).run()
        assert job.trained is not None
        judged = judge(built_in_pronouns(), job.trained, by)
        of_best, text = judged.shares[judged.best], prose(app)
        assert f"**{of_best.share:.0%}** of {judged.n_judging} held-out sentences" in text
        assert f"chance is {'50%' if by == 'more' else '9%'}" in text
        assert "best head with random weights" in text
        best_rule = max(share.share for share in judged.reached.values())
        assert ("No head is shown to find the noun that is meant" in text) == (of_best.low <= max(0.5, best_rule))
    switch = _switch(app, "corpus_pronoun_result")
    right, wrong = (int(label.partition("(")[2].rstrip(")")) for label in switch.options)
    assert 150 < right + wrong <= 200
    switch.set_value("wrong").run()
    assert app.session_state["corpus_pronoun_result"] == "wrong"


def _switch(app: AppTest, key: str) -> ButtonGroup:
    return next(group for group in app.get("button_group") if group.key == key)


@pytest.mark.slow
def test_pronouns_of_ones_own_are_compared_or_refused(open_page: Open) -> None:
    app = open_page(PAGE, model=TINY, view="coreference", pronouns="The cat saw the lamp.")
    assert "The pasted data, line 1: no pronoun is marked." in prose(app)
    app.text_area(key="corpus_pronouns").set_value("The [cat] saw {lamps} when <it> woke.").run()
    button(app, "Compare").click().run()
    _compared(app)
    assert "each half needs at least 10" in prose(app)
    app = open_page(PAGE, model=TINY, view="coreference")
    _compared(app)
    pasted = "\n".join(f"The [cat] saw {n} {{lamps}} when <it> woke." for n in range(60))
    app.text_area(key="corpus_pronouns").set_value(pasted).run()
    assert "Framed: the pronoun." in prose(app)
    assert button(app, "Compare").label == "Compare 60 sentences"
    button(app, "Compare").click().run()
    _compared(app)
    assert "held-out sentences" in prose(app)
