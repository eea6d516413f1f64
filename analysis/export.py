"""Numbers to save: a view as CSV or NPZ, any table as safe CSV with its origin, and names of files."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Literal

import numpy as np
import pandas as pd

from analysis.filters import Filter, Filtered
from analysis.views import Measure
from model_zoo.types import Encoding, ModelInfo, Stack

# What pandas.read_csv takes for a missing value unless it is told otherwise, in quotes or not; besides the empty cell.
_MISSING = (
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
)
# What nobody sees before a formula and a reader may drop: white space, controls, what Unicode calls ignorable, and a
# quote, which opens a cell; but not what ends one.
_UNSEEN = (
    r"(?:(?![;\t\r\n])[\s\"\0-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff])*"
)
# A number with a sign, which is no formula; "-0E" is none.
_SIGNED = rf"{_UNSEEN}[+-](?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\s*\Z"
# What may be read as a number or a truth value; a superset of what is.
_NUMBER = rf"{_SIGNED}|\s*(?:[._]*\d[\d._]*(?:[eE][+-]?\d*)?|inf(?:inity)?|true|false)\s*\Z"
# What a spreadsheet may take for the beginning of a formula (the wide forms too).
_FORMULA = rf"{_UNSEEN}[=+\-@＝＋－＠]"


def _quotes(how_many: str) -> re.Pattern[str]:
    """The apostrophes, so many, before a text that is read as something else, and inside it where a cell may begin:
    where commas are for decimals, spreadsheets part cells by semicolons and see no quote in the middle of one. A lone
    sign, an arrow or a dash is no formula, but what follows inside a text may become part of one.
    """
    missing = "|".join(map(re.escape, _MISSING))
    text = rf"{how_many}(?=(?-i:{missing})\Z)|'+(?={_NUMBER})|{how_many}(?!{_SIGNED})(?={_FORMULA}(?s:.*\w))"
    return re.compile(rf"\A(?:{text})|(?<=[;\t\r\n]){how_many}(?={_FORMULA})", re.IGNORECASE)


# Where one more is written, and where one is taken away: what has apostrophes gets one more, so that this is right.
_TO_MARK, _MARKED = _quotes("'*"), _quotes("'+")

# What pages say beside a table that can be saved.
CSV_NOTE = "An apostrophe precedes text that would otherwise be read as a formula, a missing value or a number."
COUNTING = "Layers, heads and tokens count from 1."
"""What every file says of itself; "layer 0" can only be the embeddings."""
_COUNTED = re.compile(r"(layer|head|token|query|key|position|mask|place|word)(_[a-z0-9]+)?")
_LONGEST_NAME = 40  # characters of a text in the name of a file


How = Literal["each", "mean", "max", "sum", "norm", "layer", "rollout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the numbers of a view come from.

    ``heads`` are (layer, head) from 0. With ``how`` "each" the view holds one matrix per head, in this order
    (or a single matrix of a single head); with "mean", "max", "sum", "norm" or "rollout" one matrix made of
    all of them, with "layer" what the ``measure`` says of a layer with all its heads. ``stack`` is whose attention it
    is, see ``Engine.attend``.
    """

    model: ModelInfo
    heads: tuple[tuple[int, int], ...] = field(repr=False)
    how: How = "each"
    measure: Measure = "weights"
    stack: Stack = "encoder"


