"""The page "Cause": what it shows against the engine's own answers, and what it says where it cannot."""

import json
import math
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from checkpoints import Checkpoint
from on_screen import Open, cell_maps, drawn, prose
from streamlit.testing.v1 import AppTest
from tuning import classifier

from analysis.effects import lost, recovered
from jobs import Job
from jobs.ablation import GreedyJob, InterventionJob
from jobs.explaining import ORDERS, Explaining
from model_zoo import Engine
from model_zoo.types import METHODS, Change, Edge, TargetAnswer, signed
from pages.cause import heads_that_matter
from pages.cause import page as page
from pages.cause import scene as scenes
from pages.cause.examples import EXAMPLES
from pages.cause.where_it_travels import PAIRS
from viz.layout import percent

PAGE = "pages/cause/page.py"
MODEL = "embedded/bert"
DOGS = "The dogs near the house [MASK] hungry."
DOG = "The dog near the house [MASK] hungry."

pytestmark = pytest.mark.slow


def figures(app: AppTest) -> list[dict[str, Any]]:
    """What is sent to the browser of the Plotly figures."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def cells(app: AppTest, which: int = 0) -> np.ndarray:
    """The numbers of a map."""
    values: np.ndarray = cell_maps(app)[which]["values"]
    return values


def test_every_head_is_what_the_engine_measures(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=DOGS)
    aim = TargetAnswer(answer="are")
    heads = [Change(heads=((layer, head),)) for layer in range(6) for head in range(12)]
    blocks = [change for layer in range(6) for change in (Change(attention=(layer,)), Change(feed_forward=(layer,)))]
    values = cells(app)
    assert values[:, :12].ravel() == pytest.approx(
        lost(engine.intervene(MODEL, DOGS, heads, aim=aim), "bits"), abs=1e-3
    )
    assert values[:, 12:].ravel() == pytest.approx(
        lost(engine.intervene(MODEL, DOGS, blocks, aim=aim), "bits"), abs=1e-3
    )
    app = open_page(PAGE, text=DOGS, answer="are", off="1.12,2.forward", value="mean")
    (after,) = engine.ablate(MODEL, DOGS, [(0, 11)], feed_forward=[1], value="mean", targets=["are"])  # type: ignore[misc]
    drawn = figures(app)[0]
    names = drawn["layout"]["yaxis"]["ticktext"]
    at = names.index("are")
    assert drawn["data"][1]["x"][at] == pytest.approx(after.targets[0].probability, abs=1e-4)  # type: ignore[union-attr]
    assert "With 2 parts off, “are” goes from 48%" in prose(app)
    assert cell_maps(app)[0]["picked"] == [[0, 11], [1, 13]]
    assert "Words the prediction depends on" in prose(app)
    app.multiselect(key="cause_off").set_value([]).run()
    assert not cell_maps(app)[0]["picked"]


def test_a_link_that_brings_no_mask_masks_the_word_that_changes_most(open_page: Open, engine: Engine) -> None:
    text = "My dog barks at strangers."
    by_word = [
        engine.intervene(MODEL, text, [Change(heads=((1, 3),))], masked=[at], aim=TargetAnswer("mask", at))
        for at in range(1, 7)
    ]
    changed = [effects.readings[0].divergence for effects in by_word]
    app = open_page(PAGE, text=text, off="2.4", find="1")
    assert app.session_state["masks"] == (1 + int(np.argmax(changed)),)
    assert "find" not in app.query_params
    assert "With head 4 of layer 2 off" in prose(app)
    assert open_page(PAGE, text=text, off="2.4", find="1", masks="3").session_state["masks"] == (2,)


def test_an_edge_that_is_cut_and_a_part_that_is_missing(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=DOGS, view="edges", edges="7.3", answer="are")
    (after,) = engine.ablate(MODEL, DOGS, edges=[Edge(6, 2)], targets=["are"])  # type: ignore[misc]
    assert f"to {after.targets[0].probability:.0%}." in prose(app)  # type: ignore[union-attr]
    weights = cells(app)
    run = engine.attend(MODEL, DOGS)
    assert weights == pytest.approx(np.mean([run.layer(layer).mean(axis=0) for layer in range(6)], axis=0), abs=1e-4)
    one_head = open_page(PAGE, text=DOGS, view="edges", show="effect", edge_layer="2", edge_head="3", answer="are")
    effects = engine.intervene(
        MODEL, DOGS, [Change(edges=(Edge(6, key, 1, 2),)) for key in range(10)], aim=TargetAnswer(answer="are")
    )
    assert cells(one_head)[6] == pytest.approx(lost(effects, "bits"), abs=1e-3)
    assert "Something went wrong" not in prose(one_head)
    assert not one_head.multiselect(key="cause_edges").value
    app = open_page(PAGE, text=DOGS, by="divergence", off="9.9")
    assert "This model has no 9.9" in prose(app)
    assert "KL divergence" in prose(app)
    assert (cells(app) >= 0).all()


def test_words_by_every_method(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=DOGS, view="words", answer="are")
    scores = cells(app)
    assert scores.shape == (len(METHODS), 7)
    hidden = engine.intervene(
        MODEL, DOGS, [Change(hidden=(at,)) for at in (1, 2, 3, 4, 5, 7, 8)], aim=TargetAnswer(answer="are")
    )
    assert scores[0] == pytest.approx(lost(hidden, "bits"), abs=1e-3)
    occlusion = engine.attribute(MODEL, DOGS, aim=TargetAnswer(answer="are")).scores[[1, 2, 3, 4, 5, 7, 8]]
    assert scores[2] == pytest.approx(occlusion / math.log(2), abs=1e-3)
    curves = {trace["name"].partition(":")[0]: trace["y"] for trace in figures(app)[0]["data"]}
    assert len(curves) == len(ORDERS)
    assert {len(curve) for curve in curves.values()} == {7}  # six words: the full stop is not hidden
    near = [engine.intervene(MODEL, DOGS, [Change(hidden=at)], aim=TargetAnswer(answer="are")) for at in ((5,), (5, 7))]
    shares = [math.exp(effects.readings[0].log_probability - effects.untouched.log_probability) for effects in near]
    assert curves["Nearness alone"][1:3] == pytest.approx(shares, abs=1e-3)
    first = [2, 1][int(np.argmax(scores[0]) == 0)]
    alone = engine.intervene(MODEL, DOGS, [Change(hidden=(first,))], aim=TargetAnswer(answer="are"))
    share = math.exp(alone.readings[0].log_probability - alone.untouched.log_probability)
    assert curves["Occlusion"][1] == pytest.approx(share, abs=1e-3)
    assert all(curve[0] == pytest.approx(1) for curve in curves.values())
    assert max(max(curve) for curve in curves.values()) > 1.01
    target = percent(hidden.answer.probability)
    assert f"P is higher than for the whole text ({target}): an area can exceed 1." in prose(app)
    taus = cells(app, 1)
    assert np.diag(taus) == pytest.approx(1)
    assert "Integrated gradients should add up to" in prose(app)
    split = engine.attribute(MODEL, DOGS, aim=TargetAnswer(answer="are"), method="DecompX")
    assert scores[3] == pytest.approx(split.scores[[1, 2, 3, 4, 5, 7, 8]], abs=1e-3)
    assert split.bias is not None
    assert f"{signed(split.bias)} from biases" in prose(app)


def test_where_it_travels(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=DOGS, view="patching", other=DOG, answer="are", against="is", by="difference")
    effects = engine.patch(MODEL, DOGS, DOG, aim=TargetAnswer(answer="are", foil="is"))
    assert cells(app).ravel() == pytest.approx(recovered(effects, "difference"), abs=1e-3)
    assert "P(are) is 48% in this run (run 1) and 0.65% in the other (run 2)." in prose(app)
    app = open_page(PAGE, text=DOGS, view="patching", other="The dog near it [MASK] hungry.")
    assert "8 words in one text and 7 words in the other" in prose(app)
    assert "Give two texts with the same number of words." in prose(app)
    heads = open_page(PAGE, text=DOGS, view="patching", other=DOG, answer="are", against="is", what="heads")
    assert cells(heads).shape == (6, 12)
    app = open_page(PAGE, view="patching")
    assert app.text_area(key="cause_other").value == "The dog near the house [MASK] hungry."
    assert len(cell_maps(app)) == 1
    app.menu_button(key="pair menu").click(2).run()
    assert app.text_area(key="text").value == PAIRS[2][1]
    assert "P(she)" in prose(app)
    assert len(cell_maps(app)) == 1
    # Until then the example is.
    app = open_page(PAGE, text="The cat sat on the [MASK].", view="patching")
    assert "Type a second sentence" in prose(app)
    assert "P(are)" in prose(app)
    app.text_area(key="cause_other").set_value("The dog sat on the [MASK].").run()
    assert "P(are)" not in prose(app)
    assert len(cell_maps(app)) == 1


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_in_every_ready_pair_the_runs_differ(pair: tuple[str, ...], engine: Engine) -> None:
    """By more than a logit towards the first answer, with as many tokens: otherwise there is nothing to follow."""
    _, text, other, answer, against = pair
    aim = TargetAnswer(answer=answer, foil=against)
    effects = engine.intervene(MODEL, text, [], value="other", other=other, aim=aim)
    assert effects.untouched.foil_logit is not None
    assert effects.other.foil_logit is not None
    here, there = (reading.logit - (reading.foil_logit or 0) for reading in (effects.untouched, effects.other))
    assert here - there > 1
    assert here > 0


def test_parts_add_up_on_the_screen(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=DOGS, view="sum", answer="are", against="is")
    decomposition = engine.decompose(MODEL, DOGS, aim=TargetAnswer(answer="are", foil="is"))
    assert decomposition.foil_logit is not None
    for grouped in ("layers", "heads"):
        app.session_state["cause_parts"] = grouped
        app.run()
        bar = figures(app)[0]["data"][0]
        assert bar["x"][-1] == pytest.approx(sum(bar["x"][:-1]), abs=1e-3)
        assert bar["x"][-1] == pytest.approx(decomposition.logit - decomposition.foil_logit, abs=1e-3)
    app.toggle(key="cause_difference").set_value(False).run()
    assert figures(app)[0]["data"][0]["x"][-1] == pytest.approx(decomposition.logit, abs=1e-3)


def test_without_a_mask_it_says_what_to_do(open_page: Open) -> None:
    app = open_page(PAGE, text="The cat sat on the mat.", off="1.1", answer="rug")
    for view in page.PAGE.views:
        app.query_params["view"] = view.name
        app.run()
        assert "Nothing is masked yet" in prose(app)
        assert app.text_area(key="text").value == "The cat sat on the mat."
        assert app.session_state["masks"] == ()
        assert drawn(app)
        assert "rug" not in prose(app)


@pytest.mark.parametrize("name", ["gpt2", "bart", "squeezebert", "mpnet", "bert_headless", "t5", "embedded/bilstm"])
def test_every_view_answers_or_says_why_not(name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    mask = {"bart": "<mask>", "mpnet": "<mask>"}.get(name, "[MASK]")
    text = "The cat sat" if name == "gpt2" else f"The cat {mask} on it."
    model = name if "/" in name else str(checkpoint(name))
    app = open_page(PAGE, text=text, other=text.replace("cat", "dog"), model=model)
    for view in page.PAGE.views:
        app.query_params["view"] = view.name
        app.run()
        assert "Something went wrong" not in prose(app)
        assert cell_maps(app) or figures(app) or [*app.info, *app.error, *app.warning]
        if (name, view.name) == ("embedded/bilstm", "heads"):
            assert "has no attention to show" in prose(app)
        if (name, view.name) == ("embedded/bilstm", "words"):
            assert len(cells(app)) >= 1


def test_pairs_are_asked_whether_one_follows(open_page: Open, engine: Engine) -> None:
    a, b = "She opened the window.", "Cold air came into the room."
    app = open_page(PAGE, text=a, pair=b)
    assert "Target “is next”" in prose(app) or "Target “is not next”" in prose(app)
    score = engine.next_sentence(MODEL, a, b)
    assert f"{max(score.p_next, 1 - score.p_next):.0%}" in prose(app)
    none = open_page(PAGE, text=a, pair=b, model="embedded/modernbert")
    assert "Or clear the second text" in prose(none)
    summed = open_page(PAGE, text=a, pair=b, view="sum")
    assert "Only the logit of a token can be written as a sum" in prose(summed)


def test_a_class_is_asked_for(open_page: Open, checkpoint: Checkpoint, tmp_path: Path, engine: Engine) -> None:
    classifier(checkpoint("bert"), tmp_path)
    text, other = "The cat sat on it.", "The dog sat on it."
    p = engine.intervene(str(tmp_path), text, [], aim=TargetAnswer("class", answer="b", foil="c")).answer.probability
    messages = {
        "sum": "Only the logit of a token can be written as a sum",
        "patching": f"P(b) is {percent(p)} in this run",
    }
    app = open_page(PAGE, text=text, other=other, model=str(tmp_path), answer="b", against="c")
    for view in page.PAGE.views:
        app.query_params.update({"view": view.name, "answer": "b"})
        app.run()
        assert messages.get(view.name, f"Target “b” ({percent(p)}) vs “c”") in prose(app)
        app.query_params["answer"] = "d"
        app.run()
        assert "There is no answer 'd' here. Choose one of a, b, c." in prose(app)


def test_long_texts_are_a_job_to_stop(open_page: Open, jobs: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is lowered, and the job advanced by hand: the worker's thread is not waited for."""
    monkeypatch.setattr(scenes, "_LONG", 10)
    app = open_page(PAGE, text=DOGS)
    next(button for button in app.button if button.label == "Run the model 84 times").click().run()
    (job,) = jobs
    assert isinstance(job, InterventionJob)
    assert any(button.label == "Stop" for button in app.button)
    while job.running:
        job.advance()
    app.run()
    assert len(cell_maps(app)) == 1
    assert job.share == 1
    jobs[0] = InterventionJob(job._engine, job.question)
    jobs[0].stop()
    jobs[0].advance()
    app.run()
    assert "Stopped before all runs were done" in prose(app)


