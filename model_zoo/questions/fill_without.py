"""The predictions at masks when the model cannot see something: later tokens, or the order of tokens."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, get_args

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.question import LoadedModel, Question
from model_zoo.types import MaskPrediction, Without


@dataclass(frozen=True, slots=True)
class FillWithout(Question[tuple[MaskPrediction, ...]]):
    """As ``fill_mask``, for a model that cannot see something: with "future" no token may attend to those after it;
    with "positions" all tokens get the same position, so that their order is lost. The window of near tokens that a
    layer looks at (ModernBERT) stays with "future", and is lifted with "positions", since it tells who stands near.

    Raises NotSupported as ``fill_mask`` does, and for networks that take no such input.
    """

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"text": "The [MASK] sat.", "top_k": 3}

    model: str
    text: str
    masked: Collection[int] = ()
    without: Without = "future"
    top_k: int = 10

    def check(self) -> None:
        if self.without not in get_args(Without):
            raise InvalidInput(f"A model cannot be run without {self.without!r} here. Choose future or positions.")

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...]:
        import torch

        from model_zoo.embedding_table import first_position
        from model_zoo.interventions.editing import Editor, Rows, editing
        from model_zoo.masked import mask_and_slots
        from model_zoo.prediction_heads import predictions

        hidden, slots = mask_and_slots(loaded, self.text, self.masked)
        if self.without and loaded.family.anatomy is None:  # others have ways of their own, as distances between tokens
            raise NotSupported(
                f"{loaded.info.id} ({loaded.info.family}) cannot be kept from seeing later tokens or positions here, "
                "since its attention is not known part by part. Choose another model, such as BERT."
            )
        n, device = len(hidden), loaded.model.device
        every = torch.ones(1, 1, n, n, dtype=torch.bool, device=device)
        editor, changed = Editor(counts=True), {}
        if self.without == "future":  # beside what the network hides by itself, as a window of near tokens (ModernBERT)
            editor.rows = dict.fromkeys(range(loaded.info.n_layers), Rows(hide=every.triu(1)))
        elif self.without == "positions":  # a window tells where tokens stand, too, so nothing is hidden from any
            same = torch.full((1, n), first_position(loaded), device=device)
            changed = {"attention_mask": every, "position_ids": same}
        with editing(loaded, editor):
            ((_, answers),) = predictions(loaded, [hidden], [slots], self.top_k, changed)
        return answers
