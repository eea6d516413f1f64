"""The examples that stand where the curves will be: what is true of each, as it was typed."""

import pytest

from pages.train.training import example_table as table
from training.finetuning.data import Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.sets import SETS
from ui.messages import as_text

PASSAGE = "The mill stands by a river. " * 8 + "A miller named Tom keeps three grey cats. They sleep a lot."


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Labelled("A *dull* film.", None, "bad"), {"text": "A *dull* film.", "label": "bad"}),
        (Labelled("It rains.", "It pours.", "x"), {"text": "It rains.", "second text": "It pours.", "label": "x"}),
        (
            Tagged(("Maria", "Rossi", "met", "Tom", "Oslo"), ("B-PERSON", "I-PERSON", "O", "B-PERSON", "B-PLACE")),
            {"text": "Maria Rossi met Tom Oslo", "entities": "“Maria Rossi” (PERSON), “Tom” (PERSON), “Oslo” (PLACE)"},
        ),
        (Tagged(("Rain",), ("O",)), {"text": "Rain", "entities": "none"}),
        (Scored("A dog.", "A cat.", 2.5), {"text": "A dog.", "second text": "A cat.", "score": "2.5"}),
        (
            PassageQuestion("Who?", "Tom sleeps.", ((0, "Tom"), (0, "Tom"))),
            {"question": "Who?", "passage": "Tom sleeps.", "answer": "Tom"},
        ),
        (
            PassageQuestion("Why?", "Tom sleeps.", ()),
            {"question": "Why?", "passage": "Tom sleeps.", "answer": "(no answer)"},
        ),
    ],
)
def test_an_item_is_a_row_with_what_is_true_of_it(item: Item, expected: dict[str, str]) -> None:
    (row,) = table([item]).reset_index().to_dict("records")
    assert row == {name: as_text(text) for name, text in expected.items()}


def test_of_a_long_passage_the_part_with_the_answer_is_shown() -> None:
    answer = "three grey cats"
    frame = table([PassageQuestion("What does Tom keep?", PASSAGE, ((PASSAGE.index(answer), answer),))])
    assert frame["passage"].iloc[0].startswith("… ")
    assert answer in frame["passage"].iloc[0]
    assert len(frame["passage"].iloc[0]) <= 160


def test_every_set_has_examples_to_show() -> None:
    for built_in in SETS.values():
        items = built_in.build().first(5, 0).train
        frame = table(items)
        assert len(frame) == 5
        assert not frame.isna().any(axis=None)
        for item, (_, row) in zip(items, frame.iterrows(), strict=True):
            if isinstance(item, PassageQuestion) and item.answers:
                assert as_text(item.answers[0][1]) in row["passage"]
