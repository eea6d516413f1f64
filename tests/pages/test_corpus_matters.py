"""The view "Does it matter?" of the page "Corpus": it says what the engine answers, and why something is refused."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from checkpoints import Checkpoint
from on_screen import Open, button, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from train_page import PAGE as TRAIN
from train_page import TINY as TRAINED
from train_page import charts, train, tuned
from tuning import classifier

from analysis.corpus.importance import Effect, HeadComparison, Mean, compared_sets, mean_of
from analysis.corpus.reading import built_in
from analysis.corpus.relations import Relation
from evidence.items import pair_material, word_material
from evidence.questions.switch_off import SwitchOff
from jobs import Desk, Job, ablation
from jobs.ablation import HeadAblationJob, PruningJob
from model_zoo import Engine
from model_zoo.types import format_interval
from pages.corpus import head_ablation
from pages.corpus.head_ablation import ItemSource, sentence
from training.finetuning.sets import SETS, acceptability
from ui.precomputed.heads import HEADS

PAGE = "pages/corpus/page.py"
TINY = "embedded/tinybert"
Kind = TypeVar("Kind", bound=Job)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small materials, so that a job takes a second."""
    monkeypatch.setattr("evidence.items.MOST_DRAWN", 40)
    monkeypatch.setattr("evidence.items._drawn", lambda n, most=40: list(range(min(n, 40, most))))
    monkeypatch.setattr(ablation, "MOST_EVERY", 10)
    monkeypatch.setattr(ablation, "RANDOM_ORDERS", 2)
    monkeypatch.setattr(ablation, "MOST_CHOOSING", 8)


def begun(app: AppTest, kind: type[Kind], label: str) -> Kind:
    """Press a button and wait until the job is over."""
    button(app, label).click().run()
    desk: Desk = app.session_state["desk"]
    job = desk.current(kind)
    assert job.wait(PATIENCE)
    assert job.failure is None
    app.run()
    return job


@pytest.mark.slow
def test_a_head_is_switched_off_in_all_words_of_a_relation(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, view="matters", model=TINY, relation="obj.down", layer="1", head="2")
    assert "The word that a head looks from is hidden, the verb." in prose(app)
    job = begun(app, HeadAblationJob, "Switch 1.2 off")
    cases = HEADS.load(TINY).statistics.cases.select(Relation("obj", "down"))
    material = word_material(built_in(), cases.sentence, cases.query, "")
    first = built_in().sentence(int(cases.sentence.min()))
    verbs = {first.heads[place] for place, deprel in enumerate(first.deprel) if deprel == "obj"}
    assert {item.span for item in material.items if item.text == first.text} == {first.spans[place] for place in verbs}  # type: ignore[union-attr]
    assert job.material.items == material.items
    answers = engine.ask(SwitchOff(TINY, material.items, (((0, 1),),)))
    change = mean_of(answers.scores[1] - answers.scores[0], material.clusters)
    assert f"{abs(change.value):.3f} (" in prose(app) or f"{abs(change.value):.2f} (" in prose(app)
    assert "With layer 1, head 2 off, ln P of the verb, which is hidden, " in prose(app)
    assert f"over 40 words in {len(set(material.clusters))} frames" in prose(app)
    assert "95% intervals over the frames that templates made the sentences from." in prose(app)
    figures = charts(app)
    assert set(figures) == {"corpus switched off", "gradient_estimates"}
    off = figures["corpus switched off"]
    assert off["data"][0]["x"][0] == pytest.approx(change.value, abs=1e-5)
    assert len(off["data"][1]["x"]) == 3  # all other heads of a layer of four
    assert len(figures["gradient_estimates"]["data"][0]["x"]) == 8
    assert "Spearman’s ρ" in prose(app)
    assert "Not in it: what was found with heads off" in prose(app)
    app.button_group(key="corpus_gradient").set_value("importance").run()
    assert "Michel et al. 2019" in prose(app)
    app.number_input(key="head").set_value(3).run()
    assert set(charts(app)) == {"corpus switched off"}  # a first look at another head
    assert "over 24 words in " in prose(app)
    assert re.search(r"24 of 1,\d{3} were drawn at random\. Press the button for more\.", prose(app))


