"""How much of some texts a model cannot read: the words that its tokenizer has no tokens for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

from analysis.corpus.sentences import alike
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question
from model_zoo.text import check_pair
from model_zoo.types import Shows

MOST_TEXTS = 1000


@dataclass(frozen=True, slots=True)
class UnknownWords(Shows):
    """Of the ``n_words`` words of ``n_texts`` different texts, ``n_unknown`` are read as ``token``, whole or in part.
    ``n_identical`` of the texts hold such a word and become the same ids as another one.
    """

    token: str | None
    n_texts: int
    n_words: int
    n_unknown: int
    n_identical: int


@dataclass(frozen=True, slots=True)
class CountUnknown(Question[UnknownWords]):
    """How many words of texts and pairs the tokenizer reads as its unknown token, and which texts it thereby makes
    identical. Byte-level tokenizers know all words. Texts that differ only in case and spaces count once.
    """

    runs_model = False

    model: str
    texts: tuple[tuple[str, str | None], ...]

    def check(self) -> None:
        if not 1 <= len(self.texts) <= MOST_TEXTS:
            raise InvalidInput(f"A question is about 1 to {MOST_TEXTS:,} texts. Ask for them in parts.")
        for number, pair in enumerate(self.texts, start=1):
            check_pair(*pair, f"Text {number}")

    def answer(self, loaded: LoadedModel) -> UnknownWords:
        unknown = loaded.tokenizer.unk_token_id
        different = {(alike(text), pair and alike(pair)): (text, pair) for text, pair in self.texts}
        n_words = n_unknown = 0
        n_with_ids: dict[tuple[int, ...], int] = defaultdict(int)
        for text, pair in different.values():
            encoding = loaded.encode(text, pair)
            n_words += len(set(encoding.word_ids) - {None})
            read_as = zip(encoding.word_ids, encoding.ids, strict=True)
            n_unknown += len({word for word, number in read_as if number == unknown})
            if unknown in encoding.ids and not encoding.n_dropped:
                n_with_ids[encoding.ids] += 1
        n_identical = sum(n for n in n_with_ids.values() if n > 1)
        return UnknownWords(loaded.tokenizer.unk_token, len(different), n_words, n_unknown, n_identical)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, (("The cat sat.", None), ("The cat sat.", "It slept.")))
