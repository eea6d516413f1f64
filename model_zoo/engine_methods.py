"""Everything that can be asked of models, by name: one line per question, over ``ask`` and ``stream``.

An engine in this process and one in another are asked in the same words, and one whose activations are edited.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeVar, overload

from model_zoo import text as texts_
from model_zoo.errors import InvalidInput
from model_zoo.question import OWN_BEST, Comparison, Question, Streamed
from model_zoo.question_methods import asks, asks_texts, asks_texts_and_pairs, streams
from model_zoo.questions.ablate import Ablate
from model_zoo.questions.attend import Attend
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.compare_masks import CompareMasks
from model_zoo.questions.contribute import Contribute
from model_zoo.questions.decompose import Decompose
from model_zoo.questions.describe_cost import DescribeCost
from model_zoo.questions.describe_model import DescribeModel
from model_zoo.questions.dissect import Dissect
from model_zoo.questions.encode import Encode
from model_zoo.questions.encode_states import EncodeStates
from model_zoo.questions.explain_refusal import ExplainRefusal
from model_zoo.questions.fill_all import FillAll
from model_zoo.questions.fill_mask import FillMask
from model_zoo.questions.fill_without import FillWithout
from model_zoo.questions.follow_mask import FollowMask
from model_zoo.questions.follow_next import FollowNext
from model_zoo.questions.intervene import Intervene
from model_zoo.questions.judge_pair import JudgePair
from model_zoo.questions.measure_cost import MeasureCost
from model_zoo.questions.measure_sinks import MeasureSinks
from model_zoo.questions.nearest_tokens import NearestTokens
from model_zoo.questions.predict_next import PredictNext
from model_zoo.questions.put_tokens import PutTokens
from model_zoo.questions.read_positions import ReadPositions
from model_zoo.questions.read_projections import ReadProjections
from model_zoo.questions.read_vocabulary import ReadVocabulary
from model_zoo.questions.record import Record
from model_zoo.questions.restore import Restore
from model_zoo.questions.score_tokens import ScoreTokens
from model_zoo.questions.take_step import TakeStep
from model_zoo.questions.write_masks import WriteMasks
from model_zoo.text import Text
from model_zoo.types import (
    Change,
    Effects,
    FloatArray,
    HiddenStates,
    ModelInfo,
    Preference,
    Scheme,
    SentenceScore,
    TargetAnswer,
)

Result = TypeVar("Result")
One = TypeVar("One")


class EngineMethods(ABC):
    """What can be asked of models.

    A method that asks one question has the question's fields and docstring. A method that takes a text also takes a
    list of texts where its signature says so: the answers come in the same order, are computed in batches of similar
    length, and each text is run once.
    """

    @property
    def n_replicas(self) -> int:
        """How many places answer questions side by side."""
        return 1

    @abstractmethod
    def ask(self, question: Question[Result]) -> Result:
        """The answer to one question, computed once however many ask it at the same moment."""

    @abstractmethod
    def ask_all(self, questions: Sequence[Question[Result]]) -> list[Result]:
        """The answers in the order of the questions; those that can be are computed together."""

    @abstractmethod
    def stream(self, question: Streamed[One, Any] | Comparison[One]) -> Generator[One, None, None]:
        """The answer part by part, as they are done; close the generator to stop."""

    @abstractmethod
    def stream_all(
        self, questions: Sequence[Question[Result]], *, remember: bool = True
    ) -> Generator[tuple[int, Result], None, None]:
        """(Place of the question, answer) as they are done; close the generator to stop.

        Without ``remember`` nothing is looked up or kept: for lists that would push everything else out of memory.
        """

    # Each of these methods asks the question in brackets and takes its fields; its body is that question's ``answer``.
    attend = asks_texts_and_pairs(Attend)
    encoded_states = asks_texts_and_pairs(EncodeStates, called="texts", warn=EncodeStates.warn_of_longer)
    record = asks_texts_and_pairs(Record)
    fill_mask = asks_texts(FillMask)
    next_tokens = asks_texts(PredictNext)
    token_scores = asks_texts(ScoreTokens)

    encode = asks(Encode)
    vocabulary = asks(ReadVocabulary)
    info = asks(DescribeModel)
    why_not = asks(ExplainRefusal)

    fill_all = streams(FillAll)
    fill_without = asks(FillWithout)
    masked_text = asks(WriteMasks)
    put = asks(PutTokens)
    restore = asks(Restore)
    mask_lens = asks(FollowMask)
    next_lens = asks(FollowNext)
    mask_shifts = asks(CompareMasks)
    take_step = asks(TakeStep)

    ablate = asks(Ablate)
    intervene = asks(Intervene)
    attribute = asks(Attribute)
    contributions = asks(Contribute)
    decompose = asks(Decompose)

    sinks = asks(MeasureSinks)
    dissect = asks(Dissect)
    nearest_tokens = asks(NearestTokens)
    read_positions = asks(ReadPositions)
    output_projections = asks(ReadProjections)

    cost_subject = asks(DescribeCost)
    measure_cost = streams(MeasureCost)

    @overload
    def hidden_states(self, model: str, texts: str) -> FloatArray: ...  # type: ignore[overload-overlap]

    @overload
    def hidden_states(self, model: str, texts: Sequence[Text]) -> list[FloatArray]: ...

    def hidden_states(self, model: str, texts: str | Sequence[Text]) -> FloatArray | list[FloatArray]:
        """The vectors after the embeddings and after every layer: float32 (layers + 1, n, width), one array a text.

        See ``encoded_states`` for chosen layers, the tokens that the vectors stand for, and what it warns of.
        """
        if isinstance(texts, str):
            return self.encoded_states(model, texts).states
        return [hidden.states for hidden in self.encoded_states(model, texts)]

    def iter_hidden_states(
        self, model: str, texts: Sequence[Text], *, layers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, HiddenStates]]:
        """Like ``encoded_states``, but yields (index of the text, tokens and vectors) as batches are done.

        For lists that are too long to be kept: nothing is looked up or remembered, and there are no warnings.
        """
        questions = [EncodeStates(model, *pair, layers) for pair in texts_.check_list(texts)]
        return self.stream_all(questions, remember=False)

    @overload
    def prefer(self, model: str, a: str, b: str, *, scheme: Scheme | None = None) -> Preference: ...

    @overload
    def prefer(self, model: str, a: Sequence[tuple[str, str]], *, scheme: Scheme | None = None) -> list[Preference]: ...

    def prefer(
        self, model: str, a: str | Sequence[tuple[str, str]], b: str | None = None, *, scheme: Scheme | None = None
    ) -> Preference | list[Preference]:
        """Which of two texts a model finds more probable by the sum of its ``token_scores``: a minimal pair.

        Instead of two texts there may be a list of pairs. Longer texts tend to score lower, so a pair should differ in
        one word. Raises as ``token_scores`` does.
        """
        pairs = texts_.pairs_of(a, b)
        scores = self.ask_all([ScoreTokens(model, text, scheme) for pair in pairs for text in pair])
        preferences = [Preference(*both) for both in zip(scores[0::2], scores[1::2], strict=True)]
        return preferences[0] if isinstance(a, str) else preferences

    @overload
    def next_sentence(self, model: str, a: str, b: str) -> SentenceScore: ...

    @overload
    def next_sentence(self, model: str, a: Sequence[tuple[str, str]]) -> list[SentenceScore]: ...

    def next_sentence(
        self, model: str, a: str | Sequence[tuple[str, str]], b: str | None = None
    ) -> SentenceScore | list[SentenceScore]:
        """Whether B follows A: ``.p_next`` in [0, 1]. For ALBERT: whether A and B are in order (``.kind`` "SOP").

        Instead of two texts there may be a list of pairs, batched by length. Raises NotSupported for a model without
        such a head.
        """
        judgements = self.ask_all([JudgePair(model, *pair) for pair in texts_.pairs_of(a, b)])
        return judgements[0] if isinstance(a, str) else judgements

    def iter_next_sentences(self, model: str, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, SentenceScore]]:
        """Like ``next_sentence`` for many pairs: yields (index of the pair, score) as batches are done."""
        return self.stream_all([JudgePair(model, *pair) for pair in texts_.check_sentences(pairs)])

    def patch(
        self,
        model: str,
        text: str,
        other: str,
        *,
        what: Literal["states", "heads", "attention", "feed_forward"] = "states",
        masked: Collection[int] = (),
        aim: TargetAnswer | None = None,
        top_k: int = 5,
    ) -> Effects:
        """Activation patching: the run of ``text``, with one vector at a time patched in from the run of the ``other``.

        The readings come layer by layer, for "heads" head by head within each, and then by position of ``text``. For
        "states" there is one layer more: 0 are those that enter the first. For a head its output is patched in, for the
        others what a block adds. Words are matched in order: both texts have the same number of words, and the mask in
        the same place. A word that has another number of tokens in the ``other`` text gets the mean of their vectors.
        Raises as ``ablate`` does.
        """
        info, n = self.info(model), len(self.encode(model, text))
        if what not in _PUT_IN:
            raise InvalidInput(f"There is nothing called {what!r} to patch in. Choose {', '.join(_PUT_IN)}.")
        changes = [replace(change, positions=(at,)) for change in _PUT_IN[what](info) for at in range(n)]
        return self.intervene(
            model, text, changes, masked=masked, aim=aim or OWN_BEST, value="other", other=other, top_k=top_k
        )


# What can be put in from another run, a change a part, in the order of the readings.
_PUT_IN: Final[Mapping[str, Callable[[ModelInfo], list[Change]]]] = {
    "states": lambda info: [Change(states=(layer,)) for layer in range(info.n_layers + 1)],
    "heads": lambda info: [
        Change(heads=((layer, head),)) for layer in range(info.n_layers) for head in range(info.n_heads)
    ],
    "attention": lambda info: [Change(attention=(layer,)) for layer in range(info.n_layers)],
    "feed_forward": lambda info: [Change(feed_forward=(layer,)) for layer in range(info.n_layers)],
}
