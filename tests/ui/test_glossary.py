"""The glossary: its lines, its marks in texts, and the links of dotted words."""

import pytest

from ui import glossary
from ui.glossary import TERMS, link_terms, list_terms, quote, strip_terms, term_html, terms


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
