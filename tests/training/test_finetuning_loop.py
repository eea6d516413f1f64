"""The loop that tunes: against transformers' Trainer, against itself where it takes short cuts, stopped and resumed."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import tuning
from checkpoints import Checkpoint
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

from model_zoo import Engine, loading, sources, tuned
from model_zoo.errors import InvalidInput, NotSupported, OutOfMemory
from model_zoo.registry import UNTRAINED
from training.finetuning import loop, lora, network, schedule, scores
from training.finetuning.baselines import candidates
from training.finetuning.data import KINDS, Kind, Split
from training.finetuning.finetune import Finetune
from training.finetuning.predict import Predict
from training.finetuning.results import Evaluated, Started, Stepped, Tuned, best_of
from training.finetuning.schedule import batches
from training.finetuning.settings import Settings

pytestmark = pytest.mark.usefixtures("one_thread")  # sums in another order are other sums


def losses(actual: Tuned) -> list[float]:
    return [step.loss for step in actual.steps]


def weights(id_: str) -> dict[str, torch.Tensor]:
    return AutoModelForSequenceClassification.from_pretrained(tuned.folder(id_)).state_dict()


class InOrder(Trainer):
    """transformers' own loop, given our batches in our order."""

    def __init__(self, *inputs: object, in_order: list[dict[str, torch.Tensor]], **named: object) -> None:
        super().__init__(*inputs, **named)
        self._in_order = in_order
        self.losses: list[float] = []

    def get_train_dataloader(self) -> DataLoader:
        return DataLoader(self._in_order, batch_size=None)

    def training_step(self, *inputs: object, **named: object) -> torch.Tensor:
        loss = super().training_step(*inputs, **named)
        self.losses.append(float(loss))
        return loss


@pytest.mark.slow
def test_the_first_losses_are_those_of_transformers_trainer(engine: Engine, tmp_path: Path) -> None:
    question = tuning.question(
        "embedded/tinybert", tuning.data(train=48), epochs=2, batch=8, rate=5e-4, weight_decay=0.1
    )
    ours = losses(tuning.outcome(engine, question))

    with engine._memory.lease("embedded/tinybert") as loaded:
        theirs = network.fresh(loaded, question.data, question.settings)
        encodings = [loaded.encode(item.text, None, 32) for item in question.data.train]
        rows = []
        for epoch in range(2):
            for places in batches([len(encoding) for encoding in encodings], 8, 0, epoch):
                of_batch = loaded.inputs([encodings[place] for place in places])
                labels = [question.data.labels.index(question.data.train[place].label) for place in places]
                rows.append(of_batch | {"labels": torch.tensor(labels)})
    arguments = TrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=1, learning_rate=5e-4, weight_decay=0.1, warmup_steps=0.1,
        lr_scheduler_type="linear", seed=0, report_to=[], save_strategy="no", logging_strategy="no",
        disable_tqdm=True, use_cpu=True, dataloader_pin_memory=False,
    )  # fmt: skip
    trainer = InOrder(theirs.train().requires_grad_(True), arguments, train_dataset=rows, in_order=rows)
    trainer.train()
    assert len(ours) == len(trainer.losses) == 12
    np.testing.assert_allclose(ours[:5], trainer.losses[:5], atol=1e-4)
    np.testing.assert_allclose(ours, trainer.losses, atol=1e-3)


def test_lora_changes_nothing_before_the_first_step_and_merging_changes_nothing_after(engine: Engine) -> None:
    with engine._memory.lease("embedded/tinybert") as loaded:
        inputs = loaded.inputs([loaded.encode("The cat sat on the mat.", None)])
        plain = network.fresh(loaded, tuning.data(), Settings(learns="all")).eval()
        with_lora = network.fresh(loaded, tuning.data(), Settings(learns="lora", rank=4)).eval()
    with torch.no_grad():
        before = plain(**inputs).logits
        torch.testing.assert_close(with_lora(**inputs).logits, before, rtol=0, atol=0)
        changed = [part for part in with_lora.modules() if isinstance(part, lora.LoRA)]
        assert len(changed) == 2 * 2  # queries and values of two layers
        for part in changed:
            part.up[0].normal_()
        after = with_lora(**inputs).logits
        assert (after - before).abs().max() > 1e-3
        lora.merge(with_lora)
        torch.testing.assert_close(with_lora(**inputs).logits, after, rtol=0, atol=1e-5)
    assert not any(isinstance(part, lora.LoRA) for part in with_lora.modules())


