"""Small parts of pages: tables, notes, the card of a model's size, components, the glossary."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from on_screen import run_script
from streamlit import config
from streamlit.dataframe_util import convert_pandas_df_to_arrow_bytes

import model_zoo
from model_zoo import DEFAULT_MODEL, Engine, registry
from ui import glossary, notes
from ui.component import component_value, on_component_event
from ui.glossary import TERMS, link_terms, list_terms, quote, strip_terms, term_html, terms
from ui.size_card import PUBLISHED, sizes, table
from ui.tables import MOST_TEXT, short


def test_a_table_that_fits_is_left_as_it_is() -> None:
    table = pd.DataFrame({"a": ["x" * 100_000], "p": [0.5]})
    assert short(table) is table


@pytest.mark.parametrize("sign", ["x", "漢", "😀"])
def test_a_list_as_long_as_a_file_may_be_fits_into_one_message(sign: str) -> None:
    text = sign * (480 // len(sign.encode()))
    table = pd.DataFrame({"a": [text] * 10_000, "b": [text] * 10_000, "label": [True] * 5_000 + [None] * 5_000})
    limit = config.get_option("server.maxMessageSize") * 1e6
    assert len(convert_pandas_df_to_arrow_bytes(table)) > limit
    cut = short(table)
    assert len(convert_pandas_df_to_arrow_bytes(cut)) < limit
    share = MOST_TEXT // 30_000 // len(sign.encode())
    assert list(cut.iloc[0])[:2] == [sign * share + "…"] * 2
    assert list(cut["label"]) == list(table["label"])


def test_what_is_cut_is_said() -> None:
    def page(n: int) -> None:
        import pandas as pd

        from ui import tables

        tables.draw(pd.DataFrame({"a": ["x" * n] * 2}))

    def captions(n: int) -> list[str]:
        return [caption.value for caption in run_script(page, n).caption]

    assert captions(10) == []
    assert captions(2_000_000) == ["Texts that end in “…” are cut on this screen alone."]


@pytest.mark.parametrize(("dtype", "digits"), [("bfloat16", 2), ("float16", 3)])
def test_numbers_that_are_rounded_more_are_told(dtype, digits, engine, checkpoint) -> None:
    info = engine.info(str(checkpoint("bert")))
    assert "digits" not in notes.about_model(info, 5)
    line = notes.about_model(replace(info, dtype=dtype, device="cuda"), 5)
    assert f"{dtype} on cuda" in line
    assert f"It runs in {dtype} here, which keeps about {digits} digits of every number" in line


def test_tokens_without_a_place_in_the_text_are_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = engine.encode(DEFAULT_MODEL, "The cat sat.")
    sentences: list[str] = []
    monkeypatch.setattr(notes, "note", sentences.append)
    notes.warn_of_reading(placed, DEFAULT_MODEL)
    assert sentences == []
    word_ids = tuple(None if at == 2 else word for at, word in enumerate(placed.word_ids))
    notes.warn_of_reading(replace(placed, word_ids=word_ids), DEFAULT_MODEL)
    (sentence,) = sentences
    assert placed.tokens[2] in sentence


WEIGHTS = Path(model_zoo.__file__).parent / "weights"


def test_bert_is_as_its_authors_say() -> None:
    base, large = (sizes(registry.MODELS[model]) for model in PUBLISHED)
    assert [base[row] for row in ("layers", "width (hidden size)", "attention heads a layer")] == ["12", "768", "12"]
    assert [large[row] for row in ("layers", "width (hidden size)", "attention heads a layer")] == ["24", "1,024", "16"]
    assert pytest.approx(130e9, rel=0.01) == 256 * 512 * 1_000_000  # sequences × tokens × steps
    assert base["tokens read in pretraining"] == "about 130 billion"


@pytest.mark.parametrize("name", ["bert", "tinybert", "modernbert", "bilstm"])
def test_tokens_and_minutes_are_those_of_the_model_card(name: str) -> None:
    card = " ".join((WEIGHTS / f"embedded-{name}" / "README.md").read_text(encoding="utf-8").split())
    training = card.partition("## Training")[2].partition("|")[0]
    millions = sum(float(n) for n in re.findall(r"([\d.]+) million tokens", training))
    minutes = sum(int(n) for n in re.findall(r"(\d+) minutes", training))
    rows = sizes(registry.MODELS[f"embedded/{name}"])
    assert rows["tokens read in pretraining"].split()[0] == f"{millions:.1f}"
    number, unit = rows["pretraining took"].split()[:2]
    assert float(number) * {"hours": 60, "minutes": 1}[unit] == pytest.approx(minutes, rel=0.02)


def test_another_listed_model_has_a_column_and_an_unlisted_one_has_none() -> None:
    assert "RoBERTa base" in table("FacebookAI/roberta-base")
    assert table("somebody/elses") == table("embedded/bert")
    assert len({line.count("|") for line in table("FacebookAI/roberta-base").splitlines()}) == 1


def test_what_a_component_tells_is_heard_and_what_was_lost_on_the_way_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit calls back for a component whose run was ended early, and may have forgotten it by then."""
    states: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", states)
    heard: list[object] = []
    callback = on_component_event("grid", "head", heard.append)
    for state in ({}, {"grid": None}, {"grid": {}}, {"grid": {"head": None}}, {"grid": {"head": [0, 3]}}):
        states.clear()
        states.update(state)
        callback()
    assert heard == [[0, 3]]
    assert component_value("grid", "head") == [0, 3]
    assert component_value("grid", "layer") is None


def test_lines_are_in_order_and_each_has_a_sentence() -> None:
    assert list(TERMS) == sorted(TERMS)
    for term in TERMS.values():
        assert term.meaning.endswith((".", "?")), term.name
        assert term.name == term.name.strip()


def test_a_marked_term_becomes_a_word_that_says_what_it_means() -> None:
    html = link_terms("These [[shares|softmax]] add up; [[Softmax]] makes them.")
    assert html.count('class="term"') == 2
    assert '<span class="term" role="term" aria-label="shares" tabindex="0">shares<' in html
    assert 'href="glossary?term=softmax"' in html
    assert strip_terms("These [[shares|softmax]] add up.") == "These shares add up."
    assert terms("[[shares|softmax]] and [[Query]]") == ["softmax", "query"]


def test_terms_of_several_words_lists_and_unknown_ones() -> None:
    assert 'href="glossary?term=attention+knockout"' in term_html("knockout", "attention knockout")
    assert glossary.link("all") == '<a href="glossary" target="_blank">all</a>'
    names = [part.partition(">")[2].partition("<")[0] for part in list_terms(("lstm", "CKA")).split(", <span")]
    assert names == ["LSTM", "CKA"]
    with pytest.raises(KeyError):
        link_terms("[[flux capacitor]]")


def test_what_was_typed_is_repeated_as_it_is_and_cut_where_it_is_long() -> None:
    assert quote("a *b* [[softmax]]").count("softmax") == 1
    assert not terms(quote("[[softmax]]"))
    assert quote("x" * 300) == f"“{'x' * 300}”"
    assert quote("x" * 100_000) == f"“{'x' * 299}…”"
