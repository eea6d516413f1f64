"""The links for a lesson: each opens what it names, and the models still answer as its question takes for granted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from walks.visitor import Visitor

from analysis.effects import lost, recovered
from model_zoo import Engine
from model_zoo.types import METHODS, Change, TargetAnswer
from pages import PAGES
from training.finetuning.notebook import finetune
from training.finetuning.seeds import seed_scores
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import address
from ui.lesson_links import ASKED, LessonLink
from ui.page import Page

Open = Callable[..., AppTest]

BERT = "embedded/bert"
LINKS = [(page, link) for page in PAGES if page.lesson_links for link in page.lesson_links.links]
TIRED = "The cat sat on the mat because it was tired."


def query_of(page: Page, link: LessonLink) -> dict[str, str]:
    """What the address of a link has behind the page."""
    return address.link(page.name, **page.values_of(link))


@pytest.mark.slow
def test_one_link_after_the_other(visitor: Callable[..., Visitor]) -> None:
    """Followed on the home page by one visitor: none keeps the text or the settings of the one before."""
    here = visitor("pages/home/page.py")
    for page, link in LINKS:
        assert page.lesson_links is not None
        (link_shown,) = [e for e in here.elements() if e.type == "page_link" and e.proto.label == f"**{link.title}**"]
        here.follow(link_shown)
        messages = [e for e in here.elements() if e.type in ("exception", "error", "warning", "info")]
        assert not messages, (link.title, messages)
        texts = " ".join(str(e.value) for e in here.elements() if e.type in ("caption", "markdown"))
        assert link.question in texts
        assert "could not be used" not in texts
        assert "There are no results yet" not in texts
        values = {field: here.value(field.key, field.default) for field in page.lesson_links.state(link)}
        written = {f.name: f.codec.write(tuple(v) if isinstance(v, list) else v) for f, v in values.items()}
        assert written == query_of(page, link), link.title
        here.go("pages/home/page.py")


@pytest.mark.parametrize(
    ("title", "typed", "clicked"),
    [
        ("The words on both sides count", "The children is asleep.", None),
        ("A larger and a smaller BERT", "He looked at her and shook his head.", "his"),
    ],
)
def test_the_mask_is_where_the_question_leads(
    title: str, typed: str, clicked: str | None, visitor: Callable[..., Visitor]
) -> None:
    """The text is changed as the question says; where that changes the hidden word, it is clicked again."""
    ((page, link),) = [(page, link) for page, link in LINKS if link.title == title]
    here = visitor(page.path, **query_of(page, link))
    here.use(here.widget("text"), typed)
    if clicked is not None:
        assert f"click “{clicked}”" in link.question
        strip = here.widget("mask_strip")
        here.use(strip, (next(word for word in strip.options if clicked in word),))  # type: ignore[attr-defined]
    assert dict(here.address.query)["masks"] == query_of(page, link)["masks"]


def test_a_question_is_named_by_its_link_and_home_offers_every_one(open_page: Open) -> None:
    names = [(page.name, link.name) for page, link in LINKS]
    assert len(set(names)) == len(names)
    assert all(ASKED.codec.read(link.name) == link.name for _, link in LINKS)
    page, link = LINKS[0]
    app = open_page(page.path, **query_of(page, link))
    assert link.question in [element.value.removeprefix(":material/school: ") for element in app.markdown]
    app.button(key="close-the-question").click().run()
    assert link.question not in " ".join(element.value for element in app.markdown)
    assert ASKED.name not in app.query_params
    app = open_page(page.path, **query_of(page, link))
    app.menu_button(key="examples").click_index(0).run()
    assert not [element for element in app.button if element.key == "close-the-question"]
    other = open_page(page.path, question="no-such-link")
    assert not [element for element in other.button if element.key == "close-the-question"]
    assert not other.warning

    app = open_page("pages/home/page.py")
    text = " ".join(element.value for element in app.markdown)
    assert all(link.question in text for _, link in LINKS)
    assert [expander.label for expander in app.expander] == list(
        dict.fromkeys(page.lesson_links.heading for page, _ in LINKS)
    )


@pytest.mark.slow
def test_heads_look_where_the_questions_say(engine: Engine) -> None:
    run = engine.attend(BERT, TIRED)
    row = run.head(1, 3)[run.encoding.tokens.index("it")]
    assert run.encoding.tokens[int(row.argmax())] == "cat"
    assert row.sum() == pytest.approx(1)

    weights = engine.attend(BERT, "The dog ran into the garden and barked at the cat.").head(0, 2)
    assert np.diagonal(weights, -1).min() > 0.9
    assert weights[0, 0] > 0.9, "[CLS] has none before it"

    run = engine.attend(BERT, TIRED)
    weights = run.head(4, 6)
    passed_on = weights * run.value_norms(4)[6]
    share = (passed_on / passed_on.sum(axis=1, keepdims=True))[:, 0].mean()
    assert run.encoding.tokens[0] == "[CLS]"
    assert weights[:, 0].min() > 0.85
    assert share < 0.75

    hers, his = "She looked at him and shook her head.", "He looked at her and shook his head."
    assert [best(engine, text, 7)[0] for text in (hers, his)] == ["her", "her"]
    assert [best(engine, text, 7, "embedded/tinybert")[0] for text in (hers, his)] == ["his", "his"]

    text = "The dog near the houses was hungry."
    assert best(engine, text, 6)[0] == "was"
    assert best(engine, text, 6, "embedded/bilstm")[0] == "were"

    text = "She sat at the table and drank a cup of [MASK]."
    first: dict[str, list[str]] = {}
    for method in METHODS:
        attribution = engine.attribute(BERT, text, method=method)
        first[method] = [attribution.encoding.tokens[place] for place in np.argsort(-attribution.scores)[:2]]
    assert set(first["occlusion"]) == set(first["integrated gradients"]) == set(first["attention"]) == {"cup", "of"}
    assert first["rollout"][0] == "."


def best(engine: Engine, text: str, position: int, model: str = BERT) -> list[str]:
    (answer,) = engine.fill_mask(model, text, 5, masked=[position])
    return [prediction.token.lstrip("Ġ") for prediction in answer.best]


def test_words_are_predicted_as_the_questions_say(engine: Engine) -> None:
    assert {"people", "children"} <= set(best(engine, "The children are asleep.", 2))
    assert not {"people", "children"} & set(best(engine, "The children is asleep.", 2))

    assert set(best(engine, "The dogs near the house are hungry.", 6)[:2]) == {"are", "were"}
    assert set(best(engine, "The dog near the house are hungry.", 6)[:2]) == {"is", "was"}
    assert set(best(engine, "The dogs near the houses are hungry.", 6)[:2]) == {"are", "were"}

    (lens,) = engine.mask_lens(BERT, "He drank a cup of coffee.", masked=[6])
    firsts = [layer[0].token for layer in lens.layers]
    assert firsts[-1] == "coffee"
    assert "coffee" not in firsts[:3]

    shares = {}
    for occupation in ("engineer", "nurse"):
        (answer,) = engine.fill_mask(BERT, f"The {occupation} said that she was tired.", 50, masked=[5])
        of = {prediction.token: prediction.probability for prediction in answer.best}
        shares[occupation] = of["she"] / of["he"]
    assert shares["nurse"] > 2 * shares["engineer"]

    dog, barked = "The dog ran into the garden.", "It barked at the cat."
    assert engine.next_sentence(BERT, dog, barked).p_next > 0.9
    assert engine.next_sentence(BERT, barked, dog).p_next > 0.9
    assert engine.next_sentence(BERT, dog, "The parliament passed the law in May.").p_next < 0.1
    assert engine.next_sentence(BERT, dog, "The dog in the film was a wolf.").p_next > 0.9


def test_one_head_matters_and_the_number_goes_from_the_noun_to_the_mask(engine: Engine) -> None:
    text, aim = "The dogs near the house [MASK] hungry.", TargetAnswer(answer="are", foil="is")
    heads = [(layer, head) for layer in range(6) for head in range(12)]
    effects = engine.intervene(BERT, text, [Change(heads=(head,)) for head in heads], aim=aim)
    bits = lost(effects, "bits")
    highest = effects.readings[int(bits.argmax())]
    assert effects.untouched.best[0].token == "are"
    assert highest.best[0].token == "were"
    zero = [place for place in range(72) if abs(bits[place]) < 0.005]  # written as 0
    assert len(zero) >= 3
    for three in (zero[:3], zero[-3:]):
        (answer,) = engine.ablate(BERT, text, [heads[place] for place in three], targets=["are"])  # type: ignore[misc]
        assert answer.best[0].token == "are"
        assert np.exp(answer.targets[0].log_probability) == pytest.approx(effects.answer.probability, abs=0.02)

    dogs, dog = "The dogs near the house [MASK] hungry.", "The dog near the house [MASK] hungry."
    effects = engine.patch(BERT, dogs, dog, aim=TargetAnswer(answer="are", foil="is"))
    shares = recovered(effects, "difference").reshape(7, -1)
    noun, mask = (effects.encoding.tokens.index(token) for token in ("dogs", "[MASK]"))
    assert (shares[:4, noun] > 0.5).all()
    assert (shares[4:, noun] < 0.1).all()
    assert (shares[:4, mask] < 0.1).all()
    assert (shares[4:, mask] > 0.5).all()


@pytest.mark.slow
def test_twenty_sentences_teach_no_more_than_guessing_gets_and_all_of_them_do() -> None:
    few = finetune("sentiment", model=BERT, examples=20).scores["accuracy"]
    assert few.low <= 0.5 <= few.high
    seeds = seed_scores(SETS["sentiment"].build(), BERT, Settings())
    assert seeds is not None
    assert min(seeds.values) > 0.8
