"""Why a model cannot do what a head would be needed for."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.question import LoadedModel, Question


@dataclass(frozen=True, slots=True)
class ExplainRefusal(Question[str | None]):
    """Why a model cannot fill masks or judge pairs of sentences, in a sentence or two; None where it can."""

    of_loaded = True
    runs_model = False
    example_fields: ClassVar = {"head": "mlm"}

    model: str
    head: Literal["mlm", "nsp"]

    def check(self) -> None:
        if self.head not in ("mlm", "nsp"):
            raise InvalidInput(f"There is no head {self.head!r} to ask about. Choose mlm or nsp.")

    def answer(self, loaded: LoadedModel) -> str | None:
        from model_zoo import masked, sentence

        try:
            {"mlm": masked, "nsp": sentence}[self.head].refuse_without_head(loaded)
        except NotSupported as error:
            return str(error)
        return None
