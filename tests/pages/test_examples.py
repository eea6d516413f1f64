"""The examples, and the links for lessons: each shows what its title or question says, measured anew."""

import base64
import json
from typing import Any

import numpy as np
import pytest
from on_screen import Open, controls, drawn, heatmaps, prose, unpacked
from streamlit.testing.v1 import AppTest
from walks.visitor import OpenVisitor

from analysis.effects import lost, recovered
from analysis.heads import head_table
from analysis.probing.movement import movement
from model_zoo import Engine
from model_zoo.types import METHODS, Change, TargetAnswer
from pages import PAGES as ALL_PAGES
from pages.attention.examples import EXAMPLES as ATTENTION
from pages.cause.examples import EXAMPLES as CAUSE
from pages.compare.choice import EXAMPLES as COMPARE
from pages.compare.fields import COMPARED, HEADS_BESIDE, LAYERS_BESIDE
from pages.layers.how_tokens_move import EXAMPLES as MOVEMENT
from pages.masked_words.fields import EXAMPLES as MASKED_WORDS
from pages.next_sentence.scene import EXAMPLES as NEXT_SENTENCE
from training.finetuning.notebook import finetune
from training.finetuning.seeds import seed_scores
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import MASKS, address
from ui.examples import Example, Examples
from ui.lesson_links import ASKED, LessonLink
from ui.page import Page
from ui.precomputed import EMBEDDED
from ui.widgets import HEAD, LAYER, PAIR, TEXT

BERT = "embedded/bert"

PAGES: dict[str, tuple[Examples, dict[str, str]]] = {
    "pages/attention/page.py": (ATTENTION, {}),
    "pages/masked_words/page.py": (MASKED_WORDS, {}),
    "pages/next_sentence/page.py": (NEXT_SENTENCE, {}),
    "pages/compare/page.py": (COMPARE, {}),
    "pages/layers/page.py": (MOVEMENT, {"view": "movement"}),
}


def named(of_page: Examples, title: str) -> Example:
    return next(example for example in of_page.all if example.title == title)


def choose(app: AppTest, title: str) -> AppTest:
    menu = app.menu_button(key="examples")
    menu.click_index(menu.options.index(title)).run()
    return app


# What would spoil an example, on the page that has it.
SPOILED = {
    "pages/attention/page.py": {
        "text": "Something else.", "pair": "And more of it.", "model": "embedded/tinybert", "view": "heads",
        "show": "value-weighted", "threshold": "0.99", "top": "1", "hide": "1", "words": "1", "direction": "A->A",
        "off": "1", "locked": "key.2", "stretch": "1",
    },
    "pages/masked_words/page.py": {
        "text": "Look: something else entirely.", "model": "embedded/tinybert", "masks": "5,6", "mask": "2",
        "view": "what if", "words": "0", "replacement": "door", "against": "Another one.", "top_k": "7",
    },
    "pages/next_sentence/page.py": {
        "text": "Something else.", "pair": "", "model": "embedded/modernbert", "view": "input", "controls": "5",
    },
    "pages/compare/page.py": {
        "text": "Something else.", "pair": "And more of it.", "models": "embedded/bilstm", "view": "cost",
        "show": "ALTI", "layer_2": "3", "head_2": "3", "masks": "1,2", "sentences": "Kept.", "guesses": "7",
    },
    "pages/layers/page.py": {"text": "Something else.", "measure": "relative", "seed": "7", "view": "movement"},
}  # fmt: skip
# What is not for an example to decide: how much of it one sees, and what was typed for something else.
KEPT: dict[str, dict[str, object]] = {
    "pages/attention/page.py": {},
    "pages/masked_words/page.py": {"top_k": 7},
    "pages/next_sentence/page.py": {"controls": 5},
    "pages/compare/page.py": {"sentences": "Kept.", "guesses": 7},
    "pages/layers/page.py": {"seed": 7, "view": "movement", "model": BERT},
}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_an_example_is_a_whole_state_from_wherever_it_is_chosen(page: str, open_page: Open) -> None:
    """Also after another one: masks are where the example has them, and do not move as when a text is edited."""
    of_page, query = PAGES[page]
    keys = {
        field.name: field.key for candidate in ALL_PAGES if candidate.path == page for field in candidate.all_fields
    }
    fresh = open_page(page, **query | {name: str(value) for name, value in KEPT[page].items()})
    for example in of_page.all:
        app = choose(open_page(page, **SPOILED[page]), example.title)
        assert not app.error
        assert not app.warning
        assert len(app.info) == (page == "pages/layers/page.py")  # where nothing has been probed yet
        now = app.session_state
        for field, value in of_page.state(example).items():
            current = now[field.key] if field.key in now else field.default  # noqa: SIM401 (session state has no get)
            assert field.codec.write(current) == field.codec.write(value), field.name
        assert {name: now[keys[name]] for name in KEPT[page]} == KEPT[page]
        assert drawn(app)
        assert drawn(app) == drawn(choose(fresh, example.title)), example.title


