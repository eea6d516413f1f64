"""The page "Next sentence" without a browser: swapping, controls, lists that can be stopped, refusals."""

from itertools import pairwise

import numpy as np
import pytest
from checkpoints import Checkpoint
from on_screen import Open, button, prose

from analysis.control_sentences import draw
from model_zoo import Engine
from model_zoo.types import signed

PAGE = "pages/next_sentence/page.py"
A, B = "She opened the window.", "Cold air came into the room."


def test_the_number_the_swapped_one_and_controls(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, text=A, pair=B)
    score, swapped = engine.next_sentence("embedded/bert", A, B), engine.next_sentence("embedded/bert", B, A)
    assert [metric.value for metric in app.metric] == [
        f"{score.p_next:.4f}", f"{swapped.p_next:.4f}", signed(score.logits[0], 3), signed(score.logits[1], 3),
    ]  # fmt: skip
    button(app, "Swap A and B").click().run()
    assert (app.text_area(key="text").value, app.text_area(key="pair").value) == (B, A)
    assert app.metric[0].value == f"{swapped.p_next:.4f}"
    app = open_page(PAGE, text=A, pair=B)
    table = app.dataframe[0].value
    assert list(table["sentence"])[1:] == list(draw(0))
    control = draw(0)[2]
    assert table["in the place of B"][3] == pytest.approx(
        engine.next_sentence("embedded/bert", A, control).p_next, abs=1e-4
    )
    assert table["in the place of A"][3] == pytest.approx(
        engine.next_sentence("embedded/bert", control, B).p_next, abs=1e-4
    )
    button(app, "New controls").click().run()
    assert list(app.dataframe[0].value["sentence"])[1:] == list(draw(1))


def test_the_page_opens_with_a_pair(open_page: Open, engine: Engine) -> None:
    """On a first visit, and after a look at other pages without typing there."""
    elsewhere = open_page("pages/attention/page.py")
    elsewhere.number_input(key="head").set_value(3).run()
    elsewhere.switch_page(PAGE)
    elsewhere.query_params.clear()  # as the browser's address is on another page
    for app in (open_page(PAGE), elsewhere.run()):
        assert (app.text_area(key="text").value, app.text_area(key="pair").value) == (A, B)
        assert app.metric[0].value == f"{engine.next_sentence('embedded/bert', A, B).p_next:.4f}"
        assert not app.warning
        assert not app.info


@pytest.mark.parametrize(
    ("text", "taken", "why"),
    [
        (f"{B} {A} More.", (B, A), "the first two sentences of A"),
        (A, (A, B), "so it is “Cold air came into the room.”"),
    ],
)
def test_a_text_alone_has_a_second_sentence(text: str, taken: tuple[str, str], why: str, open_page: Open) -> None:
    """Its own, or that of the example, which it says; what was typed stays."""
    app = open_page(PAGE, text=text, view="probability")
    numbers = [metric.value for metric in app.metric]
    for view in ("attention", "input", "probability"):
        app.query_params["view"] = view
        app.run()
        assert why in prose(app).replace("\\", "")
        assert (app.text_area(key="text").value, app.text_area(key="pair").value) == (text, "")
        assert not [*app.info, *app.warning, *app.error]
    app = open_page(PAGE, text=taken[0], pair=taken[1])
    assert "Sentence B is empty" not in prose(app)
    assert [metric.value for metric in app.metric] == numbers


@pytest.mark.slow
def test_odd_pairs_get_a_sentence(open_page: Open) -> None:
    app = open_page(PAGE, model="embedded/tinybert")
    for text, pair, message in (
        ("", B, "Sentence A is empty"),
        (A, " ", "Sentence B is empty"),
        (A, A, "A and B are the same"),
        ("word " * 900, B, "The pair was cut"),
        ("word " * 900, "other " * 600, "from the longer text first"),
    ):
        app.text_area(key="text").set_value(text)
        app.text_area(key="pair").set_value(pair).run()
        assert message in prose(app)
        assert (app.text_area(key="text").value, app.text_area(key="pair").value) == (text, pair)


def test_a_model_without_the_head_explains_itself(open_page: Open, checkpoint: Checkpoint) -> None:
    """And ALBERT is shown as what it is."""
    for view in ("probability", "a text"):
        app = open_page(PAGE, text=A, pair=B, view=view, model=str(checkpoint("roberta")))
        assert "left next-sentence prediction out of training" in prose(app)
    app = open_page(PAGE, text=A, pair=B, model=str(checkpoint("albert")))
    assert app.metric[0].label == "P(A, B in order)"
    assert "This model learned **sentence order prediction**" in prose(app)


