"""What lessons claim of a sentence, checked against arithmetic of its own on three sentences."""

import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from model_zoo import Engine, registry
from pages.learn.case import Case
from pages.learn.lesson import Choice, Sketch
from pages.learn.lessons import LESSONS, family, head, smaller
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, for_every_text, of_all_models_and_texts, of_models
from tools.transfer import frozen
from training.finetuning import transfer
from training.finetuning.scores import evaluate
from training.finetuning.seeds import fingerprint
from training.finetuning.sets import SETS
from training.recipes import RECIPES

_BASE = "google-bert/bert-base-uncased"
pytestmark = pytest.mark.usefixtures("app")


def choice_at(lesson: str, step: int, case: Case) -> Choice:
    question = LESSONS[lesson].steps[step - 1](case).ask()
    assert isinstance(question, Choice)
    return question


def drawn(lesson: str, step: int, case: Case) -> Sketch:
    question = LESSONS[lesson].steps[step - 1](case).ask()
    assert isinstance(question, Sketch)
    return question


def right(lesson: str, step: int, case: Case) -> str:
    choice = choice_at(lesson, step, case)
    return choice.options[choice.right].text


@pytest.mark.slow
@of_all_models_and_texts
def test_embeddings(model: str, text: str, engine: Engine) -> None:
    case = Case(model, text)
    with engine._memory.lease(model) as loaded:
        tables = [name for name, _ in loaded.encoder.embeddings.named_parameters() if "embeddings.weight" in name]
        width = loaded.encoder.get_input_embeddings().weight.shape[1]
        table = loaded.encoder.get_input_embeddings().weight.double().numpy()
    assert right("embeddings", 1, case) == f"{width:,}"
    assert right("embeddings", 2, case) == str(len(tables))
    truth = drawn("embeddings", 3, case).truth
    assert truth[0] == pytest.approx(np.linalg.norm(table[case.encoding.ids[case.followed]]), rel=1e-4)
    near = choice_at("embeddings", 5, case)
    wanted = engine.nearest_tokens(model, case.encoding.ids[case.followed], 1)[0]
    assert near.options[near.right].reply.startswith(f"Its cosine is {wanted.cosine:.3f}")


@of_all_models_and_texts
@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 1)])
def test_head(model: str, text: str, layer: int, head: int, engine: Engine) -> None:
    case = Case(model, text, layer=layer, head=head)
    query, key, scores = engine.attend(model, text).query_key(layer, head)
    row = scores[case.followed]
    assert right("head", 1, case) == str(query.shape[1])
    assert right("head", 2, case).startswith(f"{int(np.argmax(row)) + 1} · ")
    sketch = drawn("head", 3, case)
    places = [int(label.split(" · ")[0]) - 1 for label in sketch.labels]
    weights = torch.tensor(row).softmax(dim=0).numpy()
    assert sketch.truth == pytest.approx(weights[places], abs=1e-5)
    unscaled = torch.tensor(query[case.followed].astype(np.float64) @ key.T.astype(np.float64)).softmax(dim=0)
    change = float(unscaled.max()) - float(weights.max())
    wanted = "It grows" if change > 1e-4 else "It shrinks" if change < -1e-4 else "It stays the same"
    assert right("head", 4, case) == wanted
    value = engine.attend(model, text).value(layer, head)
    brought = weights * np.linalg.norm(value, axis=1)
    assert right("head", 5, case).startswith(f"{int(np.argmax(brought)) + 1} · ")


