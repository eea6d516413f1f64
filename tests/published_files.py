"""Data sets in the form in which the world publishes them, with texts of our own: ``FILES`` by their names."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from model_zoo.errors import InvalidInput
from reading import read

WHO = "My aunt", "The young baker", "A tired nurse", "Our neighbour", "The old pilot", "Some farmer", "Her teacher"
DID = "mended the fence", "sold a boat", "painted the hall", "lost the key", "found a coin", "wrote a song"
WHEN = "on Monday", "in spring", "before noon", "last year", "at night"


@dataclass(frozen=True)
class PublishedFile:
    """``kind`` is what it is read as; ``chosen`` what its reader cannot know and has to be told."""

    name: str
    kind: str
    data: bytes
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def read(self, data: bytes | None = None) -> Any:
        return read(self.data if data is None else data, self.kind, name=self.name, **self.chosen)

    def read_or_refused(self, data: bytes | None = None) -> Any:
        """The data, or what it is refused with."""
        try:
            return self.read(data)
        except InvalidInput as error:
            return str(error)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8-sig")


def sentence(n: int) -> str:
    """The n-th of sentences that are all different."""
    return f"{WHO[n % 7]} {DID[n // 7 % 6]} {WHEN[n // 42 % 5]}{f' of week {n // 210}' * (n >= 210)}."


def stray(n: int, text: str) -> str:
    """The text, now and then with a quote that opens and never closes."""
    return f'"{text}' if n % 7 == 3 else text


def tabs(header: str, rows: Sequence[Sequence[object]], mark: str = "") -> bytes:
    lines = [*([header] if header else []), *("\t".join(map(str, row)) for row in rows)]
    return (mark + "\n".join(lines) + "\n").encode()


def comma(header: str, rows: Sequence[Sequence[object]], separator: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows([*([header.split(separator)] if header else []), *rows])
    return out.getvalue().encode(encoding)


def json_lines(rows: Sequence[object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def zipped(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def parquet(rows: Sequence[Mapping[str, object]], features: Mapping[str, object] | None = None) -> bytes:
    """A table as Hugging Face's datasets writes it, with ``features`` in the schema's metadata."""
    table = pa.Table.from_pylist(list(rows))
    if features:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


# GLUE (Wang et al. 2018), each task's train.tsv.

NLI = "entailment", "neutral", "contradiction"
PARSES = "( x )", "( y )", "(ROOT x)", "(ROOT y)"
N = range(70)


def glue() -> Iterator[PublishedFile]:
    """The folder as its download script leaves it."""
    columns = {"text": "column 4", "label": "column 2"}
    cola = [(f"ab{n % 4}", n % 3 and 1, "*" * (n % 3 == 0), stray(n, sentence(n))) for n in N]
    yield PublishedFile("CoLA/train.tsv", "labelled", tabs("", cola), {"columns": columns})
    sst2 = [(f"{stray(n, sentence(n).lower()[:-1])} ", n % 2) for n in N]
    yield PublishedFile("SST-2/train.tsv", "labelled", tabs("sentence\tlabel", sst2))
    mrpc = [(n % 2, 700 + n, 900 + n, stray(n, sentence(n)), sentence(n + 1)) for n in N]
    names = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    yield PublishedFile("MRPC/train.tsv", "labelled", tabs(names, mrpc, mark="\ufeff"))
    qqp = [(n, 2 * n, 2 * n + 1, stray(n, f"Who is {n}?"), f"Is it {n}?", n % 2)[: 4 if n == 50 else 6] for n in N]
    yield PublishedFile("QQP/train.tsv", "labelled", tabs("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", qqp))
    stsb = [
        (n, "main-news", "headlines", "2013", f"{n:04}", "none", "none", stray(n, sentence(n)), sentence(n + 1),
         f"{n % 26 / 5:.3f}")
        for n in N
    ]  # fmt: skip
    names = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore"
    yield PublishedFile("STS-B/train.tsv", "scored", tabs(names, stsb))
    for name, n_labels in (("train", 1), ("dev_matched", 5)):
        mnli = [
            (n, 31 * n, f"{31 * n}n", "travel", *PARSES, stray(n, sentence(n)), sentence(n + 1),
             *[NLI[n % 3]] * n_labels, "-" if n % 20 == 9 else NLI[n % 3])
            for n in N
        ]  # fmt: skip
        names = "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse " + (
            "sentence2_parse sentence1 sentence2 " + " ".join(f"label{n + 1}" for n in range(n_labels)) + " gold_label"
        )
        yield PublishedFile(f"MNLI/{name}.tsv", "labelled", tabs(names.replace(" ", "\t"), mnli))
    two = "entailment", "not_entailment"
    qnli = [(n, f"Who was there {n}?", stray(n, sentence(n)), two[n % 2]) for n in N]
    yield PublishedFile("QNLI/train.tsv", "labelled", tabs("index\tquestion\tsentence\tlabel", qnli))
    for name, labels in (("RTE", two), ("WNLI", (0, 1))):
        rows = [(n, stray(n, sentence(n)), sentence(n + 1), labels[n % 2]) for n in N]
        yield PublishedFile(f"{name}/train.tsv", "labelled", tabs("index\tsentence1\tsentence2\tlabel", rows))


# Other labelled and scored texts.


def labelled() -> Iterator[PublishedFile]:
    snli = [
        {"annotator_labels": [NLI[n % 3]] * 5, "captionID": f"{n}.jpg#0", "pairID": f"{n}.jpg#0e",
         "gold_label": "-" if n % 20 == 9 else NLI[n % 3], "sentence1": sentence(n), "sentence1_parse": "(ROOT x)",
         "sentence2": sentence(n + 1), "sentence2_parse": "(ROOT y)"}
        for n in N
    ]  # fmt: skip
    yield PublishedFile("snli_1.0_dev.jsonl", "labelled", json_lines(snli))
    hub = [{"premise": sentence(n), "hypothesis": sentence(n + 1), "label": -1 if n % 20 == 9 else n % 3} for n in N]
    yield PublishedFile("snli-from-the-hub.jsonl", "labelled", json_lines(hub))
    sides = ["good", "bad"]
    features = {"text": {"dtype": "string", "_type": "Value"}, "label": {"names": sides, "_type": "ClassLabel"}}
    plain = [{"text": sentence(n), "label": n % 2} for n in N]
    yield PublishedFile("train-00000-of-00001.parquet", "labelled", parquet(plain, features))
    yield PublishedFile("by-pandas.parquet", "labelled", parquet([{**row, "label": sides[n % 2]} for n, row in
                                                                  enumerate(plain)]))  # fmt: skip
    yield PublishedFile("records.json", "labelled", json.dumps(plain, indent=1).encode())
    lines = [f"__label__{sides[n % 2]} {sentence(n)}" for n in N]
    yield PublishedFile("fasttext.train", "labelled", "\n".join(lines).encode())
    lines = [f"{('DESC:manner', 'NUM:date')[n % 2]} How was it {n} ?" for n in N]
    yield PublishedFile("train_5500.label", "labelled", "\n".join(lines).encode())
    rows = [(sentence(n), sides[n % 2]) for n in N]
    yield PublishedFile("excel.csv", "labelled", b"sep=;\r\n" + comma("text;label", rows, ";"))
    yield PublishedFile("index.csv", "labelled", pd.DataFrame(rows, columns=["text", "label"]).to_csv().encode())
    accents = [(f"Das süße Öl Nummer {n} – groß", sides[n % 2]) for n in N]
    yield PublishedFile("windows.csv", "labelled", comma("text;label", accents, ";", "cp1252"))
    quoted = [(f'She said "go; {n}"\nand went.', sides[n % 2]) for n in N]
    yield PublishedFile("quoted.csv", "labelled", comma("text;label", quoted, ";"))
    titles = [(n % 4 + 1, f"Title {n}", sentence(n)) for n in N]
    chosen = {"columns": {"text": "column 3", "label": "column 1"}}
    yield PublishedFile("ag_news.csv", "labelled", comma("", titles), chosen)
    german = {"columns": {"text": "Satz", "label": "Klasse"}}
    yield PublishedFile("german.csv", "labelled", comma("Satz;Klasse", rows, ";"), german)
    scores = [(sentence(n), sentence(n + 1), f"{n % 26 / 5:.1f}".replace(".", ",")) for n in N]
    yield PublishedFile("decimal_comma.csv", "scored", comma("text;text_pair;score", scores, ";"))
    several = [{"text": sentence(n), "labels": ["joy", "fear"][: n % 2 + 1]} for n in N]
    yield PublishedFile("several_labels.jsonl", "labelled", json_lines(several))


def two_quotes() -> Iterator[PublishedFile]:
    """Tab files of 3,000 rows: a quote opens in row 10, another closes 2,490 rows further on."""

    def cell(n: int, text: str) -> str:
        return {10: f'"{text}', 2500: f'{text}"'}.get(n, text)

    rows = range(3000)
    yield PublishedFile(
        "two_quotes.tsv", "labelled", tabs("text\tlabel", [(cell(n, sentence(n)), "ab"[n % 2]) for n in rows])
    )
    yield PublishedFile(
        "two_quotes_corpus.tsv", "sentences", tabs("id\ttext", [(n, cell(n, sentence(n))) for n in rows])
    )
    yield PublishedFile(
        "two_quotes_minimal.tsv",
        "minimal pairs",
        tabs("good\tbad", [(cell(n, f"He eats {n}."), f"He eat {n}.") for n in rows]),
    )
    yield PublishedFile("two_quotes_pairs.tsv", "pairs", tabs(
        "a\tb\tlabel", [(cell(n, sentence(n)), sentence(n + 1), n % 2) for n in rows]))  # fmt: skip


# Words with tags.

NAMED = "Mia Berg", "Otto", "Nora Kahn", "Jo"
PLACED = "Riga", "New Bern", "Turin", "Lake Como"


def tagged_words(n: int) -> list[tuple[str, str, str]]:
    """The n-th sentence as words with a part of speech and a tag in IOB2; some have two neighbours of one type."""
    who, place = NAMED[n % 4].split(), PLACED[n // 4 % 4].split()
    people = [(word, "NNP", "BI"[k > 0] + "-PER") for k, word in enumerate(who)]
    twice = [("Lea", "NNP", "B-PER")] * (n % 3 == 0)
    places = [(word, "NNP", "BI"[k > 0] + "-LOC") for k, word in enumerate(place)]
    others = ("before", "IN", "O"), ("dawn", "NN", "O"), (f"#{n}", "CD", "O"), ('"', "''", "O"), (".", ".", "O")
    return [*people, *twice, ("wouldn't", "MD", "O"), ("leave", "VB", "O"), *places, *others]


TAGGED = [tagged_words(n) for n in range(40)]
WORDS = [tuple(word for word, _, _ in words) for words in TAGGED]
IOB2 = [tuple(tag for _, _, tag in words) for words in TAGGED]
TYPES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def entities(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The first and the last word of each entity in IOB2, and its type."""
    after = [*tags[1:], "O"]
    ends = [k for k, tag in enumerate(tags) if tag != "O" and after[k][0] != "I"]
    return [(k, next(end for end in ends if end >= k), tag[2:]) for k, tag in enumerate(tags) if tag[0] == "B"]


