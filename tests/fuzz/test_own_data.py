"""Files to fine-tune on, given anything: data that is sound, or InvalidInput with a sentence."""

import json
from itertools import pairwise
from typing import Any

import pytest
from fuzzing import TEXTS, one_sentence, tries
from hypothesis import strategies as st
from own_files import items
from own_files import to_train_on as read

from analysis.corpus.sentences import alike
from model_zoo.errors import InvalidInput
from training.finetuning.data import KINDS, SPLITS, Data, Kind, Labelled, PassageQuestion, Scored
from training.finetuning.scores import MEASURES

_CELLS = TEXTS | st.sampled_from(
    ["text", "label", "a", "b", "1", "0.5", "O", "B-PER", "I-LOC", "train", "test", "Ann", '"', "-DOCSTART-", "#", "{"]
)
_HEADERS = st.sampled_from(
    [
        "text,label",
        "text,pair,score",
        "question,context,answer,answer_start",
        "tokens,tags",
        "text;label;split",
        "x",
        "",
    ]
)
_KEYS = st.sampled_from(
    ["text", "label", "pair", "score", "question", "context", "answers", "answer_start", "tokens", "tags", "split",
     "data", "paragraphs", "qas", "is_impossible", "İ"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | _CELLS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | TEXTS, inner, max_size=4),
    max_leaves=10,
)
_COLUMNS: dict[Kind, str] = {
    "classification": "text,label,split",
    "similarity": "text,pair,score",
    "answering": "question,context,answer,answer_start",
    "tagging": "tokens,tags",
}
_FITTING: dict[Kind, st.SearchStrategy[list[str]]] = {
    "classification": st.tuples(_CELLS, st.sampled_from("abc"), st.sampled_from(["train", "dev", "test"])).map(list),
    "similarity": st.tuples(_CELLS, _CELLS, st.floats(allow_nan=False).map(str) | st.sampled_from("0123")).map(list),
    "answering": st.tuples(_CELLS, _CELLS.map("Ann {}".format), _CELLS, st.sampled_from(["", "0", "-1", "x"])).map(
        list
    ),
    "tagging": st.lists(st.sampled_from(["B-A", "I-A", "E-A", "S-B", "I-B", "O"]), max_size=5).map(
        lambda tags: [" ".join(f"w{i}" for i in range(len(tags))), " ".join(tags)]
    ),
}


def _good(kind: Kind, i: int) -> list[str]:
    """A row that is read, so that those after it are looked at closely."""
    return {
        "classification": [f"text {i}", "ab"[i % 2], ("train", "dev", "test")[i % 3]],
        "similarity": [f"text {i}", "x", str(i % 6)],
        "answering": [f"Who {i}?", f"Ann {i}", "Ann", ""],
        "tagging": [f"Ann{i} x", "B-PER O"],
    }[kind]


def _as_table(kind: Kind, more: list[list[str]], separator: str) -> str:
    rows = [_COLUMNS[kind].split(","), *(_good(kind, i) for i in range(18)), *more]
    return "\n".join(separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)


def _as_json_lines(kind: Kind, more: list[list[str]], other: dict[str, Any]) -> str:
    names = _COLUMNS[kind].split(",")
    rows = [dict(zip(names, row, strict=True)) for row in [*(_good(kind, i) for i in range(18)), *more]]
    return "\n".join(map(json.dumps, [*rows, rows[0] | other]))


def _as_columns(more: list[list[str]]) -> str:
    rows = [*(_good("tagging", i) for i in range(18)), *more]
    return "\n\n".join("\n".join(map("\t".join, zip(*map(str.split, row), strict=True))) for row in rows)


def _files(kind: Kind) -> st.SearchStrategy[str]:
    more = st.lists(_FITTING[kind], max_size=6)
    fitting = [
        st.builds(_as_table, st.just(kind), more, st.sampled_from(",;\t|")),
        st.builds(_as_json_lines, st.just(kind), more, st.just({}) | st.dictionaries(_KEYS, _JSON, max_size=3)),
    ]
    return st.one_of(
        *fitting,
        st.builds(_as_columns, st.lists(_FITTING["tagging"], max_size=6)),
        TEXTS,
        st.builds(
            lambda header, rows: "\n".join([header, *map(",".join, rows)]),
            _HEADERS,
            st.lists(st.lists(_CELLS, max_size=4), max_size=14),
        ),
        st.lists(_JSON, max_size=4).map(lambda actual: "\n".join(map(json.dumps, actual))),
        st.builds(lambda data: json.dumps({"version": 1, "data": data}), st.lists(_JSON, max_size=3)),
        st.builds(lambda depth, begin: begin * depth, st.integers(1, 20_000), st.sampled_from(['{"data":[', '{"x":'])),
    )


def _bytes(kind: Kind) -> st.SearchStrategy[bytes]:
    texts, encodings = _files(kind), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    return st.one_of(
        st.builds(lambda text, encoding: text.encode(encoding, "replace"), texts, encodings),
        texts.map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=200),
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_any_bytes_are_read_or_refused_with_a_sentence(kind: Kind) -> None:
    n_read = 0

    def holds(inputs: tuple[bytes, int]) -> None:
        nonlocal n_read
        try:
            data = read(inputs[0], "own", kind, inputs[1])
        except InvalidInput as error:
            one_sentence(str(error))
            return
        n_read += 1
        for note in data.notes:
            one_sentence(note)
        assert all(data.split(split) for split in SPLITS)
        _is_sound(data)

    tries(150, st.tuples(_bytes(kind), st.integers(0, 3)), holds)
    assert n_read >= 10


def _is_sound(data: Data) -> None:
    assert data.measure in MEASURES
    for item in items(data):
        assert item.text.strip()
        if isinstance(item, Labelled):
            assert item.label in data.labels
        elif isinstance(item, Scored):
            assert 0 <= item.score <= 5
        elif isinstance(item, PassageQuestion):
            assert all(item.pair[start : start + len(answer)] == answer for start, answer in item.answers)
        else:
            assert len(item.words) == len(item.tags)
            assert set(item.tags) <= set(data.labels)
            for before, tag in pairwise(("O", *item.tags)):
                assert not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag)
    groups: dict[str, set[str]] = {}
    for split in SPLITS:
        for item in data.split(split):
            shared = item.pair if data.kind == "answering" else f"{item.text}\n{item.pair}"
            groups.setdefault(alike(shared), set()).add(split)
    leaks = [group for group, row in groups.items() if len(row) > 1]
    assert not leaks or any("in more than one split" in note for note in data.notes)
