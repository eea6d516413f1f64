"""The views "Find a head" and "Kinds of heads" of the page "Attention": questions, words, the table, ways to a head."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from on_screen import button, heatmaps, prose
from streamlit.testing.v1 import AppTest

from analysis.heads import head_table
from analysis.words import merge, word_units
from model_zoo import Engine
from ui.widgets import TEXT
from viz.layout import percent

PAGE = "pages/attention/page.py"
BERT = "embedded/bert"
FROM, TO = "From this word", "To this word"
Open = Callable[..., AppTest]
Checkpoint = Callable[[str], Path]


def words(app: AppTest) -> str:
    """What the page says, without the stars of bold type."""
    return prose(app).replace("**", "")


def bars(app: AppTest) -> dict[str, Any]:
    """Names of the heads, and what is written at their bars."""
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    return dict(zip(figure["layout"]["yaxis"]["ticktext"], figure["data"][0]["text"], strict=True))


def choose(app: AppTest, query: int, key: int) -> AppTest:
    """Click two words, counted from 0."""
    app.button_group(key=FROM).set_value(query).run()
    return app.button_group(key=TO).set_value(key).run()


def test_it_opens_with_a_question_answered_and_the_button_opens_the_best_head(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, view="who")
    weights = engine.attend(BERT, TEXT.default).head(1, 3)
    share = f"{weights[8, 2]:.0%}"
    assert f"Layer 2, head 4 looks from “it” at “cat” most: {share} of the attention of “it” goes there." in words(app)
    assert "Uniform attention would give 7.7%. Of 72 heads, " in words(app)
    assert (app.button_group(key=FROM).value, app.button_group(key=TO).value) == (8, 2)
    assert len(bars(app)) == 10
    assert next(iter(bars(app).items())) == ("Layer 2, head 4", share)
    assert not {"looks", "at", "ask"} & set(app.query_params)

    app = open_page(PAGE, view="who")
    button(app, "Open layer 2, head 4").click().run()
    assert app.segmented_control(key="attention_view").value == "grid"
    assert (app.query_params["layer"], app.query_params["head"]) == ("2", "4")
    (heatmap,) = heatmaps(app)
    np.testing.assert_array_equal(heatmap, engine.attend(BERT, TEXT.default, max_tokens=1024).head(1, 3))


def test_two_other_words_are_clicked_and_stay_while_the_text_is_edited(open_page: Open, engine: Engine) -> None:
    """Every head's number is what it gives the one from the other; the address keeps the words."""
    text = "The electroencephalogram showed a dog."
    run = engine.attend(BERT, text, max_tokens=1024)
    units = word_units(run.encoding)
    assert len(units) < run.n_tokens
    app = choose(open_page(PAGE, view="who", text=text), 2, 5)
    expected = {
        f"Layer {layer + 1}, head {head + 1}": merge(run.head(layer, head), units)[2, 5]
        for layer in range(run.n_layers)
        for head in range(run.n_heads)
    }
    best = sorted(expected, key=lambda name: -expected[name])[:10]
    assert list(bars(app)) == best
    assert f"{best[0]} looks from “electroencephalogram” at “dog” most" in words(app)
    strong = sum(share > 0.2 for share in expected.values())
    assert f"Of 72 heads, {strong or 'none'} " in words(app)
    assert (app.query_params["looks"], app.query_params["at"]) == ("3", "6")
    again = open_page(PAGE, view="who", text=text, looks="3", at="6")
    assert bars(again) == bars(app)

    app = choose(open_page(PAGE, view="who", text="The dog barked at me."), 3, 2)
    app.text_area(key="text").set_value("Yesterday the dog barked at me.").run()
    assert "looks from “barked” at “dog”" in words(app)
    app.text_area(key="text").set_value("Nothing like it was seen.").run()
    assert "dog" not in words(app)
    assert " most: " in words(app)  # the page has chosen two others
    assert "looks" not in app.query_params


@pytest.mark.slow
def test_the_words_of_a_long_text_are_a_list_to_search(open_page: Open) -> None:
    app = open_page(PAGE, view="who", text="The old cat sat. " * 40)
    app.selectbox(key=FROM).set_value(170).run()
    app.selectbox(key=TO).set_value(167).run()
    assert app.selectbox(key=TO).options[167] == "168 · old"
    assert "looks from “.” (word 171) at “old” (word 168) most" in words(app)
    for text, key in (
        ("Cats.", "button_group"),
        ("The old cat sat. " * 50, "selectbox"),
        ("A dog barked.", "button_group"),
    ):
        app.text_area(key="text").set_value(text).run()
        assert not app.error
        assert " most: " in words(app)
        assert getattr(app, key)(key=FROM).value is not None


