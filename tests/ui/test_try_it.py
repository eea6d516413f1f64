"""View "Try it": a text of one's own, answered by a tuned model of every kind, as ``Predict`` answers it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tuning
from on_screen import prose, run_script, to_save
from streamlit.testing.v1 import AppTest
from train_page import chart, lines
from tried_texts import MARKDOWN, NASTY

from model_zoo import Engine
from pages.train import try_it
from pages.train.scene import Scene
from training.finetuning.data import KINDS, Kind
from training.finetuning.predict import Predict
from training.finetuning.results import Answered, AnswerSpan, Classified, Rated, TaggedWords, Tuned
from training.finetuning.sets import SETS

TEXTS: dict[Kind, tuple[str, str | None]] = {
    "classification": ("The cat crossed the old bridge.", None),
    "tagging": ("The baker of Zwolle shimmered.", None),
    "answering": ("Who slept?", "The old baker slept\n\nnear the river. The cat did not."),
    "similarity": ("The cat slept.", "A cat was asleep."),
}


@pytest.fixture(scope="module")
def trained(engine: Engine) -> Callable[[Kind], Tuned]:
    """A model that was tuned for this kind, a little."""
    made: dict[Kind, Tuned] = {}

    def of(kind: Kind) -> Tuned:
        if kind not in made:
            made[kind] = tuning.outcome(engine, tuning.question("embedded/tinybert", tuning.data(kind), epochs=4))
        return made[kind]

    return of


def _script(scene: object) -> None:
    from pages.train import try_it
    from ui import address

    address.enter("train", "Train", try_it.VIEW.fields)
    try_it.VIEW.draw(scene)
    address.publish()


def opened(*tuned: Tuned, model: str = "embedded/tinybert", text: str = "", pair: str | None = None) -> AppTest:
    data = tuned[0].data if tuned else None
    scene = Scene(data, None, model, tuning.question(model).settings, tuned)
    return run_script(_script, scene, query={"try_text": text} | ({} if pair is None else {"try_pair": pair}))


def answer(engine: Engine, outcome: Tuned, kind: Kind) -> Any:
    return engine.ask(Predict(outcome.id, (TEXTS[kind],)))[0]


@pytest.mark.usefixtures("app")
def test_before_a_training_it_says_what_to_do() -> None:
    assert "This opens once a model has been trained" in prose(opened())


@pytest.mark.slow
@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_typed_shows_the_first_item_and_offers_others(kind: Kind, trained: Callable[[Kind], Tuned]) -> None:
    outcome = trained(kind)
    app = opened(outcome)
    assert "An example: " in prose(app)
    assert app.text_area[0].value == ""
    app.menu_button(key="try").click(1).run()
    item = outcome.data.test[1]
    assert app.text_area[0].value == item.text
    assert app.query_params["try_text"] == item.text
    if kind in ("answering", "similarity"):
        assert app.text_area[1].value == item.pair
    assert "An example: " not in prose(app)
    assert not app.info
    assert "Model: " in prose(app)


@pytest.mark.usefixtures("app")
def test_labels_have_the_probabilities_of_predict(engine: Engine, trained: Callable[[Kind], Tuned]) -> None:
    outcome = trained("classification")
    expected = answer(engine, outcome, "classification")
    assert isinstance(expected, Classified)
    app = opened(outcome, text=TEXTS["classification"][0])
    (bars,) = chart(app)["data"]
    np.testing.assert_allclose(bars["x"], sorted(expected.probabilities, reverse=True))
    assert f"**{expected.label}**" in prose(app)
    assert len(app.text_area) == 1  # its texts came alone
    assert to_save(app) == ["Probabilities (CSV)"]


@pytest.mark.slow
@pytest.mark.usefixtures("app")
def test_a_second_text_is_asked_for_where_there_are_two(trained: Callable[[Kind], Tuned]) -> None:
    app = opened(trained("answering"), text="The cat slept.", pair="   ")
    assert "Type a passage, too." in prose(app)
    assert app.text_area[0].value == "The cat slept."
    outcome = trained("classification")
    train = tuple(replace(item, pair="and the dog") for item in outcome.data.train)
    of_pairs = replace(outcome, data=replace(outcome.data, train=train))
    app = opened(of_pairs, text="The cat slept.")
    assert len(app.text_area) == 2
    assert "Type a second text, too." in prose(app)
    assert opened(of_pairs, text="The cat slept.", pair="A dog did not.").get("plotly_chart")


@pytest.mark.usefixtures("app")
def test_words_have_their_tags_and_tokens_show_what_is_learnt_of_them(engine, trained) -> None:
    outcome = trained("tagging")
    expected = answer(engine, outcome, "tagging")
    assert isinstance(expected, TaggedWords)
    words, tokens = lines(opened(outcome, text=TEXTS["tagging"][0]))
    assert [item["cells"][0]["text"] for item in words["items"]] == list(expected.words)
    assert [item["cells"][1]["text"] for item in words["items"]] == [
        "·" if tag == "O" else tag for tag in expected.tags
    ]
    encoding = engine.encode(outcome.id, TEXTS["tagging"][0])
    assert [item["cells"][0]["text"] for item in tokens["items"]] == list(encoding.tokens)
    of_tokens = [item["cells"][1]["text"] for item in tokens["items"]]
    # By the tokenizer's own account of words: the first piece of each, and nothing of special tokens.
    before = None
    firsts = []
    for place, word in enumerate(encoding.word_ids):
        if word is not None and word != before:
            firsts.append(place)
        before = word
    assert [place for place, tag in enumerate(of_tokens) if tag != "−100"] == firsts
    assert [of_tokens[place] for place in firsts] == list(expected.tags)
    assert len(firsts) < len(encoding) - 2


@pytest.mark.usefixtures("app")
def test_an_answer_is_marked_in_its_passage_beside_no_answer(engine: Engine, trained: Callable[[Kind], Tuned]) -> None:
    outcome = trained("answering")
    expected = answer(engine, outcome, "answering")
    assert isinstance(expected, Answered)
    question, passage = TEXTS["answering"]
    app = opened(outcome, text=question, pair=passage)
    start, end = chart(app)["data"]
    np.testing.assert_allclose(start["y"], expected.start_scores, rtol=1e-6)
    np.testing.assert_allclose(end["y"], expected.end_scores, rtol=1e-6)
    best = expected.spans[0]
    assert f":primary-background[{' '.join(best.text.split())}]".replace(".", "") in prose(app).replace(".", "")
    ahead = "ahead of" if expected.margin > 0 else "behind"
    assert f"{abs(expected.margin):.2f} {ahead} the best span ({best.score:.2f})" in prose(app)
    table = app.table[0].value
    assert list(table["score"]) == [f"{span.score:.2f}" for span in expected.spans] + [f"{expected.no_answer:.2f}"]
    assert to_save(app) == ["Start and end scores (CSV)"]


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(("no_answer", "says"), [(-9.0, "**The old baker**"), (9.0, "**no answer in this passage**")])
def test_the_higher_of_span_and_no_answer_wins(monkeypatch, trained, no_answer, says) -> None:
    answered = Answered(
        (AnswerSpan(0, 13, "The old baker", 3.0),), no_answer, ("the", "old", "baker"), ((0, 3), (4, 7), (8, 13)),
        (2.0, 0.0, 0.0), (0.0, 0.0, 1.0),
    )  # fmt: skip
    monkeypatch.setattr(try_it.Predict, "answer", lambda _question, _loaded: (answered,))
    app = opened(trained("answering"), text=f"Who slept {no_answer}?", pair="The old baker slept.")
    assert says in prose(app)
    shade = next(shape for shape in chart(app)["layout"]["shapes"] if shape["type"] == "rect")
    assert (shade["x0"], shade["x1"]) == (-0.5, 2.5)


@pytest.mark.usefixtures("app")
def test_two_texts_have_a_score(engine: Engine, trained: Callable[[Kind], Tuned]) -> None:
    outcome = trained("similarity")
    expected = answer(engine, outcome, "similarity")
    assert isinstance(expected, Rated)
    text, pair = TEXTS["similarity"]
    app = opened(outcome, text=text, pair=pair)
    assert f"**{expected.score:.2f}** of 5" in prose(app)
    assert ("without bounds" in prose(app)) == (not 0 <= expected.score <= 5)


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_typed_is_shown_as_text(kind: Kind, trained: Callable[[Kind], Tuned]) -> None:
    outcome, nasty = trained(kind), "\n".join(NASTY)
    app = opened(outcome, text=nasty, pair=nasty if TEXTS[kind][1] else None)
    for message in (*app.markdown, *app.caption, *app.info, *app.warning):
        assert not MARKDOWN.search(message.value)
    assert app.text_area[0].value == nasty


@pytest.mark.usefixtures("app")
def test_a_long_text_is_cut_and_that_is_said(trained: Callable[[Kind], Tuned]) -> None:
    app = opened(trained("tagging"))
    app.text_area[0].set_value("the cat slept " * 400).run()
    assert not app.exception
    assert "were left out" in app.warning[0].value
    words, tokens = lines(app)
    assert len(words["items"]) == 1200
    assert len(tokens["items"]) < 1200


@pytest.mark.usefixtures("app")
def test_a_model_tuned_elsewhere_is_tried_with_the_examples_of_its_kind(trained: Callable[[Kind], Tuned]) -> None:
    outcome = trained("classification")
    app = opened(model=outcome.id, text="The cat slept.")
    assert app.get("plotly_chart")
    assert len(app.text_area) == 2  # whether it learnt from pairs is not known
    of_kind = next(built_in for built_in in SETS.values() if built_in.kind == "classification")
    app.menu_button(key="try").click(0).run()
    assert app.text_area[0].value == of_kind.tries[0][0]
    app = opened(replace(outcome, data=replace(outcome.data, name="sentiment")))
    assert len(app.menu_button(key="try").options) == len(SETS["sentiment"].tries)
