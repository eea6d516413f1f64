"""Activations of a text at named places of the network."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import Recording


@dataclass(frozen=True, slots=True)
class Record(Question[Recording]):
    """Any activations of a text or a pair, or of each in a list: ``at`` names the places, by the same names in all
    families. "*" in a name stands for anything, as in "layer.*.mlp.out".

    float32, layers L from 0; n tokens, d a head's size, m the neurons of the feed-forward block:

    - "embeddings" (n, width): what enters the first layer; "final" (n, width): what the model's head reads
    - "layer.L.in", "layer.L.out" (n, width): what enters and leaves a layer
    - "layer.L.attention.queries" (heads, n, d), "….keys" and "….values" (key heads, n, d), as they enter attention;
      "….weights" (heads, n, n); "….context" (heads, n, d): weights · values
    - "layer.L.attention.out" (n, width): what attention adds to the residual stream
    - "layer.L.attention.residual" (n, width): the stream after that addition, before any norm
    - "layer.L.mlp.inner", "….activation" (n, m): a neuron before and after its activation function; with a gate,
      "activation" is what the gate has let through
    - "layer.L.mlp.out" and "….residual" (n, width): as with attention
    - "layer.L.attention.norm", "layer.L.mlp.norm" (n, width): what the norm of the block gives, after the addition in
      BERT and its kin, before the block in GPT-2, ModernBERT and T5

    Of an encoder-decoder they are the encoder's. Raises InvalidInput for a name without a place: it lists those there
    are. A network that computes things in its own way may lack some.
    """

    example_fields: ClassVar = {"text": "The cat sat.", "at": ("layer.1.out", "layer.*.attention.weights")}

    model: str
    text: str
    text_pair: str | None = None
    at: Sequence[str] = ()

    def check(self) -> None:
        places = (self.at,) if isinstance(self.at, str) else tuple(self.at)
        if not places:
            raise InvalidInput("No place is named. Name some, such as layer.2.mlp.out.")
        normalize(self, at=places)

    @property
    def together(self) -> Hashable:
        return self.at

    @classmethod
    def answer_all(cls, loaded: LoadedModel, questions: Sequence[Self]) -> Iterator[tuple[int, Recording]]:
        from model_zoo.interventions.activations import record

        pairs = [(question.text, question.text_pair) for question in questions]
        return record(loaded, pairs, questions[0].at)