@of_all_models_and_texts
def test_heads(model: str, text: str, engine: Engine) -> None:
    case = Case(model, text, layer=1)
    run = engine.attend(model, text)
    targets = {int(run.head(1, head)[case.followed].argmax()) for head in range(run.n_heads)}
    bins = {1: "To one: they agree", 2: "To two or three", 3: "To two or three"}
    assert right("heads", 2, case) == bins.get(len(targets), "To four or more")
    projection = run.output_projections[1]
    lengths = [
        np.linalg.norm(run.head(1, head)[case.followed] @ run.value(1, head) @ projection[head])
        for head in range(run.n_heads)
    ]
    sketch = drawn("heads", 3, case)
    heads = [int(label.removeprefix("head ")) - 1 for label in sketch.labels]
    assert sketch.truth == pytest.approx(np.array(lengths)[heads], rel=1e-3, abs=1e-4)
    # The head and special token with the largest share, and the length of what comes from there.
    run = engine.attend(model, text, states=True)
    words = [place for place, special in enumerate(run.encoding.special) if not special]
    _, layer, head, place = max(
        (float(run.head(layer, head)[words, place].mean()), -layer, -head, -place)
        for layer in range(run.n_layers)
        for head in range(run.n_heads)
        for place in {0, run.n_tokens - 1}
    )
    layer, head, place = -layer, -head, -place
    stream = np.linalg.norm(run.states.states[layer, words], axis=-1).mean()
    added = run.head(layer, head)[words, place].mean() * run.value_norms(layer)[head, place] / stream
    choice = choice_at("heads", 5, Case(model, text, layer=1))
    assert f"layer {layer + 1}, head {head + 1}: how long is what “\\[{'SEP' if place else 'CLS'}" in choice.question
    reply = choice.options[choice.right].reply
    assert reply == f"What comes from there is {added:.1%} as long as the vectors it is added to."
    assert choice.right == int(np.searchsorted([0.03, 0.1, 0.3], added, side="right"))


@of_all_models_and_texts
def test_layer(model: str, text: str, engine: Engine) -> None:
    case = Case(model, text, layer=1)
    states = engine.encoded_states(model, text)
    entering = [*states.states[:-1], states.states[-1] if states.last_unnormed is None else states.last_unnormed]
    of_token = [np.asarray(layer[case.followed], dtype=np.float64) for layer in entering]
    wanted = [1 - float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in pairwise(of_token)]
    assert drawn("layer", 4, case).truth == pytest.approx(wanted, abs=1e-5)
    with engine._memory.lease(model) as loaded:
        config = loaded.model.config
    assert right("layer", 3, case) == f"{config.intermediate_size:,} numbers"
    norms = right("layer", 2, case)
    assert norms.startswith("Before" if "modernbert" in model else "After")


@of_all_models_and_texts
def test_guessing(model: str, text: str, engine: Engine) -> None:
    case = Case(model, text)
    content = sum(not special for special in engine.encode(model, text).special)
    assert right("guessing", 1, case) == str(max(1, round(0.15 * content)))
    assert right("guessing", 3, case) == "0.760"
    step = engine.take_step(model, text, case.followed, rate=0.001)
    sketch = drawn("guessing", 5, case)
    assert sketch.truth == pytest.approx(step.after[:6])

    case = Case(model, text)
    place, vocabulary, encoding = case.followed, engine.vocabulary(model), engine.encode(model, text)
    numbers = LESSONS["guessing"].steps[1](case).numbers().set_index("fate")
    (masked,) = engine.fill_mask(model, text, masked=(place,))
    assert masked.log_probability is not None
    assert numbers.loc["masked", "loss"] == pytest.approx(-masked.log_probability, abs=1e-4)
    (kept,) = engine.restore(model, text, encoding.ids, (place,))
    assert kept.log_probability is not None
    assert numbers.loc["kept", "probability"] == pytest.approx(np.exp(kept.log_probability), abs=1e-5)
    assert numbers.loc["kept", "given"] == numbers.loc["kept", "right"] == encoding.tokens[place]
    assert vocabulary.tokens.index(str(numbers.loc["random", "given"])) not in vocabulary.special_ids


