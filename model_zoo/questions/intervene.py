"""What a model answers when something in its run is changed: parts off, edges cut, another run's values put in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Streamed, check_top_k, normalize
from model_zoo.types import READS, VALUES, Change, Effects, TargetAnswer, Value

MOST_CHANGES = 20_000


@dataclass(frozen=True, slots=True)
class Intervene(Streamed[Effects, Effects]):
    """A run for each of the ``changes``, measured by one ``aim``; see ``EngineInterface.intervene``."""

    model: str
    text: str
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = field(default_factory=TargetAnswer)
    changes: Sequence[Change] = ()
    value: Value = "zero"
    other: tuple[str, str | None] | None = None
    top_k: int = 5

    def __post_init__(self) -> None:
        texts.check_pair(self.text, self.text_pair)
        check_top_k(self.top_k)
        check_aim(self.aim)
        check_value(self.value, self.other)
        if len(self.changes) > MOST_CHANGES:
            raise InvalidInput(
                f"{len(self.changes):,} changes are more than {MOST_CHANGES:,}. Ask for fewer at a time."
            )
        normalize(self, masked=frozenset(self.masked), changes=tuple(self.changes))

    def parts(self, loaded: LoadedModel) -> Iterator[Effects]:
        from model_zoo.interventions.intervene import intervene

        return intervene(loaded, self)

    def whole(self, parts: Sequence[Effects]) -> Effects:
        from model_zoo.interventions.intervene import joined

        return joined(parts)

    def again(self, whole: Effects) -> Iterable[Effects]:
        return (whole,)

    @classmethod
    def example(cls, model: str) -> Intervene:
        return cls(model, "The cat sat.", aim=TargetAnswer("mask"), masked=(2,), changes=(Change(heads=((0, 0),)),))


def check_value(value: Value, other: tuple[str, str | None] | None) -> None:
    """Raises InvalidInput for what cannot be put in, and for another text that would not be read."""
    if value not in VALUES:
        raise InvalidInput(f"There is no value {value!r} to put in. Choose {', '.join(VALUES)}.")
    if (value == "other") != (other is not None):
        raise InvalidInput("Another run's values need another text, and another text is for them alone. Give both.")
    if other is not None:
        texts.check_pair(*other, "The other text")


def check_aim(aim: TargetAnswer) -> None:
    """Raises InvalidInput for an aim that no model has."""
    if aim.reads not in READS:
        raise InvalidInput(f"There is no answer of the kind {aim.reads!r}. Choose {', '.join(READS)}.")
