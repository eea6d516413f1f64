"""Fields through the address and back: every value a field can have, every combination; and links of former days."""

import contextlib
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks.visitor import OpenVisitor

from analysis.filters import COMBINATIONS, DIRECTIONS
from model_zoo.types import STACKS
from pages import PAGES
from pages.attention.page import PAGE as ATTENTION
from pages.compare.page import PAGE as COMPARE
from ui import address, old_links
from ui.field import Field, place, places
from ui.show import SHOW

FIELDS = address.all_declared()
TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=300)
COUNTS = st.integers(1, 9999)
HEADS = st.lists(st.tuples(COUNTS, COUNTS).map(lambda head: f"{head[0]}.{head[1]}"), unique=True, max_size=5).map(tuple)
OF_ATTENTION = {field.name: field for field in ATTENTION.all_fields}
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "layer": COUNTS,
    "head": COUNTS,
    "token": COUNTS,
    "from": COUNTS,
    "top": st.none() | COUNTS,
    "threshold": st.integers(0, 100).map(lambda percent: percent / 100),
    "heads": HEADS,
    "off": st.lists(COUNTS.map(str), unique=True, max_size=5).map(tuple),
    "locked": st.just("") | st.tuples(st.sampled_from(["query", "key"]), COUNTS).map("{0[0]}.{0[1]}".format),
    "model_part": st.sampled_from(STACKS),
    "direction": st.sampled_from(DIRECTIONS),
    "how": st.sampled_from(COMBINATIONS),
    "show": st.sampled_from(list(SHOW.labels)),
    "scope": st.sampled_from(["head", "layer", "chosen", "all"]),
    "several": st.sampled_from([None, "layer", "chosen", "all"]),
    "view": st.sampled_from([view.name for view in ATTENTION.views]),
    "bertviz": st.sampled_from(["head", "model"]),
    "ask": st.sampled_from(["words", "previous", "other_sentence"]),
    "question": st.from_regex("([a-z0-9-]{1,80})?", fullmatch=True),
    "room": st.from_regex("([A-Z2-9]{4,8})?", fullmatch=True),
    **dict.fromkeys(("looks", "at"), st.sets(st.integers(0, 9998), max_size=1).map(tuple)),
    **{field.name: st.booleans() for field in ATTENTION.all_fields if field.default is False},
    **dict.fromkeys(("text", "pair", "model"), TEXTS),
}
VALUES = {OF_ATTENTION[name]: strategy for name, strategy in BY_NAME.items()}


def test_no_two_fields_share_a_value_and_no_page_has_one_of_another() -> None:
    keys = [field.key for field in FIELDS]
    assert len(keys) == len(set(keys))
    for page in PAGES:
        assert {field.of for field in page.all_fields} <= {"", page.name}, page.name
    with pytest.raises(ValueError, match="same name: seed"):
        address.declare("twice", [Field("seed", 0), Field("seed", 1, of="twice")])


def test_a_default_survives_the_address() -> None:
    for field in FIELDS:
        assert field.codec.read(field.codec.write(field.default)) == field.default, field.key


@pytest.mark.slow
@given(st.fixed_dictionaries(VALUES))
def test_a_link_read_back_gives_the_same_state(values: dict[Field[Any], Any]) -> None:
    """Every combination of texts, heads, views and filters."""
    written = {field.name: field.codec.write(value) for field, value in values.items()}
    assert {field: field.codec.read(written[field.name]) for field in values} == values


def test_every_field_of_the_attention_page_is_in_the_property() -> None:
    assert set(BY_NAME) == set(OF_ATTENTION)


NONSENSE = ["", "-1", "1.5", "1e3", "0x1", "٣", "nan", "inf", "<script>", "1,2", "9" * 50, "9" * 5_000, "A->C", "True"]


def test_nonsense_is_refused_with_a_sentence_or_read_as_text() -> None:
    for field, text in itertools.product(FIELDS, NONSENSE):
        with contextlib.suppress(ValueError):
            assert field.codec.write(field.codec.read(text)) is not None, (field.key, text)
            continue
        with pytest.raises(ValueError, match=r"\.$"):
            field.codec.read(text)


def test_places_count_from_one_in_an_address() -> None:
    for codec, expected in ((place("the mask"), 0), (places("tokens"), (0,))):
        assert codec.read("1") == expected
        assert codec.write(expected) == "1"
        with pytest.raises(ValueError, match=r"\.$"):
            codec.read("0")


NAMES = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Zs", "Cc", "Zl", "Zp"), exclude_characters=","), min_size=1
)
(COMPARED,) = [field for field in COMPARE.all_fields if field.name == "models"]


@given(st.lists(NAMES, max_size=6))
def test_models_to_compare_survive_the_address(models: list[str]) -> None:
    """Any number of names, the same twice as well: their page says what it leaves out."""
    assert COMPARED.codec.read(COMPARED.codec.write(tuple(models))) == tuple(models)
    assert COMPARED.codec.read(" a/b, ,c d,") == ("a/b", "c d")


# ---- Links as they were written before -----------------------------------------------------------------------------

FORMER: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "sentence_vectors": (
        {"shown": "nearest", "sentence": "2", "pooling": "max"},
        {"view": "nearest", "sentence": "2", "pooling": "max"},
    ),
    "train": ({"view": "scratch"}, {"view": "runs", "preset": "scratch"}),
}
"""For a page a link of an earlier version, and what it is today."""


@pytest.mark.parametrize("page", FORMER)
def test_a_former_link_opens_what_it_meant(page: str, visitor: OpenVisitor) -> None:
    """The page shows it and writes the address by today's names."""
    link, today = FORMER[page]
    here = visitor(f"pages/{page}/page.py", **link)
    assert not [e.value for e in here.elements() if e.type == "warning" and "link" in e.value]
    written = dict(here.address.query)
    assert {name: written.get(name) for name in today} == today
    assert not set(written) & set(old_links.OLD.get(page, ()))


def test_a_renamed_parameter_is_a_field_of_its_page_today() -> None:
    fields = {page.name: {field.name for field in page.all_fields} for page in PAGES}
    for page, renamed in old_links.OLD.items():
        assert page in FORMER
        assert set(renamed.values()) <= fields[page]
        assert not set(renamed) & fields[page]