def test_what_lessons_say_in_numbers() -> None:
    """15% is Devlin's, 30% ModernBERT's; the bundled models were trained on 20%. BERT took a million steps of 256."""
    case = Case("embedded/bert", SENTENCES[0])
    assert {recipe.mask_rate for recipe in RECIPES.values()} == {0.2}
    assert "the bundled models 20%" in LESSONS["guessing"].steps[0](case).why()
    assert "a million steps, each on 256 sequences" in LESSONS["guessing"].steps[4](case).why()

    text = LESSONS["smaller"].steps[2](Case("embedded/bert", SENTENCES[0])).text()
    published = [registry.MODELS[model].max_tokens for model in ("answerdotai/ModernBERT-base", _BASE)]
    assert published == [8192, 512]
    assert "up to 8,192 tokens instead of BERT’s 512" in text
    bundled = {registry.MODELS[model].max_tokens for model in ("embedded/bert", "embedded/modernbert")}
    assert bundled == {512}
    assert "each for 512 tokens" in text
    # BERT-base and ALBERT-base hold as many matrices a layer; one layer of 768 and 3072 has 7,077,888 weights.
    why = LESSONS["smaller"].steps[1](Case("embedded/bert", SENTENCES[0])).why()
    assert f"Sharing saves {11 * 7_077_888 / 1e6:.0f} million" in why
    assert f"saves {(30_000 * 768 - 30_000 * 128 - 128 * 768) / 1e6:.0f} million" in why

    logits = np.array([1.0, 0.5, 4.0, 2.0, 0.0, 1.5])
    shares = np.exp(logits) / np.exp(logits).sum()
    choice = choice_at("guessing", 3, Case("embedded/bert", SENTENCES[0]))
    assert choice.options[choice.right].text == f"{shares[2]:.3f}" == "0.760"
    why = LESSONS["guessing"].steps[2](Case("embedded/bert", SENTENCES[0])).why()
    assert f"{-np.log(shares[2]):.3f} here" in why
    assert "cross-entropy" in why


@of_all_models_and_texts
def test_biases_and_norms_are_said_of_models_that_have_them(model: str, text: str, engine: Engine) -> None:
    with engine._memory.lease(model) as loaded:
        has = any("bias" in name and "norm" not in name for name, _ in loaded.encoder.named_parameters())
    text_of_step = LESSONS["head"].steps[0](Case(model, text)).text()
    assert ("plus a learned bias" in text_of_step) == has
    assert ("adds no bias" in text_of_step) == (not has)

    text_of_step = LESSONS["layer"].steps[0](Case(model, text)).text()
    assert ("passes through nearly unchanged" in text_of_step) == (model == "embedded/modernbert")
    assert ("LayerNorm then rescales the sum" in text_of_step) == (model != "embedded/modernbert")


@for_every_text
def test_following(text: str, engine: Engine) -> None:
    case = Case("embedded/bert", text, "Then they slept.")
    there = engine.next_sentence("embedded/bert", text, "Then they slept.").p_next
    back = engine.next_sentence("embedded/bert", "Then they slept.", text).p_next
    assert right("following", 1, case) == "3"
    wanted = "It falls" if back < there - 0.05 else "It rises" if back > there + 0.05 else "It stays"
    assert right("following", 3, case).startswith(wanted)