def to_csv(view: Filtered, origin: Origin) -> bytes:
    """A view as CSV, one row per cell, which pandas reads without skipping lines and a spreadsheet can pivot.

    Columns: model, revision, counted_from, part, layer, head, how, measure, filter, query, query_token, key, key_token,
    weight. Layers, heads and positions (of a word: its first token) count from 1, as on the screen and as
    ``counted_from`` says; where heads are combined, layer and head name all of them ("1 to 12"). ``filter`` is JSON
    without what is at its default. Weights have nine digits, which gives the same float32 back. Text is written as in
    ``table_to_csv``; a plain ``pandas.read_csv(file)`` or ``read_table`` reads it.
    """
    matrices = view.weights if view.weights.ndim == 3 else view.weights[None]
    if origin.how == "each":
        if len(matrices) != len(origin.heads):
            raise ValueError(f"{len(matrices)} matrices do not fit {len(origin.heads)} heads")
        names = [(str(layer + 1), str(head + 1)) for layer, head in origin.heads]
    else:
        names = [_names(origin.heads)]
    n_queries, n_keys = matrices.shape[1:]
    table = pd.DataFrame(
        {
            "query": np.repeat([unit.start + 1 for unit in view.queries], n_keys),
            "query_token": [unit.label for unit in view.queries for _ in range(n_keys)],
            "key": np.tile([unit.start + 1 for unit in view.keys], n_queries),
            "key_token": list(view.key_labels) * n_queries,
        }
    )
    parts = [
        table.assign(layer=layer, head=head, weight=matrix.ravel())
        for (layer, head), matrix in zip(names, matrices, strict=True)
    ]
    joined = pd.concat(parts, ignore_index=True).assign(
        model=origin.model.id,
        revision=origin.model.revision,
        counted_from=1,
        part=origin.stack,
        how=origin.how,
        measure=origin.measure,
        filter=_filter_json(view.filter),
    )
    columns = ["model", "revision", "counted_from", "part", "layer", "head", "how", "measure", "filter"]
    return table_to_csv(joined[[*columns, "query", "query_token", "key", "key_token", "weight"]])


def to_npz(view: Filtered, origin: Origin, encoding: Encoding, source: Encoding | None = None) -> bytes:
    """A view as a compressed NumPy archive, readable with ``numpy.load(file, allow_pickle=False)``.

    ``encoding`` and ``source`` are those of the run. weights float32 as shown; tokens (n,), text, text_pair
    ("" if none); source_tokens and source_text: what the encoder has read while a decoder looks, else empty;
    query_labels, key_labels; query_spans and key_spans (…, 2): the tokens each row and column stands for, the first
    and the last, columns of the part "cross" among source_tokens and all else among tokens;
    model, revision, part, how, measure, filter (JSON without what is at its default:
    ``Filter(**json.loads(...))``); layer (k,) and head (k,) of each head. As in the CSV these count from 1, which
    ``counted_from`` says: an entry is ``run.head(layer - 1, head - 1)``.
    """
    file = io.BytesIO()
    np.savez_compressed(
        file,
        weights=view.weights,
        tokens=np.array(encoding.tokens, dtype=np.str_),
        text=np.array(encoding.text),
        text_pair=np.array(encoding.text_pair or ""),
        source_tokens=np.array(source.tokens if source else (), dtype=np.str_),
        source_text=np.array(source.text if source else ""),
        query_labels=np.array(view.query_labels, dtype=np.str_),
        key_labels=np.array(view.key_labels, dtype=np.str_),
        query_spans=np.array([(unit.start + 1, unit.stop) for unit in view.queries], dtype=np.int64).reshape(-1, 2),
        key_spans=np.array([(unit.start + 1, unit.stop) for unit in view.keys], dtype=np.int64).reshape(-1, 2),
        model=np.array(origin.model.id),
        revision=np.array(origin.model.revision),
        part=np.array(origin.stack),
        counted_from=np.array(1),
        layer=np.array([layer + 1 for layer, _ in origin.heads], dtype=np.int64),
        head=np.array([head + 1 for _, head in origin.heads], dtype=np.int64),
        how=np.array(origin.how),
        measure=np.array(origin.measure),
        filter=np.array(_filter_json(view.filter)),
    )
    return file.getvalue()


def origin_of(table: pd.DataFrame, revisions: Mapping[str, str]) -> pd.DataFrame:
    """A table that begins with where its numbers come from: the columns model and revision, of the models that it is
    about (``revisions`` by their ids), and counted_from where it has layers, heads or places, which is 1.

    What a table says of that itself stays; several models that it does not tell apart share a cell.
    """
    labelled = table.copy()
    if "model" not in labelled:
        labelled["model"] = " ".join(revisions)
    if "revision" not in labelled:
        all_revisions = " ".join(revisions.values())
        labelled["revision"] = [revisions.get(model, all_revisions) for model in labelled["model"]]
    first = ["model", "revision"]
    if any(_COUNTED.fullmatch(str(name)) for name in labelled):
        labelled["counted_from"] = 1
        first.append("counted_from")
    return labelled[[*first, *(name for name in labelled if name not in first)]]


