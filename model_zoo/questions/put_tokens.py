"""A text with some of its tokens replaced by others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize


@dataclass(frozen=True, slots=True)
class PutTokens(Question[str]):
    """The text with the tokens at some positions replaced by others, with spaces as they are read: a piece that
    continues a word ("##ing") joins the word before it. ``fills`` are positions and ids, as a mapping or as pairs.
    """

    runs_model = False
    example_fields: ClassVar = {"text": "The cat sat.", "fills": {2: 7}}

    model: str
    text: str
    fills: Mapping[int, int] | Sequence[tuple[int, int]]

    def check(self) -> None:
        normalize(self, fills=tuple(sorted(dict(self.fills).items())))

    def answer(self, loaded: LoadedModel) -> str:
        from model_zoo.masked import encode_replaceable

        fills = dict(self.fills)
        encoding = encode_replaceable(loaded, self.text, fills)
        for token in fills.values():
            if not 0 <= token < len(loaded.tokenizer):
                raise InvalidInput(
                    f"Number {token} of the vocabulary of {loaded.info.id} stands for no token, so it cannot be "
                    "written. Choose another prediction."
                )
        written, rest = encoding.text, len(encoding.text)
        for position, token in sorted(fills.items(), reverse=True):
            piece = _surface_form(loaded, token)
            start, end = encoding.offsets[position]
            before, after = written[:start], written[min(end, rest) :]
            if not piece.startswith(" "):
                before = before.rstrip()
            elif not before or before[-1].isspace():
                piece = piece.lstrip()
            written, rest = before + piece + after, len(before)
        return written


def _surface_form(loaded: LoadedModel, token: int) -> str:
    """How a token reads after another word: " cat", or "s" for one that continues a word."""
    from model_zoo.encoding import as_bad_checkpoint

    tokenizer = loaded.tokenizer
    with as_bad_checkpoint(loaded.info.id):
        before = tokenizer.encode("a", add_special_tokens=False)
        written: str = tokenizer.decode([*before, token], clean_up_tokenization_spaces=False)
        return written.removeprefix(tokenizer.decode(before, clean_up_tokenization_spaces=False))
