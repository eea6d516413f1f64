"""Lesson 1: what it says of tokens is what tokenizers do."""

from threading import Barrier, Thread

import pytest
from patience import PATIENCE

from analysis.wordpiece import cuts
from model_zoo import Engine
from model_zoo.errors import InvalidInput
from model_zoo.fair_queue import FairQueue, leaving_turns
from model_zoo.types import Encoding, Vocabulary
from pages.learn.case import Case
from pages.learn.lesson import Choice, Option
from pages.learn.lessons import LESSONS, pieces
from tests.pages.learn.sentences import SENTENCES
from ui.glossary import quote

STEPS = LESSONS["pieces"].steps
BERT, MODERN = "embedded/bert", "embedded/modernbert"
for_every_text = pytest.mark.parametrize("text", [*SENTENCES, LESSONS["pieces"].examples[0][0]])
of_models = pytest.mark.parametrize("model", [BERT, "embedded/tinybert", MODERN, "embedded/bilstm"])
pytestmark = pytest.mark.usefixtures("app")


def choice_at(step: int, case: Case) -> Choice:
    question = STEPS[step - 1](case).ask()
    assert isinstance(question, Choice)
    return question


def right(step: int, case: Case) -> Option:
    choice = choice_at(step, case)
    return choice.options[choice.right]


@for_every_text
@of_models
def test_tokens_are_counted_and_what_is_lost_is_what_tokenizers_lose(model: str, text: str, engine: Engine) -> None:
    encoding = engine.encode(model, text)
    assert right(1, Case(model, text)).text == str(len(encoding))
    assert STEPS[0](Case(model, text)).numbers()["number"].tolist() == list(encoding.ids)

    case = Case(model, text)
    numbers = STEPS[4](case).numbers()
    for row in numbers.itertuples():
        assert row[4] == (engine.encode(model, row.text).ids == engine.encode(model, text).ids)
    assert numbers["text"][1] == text.upper()
    assert sum(sign != other for sign, other in zip(numbers["text"][2], text, strict=True)) == 1
    wanted = {(True, True): "Neither of them", (False, False): "Both of them"}
    same = numbers["same tokens"]
    assert right(5, case).text == wanted[bool(same[1]), bool(same[2])]


def test_words_that_are_whole_are_counted() -> None:
    """That | was | un ##bel ##ie ##va ##bly | good | , | she | whispered | ."""
    assert STEPS[0](Case(BERT, "That was unbelievably good, she whispered.")).why().startswith("7 of your 8 words")


@for_every_text
def test_a_word_is_cut_as_the_tokenizer_does_and_lists_are_compared(text: str, engine: Engine) -> None:
    choice = choice_at(2, Case(BERT, text))
    word = choice.question.removeprefix("How is “").removesuffix("” split?")
    steps = cuts(word.lower(), set(engine.vocabulary(BERT).tokens))
    assert steps is not None
    assert choice.options[choice.right].text.replace("\\", "") == " + ".join(
        cut.piece.removeprefix("##") for cut in steps
    )
    assert STEPS[1](Case(BERT, text)).numbers()["beginnings tried"].sum() == sum(cut.tried for cut in steps)

    visitor, other = (
        [token.removeprefix("##").lstrip("Ġ").lower() for token in encoding.tokens[1:-1]]
        for encoding in (engine.encode(BERT, text), engine.encode(MODERN, text))
    )
    wanted = "The same pieces" if visitor == other else "The same number" if len(visitor) == len(other) else "Different"
    assert right(4, Case(BERT, text)).text.startswith(wanted)
    assert STEPS[3](Case(BERT, text)).numbers()["tokens"].tolist() == [len(visitor), len(other)]


def test_what_is_said_of_a_wrong_cut_is_so(engine: Engine) -> None:
    vocabulary = set(engine.vocabulary(BERT).tokens)
    replies = {
        option.text.replace("\\", ""): option.reply for option in choice_at(2, Case(BERT, "Birds sing.")).options
    }
    assert "un" in vocabulary
    assert not {"unbelievably", "unbeliev"} & vocabulary
    assert replies["unbelievably"].startswith("“unbelievably” is not in the list.")
    assert replies["unbeliev + ably"].startswith("“unbeliev” is not in the list.")
    assert "“un” is listed too, and it is longer" in replies["u + n + b + e + l + i + e + v + a + b + l + y"]


def test_another_rule_is_not_called_wordpiece_and_no_vowel_gets_no_accent() -> None:
    case = Case(MODERN, "That was unbelievably good, she whispered.")
    assert "WordPiece" not in STEPS[1](case).text()
    assert right(2, case).text.replace("\\", "") == "un + be + lie + v + ably"
    assert "Byte-pair encoding" in STEPS[1](case).text()
    assert "Sennrich" in STEPS[1](case).why()

    made = Vocabulary(("<unk>", "▁un", "be", "lie"), 4, None, None, 0, frozenset({0}))
    rule = pieces._other_rule(made)
    texts = " ".join(pieces.Cuts.chapter.part(name).text for name in (rule, f"why {rule}"))
    assert "Unigram" in texts
    assert "Kudo 2018" in texts
    assert "join" not in texts
    with pytest.raises(InvalidInput, match="no vowel"):
        choice_at(5, Case(BERT, "Hmm, 12!"))
    assert "[MÁSK]" not in STEPS[4](Case(BERT, "[MASK] sat.")).text()
    assert quote("sát.") in STEPS[4](Case(BERT, "[MASK] sat.")).text()


@pytest.mark.usefixtures("app")
def test_what_is_said_of_a_longer_list_is_what_the_numbers_say() -> None:
    for text, claim in (("The cat sat.", "both make 4 tokens"), ("The photographer overslept.", "tokens against")):
        step = STEPS[3](Case(BERT, text))
        few, many = (len(tokens) for _, tokens, _ in step.others)
        assert claim in step.why()
        assert (few == many) == ("both make" in claim)


@pytest.mark.parametrize(
    ("model", "wanted"), [(BERT, "One token for “unknown”"), (MODERN, "Several tokens, parts of it")]
)
def test_a_sign_that_no_list_has(model: str, wanted: str, engine: Engine) -> None:
    case = Case(model, SENTENCES[0])
    assert right(3, case).text == wanted
    unknown = engine.vocabulary(model).unknown_id
    assert (unknown in STEPS[2](case).numbers()["number"].tolist()) == (model == BERT)


def test_students_at_one_step_do_not_wait_for_each_other(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each leaves its turn while it waits for a model, and comes back though all others are at that step by then."""
    turns, together = FairQueue(2), Barrier(3)

    class Loading:
        def vocabulary(self, model: str) -> Vocabulary:
            with leaving_turns():
                together.wait(PATIENCE)
            return engine.vocabulary(model)

        def encode(self, model: str, text: str) -> Encoding:
            return engine.encode(model, text)

    monkeypatch.setattr(pieces, "engine", Loading)
    step = next(step for step in STEPS if issubclass(step, pieces.OtherLists))

    texts: list[str] = []

    def draw() -> None:
        with turns.turn():
            texts.append(step(Case(BERT, "A cat.")).text())

    students = [Thread(target=draw, daemon=True) for _ in range(3)]
    for student in students:
        student.start()
    for student in students:
        student.join(PATIENCE)
    assert len(texts) == 3
    assert len(set(texts)) == 1