def named(name: str, text: str) -> str:
    """The name of a file, with the first words of the text that it is about: attention_L2H4_the-cat-sat."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:_LONGEST_NAME]
        if len(longer) > _LONGEST_NAME:
            break
        slug = longer
    return f"{name}_{slug}" if slug else name


def table_to_csv(table: pd.DataFrame) -> bytes:
    """A table as CSV: UTF-8 with a byte order mark, which a plain ``pandas.read_csv(file)`` reads without losing a text
    and in which no spreadsheet executes one.

    Text is written as it is, except for what a reader would take for something else. That gets an apostrophe in front
    (as OWASP advises against CSV injection): words that pandas takes for a missing value (null, NA, nan, None ...),
    what may be a formula (= + - @, also behind what is not seen, and then a letter or digit: not a lone "-"; and in the
    middle of a text what follows a semicolon, a tab or the end of a line), and all cells of a column in which pandas
    would turn texts into other numbers or truth values (nothing but "007" or "1e5"). What has apostrophes before such a
    text gets one more: ``unmarked`` takes one away, ``read_table`` does so in a whole file. An empty text is an empty
    cell, which pandas reads as missing. Floats have nine digits: the same float32 comes back.
    """
    safe = table.copy()
    safe.columns = [_marked(name) if isinstance(name, str) else name for name in table.columns]
    for place in range(table.shape[1]):
        cells = table.iloc[:, place]
        distinct = cells.unique()
        texts = {cell: _marked(cell) for cell in distinct if isinstance(cell, str) and cell}
        if texts:
            if _become_others(list(texts.values()), missing=len(texts) < len(distinct)):
                texts = {text: f"'{text}" for text in texts}
            safe.isetitem(place, [texts.get(cell, cell) if isinstance(cell, str) else cell for cell in cells])
    text = safe.to_csv(index=False, float_format="%.9g", lineterminator="\r\n")
    return text.encode("utf-8-sig")


def read_table(data: bytes) -> pd.DataFrame:
    """What ``table_to_csv`` has written, read by pandas with its defaults, and without the apostrophes it has added."""
    table = pd.read_csv(io.BytesIO(data))
    plain = table.map(lambda cell: unmarked(cell) if isinstance(cell, str) else cell)
    return plain.rename(columns=unmarked)


def unmarked(text: str) -> str:
    """A text cell without the apostrophes that ``table_to_csv`` may have added."""
    return _MARKED.sub(lambda quotes: quotes[0][1:], text)


def _marked(text: str) -> str:
    return _TO_MARK.sub(lambda quotes: f"'{quotes[0]}", text)


def _become_others(texts: Sequence[str], *, missing: bool) -> bool:
    """Whether pandas, reading a column of these texts (and of empty cells where there are ``missing`` ones), turns them
    into numbers or truth values that are written otherwise.
    """
    if not all(re.match(_NUMBER, text, re.IGNORECASE) for text in texts):
        return False
    column = pd.DataFrame({"text": [*texts, *[""] * missing], "other": 0}).to_csv(index=False)
    return [str(cell) for cell in pd.read_csv(io.StringIO(column))["text"][: len(texts)]] != list(texts)


def _filter_json(chosen: Filter) -> str:
    values = asdict(chosen)
    return json.dumps(
        {field.name: values[field.name] for field in fields(Filter) if values[field.name] != field.default}
    )


def _names(heads: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """Layers and heads in words: ("1 to 6", "1 to 12") where they fill a grid, else heads as "L1H3 L2H5"."""
    layers, numbers = ({pair[side] for pair in heads} for side in (0, 1))
    if len(set(heads)) == len(layers) * len(numbers):
        return _ranges(layers), _ranges(numbers)
    return _ranges(layers), " ".join(f"L{layer + 1}H{head + 1}" for layer, head in sorted(set(heads)))


def _ranges(numbers: set[int]) -> str:
    """{0, 1, 2, 5} as "1 to 3, 6" (a spreadsheet would take "1-3" for a date)."""
    ordered = sorted(numbers)
    starts = [number for number in ordered if number - 1 not in numbers]
    ends = [number for number in ordered if number + 1 not in numbers]
    pairs = zip(starts, ends, strict=True)
    return ", ".join(str(a + 1) if a == b else f"{a + 1} to {b + 1}" for a, b in pairs)