def test_lora_of_a_fused_matrix_leaves_the_keys(engine: Engine) -> None:
    with engine._memory.lease("embedded/modernbert") as loaded:
        actual = network.fresh(loaded, tuning.data(), Settings(learns="lora"))
    part = next(part for part in actual.modules() if isinstance(part, lora.LoRA))
    assert part.rows == ((0, 256), (512, 768))
    x = torch.randn(2, 5, 256)
    with torch.no_grad():
        for up in part.up:
            up.normal_()
        difference = part(x) - part.linear(x)
        expected = lora.ALPHA / 8 * (x @ part.down[1].T @ part.up[1].T)
    torch.testing.assert_close(difference[..., 512:], expected, rtol=0, atol=1e-4)
    assert difference[..., 256:512].abs().max() == 0
    assert difference[..., :256].abs().max() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_passes_of_a_batch_make_the_step_of_the_whole_batch(engine: Engine, kind: Kind) -> None:
    of = tuning.data(kind)
    tuned_model = tuning.outcome(engine, tuning.question("embedded/tinybert", of, batch=6))
    in_passes = tuning.outcome(engine, tuning.question("embedded/tinybert", of, batch=6, accumulate=3))
    np.testing.assert_allclose(losses(tuned_model), losses(in_passes), rtol=1e-4)


@pytest.mark.slow
def test_the_head_on_cached_states_is_the_head_on_the_frozen_model(engine, monkeypatch) -> None:
    cached = tuning.outcome(engine, tuning.question("embedded/tinybert", learns="head"))
    monkeypatch.setattr(loop._Run, "_stand_in", lambda _run: None)
    end_to_end = tuning.outcome(engine, tuning.question("embedded/tinybert", learns="head"))
    np.testing.assert_allclose(losses(cached), losses(end_to_end), rtol=1e-5)
    of_both = [weights(part.id) for part in (cached, end_to_end)]
    torch.testing.assert_close(*of_both, rtol=0, atol=1e-5)
    with engine._memory.lease("embedded/tinybert") as loaded:
        before = loaded.model.state_dict()
    changed = {name for name, weight in of_both[0].items() if name not in before or not weight.equal(before[name])}
    assert changed == {"bert.pooler.dense.weight", "bert.pooler.dense.bias", "classifier.weight", "classifier.bias"}


@pytest.mark.slow
def test_a_small_vocabulary_trains_like_the_whole_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tuning.outcome(engine, tuning.question("embedded/tinybert", weight_decay=0.5))
    everything = range(30522)
    monkeypatch.setattr(loop, "SmallVocabulary", lambda made, _ids: network.SmallVocabulary(made, everything))
    tuned_model = tuning.outcome(engine, tuning.question("embedded/tinybert", weight_decay=0.5))
    np.testing.assert_allclose(losses(small), losses(tuned_model), rtol=1e-5)
    of_both = [weights(part.id) for part in (small, tuned_model)]
    torch.testing.assert_close(*of_both, rtol=0, atol=1e-5)
    with engine._memory.lease("embedded/tinybert") as loaded:
        before = loaded.model.bert.embeddings.word_embeddings.weight[29_000]
    unseen = of_both[0]["bert.embeddings.word_embeddings.weight"][29_000]
    assert (unseen - before).abs().max() > 1e-5  # weight decay reaches what no text holds


@pytest.mark.parametrize(
    ("learns", "n_learning"),
    [("head", 16_770), ("top", 16_770 + 198_272), ("lora", 16_770 + 2 * 2 * 8 * (128 + 128)), ("all", 4_386_178)],
)
def test_what_learns_and_nothing_else(engine: Engine, learns: str, n_learning: int) -> None:
    tuned_model = tuning.outcome(engine, tuning.question("embedded/tinybert", learns=learns, layers=1))
    assert (tuned_model.n_learning, tuned_model.n_parameters) == (n_learning, 4_386_178)
    with engine._memory.lease("embedded/tinybert") as loaded:
        before = loaded.model.state_dict()
    after = weights(tuned_model.id)
    changed = {name for name, weight in after.items() if name in before and not weight.equal(before[name])}
    below = {name for name in changed if "layer.0" in name}
    assert bool(below) == (learns in ("all", "lora"))
    if learns == "lora":
        assert all("query.weight" in name or "value.weight" in name for name in below)
    assert ("bert.embeddings.word_embeddings.weight" in changed) == (learns == "all")
    assert any("layer.1" in name for name in changed) == (learns != "head")