@pytest.mark.slow
def test_subjects_are_the_shortcut_and_following_counts_what_the_model_says(engine: Engine) -> None:
    """What the lesson says of BERT is so: of pairs on one subject more are taken for next than of others."""
    truth = drawn("following", 4, Case("embedded/bert", SENTENCES[0], "Then they slept.")).truth
    assert truth[0] > truth[3]
    assert truth[2] > truth[3]
    numbers = LESSONS["following"].steps[3](Case("embedded/bert", SENTENCES[0], "Then they slept.")).numbers()
    first = numbers.iloc[0]
    assert first["p next"] == pytest.approx(
        engine.next_sentence("embedded/bert", first["A"], first["B"]).p_next, abs=1e-6
    )

    case = Case("embedded/bert", "She opened the window.", "Cold air came into the room.")
    numbers = LESSONS["following"].steps[3](case).numbers()
    sketch = drawn("following", 4, case)
    for kind, share in zip(sketch.labels, sketch.truth, strict=True):
        of_kind = numbers[numbers["kind"] == kind]
        probabilities = [
            engine.next_sentence("embedded/bert", a, b).p_next for a, b in zip(of_kind["A"], of_kind["B"], strict=True)
        ]
        assert share == pytest.approx(np.mean(np.array(probabilities) > 0.5))
    true, swapped = (numbers[numbers["kind"] == kind] for kind in sketch.labels[:2])
    assert list(zip(true["A"], true["B"], strict=True)) == list(zip(swapped["B"], swapped["A"], strict=True))
    doubted = ((true["p next"] >= 0.1) & (true["p next"] < 0.9)).sum()
    assert f"{doubted} get between 10% and 90%" in LESSONS["following"].steps[1](case).why()
    p = engine.next_sentence("embedded/bert", case.text, str(case.pair)).p_next
    assert right("following", 2, case) == ("90% or more" if p >= 0.9 else "50% to 90%")
    models = LESSONS["following"].steps[4](case).numbers().set_index("model")
    assert models.loc["Small BERT", "p"] == pytest.approx(p, abs=1e-6)
    assert "published without its sentence-order" in models.loc["ALBERT base", "why none"]


def test_local_layers_reach_as_far_as_they_were_built_to(engine: Engine) -> None:
    with engine._memory.lease("embedded/modernbert") as loaded:
        config = loaded.model.config
        built = [kind == "sliding_attention" for kind in config.layer_types]
        window = config.local_attention // 2
    n, reaches = smaller._reaches()
    assert [layer_reach < n - 1 for layer_reach in reaches] == built
    assert {layer_reach for layer_reach, local in zip(reaches, built, strict=True) if local} == {window}


@of_models
def test_smaller(model: str) -> None:
    case = Case(model, SENTENCES[0])
    assert right("smaller", 1, case) == "It falls"
    tokens = int(right("smaller", 4, case).removesuffix(" tokens").replace(",", ""))
    inner = {"embedded/bert": 1536, "embedded/tinybert": 512}.get(model)
    if inner is not None:
        assert tokens == 2 * case.info.width + inner + 1


def test_what_attention_explains_is_what_was_measured() -> None:
    """The lesson's figures are those of the README's table, which a command writes."""
    readme = Path("README.md").read_text(encoding="utf-8")
    tables = readme.partition("`python -m benchmarks.faithfulness --only areas")[2].split("\n\n")[1:3]
    claim = head.Values.chapter.part("no_explanation").text
    for table in tables:
        rows = {cells[1].strip(): cells[2:] for line in table.splitlines() if len(cells := line.split("|")) == 8}
        mean, _, _, against, better, _ = rows["attention"]
        for cell in (mean, rows["nearness"][0]):
            assert cell.split()[0] in claim
        difference, low, _, high = against.strip().replace("(", "").replace(")", "").split()
        assert difference in claim
        assert f"{low} to {high}" in claim
    share, _, interval = better.strip().partition(" ")  # of insertion
    assert f"{share} of the sentences {interval}" in claim


FAMILY = LESSONS["family"]
right_of_family = partial(sentences.right, FAMILY)
CASE = Case("embedded/bert", SENTENCES[0])


def test_published_tables_and_sizes_add_up() -> None:
    for column, average in enumerate(family.AVERAGES):
        assert round(sum(scores[column] for scores in family.GLUE.values()) / 9, 1) == average
    assert right_of_family(5, CASE).text == "79.6"

    gains = {task: round(large - base, 1) for task, (base, large) in family.GLUE.items()}
    assert gains["CoLA"] == 8.4 == max(gains.values())
    assert gains["MRPC"] == 0.4 == min(gains.values())
    assert "gains 8.4 on CoLA and 0.4 on MRPC" in family.Benchmarks(CASE).why()

    spec = registry.MODELS["FacebookAI/xlm-roberta-base"]
    assert f"{spec.vocabulary * spec.width / 1e6:.0f} of its" in family.Sized(CASE).why()
    assert np.isclose(family.Sized(CASE).millions["BERT base"], 110.1, atol=0.1)

    limits = {spec.name: spec.max_tokens or 0 for spec in registry.MODELS.values()}
    jobs = re.findall(r"\*\*\d\*\* ([^;]+?)[;.]", family.Which(CASE).text())
    fit = dict(zip(jobs, right_of_family(2, CASE).text.split(", "), strict=True))
    assert fit["texts of 6,000 tokens"] == "ModernBERT"
    assert limits["ModernBERT base"] > 6000 > limits["BERT base"]
    assert set(family.Which(CASE).numbers()["model"]) >= set(fit.values())


