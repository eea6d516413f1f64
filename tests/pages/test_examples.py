"""The examples of every page: each shows what its title says, measured anew, and brings its whole state along."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from on_screen import controls, drawn, heatmaps, prose, unpacked
from streamlit.testing.v1 import AppTest

from analysis.heads import head_table
from analysis.probing.movement import movement
from model_zoo import Engine
from pages import PAGES as ALL_PAGES
from pages.attention.examples import EXAMPLES as ATTENTION
from pages.cause.examples import EXAMPLES as CAUSE
from pages.compare.examples import EXAMPLES as COMPARE
from pages.compare.fields import COMPARED, HEADS_BESIDE, LAYERS_BESIDE
from pages.layers.how_tokens_move import EXAMPLES as MOVEMENT
from pages.masked_words.examples import EXAMPLES as MASKED_WORDS
from pages.next_sentence.scene import EXAMPLES as NEXT_SENTENCE
from ui import MASKS
from ui.examples import Example, Examples
from ui.precomputed import EMBEDDED
from ui.widgets import HEAD, LAYER, PAIR, TEXT

BERT = "embedded/bert"
Open = Callable[..., AppTest]

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
    assert answer.original is not None
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
