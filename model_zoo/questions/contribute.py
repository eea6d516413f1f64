"""How much of every token's new vector came from each token."""

from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question, check_choice
from model_zoo.types import CONTRIBUTION_MEASURES, ContributionMeasure, LayerContributions


@dataclass(frozen=True, slots=True)
class Contribute(Question[LayerContributions]):
    """How much of what a token leaves each layer as came from each token that entered it, by one of
    ``CONTRIBUTION_MEASURES``: of all heads of the layer together, with the residual stream.

    In "value zeroing", distances below about 0.00001 and a thousandth of their row's largest are estimated: they grow
    with the square of the length of what is zeroed, by the median ratio of their row. The text is cut at the
    model's limit, or at ``max_tokens`` if that is less. Raises NotSupported for families whose layers are not known
    part by part, InvalidInput for value zeroing in a text of more than 256 tokens.
    """

    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat.", "text_pair": "It slept."}

    model: str
    text: str
    text_pair: str | None = None
    max_tokens: int | None = None
    measure: ContributionMeasure = "ALTI"

    def check(self) -> None:
        check_choice(self.measure, CONTRIBUTION_MEASURES, "measure of contributions {}")

    def answer(self, loaded: LoadedModel) -> LayerContributions:
        from model_zoo import contributions

        return contributions.contribute(loaded, loaded.encode(self.text, self.text_pair, self.max_tokens), self.measure)
