"""Every view of the page "Attention", every filter, every part of a model: the numbers on screen; finding a head."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from checkpoints import FAMILIES, WITH_ATTENTION, Checkpoint, varied
from on_screen import Open, button, drawn, grids, heatmaps, prose, unpacked
from streamlit.testing.v1 import AppTest

from analysis.filters import Filter, apply_filter, combine
from analysis.heads import head_table
from analysis.rollout import rollout
from analysis.views import Norms, Weights
from analysis.words import merge, word_units
from model_zoo import Engine, running
from model_zoo.types import FloatArray
from pages.attention.page import PAGE as ATTENTION
from ui import widgets
from viz.layout import percent
from viz.palette import MOST_COLOURS

VIEWS = {view.name: view for view in ATTENTION.views}
PAGE = "pages/attention/page.py"
TEXT, PAIR = "The unbelievable dog barked.", "The dog was not tired."


def heatmap_of(app: AppTest) -> FloatArray:
    """The one matrix on screen."""
    (weights,) = heatmaps(app)
    return weights


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_takes_every_filter_and_little_text(name: str, open_page: Open) -> None:
    filters = {"direction": "B->B", "hide": "1", "renorm": "1", "words": "1", "threshold": "0.05", "top": "3"}
    app = open_page(PAGE, text=TEXT, pair=PAIR, view=name, show="value-weighted", **filters)
    assert not [*app.error]
    for query in ({"text": "cat", "pair": "", "direction": "all"}, {"text": TEXT, "pair": TEXT, "direction": "A->B"}):
        app.query_params.update(query)
        app.run()
        assert not [*app.error], query
    if name in ("grid", "lines", "combined", "rollout"):
        app.query_params.update({"threshold": "1", "show": "weights"})
        app.run()
        assert not [*app.error]
        assert any("Lower the threshold" in info.value for info in app.info)


def test_the_heatmap_shows_what_the_filter_leaves(open_page: Open, engine: Engine) -> None:
    app = open_page(
        PAGE, text=TEXT, pair=PAIR, direction="A->B", words="1", hide="1", renorm="1", top="2", layer="1", head="7"
    )
    run = engine.attend("embedded/bert", TEXT, PAIR, max_tokens=1024)
    chosen = Filter(direction="A->B", words=True, hide_special=True, renormalize=True, top_k=2)
    expected = apply_filter(run.encoding, run.head(0, 6), chosen)
    np.testing.assert_array_equal(heatmap_of(app), expected.weights)
    assert any("This shows how sentence A attends to sentence B" in c.value.replace("\\", "") for c in app.caption)
    app = open_page(PAGE, text=TEXT, view="rollout", layer="4", **{"from": "2"})
    run = engine.attend("embedded/bert", TEXT, max_tokens=1024)
    np.testing.assert_array_equal(heatmap_of(app), rollout(Weights(run), 1, 3))
    app = open_page(PAGE, text=TEXT, view="rollout", layer="4", show="value-weighted", **{"from": "2"})
    for pixels, maps in zip(heatmaps(app), (Norms(run), Weights(run)), strict=True):
        np.testing.assert_array_equal(pixels, rollout(maps, 1, 3))


def test_several_heads_are_combined(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=TEXT, view="combined", scope="chosen", heads="1.1,6.12", how="max")
    run = engine.attend("embedded/bert", TEXT, max_tokens=1024)
    np.testing.assert_array_equal(heatmap_of(app), combine(Weights(run), [(0, 0), (5, 11)], "max"))
    app = open_page(PAGE, text=TEXT, view="combined", scope="all", how="norm")
    assert any("Choose heads of one layer" in message.value for message in [*app.error, *app.warning, *app.info])
    # With value-weighted norms and without, since it is about values anyway.
    run = engine.attend("embedded/bert", TEXT, max_tokens=1024)
    for values in ({}, {"show": "value-weighted"}):
        app = open_page(PAGE, text=TEXT, view="combined", layer="3", how="norm", **values)
        np.testing.assert_array_equal(heatmap_of(app), run.norms_of_sum(2))
        assert any("cancel out" in caption.value for caption in app.caption)


def test_lines_begin_with_the_chosen_head_alone(open_page: Open) -> None:
    def lines(**query: str) -> dict[str, Any]:
        app = open_page(PAGE, text=TEXT, view="lines", layer="4", head="7", **query)
        (packed,) = drawn(app)
        return unpacked(packed)[0]

    alone = lines(off="1")  # which was said of a legend that is not there
    assert (alone["head_names"], alone["off"]) == (["7"], [])
    layer = lines(scope="layer", off="2")
    assert (len(layer["head_names"]), layer["in_front"], layer["off"]) == (12, 6, [1])
    every = lines(scope="all")
    assert every["head_names"][every["in_front"]] == "4.7"
    assert len(every["head_names"]) == len(set(every["colours"])) == MOST_COLOURS
    assert lines(scope="chosen", heads="1.2,3.4")["in_front"] is None
    # One head is nothing to combine, so that view has a choice of its own; older links say it by the lines' one.
    app = open_page(PAGE, text=TEXT, view="lines")
    before = drawn(app)
    app.segmented_control(key="attention_view").set_value("combined").run()
    assert app.segmented_control(key="attention_several").value == "layer"
    app.segmented_control(key="attention_view").set_value("lines").run()
    assert drawn(app) == before


@pytest.mark.usefixtures("no_answers")
def test_choosing_filters_and_views_never_runs_the_model(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    plain = running.attend
    monkeypatch.setattr(running, "attend", lambda *args, **more: runs.append(args[1]) or plain(*args, **more))
    app = open_page(PAGE, text="Run me at first, and only then.")
    assert runs == ["Run me at first, and only then."] * 2  # its attention; what it does with special tokens
    app.toggle(key="attention_words").set_value(True).run()
    app.toggle(key="attention_hide").set_value(True).run()
    app.slider(key="attention_threshold").set_value(0.1).run()
    app.selectbox(key="show").set_value("value-weighted").run()
    app.number_input(key="head").set_value(7).run()
    app.number_input(key="layer").set_value(4).run()
    for name in VIEWS:
        app.segmented_control(key="attention_view").set_value(name).run()
    assert len(runs) == 2


def read(app: AppTest) -> str:
    return " ".join(element.value for kind in ("markdown", "caption") for element in app.main.get(kind)).replace(
        "\\", ""
    )


NAMES = {
    "xlnet": {"on <cls>", "on <sep>"}, "t5": {"on </s>"}, "gpt2": {"on first token"}, "bert": {"on [CLS]", "on [SEP]"}
}  # fmt: skip


def test_special_tokens_are_called_as_the_model_calls_them(open_page: Open, checkpoint: Checkpoint) -> None:
    for name, titles in NAMES.items():
        app = open_page(PAGE, view="heads", text=TEXT, model=str(checkpoint(name)))
        columns = json.loads(app.dataframe[0].proto.columns)
        assert {columns[column]["label"] for column in ("first", "separator") if column in columns} == titles


def test_labels_are_counted_and_heads_followed_into_a_thousand_sentences(open_page: Open) -> None:
    app = open_page(PAGE, view="heads", text=TEXT)
    table = app.dataframe[0].value
    counts = table["label"].value_counts()
    assert len(counts) > 1
    for label, n in counts.items():
        assert re.search(rf"\b{n} (are )?“{label}”", read(app))
    assert "most heads" not in read(app)
    assert "5% get a label" in read(app)
    assert "rare" not in read(app)
    assert (table.iloc[40]["layer"], table.iloc[40]["head"]) == (4, 5)
    here = {"model": "embedded/tinybert", "layer": "2", "head": "3"}
    (head,) = links_to_corpus(open_page(PAGE, view="grid", text=TEXT, **here))
    assert head == here | {"view": "head"}
    every, again = links_to_corpus(open_page(PAGE, view="heads", text=TEXT, **here))
    assert every == {"view": "all", "model": "embedded/tinybert"}
    assert again == head


def links_to_corpus(app: AppTest) -> list[dict[str, str]]:
    links = [link.proto for link in app.get("page_link") if link.proto.label.startswith("On Corpus: ")]
    return [dict(parse_qsl(link.query_string)) for link in links]


LACKS = [
    ({"view": "neuron", "token": "99"}, "This text has tokens 1 to"),
    ({"direction": "A->B"}, "There is only one text here"),
    ({"view": "combined", "scope": "chosen", "heads": "9.1,2.3"}, "names heads that this model does not have"),
    ({"view": "combined", "scope": "chosen"}, "All heads are switched off"),
    ({"view": "lines", "scope": "chosen"}, "All heads are switched off"),
    ({"view": "bertviz", "bertviz": "model", "text": "word " * 150}, "“All heads”"),
]


@pytest.mark.parametrize(("query", "message"), LACKS)
def test_what_a_link_cannot_have_is_said(query: dict[str, str], message: str, open_page: Open) -> None:
    app = open_page(PAGE, **{"text": TEXT} | query)
    assert any(message in element.value for element in (*app.warning, *app.info, *app.error))
    assert app.text_area(key="text").value.strip() == query.get("text", TEXT).strip()
    if "heads" in query:
        assert app.multiselect(key="attention_heads").value == ("2.3",)
    if "direction" in query:
        assert heatmap_of(app).shape[0] == heatmap_of(app).shape[1]


def test_values_that_a_family_cannot_give(open_page: Open, checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = str(varied("deberta", checkpoint("deberta"), tmp_path / "talking", talking_head=True))
    for query in ({"show": "value-weighted"}, {"view": "neuron"}, {"view": "combined", "how": "norm"}):
        app = open_page(PAGE, model=folder, text="The cat sat.", **query)
        assert len(app.error) == 1
        assert app.segmented_control(key="attention_view").value


@pytest.mark.parametrize("name", [name for name in WITH_ATTENTION if not FAMILIES[name].interface])
def test_without_the_fused_kernel(name: str, open_page: Open, checkpoint: Checkpoint, engine: Engine) -> None:
    folder = str(checkpoint(name))
    run = engine.attend(folder, TEXT, max_tokens=1024)
    app = open_page(PAGE, model=folder, text=TEXT, show="value-weighted", layer="2", head="3")
    assert not app.error
    expected = run.head(1, 2) * run.value_norms(1)[2]
    np.testing.assert_allclose(heatmap_of(app), expected, rtol=1e-6)
    app = open_page(PAGE, model=folder, text=TEXT, view="neuron", layer="2", head="3")
    assert not app.error
    # The bias is named where there is one.
    captions = [caption.value for caption in app.caption if "softmax over" in caption.value]
    assert ["for where the two tokens stand" in caption for caption in captions] == [FAMILIES[name].biased]


UNFILTERED = {"neuron", "heads", "who"}
CAT, DOG = "The cat sat on the mat.", "The dog was tired of it."
WITH_DECODER = ("bart", "t5")
NO_CROSS = ("rollout", "bertviz")  # views that need the same tokens on both sides


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("name", WITH_DECODER)
def test_the_part_of_an_address(name: str, part: str, open_page: Open, checkpoint: Checkpoint, engine: Engine) -> None:
    folder = str(checkpoint(name))
    app = open_page(PAGE, model=folder, text=CAT, pair=DOG, model_part=part, layer="2", head="3", words="1")
    assert not app.error
    assert app.segmented_control(key="attention_model_part").value == part
    run = engine.attend(folder, CAT, DOG, max_tokens=1024, stack=part)  # type: ignore[arg-type]
    expected = apply_filter(run.encoding, run.head(1, 2), Filter(words=True), run.key_encoding)
    np.testing.assert_array_equal(heatmap_of(app), expected.weights)
    assert app.query_params.get("model_part", "encoder") == part


def test_another_part_is_another_picture(open_page: Open, checkpoint: Checkpoint) -> None:
    """The pictures of all heads too, which are remembered by what they show."""
    app = open_page(PAGE, model=str(checkpoint("bart")), text=CAT, pair=CAT)
    pictures: set[object] = set()
    for part in ("encoder", "decoder", "cross"):
        app.segmented_control(key="attention_model_part").set_value(part).run()
        (grid,) = grids(app)
        pictures |= {grid.tobytes(), heatmap_of(app).tobytes()}
    assert len(pictures) == 6


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("family", WITH_DECODER)
def test_every_view_draws_or_says_why_not(family: str, name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint(family)), text=CAT, pair=DOG, view=name, layer="2")
    for part in ("decoder", "cross"):
        app.query_params["model_part"] = part
        app.run()
        assert not app.warning
        assert len(app.error) == (part == "cross" and name in NO_CROSS)
        assert all("ross-attention" in error.value.replace("\\", "") for error in app.error)


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_takes_every_filter_with_cross_attention(name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    """Also of a decoder that has written nothing yet."""
    app = open_page(
        PAGE, model=str(checkpoint("t5")), text=CAT, pair=DOG, view=name, model_part="cross", direction="A->B",
        hide="1", renorm="1", words="1", show="value-weighted", threshold="0.05", top="3",
    )  # fmt: skip
    assert ("There is only one text here" in prose(app)) == (name not in UNFILTERED)
    assert len(app.error) == (name in NO_CROSS)
    if name in NO_CROSS:
        return
    app = open_page(PAGE, model=str(checkpoint("t5")), text=CAT, view=name, model_part="cross")
    assert not app.error
    assert "has written nothing yet" in prose(app)
    assert len(app.warning) == (name == "heads")  # no words to measure them on
    if name == "grid":
        assert len(heatmap_of(app)) == 1


def test_what_the_decoder_of_bart_means(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint("bart")), text=CAT, model_part="decoder")
    assert "has to restore" in prose(app)
    app.text_area(key="pair").set_value(DOG).run()
    assert "has to restore" not in prose(app)
    app = open_page(PAGE, model=str(checkpoint("bart")), text=CAT, pair=DOG, model_part="cross", view="heads")
    columns = set(app.dataframe[0].value.columns)
    assert {"label", "entropy", "first", "separator", "same_word"} <= columns
    assert not columns & {"rare", "itself", "previous", "next", "distance", "other_sentence"}


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_model_of_one_stack_offers_no_parts(name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint(name)), text=CAT, model_part="cross")
    assert "no encoder and decoder to choose from" in prose(app)
    assert "attention" not in app.query_params
    with pytest.raises(KeyError):
        app.segmented_control(key="attention_model_part")
    assert heatmap_of(app).shape[0] == heatmap_of(app).shape[1]
    app.text_area(key="text").set_value("Another text.").run()
    assert "no encoder and decoder to choose from" not in prose(app)


def test_texts_that_are_cut_and_layers_that_are_not_there_are_named(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint("bart")), text=CAT, layer="3", model_part="middle")
    assert "could not be used" in prose(app)
    assert app.segmented_control(key="attention_model_part").value == "encoder"
    app.segmented_control(key="attention_model_part").set_value("cross").run()
    assert "layer 3 does not exist" in prose(app)
    assert app.number_input(key="layer").value == 2
    app.text_area(key="text").set_value("cat " * 90)
    app.text_area(key="pair").set_value("the " * 80).run()
    assert "The encoder's text was cut" in prose(app)
    assert "The decoder's text was cut" in prose(app)
    app = open_page(PAGE, model=str(checkpoint("t5")), view="neuron")  # which has no limit of its own
    app.text_area(key="text").set_value("cat " * 1100).run()
    assert "at most 1,024 tokens on this page" in prose(app)


def test_query_and_key_name_the_tokens_of_both_texts(open_page: Open, checkpoint: Checkpoint, engine: Engine) -> None:
    folder = str(checkpoint("t5"))
    app = open_page(PAGE, model=folder, text=CAT, pair="Xylophone", model_part="cross", view="neuron", token="2")
    run = engine.attend(folder, CAT, "Xylophone", max_tokens=1024, stack="cross")
    options = app.selectbox(key="attention_token").options
    assert [option.split(" · ", 1)[1] for option in options] == list(run.encoding.tokens)
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    ticks = figure["layout"]["yaxis"]["ticktext"]
    assert len(ticks) == run.n_keys != run.n_tokens
    assert f"softmax over all {run.n_keys} keys" in prose(app)


BERT = "embedded/bert"
FROM, TO = "From this word", "To this word"


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
    weights = engine.attend(BERT, widgets.TEXT.default).head(1, 3)
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
    np.testing.assert_array_equal(heatmap, engine.attend(BERT, widgets.TEXT.default, max_tokens=1024).head(1, 3))


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


def test_there_is_an_answer_for_little(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, view="who")
    for text in ("cat", "a a", "a b", "?!"):
        app.text_area(key="text").set_value(text).run()
        assert not app.error
        assert " goes there." in words(app)
    # The first token of a model that looks back sees nothing but itself: no head is said to be the best.
    app = open_page(PAGE, view="who", text="a cat", model=str(checkpoint("gpt2")), looks="1", at="1")
    assert re.search(r"All \d+ heads do the same: 100% of the attention of “a” goes there\.", words(app))


def test_models_that_look_back_are_not_ranked_by_zeros(open_page: Open, checkpoint: Checkpoint, engine: Engine) -> None:
    folder, text = str(checkpoint("gpt2")), "The cat sat down."
    app = open_page(PAGE, view="who", text=text, model=folder, looks="2", at="3")
    assert not app.get("plotly_chart")
    assert "No head attends from “cat” to “sat”: a token sees only itself and what comes before it here." in words(app)
    button(app, "Swap").click().run()
    assert " looks from “sat” at “cat” most" in words(app)
    cat, sat = word_units(engine.attend(folder, text, max_tokens=1024).encoding)[1:3]
    even = np.mean([(cat.stop - cat.start) / (row + 1) for row in range(sat.start, sat.stop)])
    assert f"Uniform attention would give {percent(even)}." in words(app)


def test_cross_attention_has_words_of_two_texts(open_page: Open, checkpoint: Checkpoint, engine: Engine) -> None:
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