@pytest.mark.slow
def test_pairs_and_pruning(open_page: Open) -> None:
    kind = "reflexives"
    app = open_page(PAGE, view="matters", model=TINY, tried_on="pairs", pairs=kind, layer="2", head="1")
    job = begun(app, HeadAblationJob, "Switch 2.1 off")
    pairs = [
        pair for split in ("train", "dev", "test") for pair in acceptability.pairs(split) if pair.phenomenon == kind
    ]  # type: ignore[arg-type]
    assert len(pairs) == 40
    assert job.material.items == pair_material(pairs, "", templates=True).items
    right = job.matters.right
    assert (
        f"preferred in {format_interval(right.value, right.low, right.high, '.0%')} of pairs with nothing off"
        in prose(app)
    )
    assert "95% intervals over templates." in prose(app)
    cut = begun(app, PruningJob, "Prune")
    figure = charts(app)["corpus pruning"]
    names = [trace["name"] for trace in figure["data"] if trace.get("showlegend", True)]
    assert names == ["greedy", "by importance", "at random", "guessing"]
    assert cut.greedy_ended == "all"
    assert "With 4 of 8 heads off: greedy" in prose(app)
    assert f"heads were put in order by {len(cut.choosing)} others" in prose(app)


def test_what_cannot_be_tried_is_said(open_page: Open, checkpoint: Checkpoint, tmp_path: Path) -> None:
    classifier(checkpoint("bert"), tmp_path)
    app = open_page(PAGE, view="matters", model=str(tmp_path), layer="1", head="1")
    assert "Which texts this model was tested on is not known here" in prose(app)
    app = open_page(PAGE, view="matters", model=TINY, tried_on="pairs", pairs="your own")
    assert "CSV with the columns good and bad" in prose(app)
    assert not [control for control in app.button if control.label.startswith("Switch ")]
    for name, words in (
        ("embedded/bilstm", "has no attention"),
        ("gpt2", "This model predicts no hidden words"),
        ("bert_headless", "This model predicts no hidden words"),
    ):
        app = open_page(PAGE, view="matters", model=name if "/" in name else str(checkpoint(name)))
        assert words in prose(app)
        assert not [control for control in app.button if control.label.startswith(("Switch", "Prune"))]


# --- the sentence


def matters(change: tuple[float, float, float], others: tuple[float, ...], *, every: bool = True) -> HeadComparison:
    def effect(head: int, mean: tuple[float, float, float]) -> Effect:
        return Effect(((2, head),), Mean(*mean, 206, 200), Mean(0.75, 0.7, 0.8, 206, 200))

    return HeadComparison(
        score=Mean(-3, -3.2, -2.8, 206, 200),
        right=Mean(0.8, 0.7, 0.9, 206, 200),
        head=effect(6, change),
        others=tuple(effect(place, (value, value - 0.1, value + 0.1)) for place, value in enumerate(others)),
        layer=effect(0, change),
        all_others=every,
    )


VERBS = ItemSource("x", "words", lambda: pair_material([], ""), "the verb")