def test_the_head_can_learn_first(engine: Engine) -> None:
    first = list(engine.stream(tuning.question("embedded/tinybert", learns="all", head_first=1, rate=5e-5)))
    alone = list(engine.stream(tuning.question("embedded/tinybert", learns="head", epochs=1)))
    steps = [event for event in first if isinstance(event, Stepped)]
    of_head = [event for event in alone if isinstance(event, Stepped)]
    assert [step.loss for step in steps[:3]] == pytest.approx([step.loss for step in of_head], rel=1e-5)
    assert [step.epoch for step in steps] == pytest.approx([1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2])
    rates = [step.learning_rate for step in steps]
    assert max(rates[:3]) == pytest.approx(20 * max(rates[3:]))


def test_a_seed_gives_the_same_model_and_another_seed_another(engine: Engine, bert: str) -> None:
    questions = [tuning.question(bert, seed=seed) for seed in (3, 3, 4)]  # this one has dropout
    tuned_model = [tuning.outcome(engine, part) for part in questions]
    assert losses(tuned_model[0]) == losses(tuned_model[1])
    assert tuned_model[0].predictions == tuned_model[1].predictions
    assert losses(tuned_model[0]) != losses(tuned_model[2])


def test_what_a_checkpoint_lacks_is_drawn_by_the_seed(checkpoint: Checkpoint) -> None:
    actual = []
    for seed in (3, 3, 4):
        read_anew = loading.load(sources.find(str(checkpoint("bert_mlm_only"))), torch.device("cpu"))
        actual.append(network.fresh(read_anew, tuning.data(), Settings(seed=seed)).state_dict())
    pooler, known = "bert.pooler.dense.weight", "bert.embeddings.word_embeddings.weight"
    assert actual[0][pooler].equal(actual[1][pooler])
    assert not actual[0][pooler].equal(actual[2][pooler])
    assert actual[0][known].equal(actual[2][known])


def scripted(monkeypatch: pytest.MonkeyPatch, *of_epochs: float) -> None:
    """Score the development split so, at the start and after each epoch, whatever the answers are."""
    left = iter(of_epochs)
    monkeypatch.setattr(loop, "scores", SimpleNamespace(value=lambda *_of: next(left), evaluate=scores.evaluate))


HOW: tuple[dict[str, Any], ...] = ({"weight_decay": 0.5}, {"head_first": 2}, {"learns": "lora"}, {"learns": "head"})


@pytest.mark.parametrize("settings", HOW)
@pytest.mark.parametrize("best", [1, 2, 3])
def test_the_network_of_the_epoch_that_is_best_in_development_is_tested_and_saved(
    engine: Engine, bert: str, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], best: int
) -> None:
    """An untrained network is not kept, however good it is."""
    scripted(monkeypatch, 0.9, *(0.5 + (epoch == best) / 4 for epoch in (1, 2, 3)))
    tuned_model = tuning.outcome(engine, tuning.question(bert, epochs=3, rate=1e-2, **settings))
    assert (tuned_model.best.epoch, tuned_model.best.score) == (best, 0.75)
    assert len({part.loss for part in tuned_model.evaluated}) == 4
    data = tuned_model.data
    questions = tuple((item.text, item.pair) for item in (*data.dev, *data.test))
    probabilities = [part.probabilities for part in engine.ask(Predict(tuned_model.id, questions))]
    right = [p[data.labels.index(item.label)] for p, item in zip(probabilities, data.dev, strict=False)]
    assert -np.log(right).mean() == pytest.approx(tuned_model.best.loss, rel=1e-4)
    of_test = [part.probabilities for part in tuned_model.predictions]
    np.testing.assert_allclose(of_test, probabilities[len(right) :], atol=1e-5)
    if "weight_decay" in settings:  # rows of words that do not occur have shrunk until then, and no further
        with engine._memory.lease(bert) as loaded:
            before = loaded.model.state_dict()["bert.embeddings.word_embeddings.weight"]
        ratio = weights(tuned_model.id)["bert.embeddings.word_embeddings.weight"].norm(dim=1) / before.norm(dim=1)
        until = [step.learning_rate for step in tuned_model.steps[: tuned_model.best.step]]
        assert float(ratio.nanmedian()) == pytest.approx(float(np.prod(1 - 0.5 * np.array(until))), rel=1e-4)


