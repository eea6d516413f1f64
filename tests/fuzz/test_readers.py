"""Every reader of files, given anything: data, or InvalidInput with a sentence."""

import bz2
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from fuzzing import A_READER, TEXTS, one_sentence, tries
from hypothesis import strategies as st
from own_files import to_probe, trees

import reading
from analysis.corpus.coreference import read_pairs
from analysis.corpus.reading import read_corpus, read_frequencies
from model_zoo.errors import InvalidInput
from reading.text import Text


def _zipped(data: bytes) -> bytes:
    """An archive of this file, the end of which is torn off where the file ends in an odd byte."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("own.csv", data)
    return file.getvalue()[: -1 - data[-1] if data and data[-1] % 2 else None]


READERS: dict[str, Callable[[bytes], object]] = {
    "table": lambda data: to_probe(data, "own"),
    "SentEval": lambda data: to_probe(data, "own"),
    "parts of speech": lambda data: to_probe(data, "own", "upos"),
    "distances to heads": lambda data: to_probe(data, "own", "head_distance"),
    "trees": lambda data: trees(data, "own"),
    "pairs": lambda data: reading.read(data, "pairs", name="own"),
    "minimal pairs": lambda data: reading.read_files([("own", data)], "minimal pairs", most=50),
    "a corpus": lambda data: read_corpus([("own", data)]),
    "a corpus, as CoNLL-U": lambda data: read_corpus([("own.conllu", data)]),
    "a corpus in a zip": lambda data: read_corpus([("own.zip", _zipped(data))]),
    "pronouns": lambda data: read_pairs("own", data).corpus,
    "frequencies of words": lambda data: read_frequencies("own", data),
    "texts": lambda data: list(Text.decode(data, "own").lines()),
}

CELLS = TEXTS | st.sampled_from(
    ["a", "b", "good", "bad", "text", "label", "[a]", "{b}", "<c>", "1", "0", "tr", "te", "va", "_", '"', '"x"y']
)
_HEADERS = st.sampled_from(
    ["text,label", "text,pronoun,antecedent,distractor", "a,b,label", "good,bad,phenomenon", "a;b", "text\tlabel",
     "label|text", ""]
)  # fmt: skip
_IDS = st.sampled_from(["1", "2", "3", "1-2", "1.1", "0", "-1", "9" * 5000, "٣", "x", ""])
_WORDS = st.builds(
    lambda id_, form, upos, head, deprel, misc: "\t".join([id_, form, "_", upos, "_", "_", head, deprel, "_", misc]),
    _IDS, CELLS, CELLS, _IDS | st.just("_"), CELLS, st.sampled_from(["_", "SpaceAfter=No"]),
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["good", "bad", "sentence_good", "sentence_bad", "UID"]) | TEXTS, inner)
    ),
    max_leaves=8,
)


def _table(separator: str, rows: list[list[str]], header: str) -> str:
    return "\n".join([header, *(separator.join(row) for row in rows)])


def _good(seed: int) -> list[str]:
    """Rows that are read, so that what follows them is looked at closely."""
    return [f"sentence {i} {seed},{'ab'[i % 2]}" for i in range(24)]


def _tree(number: int) -> str:
    return (
        f"1\tDogs{number}\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tchase\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
        "3\tcats\t_\tNOUN\t_\t_\t2\tobj\t_\tSpaceAfter=No\n4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n"
    )


_TEXTS = st.one_of(
    TEXTS,
    st.builds(_table, st.sampled_from(",;\t|"), st.lists(st.lists(CELLS, max_size=4), max_size=6), _HEADERS),
    st.builds(lambda seed, row: "\n".join(["text,label", *_good(seed), row]), st.integers(0, 9), CELLS),
    st.lists(_WORDS | TEXTS | st.just(""), max_size=8).map("\n".join),
    st.builds(lambda words: "\n".join([*map(_tree, range(24)), *words]), st.lists(_WORDS | st.just(""), max_size=4)),
    st.lists(_JSON, max_size=4).map(lambda actual: "\n".join(map(json.dumps, actual))),
    st.builds(lambda depth, end: '{"good":' * depth + end, st.integers(1, 20_000), TEXTS),
    st.lists(st.builds("\t".join, st.lists(CELLS, max_size=4)), max_size=8).map("\n".join),
)


def _workbook(text: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", text.encode("utf-8", "replace") * 50)
    return file.getvalue()


DATA: st.SearchStrategy[bytes] = st.one_of(
    st.builds(
        lambda text, encoding: text.encode(encoding, "replace"),
        _TEXTS,
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-32", "utf-16-be"]),
    ),
    _TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=200),
    TEXTS.map(_workbook),
    st.builds(lambda complete, cut: complete[:cut], TEXTS.map(_workbook), st.integers(0, 100)),
    st.sampled_from([gzip.compress, bz2.compress]).flatmap(lambda pack: st.binary(max_size=50).map(pack)),
)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_any_file_is_read_or_refused_with_a_sentence(reader: str) -> None:
    def check(data: bytes) -> None:
        try:
            actual: Any = READERS[reader](data)
        except InvalidInput as error:
            one_sentence(str(error))
        else:
            report = getattr(actual, "report", None)
            for note in (*getattr(actual, "notes", ()), *(report.remarks if report else ())):
                one_sentence(note)

    tries(A_READER, DATA, check)