def test_the_search_says_what_it_found(open_page: Open, engine: Engine, jobs: list[Job]) -> None:
    text = "The cat sat on the [MASK] because it was tired."
    app = open_page(PAGE, text=text, model="embedded/tinybert")
    assert "Not in it" not in prose(app)
    next(button for button in app.button if button.label.startswith("Run the search")).click().run()
    (job,) = jobs
    assert isinstance(job, GreedyJob)
    while job.running:
        job.advance()
    assert job.failure is None
    app.run()
    assert "This page's link restores what is chosen. Not in it: what the search over heads found." in prose(app)
    worst, least = job.paths["worst first"], job.paths["least first"]
    before = engine.fill_mask("embedded/tinybert", text, 1)[0].best[0].id
    for path in (worst, least):
        (after,) = engine.ablate("embedded/tinybert", text, path.heads)  # type: ignore[misc]
        assert (after.best[0].id != before) == path.changed  # type: ignore[union-attr]
        (one_less,) = engine.ablate("embedded/tinybert", text, path.heads[:-1])  # type: ignore[misc]
        assert one_less.best[0].id == before  # type: ignore[union-attr]
    if worst.changed:
        assert f"Without {len(worst.heads)} head" in prose(app)
        next(button for button in app.button if button.label == "Switch these off").click().run()
        assert len(app.multiselect(key="cause_off").value) == len(worst.heads)
    assert f"{len(least.heads) - least.changed} of {len(job.heads)}" in prose(app)