def iob1(tags: Sequence[str]) -> list[str]:
    """``B-`` only where an entity touches another of its type, as CoNLL-2003 has it."""
    before = ["O", *tags]
    return [
        "I" + tag[1:] if tag[0] == "B" and before[k][1:] != tag[1:] else tag for k, tag in enumerate(tags)
    ]  # fmt: skip


def brackets(tags: Sequence[str]) -> list[str]:
    """Entities in the brackets of OntoNotes."""
    marks = ["*"] * len(tags)
    for first, last, of in entities(tags):
        marks[first] = f"({of}{marks[first]}"
        marks[last] += ")"
    return marks


def columns_of(rows: Sequence[Sequence[Sequence[object]]], separator: str, before: str = "", head: str = "") -> bytes:
    """A line a word, an empty line after each sentence."""
    blocks = (head.format(n) + "".join(separator.join(map(str, row)) + "\n" for row in sentence)
              for n, sentence in enumerate(rows))  # fmt: skip
    return (before + "".join(f"{block}\n" for block in blocks)).encode()


def tagged() -> Iterator[PublishedFile]:
    conll = [[(w, p, "I-NP", tag) for (w, p, _), tag in zip(s, iob1([t for *_, t in s]), strict=True)] for s in TAGGED]
    yield PublishedFile("eng.testa", "tagged", columns_of(conll, " ", "-DOCSTART- -X- O O\n\n"))
    yield PublishedFile("wnut17train.conll", "tagged", columns_of([[(w, t) for w, _, t in s] for s in TAGGED], "\t"))
    numbered = [[(k, w, t, "O") for k, (w, _, t) in enumerate(s, start=1)] for s in TAGGED]
    comment = "#\thttp://paper.example/{0} [2011-04-0{0}]\n"
    yield PublishedFile("NER-de-train.tsv", "tagged", columns_of(numbered, "\t", head=comment))
    yield PublishedFile("numbered.tsv", "tagged", columns_of([[row[:3] for row in s] for s in numbered], "\t"))
    onto = [
        [("nw/x/00/x_0000", 0, k, w, p, "(TOP*", "-", "-", "-", "-", tag, "*", "-")
         for k, ((w, p, _), tag) in enumerate(zip(s, brackets([t for *_, t in s]), strict=True))]
        for s in TAGGED
    ]  # fmt: skip
    begin = "#begin document (nw/x/00/x_0000); part 000\n"
    data = columns_of(onto, "   ", begin) + b"#end document\n"
    yield PublishedFile("x_0000.v4_gold_conll", "tagged", data)
    prefixed = [[(f"en:{w}", t) for w, _, t in s] for s in TAGGED]
    yield PublishedFile("wikiann.train", "tagged", columns_of(prefixed, "\t"))
    kaggle = [
        (f"Sentence: {n}" if k == 0 else "", *row) for n, s in enumerate(TAGGED, start=1) for k, row in enumerate(s)
    ]
    yield PublishedFile("ner_dataset.csv", "tagged", comma("Sentence #,Word,POS,Tag", kaggle, encoding="latin-1"))
    rows: list[dict[str, Any]] = [
        {"id": n, "tokens": [*w], "ner_tags": [*t]} for n, (w, t) in enumerate(zip(WORDS, IOB2, strict=True))
    ]
    in_cells = {"python": list, "numpy": partial(np.array, dtype=object), "json": json.dumps}
    for name, cell in in_cells.items():
        cells = [{**row, "tokens": cell(row["tokens"]), "ner_tags": cell(row["ner_tags"])} for row in rows]
        yield PublishedFile(f"lists_{name}.csv", "tagged", pd.DataFrame(cells).to_csv(index=False).encode())
    yield PublishedFile("lists.jsonl", "tagged", json_lines(rows))
    numbers = [{**row, "ner_tags": [TYPES.index(tag) for tag in row["ner_tags"]]} for row in rows]
    yield PublishedFile("numbers.jsonl", "tagged", json_lines(numbers))
    yield PublishedFile("numbers.csv", "tagged", pd.DataFrame(numbers).to_csv(index=False).encode())
    for name in ("Sequence", "List"):  # as older and newer versions call it
        of = {"feature": {"names": TYPES, "_type": "ClassLabel"}, "_type": name}
        yield PublishedFile(f"{name}.parquet", "tagged", parquet(numbers, {"ner_tags": of}))
    spans = [
        {"id": n, "text": " ".join(words), "label": [
            [len(" ".join([*words[:first], ""])), len(" ".join(words[: last + 1])), of]
            for first, last, of in entities(tags)
        ]}
        for n, (words, tags) in enumerate(zip(WORDS, IOB2, strict=True))
    ]  # fmt: skip
    yield PublishedFile("doccano.jsonl", "tagged", json_lines(spans))