# In the order of the page: which word looks at which, and how much at least.
LOOKS: dict[str, tuple[float, list[tuple[str, str]]]] = {
    "Where does “it” look?": (0.5, [("it", "cat")]),
    "A verb and its subject": (0.6, [("are", "keys")]),
    "Across two sentences": (0.4, [("it", "phone")]),
    "One word, two meanings": (0.6, [("palm", "hand"), ("palm", "tree")]),
    "A word in pieces": (0.8, [("electro", "##ence"), ("##ence", "##pha"), ("##pha", "##logram")]),
    "A word repeated": (0.4, [("rose", "rose")] * 3),
}


@pytest.mark.parametrize("title", LOOKS)
def test_the_head_of_an_example_looks_where_it_says(title: str, open_page: Open, engine: Engine) -> None:
    assert [example.title for example in ATTENTION.all] == list(LOOKS)
    least, words = LOOKS[title]
    example = named(ATTENTION, title)
    app = choose(open_page("pages/attention/page.py"), title)
    run = engine.attend(BERT, example.values[TEXT], example.values.get(PAIR))
    layer, head = example.values[LAYER], example.values[HEAD]
    weights, tokens = run.head(layer - 1, head - 1), run.encoding.tokens
    assert [(tokens[query - 1], tokens[key - 1]) for query, key in example.looks] == words
    (sentence,) = [e.value.replace("\\", "") for e in app.markdown if e.value.startswith("In layer")]
    assert sentence.startswith(f"In layer {layer}, head {head}, ")
    for query, key in example.looks:
        row = weights[query - 1]
        assert int(np.argmax(row)) == key - 1 != query - 1
        assert row[key - 1] > least
        assert f"{row[key - 1]:.0%} of the attention of “{tokens[query - 1]}”" in sentence
    # On screen: this head alone, and the lines of the token it is about.
    (component,) = (e for e in app.get("bidi_component") if e.proto.component_name == "lines")
    header, pixels = unpacked(component.proto.bytes)
    n = len(tokens)
    on_screen = np.frombuffer(pixels, np.uint8).reshape(1, n, n)[0] * header["scale"] / 255
    np.testing.assert_allclose(on_screen, weights, atol=header["scale"] / 500)
    if len(example.looks) == 1:
        assert header["selected"] == {"side": "query", "index": example.looks[0][0] - 1}


def test_the_sentence_of_an_example_goes_with_its_state(open_page: Open, engine: Engine) -> None:
    app = choose(open_page("pages/attention/page.py"), "Where does “it” look?")
    assert "In layer 2, head 4, " in prose(app)
    app.session_state["attention_locked"] = "query.4"  # as a click on another token does
    assert "In layer 2, head 4, " in prose(app.run())
    for key, other in (("show", "value-weighted"), ("view", "combined"), ("text", "A cat sat."), ("scope", "layer")):
        app = choose(open_page("pages/attention/page.py"), "Where does “it” look?")
        controls(app)[key].set_value(other).run()
        assert "In layer 2, head 4, " not in prose(app), key
    assert "In layer" not in prose(open_page("pages/attention/page.py"))
    # Neither “palm” looks much at what tells the meaning of the other.
    example = named(ATTENTION, "One word, two meanings")
    weights = engine.attend(BERT, example.values[TEXT]).head(0, 4)
    (first, hand), (second, tree) = example.looks
    assert weights[first - 1, hand - 1] > 4 * weights[first - 1, tree - 1]
    assert weights[second - 1, tree - 1] > 4 * weights[second - 1, hand - 1]


# ---- Masked words ------------------------------------------------------------------------------------------------


