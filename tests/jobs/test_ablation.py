"""Whether heads matter, and pruning, on a model in which by construction a single head writes anything."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from checkpoints import N_HEADS, N_LAYERS, SENTENCES, WIDTH, Checkpoint
from safetensors.numpy import load_file, save_file

from analysis.corpus.sentences import Corpus, is_judged
from analysis.minimal_pairs import MinimalPair
from evidence.items import HiddenWord, LabelledText, Material, label_material, pair_material, word_material
from jobs import ablation
from jobs.ablation import AblationJob, HeadAblationJob, PruningJob
from model_zoo import Engine
from model_zoo.errors import InvalidInput
from reading.sentences import plain_words
from training.finetuning.sets import acceptability

SHAPE = (N_LAYERS, N_HEADS)
ALIVE = (1, 2)


@pytest.fixture(scope="module")
def one_head(checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tiny BERT in which all heads but one write zeros."""
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path_factory.mktemp("one head") / "model"))
    weights, size = load_file(folder / "model.safetensors"), WIDTH // N_HEADS
    for layer in range(N_LAYERS):
        name = f"bert.encoder.layer.{layer}.attention.output.dense.weight"
        kept = weights[name].copy()
        for head in range(N_HEADS):
            if (layer, head) != ALIVE:
                kept[:, head * size : (head + 1) * size] = 0
        weights[name] = kept
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return str(folder)


def words(n: int = 24) -> Material:
    """The second word of sentences, each with "the" before it or another word."""
    items = []
    for text in SENTENCES[:n]:
        start, end = plain_words(text)[1]
        items.append(HiddenWord(text, (start, end)))
    judged = tuple(place % 2 == 1 for place in range(len(items)))
    return Material("words", "second words", tuple(items), tuple(range(len(items))), judged, len(items))


def run(job: AblationJob) -> None:
    while job.running:
        job.advance()


def test_the_head_that_writes_is_the_one_that_matters(one_head: str, engine: Engine) -> None:
    job = HeadAblationJob(engine, one_head, words(), ALIVE, SHAPE)
    assert job.matters is None
    run(job)
    assert job.failure is None
    assert job.complete
    assert (job.share, job.n_ended) == (1.0, 3)
    effect = job.matters
    assert effect is not None
    assert abs(effect.head.change.value) > 0.01
    assert effect.n_as_much == 0
    assert effect.all_others
    assert [other.heads for other in effect.others] == [((1, head),) for head in range(N_HEADS) if head != ALIVE[1]]
    assert all(other.change.value == pytest.approx(0, abs=1e-5) for other in effect.others)
    assert effect.layer.change.value == pytest.approx(effect.head.change.value, abs=1e-5)
    assert (effect.score.n, effect.score.n_clusters) == (job.n_scored, job.n_scored)
    assert job.gradient_estimate is not None
    for means in (job.gradient_estimate.importance, job.gradient_estimate.change):
        table = np.abs([mean.value for mean in means]).reshape(SHAPE)
        assert table[ALIVE] > 1e-3
        table[ALIVE] = 0
        np.testing.assert_allclose(table, 0, atol=1e-5)
    assert [other.change.value for other in job.layers] == pytest.approx([0, effect.head.change.value, 0], abs=1e-5)


def test_another_head_of_it_does_nothing(one_head: str, engine: Engine) -> None:
    job = HeadAblationJob(engine, one_head, words(), (0, 1), SHAPE, every=False)
    run(job)
    assert job.matters is not None
    assert not job.matters.clear
    assert job.gradient_estimate is None
    assert (job.n_ended, job.share) == (2, 1.0)