@of_all_models_and_texts
def test_padding_is_counted(model: str, text: str, engine: Engine) -> None:
    lengths = [len(engine.encode(model, text)), 32, 64, 128, 512]
    share = 1 - sum(lengths) / (5 * 512)
    step = family.Newer(Case(model, text))
    assert step.padding == pytest.approx(share)
    assert right_of_family(4, Case(model, text)).text == "60% or more"


@for_every_text
def test_objectives_are_shown_on_the_visitors_words(text: str) -> None:
    objectives = family.Objectives(Case("embedded/bert", text)).objectives
    words = text.split()[:10]
    (_, masked, hidden), (_, read, predicted), (_, infilled, restored), (_, replaced, labels) = objectives
    assert [hidden if word == "[MASK]" else word for word in masked.split()] == words
    assert masked.split().count("[MASK]") == 1
    order = [*read.removeprefix("in this order: ").split(", "), *predicted.split(", then ")]
    assert sorted(" ".join(order).split()) == sorted(words)
    before, after = infilled.split("[MASK]")
    assert " ".join(words).startswith(before)
    assert " ".join(words).endswith(after)
    assert len(infilled.split()) == len(words) - 1
    assert restored == " ".join(words)
    marks = [token != other for token, other in zip(replaced.split(), words, strict=True)]
    assert [label == "replaced" for label in labels.split()] == marks
    assert marks.count(True) == 1


@pytest.mark.parametrize("text", ["one", "green", "[MASK] [SEP]"])
def test_objectives_can_be_shown_on_the_shortest_text(text: str) -> None:
    objectives = family.Objectives(Case("embedded/bert", text)).objectives
    assert objectives[3][2].split().count("replaced") == 1
    assert all(model_input and wanted for _, model_input, wanted in objectives)


@pytest.mark.slow
def test_figures_are_of_the_weights_and_items_that_are_here(engine: Engine) -> None:
    for result in transfer.recorded():
        assert engine.info(result.model).revision == result.revision, "run python -m tools.transfer --write"
        assert fingerprint(SETS[result.set].build()) == result.items
        assert result.low <= result.score <= result.high
    # The features of Tiny BERT, computed anew.
    data = SETS["entities"].build()
    result = frozen(engine, "embedded/tinybert", data)
    for way, predictions in result.items():
        stored = transfer.scores_by_way("entities", "embedded/tinybert")[way]
        assert evaluate(data, predictions)[0].value == pytest.approx(stored.score, abs=0.02), way


def test_what_was_measured_is_judged_by_the_intervals() -> None:
    results = transfer.scores_by_way("similarity")
    direct, after = results["directly"], results["inference"]
    apart = after.low > direct.high or after.high < direct.low
    assert (right_of_family(7, CASE).text == "No clear difference") == (not apart)
    assert f"{direct.score:.2f} directly" in right_of_family(7, CASE).reply

    results = transfer.scores_by_way("entities")
    options = [results[way] for way in ("embeddings", "second-to-last layer", "last layer", "fine-tuned")]
    worst, *others = sorted(options, key=lambda result: result.score)
    assert all(worst.high < other.low for other in others)
    assert right_of_family(6, CASE).text == "Embeddings"

    tiny = transfer.scores_by_way("entities", "embedded/tinybert")
    assert tiny["fine-tuned"].score < tiny["second-to-last layer"].score
    assert f"{tiny['fine-tuned'].score:.0%}" in family.Frozen(CASE).why()