def test_there_is_an_answer_for_little(open_page: Open, checkpoint: Callable[[str], Path]) -> None:
    app = open_page(PAGE, view="who")
    for text in ("cat", "a a", "a b", "?!"):
        app.text_area(key="text").set_value(text).run()
        assert not app.error
        assert " goes there." in words(app)
    # The first token of a model that looks back sees nothing but itself: no head is said to be the best.
    app = open_page(PAGE, view="who", text="a cat", model=str(checkpoint("gpt2")), looks="1", at="1")
    assert re.search(r"All \d+ heads do the same: 100% of the attention of “a” goes there\.", words(app))


def test_a_model_that_looks_back_is_not_ranked_by_zeros(
    open_page: Open, checkpoint: Checkpoint, engine: Engine
) -> None:
    folder, text = str(checkpoint("gpt2")), "The cat sat down."
    app = open_page(PAGE, view="who", text=text, model=folder, looks="2", at="3")
    assert not app.get("plotly_chart")
    assert "No head attends from “cat” to “sat”: a token sees only itself and what comes before it here." in words(app)
    button(app, "Swap").click().run()
    assert " looks from “sat” at “cat” most" in words(app)
    cat, sat = word_units(engine.attend(folder, text, max_tokens=1024).encoding)[1:3]
    even = np.mean([(cat.stop - cat.start) / (row + 1) for row in range(sat.start, sat.stop)])
    assert f"Uniform attention would give {percent(even)}." in words(app)


def test_in_cross_attention_the_words_are_those_of_two_texts(
    open_page: Open, checkpoint: Checkpoint, engine: Engine
) -> None:
    folder = str(checkpoint("t5"))
    texts = "The cat sat.", "A dog barked."
    app = open_page(PAGE, view="who", model=folder, text=texts[0], pair=texts[1], model_part="cross")
    run = engine.attend(folder, *texts, max_tokens=1024, stack="cross")
    queries, keys = word_units(run.encoding), word_units(run.key_encoding)
    options = [[option.content for option in app.button_group(key=key).proto.options] for key in (FROM, TO)]
    assert [len(side) for side in options] == [len(queries), len(keys)]
    assert "cat" in options[1]
    assert "cat" not in options[0]
    choose(app, 1, 2)
    share = max(
        merge(run.head(layer, head), queries, keys)[1, 2]
        for layer in range(run.n_layers)
        for head in range(run.n_heads)
    )
    assert f"{share:.0%}" == next(iter(bars(app).values())) or share < 0.1


PLACES = {
    "previous": "the token before", "next": "the token after", "itself": "the token itself",
    "same_word": "the same word elsewhere", "first": "[CLS]", "separator": "[SEP]", "other_sentence": "the other text",
}  # fmt: skip


def test_which_head_looks_at_a_place(open_page: Open, engine: Engine) -> None:
    texts = "The phone is broken.", "It fell on the floor."
    app = open_page(PAGE, view="who", text=texts[0], pair=texts[1])
    options = app.selectbox(key="attention_ask").options[1:]
    assert options == [f"Which head looks at {name}?" for name in PLACES.values()]
    table = head_table([engine.attend(BERT, *texts, max_tokens=1024)]).to_frame()
    for share, looked_at in PLACES.items():
        app.query_params["ask"] = share
        app.run()
        frame = table.sort_values(share, ascending=False)
        best = frame.iloc[0]
        name = f"Layer {best['layer'] + 1:.0f}, head {best['head'] + 1:.0f}"
        assert f"{name} looks at {looked_at} most: {best[share]:.0%} of a token’s attention goes there" in words(app)
        assert next(iter(bars(app))) == name
        even = best[share] / best[f"{share}_lift"]
        assert f"Uniform attention would give {percent(even)}." in words(app)
        strong = 0.2 if even <= 0.1 else 0.5  # in short texts an even spread comes near a fifth
        n_strong = (frame[share] > strong).sum()
        assert re.search(rf"Of 72 heads, {n_strong or 'none'} gives? more than {strong:.0%}\.", words(app))
    app.text_area(key="pair").set_value("").run()
    assert "Type a second text" in words(app)
    assert not app.get("plotly_chart")
    app = open_page(PAGE, view="who", ask="same_word", text="A cat sat.")
    assert "repeats a word" in words(app)
    assert not app.get("plotly_chart")


# ---- Kinds of heads -------------------------------------------------------------------------------------------------


def test_the_table_says_why_a_head_has_no_score_and_fits(open_page: Open) -> None:
    table = open_page(PAGE, view="heads").dataframe[0]
    frame = table.value
    mixed = frame["label"] == "mixed"
    assert 0 < mixed.sum() < len(frame)
    assert set(frame["score"][mixed]) == {"no rule fits"}
    assert frame["score"][~mixed].str.fullmatch(r"[01]\.\d\d").all()
    assert not frame.isna().any().any()
    assert table.proto.placeholder == "not visible"

    # Of 1280 px the page leaves 1216 to its content; 34 of them are the boxes that select a row.
    table = open_page(PAGE, view="heads", text="My phone is broken.", pair="My phone fell.").dataframe[0]
    columns = json.loads(table.proto.columns)
    assert "other_sentence" in table.value.columns
    assert sum(columns[name]["width"] for name in table.value.columns) + 34 <= 1216
