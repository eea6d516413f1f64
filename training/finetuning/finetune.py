"""A question that trains: tune a copy of a model on a task. Its parts are the events on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from model_zoo.question import Streamed
from training.finetuning.data import Data, check
from training.finetuning.results import Event, Tuned
from training.finetuning.settings import TOKENS_A_PASS, Settings

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel

_CHARACTERS_A_TOKEN = 3  # of English, rather too few than too many
_FLOATS_A_TOKEN = 30  # kept for the way back, for each layer and unit of its width
_AT_LEAST = 20_000_000  # what any training takes; 401 MB were measured where 436 are reserved, the bundled BERT's


@dataclass(frozen=True, slots=True)
class Finetune(Streamed[Event, Tuned]):
    """``id`` is the name that the tuned model will have: see ``model_zoo.tuned``. Its files are kept with ``keep``.

    ``soft`` are a teacher's scores (logits) for the items of ``data.first(settings.examples, settings.seed).train``.
    Where it is stopped (its parts are closed) its state is kept under the ``id``, and the same question goes on from
    there. Raises InvalidInput for data that nothing can be learned from, and for a training that diverges; NotSupported
    for a model that cannot be tuned; OutOfMemory.
    """

    model: str
    data: Data
    settings: Settings
    id: str
    keep: bool = True
    soft: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)

    remembered: ClassVar[bool] = False  # every one has another id

    def __post_init__(self) -> None:
        check(self.data)

    def extra_bytes(self, loaded: LoadedModel) -> int:
        """Bytes of a copy in float32, of gradients, AdamW's moments and the best epoch's values of the trained weights,
        and of what a step keeps for backpropagation.
        """
        info = loaded.info
        longest = max(len(item.text) + len(item.pair or "") for item in self.data.train)
        a_text = min(self.settings.max_tokens, longest // _CHARACTERS_A_TOKEN + 3)
        tokens = max(a_text, min(TOKENS_A_PASS, a_text * self.settings.batch))
        vocabulary = getattr(loaded.model.config, "vocab_size", 0) * info.width  # of which few rows occur
        learning = max(0, info.parameters - vocabulary) if self.settings.learns in ("all", "top") else 0
        return _AT_LEAST + 4 * (info.parameters + 4 * learning + _FLOATS_A_TOKEN * tokens * info.n_layers * info.width)

    def parts(self, loaded: LoadedModel) -> Iterator[Event]:
        from training.finetuning import loop

        return loop.tune(loaded, self.model, self.data, self.settings, self.id, self.soft, self.keep)

    def combine(self, parts: Sequence[Event]) -> Tuned:
        last = parts[-1]
        assert isinstance(last, Tuned)
        return last

    @classmethod
    def example(cls, model: str) -> Finetune:
        from model_zoo import tuned
        from training.finetuning.data import Labelled

        items = tuple(Labelled(f"{word} cat", None, word) for word in ("one", "two") * 2)
        data = Data("example", "An example", "classification", items, items[:2], items[:2], ("one", "two"))
        return cls(model, data, Settings(epochs=1, batch=2), tuned.new_id(), keep=False)