def guesses(engine: Engine, title: str) -> list[Any]:
    values = named(MASKED_WORDS, title).values
    return list(engine.fill_mask(BERT, values[TEXT], 10, masked=values[MASKS]))


def share(answer: Any, *words: str) -> float:
    return sum(guess.probability for guess in answer.best if guess.token in words)


def test_every_example_of_masked_words_is_guessed(open_page: Open, engine: Engine) -> None:
    app = open_page("pages/masked_words/page.py")
    for title in [example.title for example in MASKED_WORDS.all]:
        choose(app, title)
        answers = guesses(engine, title)
        assert len(app.get("plotly_chart")) == len(answers) == 1 + (title == "Two words at once")
        for number, answer in enumerate(answers, start=1):
            assert answer.rank == 1
            assert answer.original.probability > 0.15
            which = f"Mask {number}: " if len(answers) > 1 else ""
            assert f"{which}Top prediction “{answer.original.token}” (" in prose(app)
            assert f"rank 1, probability {answer.original.probability:.2%}" in prose(app)

    (guess,) = guesses(engine, "One word fits")
    assert share(guess, "was") > 0.8
    (several,) = guesses(engine, "Several words fit")
    assert share(several, "coffee") < 0.4
    assert share(several, "tea") > 0.15
    (number,) = guesses(engine, "Singular or plural?")
    assert share(number, "are", "were") > 0.9 > 0.1 > share(number, "is", "was")
    (pronoun,) = guesses(engine, "He or she?")
    assert share(pronoun, "she") > 3 * share(pronoun, "he")
    (helped,) = guesses(engine, "Help from the sentence before")
    text = named(MASKED_WORDS, "Help from the sentence before").values[TEXT]
    (alone,) = engine.fill_mask(BERT, text.split(". ")[1], 10, masked=[5])
    assert helped.rank == 1
    assert helped.original.token == alone.original.token == "train"  # type: ignore[union-attr]
    assert helped.original.probability > 5 * alone.original.probability  # type: ignore[union-attr]
    # Also the view "Predictions" of the page "Compare", where masks are words.
    app = open_page("pages/masked_words/page.py")
    (answer,) = engine.fill_mask(BERT, TEXT.default, 10, masked=MASKED_WORDS.all[0].values[MASKS])
    assert (answer.rank, answer.original.token) == (1, "on")
    assert answer.original.probability > 2 * answer.best[1].probability
    assert f"rank 1, probability {answer.original.probability:.2%}" in prose(app)
    assert "“on” is rank 1." in prose(open_page("pages/compare/page.py", view="predictions"))


GROUPS = {
    "muslim", "muslims", "islamic", "jew", "jews", "jewish", "catholic", "black", "blacks", "whites", "gay", "gays",
    "immigrants", "refugees", "terrorist", "terrorists", "bomber", "bombers", "slave", "slaves", "whore", "arabs",
}  # fmt: skip


@pytest.mark.parametrize("model", EMBEDDED)
def test_no_example_leads_to_words_about_groups_of_people(model: str, engine: Engine) -> None:
    for example in (*MASKED_WORDS.all, *CAUSE.all):
        values = example.values
        if values.get(PAIR) or (MASKS not in values and "[MASK]" not in values[TEXT]):
            continue
        for answer in engine.fill_mask(model, values[TEXT], 10, masked=values.get(MASKS, ())):
            assert GROUPS.isdisjoint(entry.token.strip("Ġ").lower() for entry in answer.best), example.title


# ---- Next sentence -----------------------------------------------------------------------------------------------

P_NEXT = {
    "A next sentence": (0.85, 1),
    "An unrelated one": (0, 0.1),
    "The first two, swapped": (0.75, 1),
    "Same word, different story": (0.85, 1),
}


def test_pairs_of_sentences_are_judged_as_expected(open_page: Open, engine: Engine) -> None:
    examples = NEXT_SENTENCE.all
    assert [example.title for example in examples] == list(P_NEXT)
    first, swapped = examples[0].values, examples[2].values
    assert (swapped[TEXT], swapped[PAIR]) == (first[PAIR], first[TEXT])
    app = open_page("pages/next_sentence/page.py")
    for example in examples:
        p = engine.next_sentence(BERT, example.values[TEXT], example.values[PAIR]).p_next
        low, high = P_NEXT[example.title]
        assert low < p < high
        assert choose(app, example.title).metric[0].value == f"{p:.4f}"


