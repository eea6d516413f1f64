"""How many inputs the suite generates."""

import importlib

from fuzzing import A_LINK, A_PAGE, A_QUESTION, A_READER

from pages import PAGES

ABOUT_QUESTIONS = importlib.import_module("tests.fuzz.test_questions")
READERS = importlib.import_module("tests.fuzz.test_readers").READERS


def test_at_least_two_thousand_inputs_are_generated() -> None:
    """Each test fails where it had fewer than its share."""
    questions = [kind for kind in ABOUT_QUESTIONS.QUESTIONS if kind not in ABOUT_QUESTIONS.FEW]
    total = A_READER * len(READERS) + A_QUESTION * len(questions) + (A_LINK + A_PAGE) * len(PAGES)
    assert total >= 2_000, f"{total:,} inputs"
