"""CSV and NPZ give the numbers on the screen back, exactly, and no spreadsheet executes a token."""

import csv
import io
import json
from itertools import product

import builders
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas._libs.parsers import STR_NA_VALUES
from strategies import FILTERS

from analysis.export import _MISSING, Origin, named, origin_of, read_table, table_to_csv, to_csv, to_npz, unmarked
from analysis.filters import Filter, apply_filter
from model_zoo.types import Encoding

INFO = builders.info(revision="abc123", n_layers=12, n_heads=12)


def make_encoding(words: list[str]) -> Encoding:
    """[CLS] words [SEP] last word [SEP]; the words are tokens as they stand."""
    return builders.encoding(words[:-1], words[-1:], continues=None)


def read(data: bytes) -> pd.DataFrame:
    """As everybody reads a CSV."""
    return pd.read_csv(io.BytesIO(data))


def texts_of(column: pd.Series) -> list[str]:
    """The texts of a column as read: an empty one is missing, and a column of whole numbers has numbers."""
    return ["" if pd.isna(cell) else unmarked(str(cell)) for cell in column]


def rows_of(data: bytes, separator: str = ",") -> list[list[str]]:
    """As a spreadsheet reads a CSV."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=separator))


AWKWARD = ["=1+1", "+2", "-", "@SUM(A1)", "'=1", "'", "null", "007", "##ing", 'say "hi"', "a,b", "a;b", "\t", "猫", ""]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@pytest.mark.slow
@given(st.lists(st.sampled_from(AWKWARD) | ANY_TEXT, min_size=2, max_size=6), FILTERS, st.integers(0, 2**32 - 1))
def test_csv_and_npz_hold_the_numbers_of_the_view(words: list[str], chosen: Filter, seed: int) -> None:
    encoding = make_encoding(words)
    seen = apply_filter(encoding, builders.random_maps(seed, 2, len(encoding), len(encoding), spread=0.2), chosen)
    origin = Origin(model=INFO, heads=((2, 4), (11, 0)))

    table = read(to_csv(seen, origin))
    np.testing.assert_array_equal(table["weight"].to_numpy(dtype=np.float32).reshape(seen.weights.shape), seen.weights)
    cells = [(query, key) for _ in origin.heads for query in seen.queries for key in seen.keys]
    assert texts_of(table["query_token"]) == [query.label for query, _ in cells]
    assert texts_of(table["key_token"]) == [key.label for _, key in cells]
    assert table["query"].tolist() == [query.start + 1 for query, _ in cells]
    assert table["key"].tolist() == [key.start + 1 for _, key in cells]

    with np.load(io.BytesIO(to_npz(seen, origin, encoding)), allow_pickle=False) as archive:
        assert archive["weights"].dtype == np.float32
        np.testing.assert_array_equal(archive["weights"], seen.weights)
        assert tuple(archive["tokens"]) == encoding.tokens
        assert tuple(archive["query_labels"]) == seen.query_labels
        assert tuple(archive["key_labels"]) == seen.key_labels
        assert [tuple(span) for span in archive["query_spans"]] == [(u.start + 1, u.stop) for u in seen.queries]
        assert [tuple(span) for span in archive["key_spans"]] == [(u.start + 1, u.stop) for u in seen.keys]
        assert Filter(**json.loads(str(archive["filter"]))) == chosen


def test_the_file_says_what_it_shows() -> None:
    encoding = make_encoding(["the", "cat", "sat"])
    chosen = Filter(direction="A->B", top_k=3)
    seen = apply_filter(encoding, builders.random_maps(0, 6, 6), chosen)
    origin = Origin(model=INFO, heads=((2, 4),), measure="value-weighted")
    table = read(to_csv(seen, origin))
    assert list(table.columns) == [
        *("model", "revision", "counted_from", "part", "layer", "head", "how", "measure", "filter"),
        *("query", "query_token", "key", "key_token", "weight"),
    ]
    assert len(table) == 4 * 2
    same = ["test/model", "abc123", 1, "", 3, 5, "each", "value-weighted", '{"direction": "A->B", "top_k": 3}']
    for column, value in zip(table.columns, same, strict=False):
        assert column == "part" or set(table[column]) == {value}, column

    with np.load(io.BytesIO(to_npz(seen, origin, encoding)), allow_pickle=False) as archive:
        assert (str(archive["model"]), str(archive["revision"])) == ("test/model", "abc123")
        assert [archive[name].tolist() for name in ("counted_from", "layer", "head")] == [1, [3], [5]]
        assert (str(archive["how"]), str(archive["measure"])) == ("each", "value-weighted")
        assert (str(archive["text"]), str(archive["text_pair"])) == ("the cat", "sat")


def test_heads_put_together_are_all_named() -> None:
    seen = apply_filter(make_encoding(["a", "b"]), builders.random_maps(0, 5, 5), Filter())
    for heads, layer, head in (
        ([(0, 0)], "1", "1"),
        (list(np.ndindex(6, 12)), "1 to 6", "1 to 12"),
        ([(3, 0), (3, 1), (3, 7)], "4", "1 to 2, 8"),
        ([(0, 2), (4, 1)], "1, 5", "L1H3 L5H2"),
    ):
        table = read(to_csv(seen, Origin(model=INFO, heads=tuple(heads), how="mean")))
        columns = {name: set(table[name].astype(str)) for name in ("layer", "head", "how")}
        assert columns == {"layer": {layer}, "head": {head}, "how": {"mean"}}
    seen = apply_filter(make_encoding(["a", "b"]), builders.random_maps(0, 2, 5, 5), Filter())
    with pytest.raises(ValueError, match="2 matrices do not fit 1 heads"):
        to_csv(seen, Origin(model=INFO, heads=((0, 0),)))


def test_cross_attention_is_saved_with_both_texts() -> None:
    written, read_ = make_encoding(["the", "cat"]), make_encoding(["a", "dog", "ran"])
    weights = builders.random_maps(0, len(written), len(read_))
    seen = apply_filter(written, weights, Filter(), read_)
    origin = Origin(model=INFO, heads=((0, 0),), stack="cross")
    table = read(to_csv(seen, origin))
    assert set(table["part"]) == {"cross"}
    assert tuple(table["query_token"][:: len(read_)]) == written.tokens
    assert tuple(table["key_token"][: len(read_)]) == read_.tokens
    with np.load(io.BytesIO(to_npz(seen, origin, written, read_)), allow_pickle=False) as archive:
        assert (tuple(archive["tokens"]), tuple(archive["source_tokens"])) == (written.tokens, read_.tokens)
        assert (str(archive["text"]), str(archive["source_text"])) == (written.text, read_.text)
        assert str(archive["part"]) == "cross"
        assert archive["weights"].shape == (len(written), len(read_))
        places = [slice(first - 1, last) for first, last in archive["key_spans"]]
        assert [archive["source_tokens"][place].item() for place in places] == list(seen.key_labels)


def test_no_cell_starts_a_formula() -> None:
    words = ["=1+1", "+A1", "-1+1", "@A1", "\t=1", "\r=1", " =1", "＝1", "'=1", "'s", "fine=1", "-", "=", "->", "-0.5"]
    data = table_to_csv(pd.DataFrame({"=evil": words, "score": np.float32(-0.5)}))
    assert data.startswith(b"\xef\xbb\xbf")  # so that Excel reads it as UTF-8
    rows = rows_of(data)
    assert rows[0] == ["'=evil", "score"]
    assert [row[0] for row in rows[1:]] == [
        *("'=1+1", "'+A1", "'-1+1", "'@A1", "\t'=1", "\r'=1", "' =1", "'＝1", "''=1"),
        *("'s", "fine=1", "-", "=", "->", "-0.5"),
    ]
    assert {row[1] for row in rows[1:]} == {"-0.5"}  # numbers stay numbers
    # Programs that read a file may drop it, and then see a formula.
    for unseen in (*"\u200b\ufeff\0\u2060\xad\u202e\u180e\u3164", ' \u200b"\0'):
        words = [f"{unseen}=1+1", f"{unseen}@SUM(A1)", f"'{unseen}=1", f"{unseen}word", unseen + "-"]
        data = table_to_csv(pd.DataFrame({"text": words, "n": 1}))
        assert [row[0] for row in rows_of(data)[1:]] == [*(f"'{word}" for word in words[:3]), *words[3:]]
        if "\0" not in unseen:  # which pandas ends a cell at
            assert list(read_table(data)["text"]) == words
    # With a comma in front, which begins a quote that such a spreadsheet does not see, and the next cell behind.
    for separator, formula in product(";\t\n", ("=A1", " +A1", '"=A1', "-5", "@")):
        words = [f"a, b{separator}{formula}", f"'a{separator}'{formula}"]
        data = table_to_csv(pd.DataFrame({"model": "m", "text": words, "more": "5+A1"}))
        marked = [f"a, b{separator}'{formula}", f"'a{separator}''{formula}"]
        assert [row[1] for row in rows_of(data)[1:]] == marked
        assert list(read_table(data)["text"]) == words


# What comes back from a plain read, where it is not the token itself: proved below to be the most that is possible.
READ_AS = {
    **{word: f"'{word}" for word in (*_MISSING, "=1+1", "+A1", "-year", "@SUM(A1)")},
    "\t=1": "\t'=1",
    "a;-b\n'@c": "a;'-b\n''@c",
    "'null": "''null",
    "'=1": "''=1",
    "'007": "''007",
}
TOKENS = [
    *READ_AS,
    *("-", "+", "=", "@", "--", "->", "'", "''", "'s", "##ing", "Ġthe", "▁the", "[CLS]", "1e5", "007", "TRUE", "2020"),
    *("+2", "-0.5", "inf", "a,b", "a;b", 'say "hi"', '"', "a\nb", "a\r\nb", "\t", " ", " a ", "🙂"),
    *("👨\u200d👩\u200d👧", "猫"),
    *("שלום", "cafe\u0301", "N/A!", "nullable", "none"),
]


def test_tokens_come_back_from_a_plain_read() -> None:
    data = table_to_csv(pd.DataFrame({"token": TOKENS, "weight": np.arange(len(TOKENS)) / 7}))
    assert read(data)["token"].tolist() == [READ_AS.get(token, token) for token in TOKENS]
    assert read_table(data)["token"].tolist() == TOKENS
    np.testing.assert_allclose(read(data)["weight"], np.arange(len(TOKENS)) / 7, rtol=1e-8)
    # Which takes them for missing in quotes as well, so a mark is needed.
    assert {"", *_MISSING} == STR_NA_VALUES
    # A column of nothing but numbers keeps its texts.
    for tokens, visible in (
        (["007", "1e5"], ["'007", "'1e5"]),
        (["TRUE", "false"], ["'TRUE", "'false"]),
        (["-1", "+2"], ["'-1", "'+2"]),
        (["1", "2"], [1, 2]),  # written alike
        (["007", "cat"], ["007", "cat"]),
        (["-0E", "cat"], ["'-0E", "cat"]),  # no number, so it may be a formula
    ):
        column = read(table_to_csv(pd.DataFrame({"token": tokens, "n": 1})))["token"]
        assert (column.tolist(), texts_of(column)) == (visible, tokens)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(TOKENS) | ANY_TEXT | st.text("01.eE+-=;' \"\t\nnaifTRUEtrufls", max_size=7), min_size=1)
)
def test_any_texts_come_back_by_taking_the_apostrophes_away(tokens: list[str]) -> None:
    data = table_to_csv(pd.DataFrame({"model": "m", "token": tokens, "n": 1}))
    assert texts_of(read(data)["token"]) == tokens
    for separator in ",;\t":  # of spreadsheets in other countries
        for row in rows_of(data, separator):
            for cell in row:  # a spreadsheet drops white space in front
                formula = cell.strip()[:1] in tuple("=+-@＝＋－＠") and any(c.isalpha() for c in cell)
                assert not formula or _number(cell)


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_every_table_says_of_which_model_it_is_and_from_where_it_counts() -> None:
    plain = pd.DataFrame({"layer": [1], "score": [0.5]})
    predicted = origin_of(plain, {"a/b": "r1"})
    assert predicted.to_dict("records") == [
        {"model": "a/b", "revision": "r1", "counted_from": 1, "layer": 1, "score": 0.5}
    ]
    both = origin_of(pd.DataFrame({"score": [1, 2], "model": ["c", "a/b"]}), {"a/b": "r1", "c": "r2"})
    assert both["revision"].tolist() == ["r2", "r1"]
    assert list(both) == ["model", "revision", "score"]
    shared = origin_of(pd.DataFrame({"score": [1]}), {"a/b": "r1", "c": "r2"})
    assert shared[["model", "revision"]].iloc[0].tolist() == ["a/b c", "r1 r2"]
    assert origin_of(predicted, {"other": "r9"}).equals(predicted)
    assert named("heads", "The cat sat.") == "heads_the-cat-sat"
    assert named("heads", "Où est l'été ?") == "heads_ou-est-l-ete"
    assert named("heads", "一 二") == named("heads", "") == "heads"
    assert named("heads", "w" * 60) == "heads_" + "w" * 40
    assert named("heads", "one two three four five six seven eight nine").endswith("six-seven-eight")