def test_the_sentence_says_what_the_numbers_do() -> None:
    assert sentence(matters((-0.21, -0.30, -0.12), (0.0,) * 10, every=False), VERBS) == (
        "With layer 3, head 7 off, ln P of the verb, which is hidden, falls by 0.21 (0.12 to 0.30) over 206 words in "
        "200 sentences. Of 10 random other heads of its layer, none does as much by itself."
    )
    rises = sentence(matters((0.1, 0.05, 0.15), (-0.5, 0.2, 0.3)), VERBS)
    assert "rises by 0.10 (0.05 to 0.15)" in rises
    assert "Of the 3 other heads of its layer, 2 do as much by themselves." in rises
    nothing = sentence(matters((-0.01, -0.03, 0.01), (0.5,)), VERBS)
    assert "changes by −0.010 (−0.030 to +0.010)" in nothing
    assert "no effect is shown" in nothing
    few = sentence(matters((0.25, np.nan, np.nan), ()), VERBS)
    assert few.endswith("changes by +0.25 over 206 words in 200 sentences: too few for an interval.")
    framed = sentence(matters((-0.21, -0.30, -0.12), (0.0,)), replace(VERBS, unit="frame"))
    assert "over 206 words in 200 frames." in framed
    assert sentence(matters((-1, -2, -0.5), ()), VERBS).endswith("The layer has no other head to compare it with.")
    assert sentence(matters((-1, -2, -0.5), (-3,)), VERBS).endswith("The one other head of its layer does as much.")

    pairs = ItemSource("x", "pairs", lambda: pair_material([], ""))
    text = sentence(matters((-0.21, -0.30, -0.12), (0.0,)), pairs)
    assert "ln P of the right sentence minus that of the wrong one falls by 0.21" in text
    assert "over 206 pairs from 200 templates" in text
    assert text.endswith(
        "preferred in 80% (70% to 90%) of pairs with nothing off, and in 75% (70% to 80%) with it off."
    )

    sets = compared_sets((2, 6), 8)
    frame = head_ablation.table(matters((-0.2, -0.3, -0.1), (0.0,) * (len(sets) - 2)).to_frame())
    assert len(frame) == len(sets)
    assert frame["head"].tolist()[0] == "7"
    assert frame["head"].tolist()[-1] == "all"


@pytest.mark.slow
def test_a_head_is_switched_off_where_it_is_shown_and_the_best_is_taken_by_a_click(open_page: Open) -> None:
    """In the view "A head", without every other head of the model."""
    app = open_page(PAGE, view="head", model=TINY, layer="1", head="2")
    job = begun(app, HeadAblationJob, "Switch 1.2 off in all sentences")
    assert job.gradient_estimate is None
    assert "With layer 1, head 2 off, ln P of " in prose(app)
    assert "corpus switched off" in charts(app)

    results = HEADS.load(TINY)
    finding = results.findings.get(Relation("det", "up"))
    layer, head = results.statistics.head(finding.head)
    other = (head + 1) % 4
    app = open_page(PAGE, view="matters", model=TINY, relation="det.up", layer=f"{layer + 1}", head=f"{other + 1}")
    button(app, f"Take {layer + 1}.{head + 1}").click().run()
    assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (layer + 1, head + 1)
    assert "This head finds this relation most often" in prose(app)
    assert not [control for control in app.button if control.label.startswith("Take ")]


@pytest.mark.slow
def test_a_model_of_this_visit_is_tried_on_its_held_out_split(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = train(open_page(TRAIN, **TRAINED))
    model = tuned(app).id
    monkeypatch.setattr("ui.tuned.session_models", lambda: {model: "My classifier"})  # AppTest has no visit
    app.switch_page(PAGE)
    for name, value in {"view": "matters", "model": model, "layer": "2", "head": "3"}.items():
        app.query_params[name] = value
    app.run()
    assert "The held-out test split of the data that this model was trained on." in prose(app)
    job = begun(app, HeadAblationJob, "Switch 2.3 off")
    test = {item.text for item in SETS["sentiment"].items("test")}
    assert {item.text for item in job.material.some(job.answers.places)} <= test  # type: ignore[union-attr]
    assert job.material.chance == 0.5
    assert "ln P of the right label" in prose(app)
    assert "The right label is the most probable in " in prose(app)
    begun(app, PruningJob, "Prune")
    (baseline,) = [line for line in charts(app)["corpus pruning"]["data"] if line["name"] == "majority baseline"]
    assert baseline["y"] == pytest.approx([0.5, 0.5])
