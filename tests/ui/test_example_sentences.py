"""Example sentences, and examples to learn from."""

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
from on_screen import run_script, to_save, unpacked
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from pages import PAGES
from pages.train.training import example_table as table
from training.finetuning.data import Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.sets import SETS
from ui import example_sentences
from ui.messages import as_text
from viz.example_sentences import ExampleSentence

CAT = ExampleSentence("The cat sat.", (8, 11), (((4, 7), 0.83),), (4, 7), "83%", layer=2, head=3, token=3)


def _script(sentences: object, *, table: bool = True) -> None:
    from ui import example_sentences
    from web.engine import engine

    info = engine().info("embedded/bert")
    example_sentences.show(sentences, info, "examples", "examples", measure="share", table=table)


def drawn_data(app: AppTest) -> dict[str, object]:
    (component,) = app.get("bidi_component")
    header: dict[str, object] = unpacked(component.proto.bytes)[0]
    return header


def test_what_is_drawn_and_what_can_be_saved() -> None:
    app = run_script(_script, [CAT, replace(CAT, note="again")])
    header = drawn_data(app)
    assert header["ways"] == ["Attention", "Cause"]
    assert [row["text"] for row in header["rows"]] == ["The cat sat."] * 2
    assert to_save(app) == ["Sentences (CSV)"]
    ((_, file),) = app.session_state["saved_shelf"].files.items()
    _, first, second = file.make().decode().splitlines()
    assert first.endswith(",3,4,sat,cat,cat,83%,,The cat sat.")
    assert second.endswith(",3,4,sat,cat,cat,83%,again,The cat sat.")
    assert to_save(run_script(_script, [CAT], table=False)) == []


def test_a_sentence_without_a_layer_leads_nowhere_and_none_at_all_is_no_failure() -> None:
    for sentences in ([], [ExampleSentence("The cat sat.", (8, 11))]):
        assert drawn_data(run_script(_script, sentences))["ways"] == []


def test_every_way_sets_fields_of_its_page(engine: Engine) -> None:
    info = engine.info("embedded/bert")
    pages = {page.name: page for page in PAGES}
    ways = example_sentences._ways([CAT], info)
    assert [label for label, _, _ in ways] == ["Attention", "Cause"]
    read = {}
    for label, page, (values,) in ways:
        address = urlsplit(example_sentences._href(page, values))
        fields = {field.name: field for field in pages[address.path].all_fields}
        assert address.path == page
        named = dict(parse_qsl(address.query, keep_blank_values=True))
        read[label] = {name: fields[name].codec.read(text) for name, text in named.items()}
        assert "text" in values
        assert "text" not in read[label]
    assert read["Attention"]["layer"] == 3
    assert read["Attention"]["head"] == 4
    assert read["Attention"]["locked"] == "query.4"
    assert read["Attention"]["view"] == "lines"
    assert read["Cause"]["off"] == ("3.4",)
    assert read["Cause"]["find"] is True

    (_, (*_, hidden)) = example_sentences._ways([replace(CAT, masked=(3,))], info)
    assert (hidden[0]["masks"], hidden[0]["answer"], hidden[0]["find"]) == ((3,), "sat", False)
    (_, (*_, pieces)) = example_sentences._ways([replace(CAT, masked=(3, 4))], info)
    assert (pieces[0]["masks"], pieces[0]["answer"]) == ((3, 4), "")

    without_words = replace(info, mlm=False, lm=False)
    assert [label for label, _, _ in example_sentences._ways([CAT], without_words)] == ["Attention"]
    assert [label for label, _, _ in example_sentences._ways([replace(CAT, head=None)], info)] == ["Attention"]


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
