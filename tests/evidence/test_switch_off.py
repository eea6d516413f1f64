"""Heads off in many texts at once, against each text asked by itself; what cannot be scored is told."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from checkpoints import SENTENCES, WITH_HEAD, Checkpoint
from tuning import classifier

from evidence.items import Head, HiddenWord, LabelledText, SentencePair
from evidence.questions.switch_off import SwitchOff
from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.questions.ablate import Ablate
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, TargetAnswer
from serving.wire import pack, unpack

SETS = (((1, 0),), ((0, 1),), ((0, 1), (1, 0)), (), ((0, 0), (0, 1), (1, 1)))
BUNDLED = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")


def hidden(text: str, word: str) -> HiddenWord:
    match = re.search(rf"\b{re.escape(word)}", text)
    return HiddenWord(text, (match.start(), match.start() + len(word)))


WORDS = (
    hidden(SENTENCES[0], "mat"),
    hidden(SENTENCES[3], "cabinet"),
    hidden("She slept.", "slept"),
    hidden(SENTENCES[12], "unlikely"),
    hidden(SENTENCES[1], "It"),
)


def one_by_one(engine: Engine, model: str, item: HiddenWord, heads: tuple[Head, ...]) -> tuple[float, bool]:
    """ln P of the word, and whether each of its pieces is the best guess, by the question that asks one text."""
    encoding = engine.encode(model, item.text)
    start, end = item.span
    places = [at for at, (first, last) in enumerate(encoding.offsets) if start < last <= end and last > first]
    answers = engine.ask(Ablate(model, item.text, heads, masked=frozenset(places)))
    assert len(answers) == len(places)
    logs = [answer.log_probability for answer in answers]
    return sum(log for log in logs if log is not None), all(answer.rank == 1 for answer in answers)


def held_against(engine: Engine, model: str, items: tuple[HiddenWord, ...]) -> None:
    answer = engine.ask(SwitchOff(model, items, SETS))
    assert answer.scores.shape == answer.right.shape == (1 + len(SETS), len(items))
    assert not answer.left_out
    expected = np.array([[one_by_one(engine, model, item, heads) for item in items] for heads in ((), *SETS)])
    np.testing.assert_allclose(answer.scores, expected[..., 0], atol=1e-4)
    np.testing.assert_array_equal(answer.right, expected[..., 1])
    np.testing.assert_allclose(answer.scores[0], answer.scores[4], atol=1e-5)  # the empty set


@pytest.mark.slow
@pytest.mark.parametrize("model", BUNDLED)
def test_many_texts_are_as_each_by_itself(model: str, engine: Engine) -> None:
    held_against(engine, model, WORDS)


FEW = ("distilbert", "roberta")
OTHERS = [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in WITH_HEAD if name != "fnet"]


@pytest.mark.parametrize("name", OTHERS)
def test_of_every_family(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    """Padded or not, with layers called one by one or not, on the fused kernel or beside it."""
    held_against(engine, str(checkpoint(name)), tuple(item for item in WORDS if item.text in SENTENCES))


def test_it_agrees_with_intervene_and_is_no_other_in_other_company(engine: Engine) -> None:
    item = WORDS[0]
    alone = engine.ask(SwitchOff("embedded/bert", (item,), SETS[:3]))
    together = engine.ask(SwitchOff("embedded/bert", WORDS, SETS[:3]))
    np.testing.assert_allclose(alone.scores[:, 0], together.scores[:, 0], atol=1e-5)
    place = engine.encode("embedded/bert", item.text).tokens.index("mat")
    changes = [Change(heads=heads) for heads in SETS[:3]]
    aim = TargetAnswer(answer="mat")
    effects = engine.ask(Intervene("embedded/bert", item.text, changes, masked={place}, aim=aim))
    logs = [reading.log_probability for reading in (effects.untouched, *effects.readings)]
    np.testing.assert_allclose(alone.scores[:, 0], logs, atol=1e-4)


def test_a_word_that_cannot_be_placed_is_told(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    limit = engine.info(model).max_tokens
    long = f"{'the cat sat ' * limit}on the mat"
    items = (
        hidden("The cat sat on the mat.", "cat"),
        hidden(long, "mat"),
        hidden("The 猫 sat on the mat.", "猫"),
        hidden("The [MASK] sat on the mat.", "mat"),
    )
    answer = engine.ask(SwitchOff(model, items, SETS[:1]))
    reasons = dict(answer.left_out)
    assert reasons == {1: "cut", 2: "unknown", 3: "mask"}
    assert np.isnan(answer.scores[:, 1:]).all()
    assert np.isnan(answer.right[:, 1:]).all()
    assert np.isfinite(answer.scores[:, 0]).all()
    parts = (HiddenWord("The table stood.", (4, 7)), HiddenWord("The table stood.", (6, 9)))  # "tab" and "ble"
    assert engine.ask(SwitchOff("embedded/bert", parts)).left_out == ((0, "shared"), (1, "shared"))


PAIRS = (
    SentencePair("The keys are on the table.", "The keys is on the table."),  # one word, as many tokens
    SentencePair("The cat sat on the mat.", "The cat the sat on mat."),  # two places
    SentencePair("The boy slept.", "The boy slept it."),  # other lengths
)


def test_fillings_of_one_place_are_compared_and_other_pairs_as_whole_sentences(engine: Engine) -> None:
    heads = ((2, 3), (4, 1))
    off_answer = engine.ask(SwitchOff("embedded/bert", PAIRS, (heads,)))
    for row, off in enumerate(((), heads)):
        first = PAIRS[0]
        place = engine.encode("embedded/bert", first.good).tokens.index("are")
        (answer,) = engine.ask(Ablate("embedded/bert", first.good, off, masked={place}, targets=("are", "is")))
        logs = [target.log_probability for target in answer.targets]
        assert off_answer.scores[row, 0] == pytest.approx(logs[0] - logs[1], abs=1e-4)
    for place in (1, 2):
        pair = PAIRS[place]
        every = [engine.token_scores("embedded/bert", text, scheme="word l2r") for text in (pair.good, pair.bad)]
        both = [scores.log_likelihood for scores in every]
        assert off_answer.scores[0, place] == pytest.approx(both[0] - both[1], abs=1e-4)
    np.testing.assert_array_equal(off_answer.right, off_answer.scores > 0)


def test_whole_sentences_with_heads_off(engine: Engine) -> None:
    """ln P of every token, each masked in turn, by the question that asks one text."""
    pair, off = PAIRS[2], ((0, 2), (1, 1))
    expected = []
    for text in (pair.good, pair.bad):
        encoding = engine.encode("embedded/tinybert", text)
        assert all(len(word) == 1 for word in encoding.words)
        places = [at for at, special in enumerate(encoding.special) if not special]
        answers = [engine.ask(Ablate("embedded/tinybert", text, off, masked={at})) for at in places]
        expected.append(sum(scored[0].log_probability for scored in answers))
    answer = engine.ask(SwitchOff("embedded/tinybert", (pair,), (off,)))
    assert answer.scores[1, 0] == pytest.approx(expected[0] - expected[1], abs=1e-4)


def test_a_classifier_is_asked_for_its_labels(engine: Engine, checkpoint: Checkpoint, tmp_path: Path) -> None:
    network = classifier(checkpoint("bert"), tmp_path)
    model, texts = str(tmp_path), [(SENTENCES[0], None), (SENTENCES[5], SENTENCES[3]), ("She slept.", None)]
    items = tuple(LabelledText(text, pair, label) for (text, pair), label in zip(texts, "abc", strict=True))
    answer = engine.ask(SwitchOff(model, items, SETS))
    for place, (text, pair) in enumerate(texts):
        changes = tuple(Change(heads=heads) for heads in SETS)
        aim = TargetAnswer("class", answer=items[place].label)
        effects = engine.ask(Intervene(model, text, changes, pair, aim=aim))
        readings = (effects.untouched, *effects.readings)
        logs = [reading.log_probability for reading in readings]
        np.testing.assert_allclose(answer.scores[:, place], logs, atol=1e-4)
        assert answer.right[:, place].tolist() == [run.best[0].token == items[place].label for run in readings]
    assert network.config.num_labels == 3
    with pytest.raises(InvalidInput, match="knows no label “d”, only a, b, c"):
        engine.ask(SwitchOff(model, (LabelledText("She slept.", None, "d"),)))


def test_what_cannot_be_asked_is_refused_in_a_sentence(engine: Engine, checkpoint: Checkpoint) -> None:
    for model, message in (
        (str(checkpoint("gpt2")), "reads left to right"),
        ("embedded/bilstm", "has no attention to show"),
        (str(checkpoint("bert_headless")), "cannot fill masks"),
    ):
        with pytest.raises(NotSupported, match=message):
            engine.ask(SwitchOff(model, WORDS[:1], SETS[:1]))
    with pytest.raises(NotSupported, match="was not fine-tuned for classification"):
        engine.ask(SwitchOff("embedded/bert", (LabelledText("She slept.", None, "a"),)))
    for heads, message in ((((6, 0),), "has 6 layers, 0 to 5"), (((0, 12),), "has 12 heads, 0 to 11")):
        with pytest.raises(InvalidInput, match=message):
            engine.ask(SwitchOff("embedded/bert", WORDS[:1], (heads,)))
    for items in ((), (WORDS[0], PAIRS[0]), (HiddenWord("She slept.", (3, 4)),), (HiddenWord("She.", (2, 9)),)):
        with pytest.raises(InvalidInput):
            SwitchOff("embedded/bert", items)
    with pytest.raises(InvalidInput, match="Text 1"):
        SwitchOff("embedded/bert", (HiddenWord("", (0, 1)),))


def test_parts_come_in_turns_and_travel(engine: Engine) -> None:
    question = SwitchOff("embedded/tinybert", WORDS, SETS)
    parts = list(engine.stream(question))
    assert len(parts) >= 1 + len(SETS)
    complete, again = question.combine(parts), engine.ask(question)
    for value in (question, complete, *parts[:2]):
        assert type(unpack(pack(value))) is type(value)
        assert type(pickle.loads(pickle.dumps(value))) is type(value)
    sent = unpack(pack(complete))
    np.testing.assert_array_equal(sent.scores, complete.scores)
    np.testing.assert_allclose(complete.scores, again.scores, atol=1e-6)
    assert unpack(pack(question)) == question
    # Sets in any order give the same, though each goes on from the states of the one before it.
    answers = [engine.ask(SwitchOff("embedded/modernbert", WORDS, sets)) for sets in (SETS, SETS[::-1])]
    np.testing.assert_allclose(answers[0].scores[1:], answers[1].scores[:0:-1], atol=1e-5)
    # Nothing of the model is changed.
    before = engine.fill_mask("embedded/tinybert", "The [MASK] sat.")
    engine.ask(SwitchOff("embedded/tinybert", WORDS, SETS))
    assert torch.is_grad_enabled()
    after = engine.ask(Ablate("embedded/tinybert", "The [MASK] sat."))
    assert after[0].best[0].probability == pytest.approx(before[0].best[0].probability, abs=1e-6)
    answer = engine.ask(SwitchOff("embedded/tinybert", (SentencePair("The cat sat.", "The cat sat."),)))
    assert answer.right.tolist() == [[0.5]]
