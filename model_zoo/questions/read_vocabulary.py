"""The tokens that a model knows."""

from dataclasses import dataclass

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Vocabulary


@dataclass(frozen=True, slots=True)
class ReadVocabulary(Question[Vocabulary]):
    """The tokens a model knows, by id."""

    runs_model = False

    model: str

    def answer(self, loaded: LoadedModel) -> Vocabulary:
        tokenizer = loaded.tokenizer
        return Vocabulary(
            tokens=tuple(loaded.token_names(range(len(tokenizer)))),
            size=loaded.vocabulary_size,
            mask_id=tokenizer.mask_token_id,
            mask_token=tokenizer.mask_token,
            unknown_id=tokenizer.unk_token_id,
            special_ids=frozenset(tokenizer.all_special_ids),
        )