def test_a_list_is_judged(open_page: Open, engine: Engine, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, view="many pairs")
    app.text_area(key="next_sentence_pairs").set_value(f'a,b,label\n"{A}","{B}",1\n=1+1,Penguins are birds.,0\n').run()
    button(app, "Test 2 pairs").click().run()
    table = next(element.value for element in app.dataframe if "p_next" in element.value)
    expected = [
        engine.next_sentence("embedded/bert", *pair).p_next for pair in ((A, B), ("=1+1", "Penguins are birds."))
    ]
    assert list(table["p_next"]) == pytest.approx(expected, abs=1e-4)
    right = sum((p > 0.5) == label for p, label in zip(expected, (True, False), strict=True))
    assert app.metric[0].value == f"{right / 2:.1%}"
    for name in ("albert", "bert"):
        app = open_page(PAGE, view="many pairs", model=str(checkpoint(name)))
        app.text_area(key="next_sentence_pairs").set_value(f'a,b\n"{A}","{B}"\n').run()
        button(app, "Test 1 pair").click().run()
        assert ("This model learned **sentence order prediction**" in prose(app)) == (name == "albert")


def test_lists_are_judged_and_links_lack_them(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, view="many pairs")
    app.text_area(key="next_sentence_pairs").set_value(f'a,b\n"{A}","{B}"\n').run()
    assert "Not in it" not in prose(app)
    button(app, "Test 1 pair").click().run()
    assert "Not in it: the results" in prose(app)
    assert "Answers by embedded/bert." in prose(app)
    app.selectbox(key="model").set_value("embedded/tinybert").run()
    assert "Answers by embedded/bert." in prose(app)
    app.file_uploader(key="pairs file").set_value(("own.csv", b"a,b\nOne.,Two.\n", "text/csv")).run()
    assert "Not in it: the file you uploaded, and the results" in prose(app)
    app = open_page(PAGE, view="many pairs")
    for csv, message in (("x,y\n1,2\n", "no column for the sentence A"), ("", "The pasted text is empty")):
        app.text_area(key="next_sentence_pairs").set_value(csv).run()
        assert message in prose(app)
        assert app.text_area(key="next_sentence_pairs").value == csv
    # By the model that is chosen; not by one without a head for it, and not somebody's own list.
    app = open_page(PAGE, view="many pairs")
    assert len(app.dataframe[0].value["p_next"]) == 5
    assert "Not in it" not in prose(app)
    app.selectbox(key="model").set_value("embedded/tinybert").run()
    assert "Answers by embedded/tinybert." in prose(app)
    app.text_area(key="next_sentence_pairs").set_value(f'a,b\n"{A}","{B}"\n').run()
    assert not any("p_next" in element.value for element in app.dataframe)
    app = open_page(PAGE, view="many pairs", model=str(checkpoint("roberta")))
    assert not app.error
    assert "p_next" not in app.dataframe[0].value


def test_a_text_names_its_weakest_link_and_attention_its_head(open_page: Open, engine: Engine) -> None:
    sentences = [A, B, "Penguins are birds."]
    app = open_page(PAGE, view="a text", passage=" ".join(sentences))
    values = [engine.next_sentence("embedded/bert", a, b).p_next for a, b in pairwise(sentences)]
    weakest = values.index(min(values)) + 1
    assert f"from sentence {weakest} to {weakest + 1}, P = {min(values):.3f}" in prose(app)
    app.text_area(key="next_sentence_passage").set_value("Only one.").run()
    assert "at least two sentences" in prose(app)

    run = engine.attend("embedded/bert", A, B)
    segments, special = np.array(run.encoding.segment_ids), np.array(run.encoding.special)
    words_a, words_b = (np.flatnonzero((segments == side) & ~special) for side in (0, 1))
    shares = np.array([run.layer(n)[:, words_a][:, :, words_b].sum(-1).mean(-1) for n in range(run.n_layers)])
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    app = open_page(PAGE, text=A, pair=B, view="attention")
    assert f"**A → B**, mean {shares.mean():.1%}" in prose(app)
    labels = [link.proto.label for link in app.get("page_link")]
    assert f"layer {layer + 1}, head {head + 1}: {shares.max():.1%}" in labels
