"""Files read into a corpus: what each kind gives, what is told, and what is refused with file and line."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from analysis.corpus import reading
from analysis.corpus.reading import built_in, read_corpus, read_frequencies, sampled
from analysis.corpus.sentences import NO_HEAD, ROOT, Corpus
from model_zoo.errors import InvalidInput


def _read(text: str | bytes, name: str = "own.txt") -> Corpus:
    return read_corpus([(name, text.encode() if isinstance(text, str) else text)])


def _zip(files: Mapping[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _words(*rows: str) -> str:
    """CoNLL-U of "form upos head deprel", numbered from 1; of "number form upos head deprel" with that number."""
    lines = []
    for place, row in enumerate(rows, start=1):
        cells = row.split()
        number, (form, upos, head, deprel) = (cells[0], cells[1:]) if len(cells) == 5 else (str(place), cells)
        lines.append(f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_")
    return "\n".join(lines) + "\n\n"


SEES = _words("She PRON 2 nsubj:outer", "sees VERB 0 root", "it PRON 2 obj")

CASES = json.loads(Path(__file__).with_name("reading_cases.json").read_text(encoding="utf-8"))
TEXTS, TABLES, FREQUENCIES = (CASES[name] for name in ("plain text", "tables", "frequencies"))


@pytest.mark.parametrize("case", TEXTS)
def test_plain_text(case: str) -> None:
    text, expected, at = TEXTS[case]
    corpus = _read(text)
    assert corpus.texts == expected
    assert [corpus.where(number) for number in range(len(corpus))] == [f"own.txt, line {line}" for line in at]
    joined = ["own.txt: lines that break off inside of sentences were joined."]
    assert list(corpus.notes) == (joined if "broken to a width" in case else [])


@pytest.mark.parametrize("case", TABLES)
def test_tables(case: str) -> None:
    text, name, expected = TABLES[case]
    assert _read(text, name).texts == expected


def test_a_tree() -> None:
    corpus = _read(f"# text = She sees it\n{SEES}", "own.conllu")
    (actual,) = corpus
    assert actual.words == ("She", "sees", "it")
    assert actual.upos == ("PRON", "VERB", "PRON")
    assert actual.deprel == ("nsubj", "root", "obj"), "the universal part alone"
    assert actual.heads == (1, ROOT, 1)
    assert corpus.where(0) == "own.conllu, line 2"
    assert not corpus.notes
    # CoNLL-U is known by its content.
    assert _read(SEES, "own.txt").has_trees
    with pytest.raises(InvalidInput, match="line 1: 2 columns instead of ten"):
        _read(f"1\tShe\n{SEES}", "own.txt")


FLAWS = {
    "a cycle": _words("She PRON 2 nsubj", "sees VERB 1 root", "it PRON 0 obj"),
    "several roots": _words("She PRON 0 nsubj", "sees VERB 0 root", "it PRON 2 obj"),
    "no root": _words("She PRON 2 nsubj", "sees VERB 3 root", "it PRON 2 obj"),
    "words without a head": _words("She PRON _ nsubj", "sees VERB 0 root", "it PRON 2 obj"),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_sentence_without_a_tree_keeps_its_words(flaw: str) -> None:
    other = _words("Dogs NOUN 2 nsubj", "bark VERB 0 root")
    corpus = _read(other + FLAWS[flaw])
    kept = corpus.sentence(1)
    assert kept.words == ("She", "sees", "it")
    assert kept.upos == ("PRON", "VERB", "PRON")
    assert set(kept.heads) == {NO_HEAD}
    assert set(kept.deprel) == {"_"}
    assert corpus.sentence(0).heads == (1, ROOT)
    (note,) = corpus.notes
    assert flaw in note
    assert note.endswith("(1: line 4).")


def test_multiword_tokens_and_empty_nodes_are_counted() -> None:
    corpus = _read(
        _words("1-2 Dáme _ _ _", "1 da VERB 0 root", "2 me PRON 1 iobj", "3 rápido ADV 1 advmod", "3.1 x VERB _ _")
        + _words("1 Va VERB 0 root", "2-3 al _ _ _", "2 a ADP 4 case", "3 el DET 4 det", "4 mar NOUN 1 obl")
    )
    first, second = corpus
    assert first.words == ("rápido",)
    assert first.heads == (NO_HEAD,), "its head has no characters of its own"
    assert second.words == ("Va", "mar")
    assert second.heads == (ROOT, 0)
    assert corpus.notes == (
        "Words whose head is left out, so that they count as without one (1: line 2).",
        "Left out 1: empty nodes, without characters (line 5).",
        "Left out 4: words inside multiword tokens, which are not their words one after the other (lines 2, 3, 9, 10).",
    )


def test_repeated_sentences_are_left_out_and_those_alike_kept() -> None:
    corpus = _read("The cat sat.\nThe cat sat.\nthe  cat sat.\nA dog.\n")
    assert corpus.texts == ["The cat sat.", "the  cat sat.", "A dog."]
    assert [sentence.unit for sentence in corpus] == [0, 0, 2]
    assert (corpus.unit, corpus.n_units) == ("sentence", 2)
    assert corpus.notes == (
        "Only case or spaces tell some sentences from earlier ones; unless halves are of documents, these stay in one "
        "half (1: line 3).",
        "Left out 1: sentences that had come before (line 2).",
    )
    # Only the first few lines are named.
    corpus = _read("Again.\n" * 9)
    assert corpus.notes == ("Left out 8: sentences that had come before (lines 2, 3, 4, 5, 6 …).",)
    # Sentences that no model reads are left out.
    corpus = _read(f"Fine.\n{'word ' * 2001}\n{'x' * 100_001}\nA bell\x07 rings.\n")
    assert corpus.texts == ["Fine."]
    assert corpus.notes == (
        "Left out 2: sentences of more than 2,000 words or 100,000 characters (lines 2, 3).",
        "Left out 1: sentences with control characters, which no tokenizer can read (line 4).",
    )


def test_several_files() -> None:
    corpus = read_corpus([("a.txt", b"One.\nTwo.\n"), ("b.conllu", SEES.encode()), ("c.csv", b"text\nTwo.\nThree.\n,")])
    assert corpus.texts == ["One.", "Two.", "She sees it", "Three."]
    assert [corpus.where(number) for number in (1, 2, 3)] == ["a.txt, line 2", "b.conllu, line 1", "c.csv, line 3"]
    assert corpus.notes == ("Left out 1: sentences that had come before (c.csv line 2).",)
    assert "Windows-1252" in _read("Ein Märchen.\nFine.\n".encode("cp1252")).notes[0]


def _declaring(packed: bytes, size: int) -> bytes:
    """An archive of one file whose headers say that it unpacks to so many bytes."""
    at, entry = packed.index(b"PK\x03\x04"), packed.index(b"PK\x01\x02")
    message = size.to_bytes(4, "little")
    return packed[: at + 22] + message + packed[at + 26 : entry + 24] + message + packed[entry + 28 :]


_PACKED = _zip({"a.txt": b"One sentence.\n" * 500})
_ENTRY = _PACKED.index(b"PK\x01\x02")
_ENCRYPTED = _PACKED[: _ENTRY + 8] + b"\x01\x00" + _PACKED[_ENTRY + 10 :]

REFUSED = {
    **{case: (name, text.encode(), message) for case, (name, text, message) in CASES["refused"].items()},
    "too many labels": (
        "own.conllu",
        "".join(_words(f"w{n} U{n} 0 root") for n in range(1002)).encode(),
        "own.conllu, line 1,999: up to here .* more than 1,000",
    ),
    "an archive in an archive": ("own.zip", _zip({"in.zip": _PACKED}), "in.zip in own.zip is an archive, too"),
    "a path that leads out": ("own.zip", _zip({"../a.txt": b"One."}), "../a.txt in own.zip: the path leads out"),
    "an absolute path": ("own.zip", _zip({"/etc/a.txt": b"One."}), "the path leads out of the archive"),
    "a password": ("own.zip", _ENCRYPTED, "a.txt in own.zip is encrypted"),
    "another method": (
        "own.zip",
        _zip({"a.txt": b"One."}, zipfile.ZIP_BZIP2),
        "a.txt in own.zip is packed by a method",
    ),
    "cut off": ("own.zip", _PACKED[:-30], "own.zip is not a zip archive that can be unpacked"),
    "a forged size": ("own.zip", _declaring(_PACKED, 10), "own.zip is not a zip archive that can be unpacked"),
    "a broken line in an archive": ("own.zip", _zip({"a.conllu": b"1\tx\n"}), "own.zip/a.conllu, line 1: 2 columns"),
    "an archive of nothing": ("own.zip", _zip({}), "own.zip: there is no sentence to use"),
    "too many files": (
        "own.zip",
        _zip({f"{n}.txt": b"x" for n in range(1001)}, zipfile.ZIP_STORED),
        "own.zip holds more than 1,000 files",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    name, data, messages = REFUSED[case]
    with pytest.raises(InvalidInput, match=messages):
        read_corpus([(name, data)])


@pytest.mark.parametrize("size", [60_000_000, 10_000], ids=["as it is", "as it says"])
def test_a_zip_bomb_is_not_unpacked(size: int) -> None:
    """Neither is more than the bound ever in memory, nor is what the directory says believed."""
    bomb = _declaring(_zip({"a.txt": bytes(60_000_000)}), size)
    assert len(bomb) < 100_000
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=r"own\.zip(: the files together are more than 50 MB| is not a zip)"):
        read_corpus([("own.zip", bomb)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 170_000_000


def test_several_files_and_archives_share_one_bound() -> None:
    with pytest.raises(InvalidInput, match=r"60\.0 MB; up to 50 MB"):
        read_corpus([("a.txt", bytes(30_000_000)), ("b.txt", bytes(30_000_000))])
    packed = _zip({"a.txt": b"One sentence.\n" * 500})
    assert len(read_corpus([("1.zip", packed)], 10_000)) == 1
    with pytest.raises(InvalidInput, match=r"a\.txt in 2\.zip: the files together are more than"):
        read_corpus([("1.zip", packed), ("2.zip", packed)], 10_000)
    # A zip is unpacked without what systems add.
    files = {"sub/a.txt": b"One.\n", "b.conllu": SEES.encode()}
    hidden = {"__MACOSX/sub/._a.txt": b"\x00\x01", ".DS_Store": b"\x00", "sub/": b""}
    corpus = read_corpus([("own.zip", _zip(files | hidden))])
    assert corpus.texts == ["One.", "She sees it"]
    assert corpus.where(0) == "own.zip/sub/a.txt, line 1"
    assert corpus.notes == ("Passed over 2 hidden files in the archive.",)
    # Which would be looked at from each of them: minutes.
    with pytest.raises(InvalidInput, match="more than 2,000 words"):
        _read("." * 90_000 + "x")


def test_beyond_the_most_sentences_nothing_is_read_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_SENTENCES", 3)
    corpus = read_corpus([("a.txt", b"One. Two. Three. Four."), ("b.txt", b"Five.")])
    assert corpus.texts == ["One.", "Two.", "Three."]
    assert corpus.notes == ("Only the first 3 sentences are read. Not read at all: b.txt.",)


def test_the_built_in_treebank() -> None:
    corpus = built_in(200)
    assert len(corpus) == 200
    assert not corpus.notes
    assert corpus.has_trees
    assert all(NO_HEAD not in sentence.heads for sentence in corpus)
    assert built_in(200) is corpus
    # A sample is drawn by its seed.
    some = sampled(corpus, 50, seed=3)
    assert len(some) == 50
    assert some.texts == sampled(corpus, 50, seed=3).texts
    assert some.texts != sampled(corpus, 50, seed=4).texts
    places = [corpus.texts.index(text) for text in some.texts]
    assert places == sorted(places)
    assert [some.where(0), some.where(49)] == [corpus.where(places[0]), corpus.where(places[-1])]
    assert sampled(corpus, 200, seed=3) is corpus
    # Built-in sentences know their frame, and a user's own have none.
    assert corpus.unit == "frame"
    assert 50 < corpus.n_units < 150
    of_frame: dict[int, set[str]] = {}
    for sentence in corpus:
        assert sentence.unit == sentence.frame
        left = [name for name in sentence.deprel if name not in ("det", "amod", "advmod", "punct")]
        of_frame.setdefault(sentence.unit, set()).add(" ".join(left))
    assert all(len(frames) == 1 for frames in of_frame.values())
    assert len({frame for frames in of_frame.values() for frame in frames}) == len(of_frame) == corpus.n_units
    part = sampled(corpus, 50, 3)
    assert [sentence.frame for sentence in part] == [
        corpus.sentence(corpus.texts.index(sentence.text)).frame for sentence in part
    ]
    mine = _read("One sentence. Another one.")
    assert [sentence.unit for sentence in mine] == [0, 1]


def test_documents_of_treebanks_are_kept_and_halve_them_where_there_are_enough() -> None:
    blocks = [f"# newdoc id = {n // 2}\n" * (n % 2 == 0) + _words(f"1 word{n} X 0 root") for n in range(2, 52)]
    corpus = _read(_words("1 before X 0 root") + "".join(blocks), "a.conllu")
    assert (corpus.unit, corpus.n_units) == ("document", 26)
    assert [sentence.unit for sentence in corpus] == [0, *np.arange(1, 26).repeat(2)]
    part = corpus.subset(range(9, 51))
    assert (part.unit, part.n_units, part.sentence(0).unit) == ("document", 21, corpus.sentence(9).unit)
    assert [sentence.unit for sentence in corpus.subset([0, 4, 5])] == [0, 1, 2]
    # Each file begins one; nineteen are too few.
    files = [(f"{name}.conllu", "".join(blocks[place : place + 20]).encode()) for name, place in (("a", 0), ("b", 20))]
    assert read_corpus(files).n_units == 20
    assert [sentence.unit for sentence in read_corpus(files).take([18, 19, 20, 21])] == [10, 10, 11, 11]
    assert (corpus.subset(range(39)).unit, corpus.subset(range(37)).unit) == ("document", "sentence")


@pytest.mark.slow
def test_no_objects_are_held_for_words() -> None:
    """Twenty thousand sentences take less than 60 MB above their text: two thousand less than 6."""
    block = "\n".join(f"{n}\tword{{0}}x{n}\t_\tNOUN\t_\t_\t{n - 1}\tdep\t_\t_" for n in range(1, 19))
    data = "\n\n".join(block.format(number) for number in range(2_000)).encode()
    tracemalloc.start()
    corpus = read_corpus([("own.conllu", data)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(corpus) == 2_000
    assert peak < len(data) + 6_000_000


@pytest.mark.parametrize("case", FREQUENCIES)
def test_frequencies(case: str) -> None:
    text, expected = FREQUENCIES[case]
    assert read_frequencies("own.tsv", text.encode()) == expected


def test_frequencies_refused() -> None:
    wrong = {"the 1\ncat\n": "line 2: “cat”", "the 1\ncat two\n": "line 2", "the -1\n": "line 1",
             "the nan\ncat x": "line 2", "word count\n": "own.tsv has no word"}  # fmt: skip
    for text, message in wrong.items():
        with pytest.raises(InvalidInput, match=message):
            read_frequencies("own.tsv", text.encode())