def test_a_search_that_is_stopped_counts_the_heads_that_it_measured(open_page: Open, jobs: list[Job]) -> None:
    app = open_page(PAGE, text="The cat sat on the [MASK] because it was tired.", model="embedded/tinybert")
    next(button for button in app.button if button.label.startswith("Run the search")).click().run()
    (job,) = jobs
    assert isinstance(job, GreedyJob)
    while "least first" not in job.paths or not job.paths["least first"].heads:
        job.advance()
    job.stop()
    job.advance()
    path = job.paths["least first"]
    path.heads.append(next(head for head in job.heads if head not in path.heads))  # chosen, and not noted yet
    assert path.counts == [0, 1]
    app.run()
    assert not app.error
    assert f"1 of {len(job.heads)}" in prose(app)
    orders = heads_that_matter._orders(job)
    assert len(orders[orders["order"] == "least first"]) == 1


def test_built_in_sentences(open_page: Open, engine: Engine, jobs: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three for a hundred."""
    from pages.cause import which_word

    few = which_word.built_in
    monkeypatch.setattr(which_word, "built_in", lambda model, causal: few(model, causal=causal)[:3])
    app = open_page(PAGE, text=DOGS, view="words", model="embedded/tinybert")
    next(button for button in app.button if button.label == "Run on 100 sentences").click().run()
    (job,) = jobs
    assert isinstance(job, Explaining)
    while job.running:
        job.advance()
    assert job.failure is None
    app.run()
    table = app.dataframe[0].value
    assert len(table) == len(ORDERS)
    assert "Area under the curves over 3 sentences" in prose(app)
    by_name = {(area.method, area.way): area for area in job.table()}
    assert by_name["occlusion", "deletion"].mean.value < by_name["random order", "deletion"].mean.value
    near, random = by_name["nearness", "insertion"], by_name["random order", "insertion"]
    assert random.above.value == pytest.approx(random.mean.value - near.mean.value)
    row = table.set_index("method").loc["Random order (mean of 5)"]
    assert row["insertion, median"] == f"{random.median:.3f}"
    assert row["insertion, against nearness"] == f"{random.above:+.3f}"
    assert row["insertion, better than nearness in"] == f"{random.better:.0%}"
    assert row["insertion, exceeds 1 in"] == f"{random.exceeds_one:.0%}"
    nearest = table.set_index("method").loc["Nearness alone"]
    assert nearest["insertion, against nearness"] == nearest["deletion, better than nearness in"] == "–"
    assert job.probabilities == [effects.answer.probability for effects in map(engine.ask, job.questions)]
    assert f"is {percent(sorted(job.probabilities)[1])} in the median" in prose(app)


@pytest.mark.parametrize("example", EXAMPLES.all, ids=lambda example: example.title)
def test_every_example_shows_something(example: Any, open_page: Open) -> None:
    values = {field.name: unquote(field.codec.write(value)) for field, value in EXAMPLES.state(example).items()}
    app = open_page(PAGE, **{name: value for name, value in values.items() if value})
    assert cell_maps(app) or figures(app)
