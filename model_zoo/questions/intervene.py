"""What a model predicts when its run is changed: parts off, edges cut, values of another run patched in."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from model_zoo.errors import InvalidInput
from model_zoo.question import OWN_BEST, LoadedModel, Streamed
from model_zoo.types import Change, Effects, TargetAnswer, Value

MOST_CHANGES = 20_000


@dataclass(frozen=True, slots=True)
class Intervene(Streamed[Effects, Effects]):
    """The effect of each of many changes on one prediction: one run a change, in batches, each from the first layer
    that it touches.

    ``stream(Intervene(...))`` gives them piece by piece. Values are those of ``ablate``, and it raises as ``ablate``
    does.
    """

    full_precision = True
    example_fields: ClassVar = {
        "text": "The cat sat.",
        "changes": (Change(heads=((0, 0),)),),
        "masked": (2,),
        "aim": TargetAnswer("mask"),
    }

    model: str
    text: str
    changes: Sequence[Change] = ()
    text_pair: str | None = None
    masked: Collection[int] = ()
    aim: TargetAnswer = OWN_BEST
    value: Value = "zero"
    other: str | tuple[str, str | None] | None = None
    top_k: int = 5

    def check(self) -> None:
        if len(self.changes) > MOST_CHANGES:
            raise InvalidInput(
                f"{len(self.changes):,} changes are more than {MOST_CHANGES:,}. Ask for fewer at a time."
            )

    def parts(self, loaded: LoadedModel) -> Iterator[Effects]:
        from model_zoo.interventions.intervene import intervene
        from model_zoo.interventions.reading import reader

        read = reader(loaded, self.text, self.text_pair, self.masked, self.aim)
        yield from intervene(read, self.changes, self.value, self.other, self.top_k)

    def combine(self, parts: Sequence[Effects]) -> Effects:
        every = sorted(parts, key=lambda part: part.first)
        readings = tuple(reading for part in every for reading in part.readings)
        return replace(every[0], first=0, readings=readings)

    def replay(self, effects: Effects) -> Iterable[Effects]:
        return (effects,)