def test_of_equal_scores_the_lower_loss_and_then_the_earlier_epoch_is_best() -> None:
    actual = [Evaluated(3 * epoch, epoch, loss, 0.5) for epoch, loss in enumerate((0.1, 0.9, 0.7, 0.7, 0.8))]
    assert best_of(actual) is actual[2]
    assert best_of(actual[:1]) is None
    assert best_of([*actual, Evaluated(15, 5.0, 9.0, 0.6)]).epoch == 5


@pytest.mark.parametrize(
    ("of_epochs", "settings", "ended", "highest"),
    [
        ((0.9, 0.5, 0.6, 0.6, 0.6, 0.7), {"patience": 2}, 4, 2),
        ((0.9, 0.5, 0.6, 0.6, 0.6, 0.7), {"patience": 3}, 5, 5),
        ((0.9, 0.6, 0.5, 0.5, 0.5, 0.5), {"patience": 1, "head_first": 3}, 4, 1),
        ((0.9, 0.6, 0.5, 0.5, 0.5, 0.5), {"patience": 1, "learns": "head"}, 2, 1),
        ((0.9, 0.6, 0.5, 0.5, 0.5, 0.5), {}, 5, 1),
    ],
)
def test_training_ends_when_the_score_has_not_risen_for_long_enough(
    engine: Engine, bert: str, monkeypatch, of_epochs, settings, ended, highest
) -> None:
    """Not while the head is trained alone before the rest."""
    scripted(monkeypatch, *of_epochs)
    tuned_model = tuning.outcome(engine, tuning.question(bert, epochs=5, **settings))
    assert (tuned_model.steps[-1].epoch, len(tuned_model.evaluated)) == (ended, ended + 1)
    assert tuned_model.best.score == of_epochs[highest]


def stopped_at(engine: Engine, question: Finetune, place: int) -> Tuned:
    """What comes out of a training that was stopped at its event of this number, and then went on."""
    events = engine.stream(question)
    for _ in range(place + 1):
        next(events)
    events.close()
    *_, actual = engine.stream(question)
    assert isinstance(actual, Tuned)
    assert not tuned.state_folder(question.id).exists()
    return actual


def same(actual: Tuned, expected: Tuned) -> None:
    assert losses(actual) == losses(expected)
    assert actual.evaluated == expected.evaluated
    assert actual.predictions == expected.predictions
    for first_vector, other in zip(actual.first_vectors, expected.first_vectors, strict=True):
        assert first_vector.epoch == other.epoch
        np.testing.assert_array_equal(first_vector.vectors, other.vectors)
    of_both = weights(actual.id), weights(expected.id)
    assert all(weight.equal(of_both[1][name]) for name, weight in of_both[0].items())


@pytest.mark.slow
@pytest.mark.parametrize("settings", HOW)
def test_a_stopped_training_goes_on_as_if_nothing_had_happened(engine, bert, settings, monkeypatch) -> None:
    """Wherever it is stopped: between steps, while it is evaluated, while it is tested."""
    few = tuning.data(train=8, dev=2, test=2)
    alike, *_ = candidates(few)
    monkeypatch.setattr(loop, "candidates", lambda *_of: iter([alike]))
    plain: dict[str, Any] = {"rate": 1e-2} | settings | ({"head_first": 1} if "head_first" in settings else {})
    events = list(engine.stream(tuning.question(bert, few, **plain)))
    straight = events[-1]
    assert isinstance(straight, Tuned)
    first = next(place for place, event in enumerate(events) if isinstance(event, Stepped))
    for place in range(first, len(events) - 1):
        same(stopped_at(engine, tuning.question(bert, few, **plain), place), straight)


def test_where_a_stopped_training_goes_on_is_said(engine: Engine, bert: str) -> None:
    question = tuning.question(bert)
    events = engine.stream(question)
    steps = (event for event in events if isinstance(event, Stepped))
    for _ in range(4):
        next(steps)
    events.close()
    begun = next(event for event in list(engine.stream(question)) if isinstance(event, Started))
    assert (begun.steps[-1].step, begun.n_steps) == (4, 6)