# Questions with passages.


def passage(n: int) -> str:
    return f"  Mill {n} was built in {1800 + n} by Ada Holm. The café 😀 of Ada Holm opened later."


def squad(version: str) -> dict[str, Any]:
    """SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018)."""
    paragraphs = []
    for n in range(30):
        context = passage(n)
        year, owner = str(1800 + n), context.rindex("Ada Holm")
        at = context.index(year)
        qas: list[dict[str, Any]] = [
            {
                "id": f"{n}a",
                "question": f"When was mill {n} built?",
                "answers": [{"answer_start": at, "text": year}] * 3,
            },
            {
                "id": f"{n}b",
                "question": f"Whose is café {n}?",
                "answers": [{"answer_start": owner, "text": "Ada Holm"}],
            },
        ]
        if version == "v2.0":
            for question in qas:
                question["is_impossible"] = False
            qas.append({"plausible_answers": [{"answer_start": at, "text": year}], "question": f"When did {n} burn?",
                        "id": f"{n}c", "answers": [], "is_impossible": True})  # fmt: skip
        paragraphs.append({"qas": qas, "context": context})
    return {"data": [{"title": "Mills", "paragraphs": paragraphs}], "version": version}


def questions() -> Iterator[PublishedFile]:
    yield PublishedFile("train-v1.1.json", "questions", json.dumps(squad("1.1")).encode())
    yield PublishedFile("dev-v2.0.json", "questions", json.dumps(squad("v2.0"), indent=2).encode())
    late = {"authors": ["A. B."], "len": 1, "license": {"names": []}, "version": "1.1", "data": squad("1.1")["data"]}
    yield PublishedFile("authors_first.json", "questions", json.dumps(late).encode())
    rows: list[dict[str, Any]] = [
        {"id": question["id"], "title": "Mills", "context": paragraph["context"], "question": question["question"],
         "answers": {"text": [a["text"] for a in question["answers"]],
                     "answer_start": [a["answer_start"] for a in question["answers"]]}}
        for paragraph in squad("v2.0")["data"][0]["paragraphs"] for question in paragraph["qas"]
    ]  # fmt: skip
    yield PublishedFile("squad_v2.jsonl", "questions", json_lines(rows))
    yield PublishedFile("squad_v2.parquet", "questions", parquet(rows))
    yield PublishedFile("squad_v2.csv", "questions", pd.DataFrame(rows).to_csv(index=False).encode())
    arrays = pd.read_parquet(io.BytesIO(parquet(rows)))
    yield PublishedFile("squad_v2_numpy.csv", "questions", arrays.to_csv(index=False).encode())