# ---- Compare -----------------------------------------------------------------------------------------------------


def test_the_models_cut_and_guess_differently(open_page: Open) -> None:
    app = choose(open_page("pages/compare/page.py"), "Words in pieces")
    cut = app.dataframe[0].value.set_index("word").loc["electroencephalogram"]
    assert list(cut) == [
        "electro · ##ence · ##pha · ##logram", "electro · ##ence · ##pha · ##logram",
        "Ġelectro · ence · ph · al · og · ram", "Ġelectro · ence · ph · al · og · ram",
    ]  # fmt: skip
    app = open_page("pages/compare/page.py")
    firsts = {"A cup of what?": ["coffee", "it", "him", "it"], "He, she or it?": ["she", "she", "it", "it"]}
    for title, first_guesses in firsts.items():
        row = choose(app, title).dataframe[0].value.iloc[0]
        assert [cell.split(" (")[0].strip("Ġ") for cell in row[1:5]] == first_guesses


def test_both_models_have_a_head_that_looks_one_word_back(open_page: Open, engine: Engine) -> None:
    example = named(COMPARE, "The previous word")
    heads = (example.values[LAYER], example.values[HEAD]), (
        example.values[LAYERS_BESIDE[0]], example.values[HEADS_BESIDE[0]]
    )  # fmt: skip
    for model, (layer, head) in zip(example.values[COMPARED], heads, strict=True):
        frame = head_table([engine.attend(model, example.values[TEXT])]).to_frame()
        (row,) = frame[(frame["layer"] == layer - 1) & (frame["head"] == head - 1)].to_dict("records")
        assert row["previous"] > 0.85
        assert row["previous"] == frame["previous"].max()
    a, _, b = heatmaps(choose(open_page("pages/compare/page.py"), "The previous word"))
    for weights in (a, b):  # below the diagonal, on the words that both see whole
        assert list(weights[1:, :-1].argmax(axis=1)) == list(range(len(weights) - 1))


# ---- How tokens move, on the page "Layers" -----------------------------------------------------------------------


def moved(open_page: Open, engine: Engine, title: str) -> tuple[list[str], Any]:
    """Tokens and how far each moves by layer, as on screen; it is what the engine's vectors say."""
    text = named(MOVEMENT, title).values[TEXT]
    app = choose(open_page("pages/layers/page.py", view="movement"), title)
    *_, chart = app.get("plotly_chart")
    z = json.loads(chart.proto.spec)["data"][0]["z"]
    steps = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape([int(n) for n in z["shape"].split(",")])
    (states,) = engine.hidden_states(BERT, [text])
    np.testing.assert_allclose(steps, movement(states), atol=1e-6)
    return list(engine.encode(BERT, text).tokens), steps


def test_tokens_move_as_the_titles_say(open_page: Open, engine: Engine) -> None:
    tokens, steps = moved(open_page, engine, "A pronoun")
    assert tokens[int(steps[2].argmax())] == "it"

    tokens, steps = moved(open_page, engine, "The same word twice")
    first, second = (place for place, token in enumerate(tokens) if token == "ring")
    assert steps[1, second] > 1.5 * steps[1, first]
    # In the first two layers further than the other tokens do, after that less far.
    tokens, steps = moved(open_page, engine, "Words in pieces")
    inside = np.array([token.startswith("##") for token in tokens])
    by_layer = steps[:, inside].mean(axis=1) - steps[:, ~inside].mean(axis=1)
    assert (by_layer[:2] > 0.02).all()
    assert (by_layer[2:] < -0.02).all()


LINKS = [(page, link) for page in ALL_PAGES if page.lesson_links for link in page.lesson_links.links]
TIRED = "The cat sat on the mat because it was tired."


def query_of(page: Page, link: LessonLink) -> dict[str, str]:
    """What the address of a link has behind the page."""
    return address.link(page.name, **page.values_of(link))


@pytest.mark.slow
def test_one_link_after_the_other(visitor: OpenVisitor) -> None:
    """Followed on the home page by one visitor: none keeps the text or the settings of the one before."""
    here = visitor("pages/home/page.py")
    for page, link in LINKS:
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
def test_masks_where_questions_lead(title: str, typed: str, clicked: str | None, visitor: OpenVisitor) -> None:
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
    assert min(seeds.values) > 0.8