def test_only_what_learns_is_kept_of_a_stopped_training(engine: Engine, bert: str) -> None:
    sizes = {}
    for learns in ("all", "lora", "head"):
        question = tuning.question(bert, learns=learns)
        events = engine.stream(question)
        learning = next(event.n_learning for event in events if isinstance(event, Started))
        next(event for event in events if isinstance(event, Evaluated) and event.epoch == 1)
        events.close()
        sizes[learns] = sum(file.stat().st_size for file in tuned.state_folder(question.id).iterdir())
        # In float32: itself, as it was after the best epoch, and two moments.
        assert sizes[learns] < 4 * 4 * learning + 20_000
        tuned.forget(question.id)
    assert sizes["head"] < sizes["lora"] < sizes["all"]


def test_a_training_that_diverges_is_stopped_with_a_sentence(engine: Engine) -> None:
    question = tuning.question("embedded/tinybert", rate=1.0, epochs=20, warmup=0.0)
    with pytest.raises(InvalidInput, match=r"diverged at step \d+.*smaller learning rate than 1, such as 0.0003"):
        list(engine.stream(question))


def test_time_can_be_the_budget(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of our own, which goes on by 4 ms whenever it is read: on a busy machine steps are few."""
    ticks = itertools.count()
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: 0.004 * next(ticks)))
    tuned_model = tuning.outcome(engine, tuning.question("embedded/tinybert", seconds=0.3, epochs=1))
    assert len(tuned_model.steps) > 3  # more than its epoch
    assert tuned_model.steps[-2].seconds < 0.3 <= tuned_model.seconds
    rates = [step.learning_rate for step in tuned_model.steps]
    assert rates[-1] < 0.2 * max(rates)
    assert tuned_model.evaluated[-1].step == tuned_model.steps[-1].step


def test_what_cannot_learn_is_refused(engine: Engine, checkpoint: Checkpoint, bilstm: str) -> None:
    for model, settings, message in (
        *((str(checkpoint(family)), {}, "such as BERT") for family in ("gpt2", "t5", "bart")),
        (bilstm, {"learns": "lora"}, "matrices of queries and values"),
        ("embedded/tinybert", {"learns": "top", "layers": 3}, "has 2 layers .* and 3 were"),
        (str(checkpoint("albert")), {"learns": "top"}, "share their weights"),
    ):
        with pytest.raises(NotSupported, match=message):
            list(engine.stream(tuning.question(model, **settings)))


def test_a_model_that_leaves_no_memory_to_learn_is_refused(bert: str) -> None:
    small = Engine("cpu", model_bytes=2_000_000)
    small.info(bert)
    with pytest.raises(OutOfMemory, match=r"Work on .* needs"):
        list(small.stream(tuning.question(bert, tuning.data(train=12), max_tokens=128, batch=128)))
    assert small.state().model_bytes < 2_000_000


FAMILIES = "albert bert_headless bert_mlm_only deberta-v2 distilbert electra_discriminator fnet modernbert roberta"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES.split())
def test_families_learn(engine: Engine, checkpoint: Checkpoint, family: str) -> None:
    few = tuning.items("classification", 4)
    by_heart = replace(tuning.data(), train=few, dev=few)
    tuned_model = tuning.outcome(engine, tuning.question(str(checkpoint(family)), by_heart, epochs=50, rate=3e-4))
    assert min(part.loss for part in tuned_model.evaluated) < 0.9 * tuned_model.evaluated[0].loss
    assert engine.info(tuned_model.id).tuned_for == "classification"


def test_a_head_that_reads_the_last_token_is_given_no_padding(engine, checkpoint, monkeypatch) -> None:
    seen: list[bool] = []
    output = loop._Run._output

    def watched(run: loop._Run, split: Split, places: Sequence[int]) -> object:
        seen.append(len({len(run.encodings[split][place]) for place in places}) == 1)
        return output(run, split, places)

    monkeypatch.setattr(loop._Run, "_output", watched)
    tuned_model = tuning.outcome(engine, tuning.question(str(checkpoint("xlnet")), epochs=1, rate=1e-5))
    assert len(seen) > 3
    assert all(seen)
    assert engine.info(tuned_model.id).tuned_for == "classification"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_learnt_by_heart(engine: Engine, kind: Kind) -> None:
    of = tuning.data(kind)
    tuned_model = tuning.outcome(engine, tuning.question("embedded/tinybert", of, epochs=40, rate=2e-3))
    assert np.mean(losses(tuned_model)[-3:]) < 0.25 * np.mean(losses(tuned_model)[:3])
    assert len(tuned_model.predictions) == len(of.test)


@pytest.mark.slow
def test_an_untrained_model_begins_at_random_weights_of_the_seed(engine: Engine) -> None:
    actual = [
        tuning.outcome(engine, tuning.question(f"{UNTRAINED}embedded/tinybert", seed=seed, learns="head", epochs=1))
        for seed in (0, 0, 1)
    ]
    of_each = [weights(part.id)["bert.embeddings.word_embeddings.weight"] for part in actual]
    assert of_each[0].equal(of_each[1])
    assert not of_each[0].equal(of_each[2])
    with engine._memory.lease("embedded/tinybert") as loaded:
        assert (of_each[0] - loaded.model.bert.embeddings.word_embeddings.weight).abs().mean() > 0.01


def test_the_loss_with_a_teacher_is_hintons(engine: Engine) -> None:
    question = tuning.question("embedded/tinybert", epochs=1, batch=12, alpha=0.3, temperature=3.0)
    rng = np.random.default_rng(0)
    soft = tuple(tuple(row) for row in rng.normal(size=(12, 2)).tolist())
    with_teacher = type(question)(question.model, question.data, question.settings, tuned.new_id(), soft=soft)
    tuned_model = tuning.outcome(engine, with_teacher).steps[0].loss

    with engine._memory.lease("embedded/tinybert") as loaded:
        start = network.fresh(loaded, question.data, question.settings).eval()
        inputs = loaded.inputs([loaded.encode(item.text, None, 32) for item in question.data.train])
    with torch.no_grad():
        scores = start(**inputs).logits.double().numpy()
    labels = [question.data.labels.index(item.label) for item in question.data.train]

    def softmax(x: np.ndarray) -> np.ndarray:
        return np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)

    hard = -np.log(softmax(scores)[range(12), labels]).mean()
    teacher, student = softmax(np.array(soft) / 3), softmax(scores / 3)
    kl = (teacher * np.log(teacher / student)).sum(axis=1).mean()
    assert tuned_model == pytest.approx(0.3 * hard + 0.7 * 9 * kl, rel=1e-4)


@pytest.mark.parametrize(("n", "warmup"), [(10, 0.1), (46, 0.1), (7, 0.0), (5, 1.0)])
def test_the_rate_is_that_of_transformers_schedule(n: int, warmup: float) -> None:
    from transformers import get_linear_schedule_with_warmup

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimizer, math.ceil(warmup * n), n)
    for step in range(n):
        assert schedule.rate_at(step, n, warmup) == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()
    assert schedule.rate_after(0.0, 0.2) == 0
    assert schedule.rate_after(0.1, 0.2) == pytest.approx(0.5)
    assert schedule.rate_after(0.6, 0.2) == pytest.approx(0.5)


def test_batches_hold_every_item_once_and_little_padding() -> None:
    lengths = np.random.default_rng(0).integers(3, 60, size=300).tolist()
    batch_rows = batches(lengths, 16, seed=1, epoch=0)
    assert sorted(place for batch in batch_rows for place in batch) == list(range(300))
    assert max(map(len, batch_rows)) == 16
    padding = sum(len(batch) * max(lengths[place] for place in batch) for batch in batch_rows) / sum(lengths)
    assert padding < 1.15
    assert batch_rows == batches(lengths, 16, seed=1, epoch=0)
    assert batch_rows != batches(lengths, 16, seed=1, epoch=1)
    alike = batches(lengths, 16, seed=1, epoch=0, pads=False)
    assert sorted(place for batch in alike for place in batch) == list(range(300))
    assert all(len({lengths[place] for place in batch}) == 1 for batch in alike)


def test_development_loss_is_the_mean_over_all_items(engine: Engine) -> None:
    question = tuning.question("embedded/tinybert", tuning.data(dev=7), learns="head", epochs=1)
    tuned_model = tuning.outcome(engine, question)
    model = AutoModelForSequenceClassification.from_pretrained(tuned.folder(tuned_model.id)).eval()
    with engine._memory.lease("embedded/tinybert") as loaded, torch.no_grad():
        singly = [
            torch.nn.functional.cross_entropy(
                model(**loaded.inputs([loaded.encode(item.text, None)])).logits,
                torch.tensor([tuned_model.data.labels.index(item.label)]),
            ).item()
            for item in tuned_model.data.dev
        ]
    assert tuned_model.evaluated[-1].loss == pytest.approx(np.mean(singly), abs=1e-5)