# Trees, minimal pairs, pairs, pronouns, sentences.

NAMES = "Mia", "Otto", "Nora", "Jonas", "Lea"
DOES = "close", "paint", "sell", "wash", "open"
THINGS = "door", "boat", "table", "lamp"


def treebank() -> str:
    """CoNLL-U as Universal Dependencies has it: multiword tokens that are their words one after the other (*wo+n't*,
    *Ann+'s*), one that is not (*du*), words without a space after them, and a word that is not in the text.
    """
    blocks = []
    for n in range(100):
        name, verb, thing = NAMES[n % 5], DOES[n // 5 % 5], THINGS[n // 25]
        forms = [
            (f"{name} won't {verb} the {thing}.",
             f"1 {name} PROPN 4 nsubj _|2-3 won't _ _ _ _|2 wo AUX 4 aux _|3 n't PART 4 advmod _|"
             f"4 {verb} VERB 0 root _|5 the DET 6 det _|6 {thing} NOUN 4 obj SpaceAfter=No|7 . PUNCT 4 punct _"),
            (f"{name}'s brother will {verb} a {thing}.",
             f"1-2 {name}'s _ _ _ _|1 {name} PROPN 3 nmod:poss _|2 's PART 1 case _|3 brother NOUN 5 nsubj _|"
             f"4 will AUX 5 aux _|5 {verb} VERB 0 root _|6 a DET 7 det _|7 {thing} NOUN 5 obj SpaceAfter=No|"
             "8 . PUNCT 5 punct _"),
            (f"{name} voit le numéro {n} du {thing}.",
             f"1 {name} PROPN 2 nsubj _|2 voit VERB 0 root _|3 le DET 4 det _|4 numéro NOUN 2 obj _|"
             f"5 {n} NUM 4 nummod _|6-7 du _ _ _ _|6 de ADP 8 case _|7 le DET 8 det _|"
             f"8 {thing} NOUN 4 nmod SpaceAfter=No|9 . PUNCT 2 punct _"),
            (f"{name} can't {verb} (it).",
             f"1 {name} PROPN 4 nsubj _|2-3 can't _ _ _ _|2 ca AUX 4 aux _|3 n't PART 4 advmod _|"
             f"4 {verb} VERB 0 root _|5 ( PUNCT 6 punct SpaceAfter=No|6 it PRON 4 obj SpaceAfter=No|6.1 all _ _ _ _|"
             "7 ) PUNCT 6 punct SpaceAfter=No|8 . PUNCT 4 punct _"),
        ]  # fmt: skip
        text, rows = forms[n % 4]
        lines = [f"# sent_id = mill-{n}", f"# text = {text}"]
        for row in rows.split("|"):
            number, form, upos, head, deprel, misc = row.split(" ")
            deps = "_" if "." not in number else "4:obj"
            lines.append("\t".join([number, form, "_", upos, "_", "_", head, deprel, deps, misc]))
        blocks.append("\n".join(lines) + "\n\n")
    return "# newdoc id = mill\n" + "".join(blocks)


def blimp() -> list[dict[str, Any]]:
    """BLiMP (Warstadt et al. 2020)."""
    return [
        {"sentence_good": f"The {thing}s of {name} are old.", "sentence_bad": f"The {thing}s of {name} is old.",
         "field": "morphology", "linguistics_term": "subject_verb_agreement", "UID": "distractor_agreement",
         "simple_LM_method": True, "one_prefix_method": False, "two_prefix_method": False,
         "lexically_identical": False, "pair_id": n}
        for n, (name, thing) in enumerate((name, thing) for name in NAMES for thing in THINGS)
    ]  # fmt: skip


def others() -> Iterator[PublishedFile]:
    yield PublishedFile("en_mill-ud-train.conllu", "trees", treebank().encode())
    yield PublishedFile("distractor_agreement.jsonl", "minimal pairs", json_lines(blimp()))
    rows = [(sentence(n), sentence(n + 1), ("IsNext", "NotNext")[n % 2]) for n in N]
    yield PublishedFile("next.csv", "pairs", comma("sentence1,sentence2,label", rows))
    yield PublishedFile("corpus.jsonl", "sentences", json_lines([{"text": sentence(n)} for n in N]))
    pronouns = [(f"The nurse saw the baker because she was at gate {n}.", "she", "nurse", "baker") for n in N]
    yield PublishedFile("pronouns.csv", "pronouns", comma("text,pronoun,antecedent,distractor", pronouns))


FILES: Mapping[str, PublishedFile] = {
    file.name: file for file in chain(glue(), labelled(), two_quotes(), tagged(), questions(), others())
}
