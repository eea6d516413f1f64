"""What a lesson is about just now: the visitor's sentence and model, and what the engine says of them."""

from __future__ import annotations

from dataclasses import dataclass

from analysis import words
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import Anatomy, AttentionRun, Encoding, HiddenStates, MaskPrediction, ModelInfo, Vocabulary
from training.finetuning.results import Tuned
from ui import as_text
from web.engine import engine


def name_of(model: str) -> str:
    """What a sentence calls a model."""
    spec = registry.find(model)
    return model if spec is None else spec.short_name


@dataclass(frozen=True, slots=True)
class Case:
    """``pair`` is the second text, None where there is none. ``token``, ``layer`` and ``head`` count from 0; a token of
    None is the one that is followed where nobody has chosen. ``tuned`` is what the visitor trained in the last lesson.
    """

    model: str
    text: str
    pair: str | None = None
    token: int | None = None
    layer: int = 0
    head: int = 0
    tuned: Tuned | None = None

    @property
    def info(self) -> ModelInfo:
        return engine().info(self.model)

    @property
    def encoding(self) -> Encoding:
        """The tokens of the first text."""
        return engine().encode(self.model, self.text)

    @property
    def vocabulary(self) -> Vocabulary:
        """What the model's tokens are taken from."""
        return engine().vocabulary(self.model)

    @property
    def typed(self) -> list[int]:
        """The places of the tokens that somebody typed as a word or a sign: neither special nor a mask."""
        tokens = zip(self.encoding.ids, self.encoding.special, strict=True)
        return [at for at, (id, special) in enumerate(tokens) if not special and id != self.vocabulary.mask_id]

    @property
    def run(self) -> AttentionRun:
        """What every head attends to in the first text."""
        return engine().attend(self.model, self.text)

    @property
    def states(self) -> HiddenStates:
        """The first text's vectors after the embeddings and after every layer."""
        return engine().encoded_states(self.model, self.text)

    @property
    def followed(self) -> int:
        """The place of the token that is followed: the chosen one, else a pronoun, else the last word.

        Raises InvalidInput where the text has no words.
        """
        encoding = self.encoding
        if self.token is not None and self.token < len(encoding):
            return self.token
        place = words.to_follow(encoding)
        if place is None:
            raise InvalidInput("There is no word in this text to follow. Type a sentence.")
        return place

    @property
    def anatomy(self) -> Anatomy:
        """The first text on its way through the chosen layer and head."""
        return engine().dissect(self.model, self.text, layer=self.layer, head=self.head)

    def label(self, place: int) -> str:
        """A token with its place, from 1, as an answer to choose."""
        return f"{place + 1} · {as_text(self.encoding.tokens[place])}"

    def is_word(self, place: int) -> bool:
        """Whether the token at a place holds letters or digits that somebody typed."""
        return words.is_word(self.encoding, place)

    def written(self, place: int) -> str:
        """What was typed of the token at a place; "" for tokens nobody typed."""
        return words.written(self.encoding, place)

    def guesses(self, place: int, top_k: int = 10, targets: tuple[str | int, ...] = ()) -> MaskPrediction:
        """What the model makes of the token at a place when it is hidden. Raises NotSupported for a model without a
        masked-word head.
        """
        predictions = engine().fill_mask(self.model, self.text, top_k, masked=(place,), targets=targets)
        return next(answer for answer in predictions if answer.position == place)