def test_a_job_that_is_stopped_keeps_what_it_has(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.ablation._AT_ONCE", 8)
    job = HeadAblationJob(engine, "embedded/tinybert", words(), (1, 0), (2, 4))
    while job.n_ended == 0:
        job.advance()
    assert not job.complete
    job.stop()
    job.advance()
    assert not job.running
    assert job.n_scored == len(job.answers) == 8
    assert job.matters is not None
    assert job.matters.score.n == 8
    assert 0 < job.share < 1


def test_words_that_cannot_be_scored_are_told(engine: Engine) -> None:
    inside = HiddenWord("The table stood.", (4, 7))
    few = words(4)
    mixed = Material("words", "mixed", (*few.items, inside), (0, 1, 2, 3, 4), (*few.judged, True), 5)
    job = HeadAblationJob(engine, "embedded/tinybert", mixed, (0, 0), (2, 4), every=False)
    run(job)
    assert job.answers.left_out == [(4, "shared")]
    assert job.n_scored == 4
    none = Material("words", "none", (inside,), (0,), (True,), 1)
    for model, material, message in (
        ("embedded/tinybert", none, "None of these items"),
        ("embedded/bilstm", few, "no attention"),
    ):
        job = HeadAblationJob(engine, model, material, (0, 0), (2, 4))
        run(job)
        assert message in str(job.failure)
    with pytest.raises(InvalidInput, match="too few items"):
        PruningJob(engine, "embedded/tinybert", words(1), (2, 4))


@pytest.mark.slow
def test_the_order_of_pruning_keeps_the_head_that_writes_until_last(one_head, engine, monkeypatch) -> None:
    """Greedily where it does good, first where it does harm; by importance it is last in any case."""
    monkeypatch.setattr(ablation, "RANDOM_ORDERS", 2)
    material = words()
    job = PruningJob(engine, one_head, material, SHAPE)
    run(job)
    assert job.failure is None
    assert job.greedy_ended == "all"
    assert job.share == 1.0
    assert job.n_ended == 5
    greedy, importance, random = job.curves(right=False)
    assert (greedy.name, importance.name, random.name) == ablation.ORDERS
    assert {curve.counts for curve in (greedy, importance, random)} == {tuple(range(N_LAYERS * N_HEADS + 1))}
    assert job.paths["by importance"][0].heads[-1] == ALIVE
    start, end = importance.scores[0].value, importance.scores[-1].value
    flat = [mean.value for mean in importance.scores[:-1]]
    assert flat == pytest.approx([0] * len(flat), abs=1e-4)
    assert start == 0
    assert abs(end) > 0.005
    for curve in (greedy, random):
        assert curve.scores[0].value == pytest.approx(start, abs=1e-4)
        assert curve.scores[-1].value == pytest.approx(end, abs=1e-4)
    assert sorted(job.paths["greedy"][0].heads) == sorted(job.heads)
    n_judging = sum(material.judged)
    assert importance.scores[0].n <= n_judging
    assert not set(job.choosing) & set(job.judging)


def test_a_greedy_search_ends_in_time_and_says_how_far_it_came(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "RANDOM_ORDERS", 1)
    monkeypatch.setattr(ablation, "GREEDY_SECONDS", 0.0)
    job = PruningJob(engine, "embedded/tinybert", words(12), (2, 4))
    run(job)
    assert job.greedy_ended == "time"
    assert job.n_greedy == 0
    assert job.curves(right=False)[0].counts == (0,)
    assert job.complete


def test_pruning_that_is_stopped_keeps_its_curves(engine: Engine) -> None:
    job = PruningJob(engine, "embedded/tinybert", words(12), (2, 4))
    while job.n_ended < 2:
        job.advance()
    job.stop()
    job.advance()
    assert not job.running
    assert [curve.name for curve in job.curves(right=True)] == ["by importance", "at random"]


@pytest.mark.slow
def test_greedy_removes_what_harms_least(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first head is the best of all by the answers of the choosing half alone."""
    monkeypatch.setattr(ablation, "RANDOM_ORDERS", 1)
    material = words()
    job = PruningJob(engine, "embedded/tinybert", material, (2, 4))
    run(job)
    alone = HeadAblationJob(engine, "embedded/tinybert", material, (0, 0), (2, 4))
    run(alone)
    answers = alone._answers_every
    columns = [answers.places.index(place) for place in job.choosing]
    changes = np.nanmean(answers.scores[1:9, columns] - answers.scores[0, columns], axis=1)
    assert job.paths["greedy"][0].heads[0] == job.heads[int(changes.argmax())]


def test_words_of_sentences() -> None:
    """A verb that is named for each of its objects is hidden once."""
    corpus = Corpus()
    for text in ("Dogs sleep .", "Cats like mice birds ."):
        corpus.add(text, plain_words(text))
    items = word_material(corpus, [1, 1, 1, 0], [1, 1, 3, 0], "words")
    assert [item.text[slice(*item.span)] for item in items.items] == ["Dogs", "like", "birds"]
    assert items.clusters == (0, 1, 1)
    assert items.judged == tuple(is_judged([0, 1, 1]))
    assert (items.kind, items.name, items.n_all, items.chance) == ("words", "words", 3, None)
    assert len(word_material(corpus, [], [], "none")) == 0


def test_of_many_items_some_are_drawn() -> None:
    pairs = [MinimalPair(f"good {number}", f"bad {number}") for number in range(1000)]
    items = pair_material(pairs, "pairs")
    assert (len(items), items.n_all, items.chance) == (200, 1000, 0.5)
    assert items == pair_material(pairs, "pairs")
    assert 0.4 < np.mean(items.judged) < 0.6


def test_pairs_of_a_template_stay_together() -> None:
    items = pair_material(acceptability.pairs("test"), "built in", templates=True)
    assert len(set(items.clusters)) == 40
    halves = {(cluster, judged) for cluster, judged in zip(items.clusters, items.judged, strict=True)}
    assert len(halves) == 40


def test_chance_is_the_majority_of_those_that_choose() -> None:
    labels = [(LabelledText(f"text {n}", None, "a" if n % 3 else "b"), "") for n in range(9)]
    others = [(LabelledText(f"other {n}", None, "a" if n % 2 else "b"), "t") for n in range(4)]
    items = label_material(labels, others, "set")
    assert items.chance == 0.5
    assert items.judged == (False,) * 9 + (True,) * 4
    assert len(set(items.clusters)) == 10
