"""The output projections of a model's attention."""

from dataclasses import dataclass

from model_zoo.question import LoadedModel, Question
from model_zoo.types import FloatArray, Stack, read_only


@dataclass(frozen=True, slots=True)
class ReadProjections(Question[tuple[FloatArray | None, ...]]):
    """W_O (heads, d', width) for each layer, for runs that were pickled: see ``AttentionRun.output_projections``."""

    of_loaded = True

    model: str
    stack: Stack = "encoder"

    def answer(self, loaded: LoadedModel) -> tuple[FloatArray | None, ...]:
        from model_zoo import running

        running.refuse_without_stack(loaded, self.stack)
        return tuple(None if weight is None else read_only(weight) for weight in loaded.output_projections(self.stack))
