"""A text as the tokens that a model sees."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

from model_zoo.types.shows import DataFrame, Shows, table, whole_numbers
from model_zoo.types.wording import counted, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding(Shows):
    """A text, or a pair of texts, as the tokens the model sees; all tuples have length n.

    ``word_ids`` number the words people write, through both texts; None for special tokens, and for the few that
    have no place in the text because the tokenizer rewrote it (``unplaced``). ``offsets`` are character spans in
    ``text`` (segment 0) or ``text_pair`` (segment 1), (0, 0) for tokens nobody typed, and for those without a place.
    ``segment_ids`` say to which text a token belongs, by BERT's rule: [CLS] and the [SEP] after the first
    text count to 0, the last [SEP] to 1. ``type_ids`` are what the tokenizer itself says of that, by the
    family's own rule (XLNet has a third kind); they are what the model is given, if it takes any.
    ``n_dropped`` tokens were left out at the model's limit.
    """

    text: str
    text_pair: str | None
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    word_ids: tuple[int | None, ...]
    offsets: tuple[tuple[int, int], ...]
    segment_ids: tuple[int, ...]
    special: tuple[bool, ...]
    type_ids: tuple[int, ...] | None = None
    n_dropped: int = 0

    def __post_init__(self) -> None:
        n = len(self.tokens)
        lengths = {len(self.ids), len(self.word_ids), len(self.offsets), len(self.segment_ids), len(self.special)}
        if lengths != {n}:
            raise ValueError(f"all fields of an Encoding have one entry a token; got {n} tokens and {lengths}")

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def words(self) -> tuple[range, ...]:
        """The positions of each word, in order; a token that belongs to none stands by itself.

        Word ids number through both texts, so two words never share a run of equal ids.
        """
        # A token without a word gets an id no neighbour has (words count from 0).
        ids = [-1 - place if word is None else word for place, word in enumerate(self.word_ids)]
        runs = [list(run) for _, run in groupby(range(len(ids)), key=ids.__getitem__)]
        return tuple(range(run[0], run[-1] + 1) for run in runs)

    def first(self, n: int) -> Encoding:
        """The same with its first ``n`` tokens alone."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        of_tokens: dict[str, Any] = {name: value[:n] for name, value in every.items() if isinstance(value, tuple)}
        return replace(self, **of_tokens)

    @property
    def unplaced(self) -> tuple[int, ...]:
        """The positions of tokens that stand for some of the text, nobody can say for what."""
        return tuple(place for place, word in enumerate(self.word_ids) if word is None and not self.special[place])

    def to_frame(self) -> DataFrame:
        """One row a token: position, token, id, word (missing for special tokens), segment, start and end (its
        characters), special.
        """
        return table(
            {
                "position": range(len(self)),
                "token": self.tokens,
                "id": self.ids,
                "word": whole_numbers(self.word_ids),
                "segment": self.segment_ids,
                "start": [start for start, _ in self.offsets],
                "end": [end for _, end in self.offsets],
                "special": self.special,
            }
        )

    def __repr__(self) -> str:
        return f"<Encoding {self.summary()}>"

    def summary(self) -> str:
        """Number of tokens and the text they are of, for the one line in which a result shows itself."""
        pair = "" if self.text_pair is None else f" + {quoted(self.text_pair)}"
        dropped = f" ({self.n_dropped:,} left out)" if self.n_dropped else ""
        unplaced = f" ({len(self.unplaced):,} without a place in the text)" if self.unplaced else ""
        return f"{counted(len(self), 'token')}{dropped}{unplaced} of {quoted(self.text)}{pair}"
