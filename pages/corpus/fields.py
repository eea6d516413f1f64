"""Fields of the page "Corpus" that no view has alone: what is measured, and which relation is looked at."""

from __future__ import annotations

from ui import Field, how_read, pattern, view_field, within

_PAGE = "corpus"

SHOWN_VIEW = view_field(_PAGE, "all")

# At most so many sentences of the data, drawn by the seed.
SENTENCES: Field[int] = Field("sentences", 1000, within("the number of sentences", 20, 100_000, step=100), of=_PAGE)
SEED: Field[int] = Field("seed", 0, within("the seed", 0, 999_999), of=_PAGE)
DATA: Field[str] = Field("data", "", of=_PAGE)
FREQUENCIES: Field[str] = Field("frequencies", "", of=_PAGE)
READ = how_read.choices_field("read", _PAGE)
SOURCE = (SENTENCES, SEED, DATA, READ, FREQUENCIES)

# A relation and where a head looks from: "obj.up" is from the object to its verb.
RELATION: Field[str] = Field(
    "relation",
    "",
    pattern(r"[a-z_]{1,40}\.(up|down)", "is not a relation. Write relations as in obj.up or obj.down.", empty=True),
    of=_PAGE,
)
