"""Everything that can be asked of models, by name: one short method per question, over ``ask`` and ``stream``.

Whatever answers these, here or in another process, is asked in the same words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, overload

from model_zoo import text as texts_
from model_zoo.download import Download
from model_zoo.errors import InvalidInput
from model_zoo.question import Comparison, Question, Streamed
from model_zoo.questions.ablate import Ablate
from model_zoo.questions.attend import Attend
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.compare_masks import CompareMasks
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
from model_zoo.questions.measure_cost import COST_REPEATS, MeasureCost
from model_zoo.questions.nearest_tokens import NearestTokens
from model_zoo.questions.predict_next import PredictNext
from model_zoo.questions.put_tokens import PutTokens
from model_zoo.questions.read_positions import ReadPositions
from model_zoo.questions.read_projections import ReadProjections
from model_zoo.questions.read_vocabulary import ReadVocabulary
from model_zoo.questions.restore import Restore
from model_zoo.questions.score_tokens import ScoreTokens
from model_zoo.questions.take_step import TakeStep
from model_zoo.questions.write_masks import WriteMasks
from model_zoo.text import Text
from model_zoo.types import (
    COST_LENGTHS,
    Anatomy,
    AttentionRun,
    Attribution,
    Change,
    CostEvent,
    CostSubject,
    Decomposition,
    Edge,
    Effects,
    Encoding,
    EngineState,
    FloatArray,
    HeldModel,
    HiddenStates,
    MaskLens,
    MaskPrediction,
    Measure,
    Method,
    ModelInfo,
    ModelStatus,
    Neighbour,
    Positions,
    Preference,
    Scheme,
    SentenceScore,
    Shift,
    Stack,
    TargetAnswer,
    TokenScores,
    TrainingStep,
    Value,
    Vocabulary,
    Without,
)

Result = TypeVar("Result")
One = TypeVar("One")


class EngineInterface(ABC):
    """What can be asked of models. A method that takes one text answers a list of them where its signature says so: in
    its order, in batches of similar length, and each text once.
    """

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

    @abstractmethod
    def derived(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """What is computed from answers, remembered as they are: within the same budget, and once however many ask.

        ``key`` says what it is and what it is computed from, models with their revisions. ``compute`` may ask further
        questions. Raises what ``compute`` does.
        """

    @abstractmethod
    def models(self) -> list[ModelStatus]:
        """Every known model, and whether it can be used here and now (or why not)."""

    @abstractmethod
    def has(self, model: str) -> bool:
        """Whether a model's files are where models run: embedded, or downloaded. Asks no hub."""

    @abstractmethod
    def revision(self, model: str) -> str:
        """Which weights a model's name stands for, without loading them. Raises what finding it raises."""

    @abstractmethod
    def download(self, model: str) -> Download:
        """Begin to fetch a model from the hub, or join a download of it under way; returns at once.

        Nothing is fetched where the model is there already. What goes wrong is the download's ``error``, and raised by
        its ``wait``: what ``model_zoo.sources`` raises for models that cannot be had, OutOfMemory and DiskFull for
        those too large.
        """

    @abstractmethod
    def downloading(self, model: str) -> Download | None:
        """The download of a model that is under way, or the last one if it failed."""

    @abstractmethod
    def tuned_folder(self, model: str) -> Path:
        """Where the files of a tuned model lie on this machine. Raises UnknownModel where they do no more."""

    @abstractmethod
    def forget_tuned(self, models: Iterable[str]) -> None:
        """Remove the files of tuned models, and what was kept of their training."""

    @property
    @abstractmethod
    def started(self) -> bool:
        """Whether models have been run yet: torch is loaded, and the device known."""

    @property
    @abstractmethod
    def device(self) -> str:
        """Where models run: "cuda", "mps" or "cpu"."""

    @property
    @abstractmethod
    def model_budget(self) -> int:
        """Bytes the models may take together."""

    @abstractmethod
    def held(self) -> list[HeldModel]:
        """The models in memory, most recently used first; empty before the first one is loaded."""

    @abstractmethod
    def state(self) -> EngineState:
        """What it is doing now. Loads neither torch nor a model."""

    @abstractmethod
    def close(self) -> None:
        """Forget all results and every model that is not in use. It can be asked again."""

    @overload
    def attend(  # type: ignore[overload-overlap]  # a str is a sequence of str, too
        self,
        model: str,
        text: str,
        text_pair: str | None = None,
        *,
        max_tokens: int | None = None,
        stack: Stack = "encoder",
        states: Sequence[int] | bool = False,
    ) -> AttentionRun: ...

    @overload
    def attend(
        self,
        model: str,
        text: Sequence[Text],
        *,
        max_tokens: int | None = None,
        stack: Stack = "encoder",
        states: Sequence[int] | bool = False,
    ) -> list[AttentionRun]: ...

    def attend(
        self,
        model: str,
        text: str | Sequence[Text],
        text_pair: str | None = None,
        *,
        max_tokens: int | None = None,
        stack: Stack = "encoder",
        states: Sequence[int] | bool = False,
    ) -> AttentionRun | list[AttentionRun]:
        """Run a text, or a pair of texts, and keep what every head's attention is computed from.

        Instead of one text there may be a list of texts and pairs, a pair being a tuple of two: their runs come in
        their order, and are made in batches of similar length. A run holds its own tokens only, without padding, and
        differs by rounding alone (about 1e-6) from one made by itself.

        The text is cut at the model's limit, or at ``max_tokens`` if that is less. ``stack`` "encoder" is all there
        is of a model with one stack of layers, GPT-2's causal one too. An encoder-decoder (BART, T5) has the parts
        "decoder", its attention to what it has written so far, and "cross", its attention to what the encoder has
        read. There the encoder reads ``text`` alone, and ``text_pair`` is what the decoder has written: it is given
        that text as in training, a start token first and every token one place later. Without a ``text_pair`` BART's
        decoder restores the first text, which it was trained to do. T5's was not, and what it would write is not
        made up here: it has written nothing yet and holds its start token alone.

        With ``states`` the run holds the hidden states of the same pass: all of them, or of the layers named, as in
        ``encoded_states``. Only the part "encoder" has them.

        Raises InvalidInput for text no tokenizer reads, NotSupported for models without attention or without the
        part, and what ``model_zoo.sources`` raises for models that cannot be had.
        """
        if isinstance(text, str):
            return self.ask(Attend(model, text, text_pair, max_tokens, stack, states))
        pairs = texts_.check_list(text, text_pair)
        return self.ask_all([Attend(model, *pair, max_tokens, stack, states) for pair in pairs])

    @overload
    def hidden_states(self, model: str, texts: str) -> FloatArray: ...  # type: ignore[overload-overlap]

    @overload
    def hidden_states(self, model: str, texts: Sequence[Text]) -> list[FloatArray]: ...

    def hidden_states(self, model: str, texts: str | Sequence[Text]) -> FloatArray | list[FloatArray]:
        """The vectors after the embeddings and after every layer: float32 (layers + 1, n, width), one array a text.

        See ``encoded_states`` for chosen layers, and for the tokens that the vectors stand for.
        """
        if isinstance(texts, str):
            return self.encoded_states(model, texts).states
        return [hidden.states for hidden in self.encoded_states(model, texts)]

    @overload
    def encoded_states(  # type: ignore[overload-overlap]
        self, model: str, texts: str, *, layers: Sequence[int] | None = None
    ) -> HiddenStates: ...

    @overload
    def encoded_states(
        self, model: str, texts: Sequence[Text], *, layers: Sequence[int] | None = None
    ) -> list[HiddenStates]: ...

    def encoded_states(
        self, model: str, texts: str | Sequence[Text], *, layers: Sequence[int] | None = None
    ) -> HiddenStates | list[HiddenStates]:
        """Tokens and vectors of a text, or of a list of texts and pairs in its order; a pair is a tuple of two.

        ``layers`` are those wanted, in the order wanted: 0 is after the embeddings, k after the k-th layer; all of them
        without it. Of an encoder-decoder the encoder's. Raises InvalidInput for text no tokenizer reads and for layers
        that do not exist.
        """
        if isinstance(texts, str):
            return self.ask(EncodeStates(model, texts, None, layers))
        return self.ask_all([EncodeStates(model, *pair, layers) for pair in texts_.check_list(texts)])

    def iter_hidden_states(
        self, model: str, texts: Sequence[Text], *, layers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, HiddenStates]]:
        """Like ``encoded_states``, but yields (index of the text, tokens and vectors) as batches are done.

        For lists that are too long to be kept: nothing is looked up or remembered.
        """
        asked = [EncodeStates(model, *pair, layers) for pair in texts_.check_list(texts)]
        return self.stream_all(asked, remember=False)

    def encode(self, model: str, text: str, text_pair: str | None = None) -> Encoding:
        """The tokens of a text, or a pair of texts, in which [MASK] stands for the model's own mask."""
        return self.ask(Encode(model, text, text_pair))

    def vocabulary(self, model: str) -> Vocabulary:
        """The tokens a model knows, by id."""
        return self.ask(ReadVocabulary(model))

    @overload
    def fill_mask(  # type: ignore[overload-overlap]
        self,
        model: str,
        text: str,
        top_k: int = 10,
        *,
        masked: Collection[int] = (),
        targets: Sequence[str | int] = (),
    ) -> tuple[MaskPrediction, ...]: ...

    @overload
    def fill_mask(
        self, model: str, text: Sequence[str], top_k: int = 10, *, targets: Sequence[str | int] = ()
    ) -> list[tuple[MaskPrediction, ...]]: ...

    def fill_mask(
        self,
        model: str,
        text: str | Sequence[str],
        top_k: int = 10,
        *,
        masked: Collection[int] = (),
        targets: Sequence[str | int] = (),
    ) -> tuple[MaskPrediction, ...] | list[tuple[MaskPrediction, ...]]:
        """One entry a mask: its position, and (token, id, probability) best first; of a list of texts, a list of these.

        Masks are those typed, as the model writes its own or as [MASK], and the tokens at the positions ``masked`` of
        a single text. ``targets`` are words whose probability is wanted at every mask, whatever their rank: a word is
        the token that the tokenizer makes of it at the mask's place, ``"##ing"`` or ``"Ġcat"`` the token itself, and a
        number an id. Raises InvalidInput where there is no mask or a target is no single token, NotSupported for a
        model without a masked-word head.
        """
        if isinstance(text, str):
            return self.ask(FillMask(model, text, top_k, masked, targets))
        if masked:
            raise InvalidInput("Positions to mask belong to one text. Type [MASK] into the texts of a list instead.")
        return self.ask_all([FillMask(model, one, top_k, (), targets) for one in texts_.check_texts(text)])

    @overload
    def next_tokens(  # type: ignore[overload-overlap]
        self, model: str, text: str, top_k: int = 10, *, targets: Sequence[str | int] = ()
    ) -> MaskPrediction: ...

    @overload
    def next_tokens(
        self, model: str, text: Sequence[str], top_k: int = 10, *, targets: Sequence[str | int] = ()
    ) -> list[MaskPrediction]: ...

    def next_tokens(
        self, model: str, text: str | Sequence[str], top_k: int = 10, *, targets: Sequence[str | int] = ()
    ) -> MaskPrediction | list[MaskPrediction]:
        """What a causal language model (GPT-2) expects behind a text, best first; of a list of texts, a list of these.

        ``targets`` are as in ``fill_mask``; a word follows the text after a space. Raises NotSupported for a model that
        was not trained to say what comes next, InvalidInput for a text longer than the model reads.
        """
        if isinstance(text, str):
            return self.ask(PredictNext(model, text, top_k, targets))
        return self.ask_all([PredictNext(model, one, top_k, targets) for one in texts_.check_texts(text)])

    def next_lens(
        self, model: str, text: str, top_k: int = 5, *, positions: Sequence[int] | None = None
    ) -> tuple[MaskLens, ...]:
        """The logit lens of a causal language model: its head applied after every layer, one entry a position.

        ``positions`` are those of the tokens that are guessed, from 1 (nothing stands before the first) to n, the one
        behind the text, which alone is followed without it.
        """
        return self.ask(FollowNext(model, text, top_k, positions))

    def fill_all(self, model: str, text: str, *, masked: Collection[int] = ()) -> Iterator[MaskPrediction]:
        """Fill one mask after the other, the most confident first; yields each as it is filled by its best token."""
        return self.stream(FillAll(model, text, masked))

    def restore(
        self, model: str, text: str, ids: Sequence[int], positions: Sequence[int], top_k: int = 10
    ) -> tuple[MaskPrediction, ...]:
        """The answers at some positions for a text of which the model is given other ``ids``, as in its training."""
        return self.ask(Restore(model, text, ids, positions, top_k))

    @overload
    def token_scores(  # type: ignore[overload-overlap]
        self, model: str, text: str, *, scheme: Scheme | None = None
    ) -> TokenScores: ...

    @overload
    def token_scores(self, model: str, text: Sequence[str], *, scheme: Scheme | None = None) -> list[TokenScores]: ...

    def token_scores(
        self, model: str, text: str | Sequence[str], *, scheme: Scheme | None = None
    ) -> TokenScores | list[TokenScores]:
        """ln P of every token: each masked in turn (pseudo-log-likelihood), or given those before it (causal models).

        Of a list of texts, a list of these. The ``scheme`` "original" is ln P(token | rest), of Salazar et al. 2020;
        "word l2r" masks what follows a token in its word too, so that the scores of a word's pieces sum to the word's
        (Kauf & Ivanova 2023); "causal" is ln P(token | those before it), the only one of a causal model and of no
        other. Without a choice it is "original", or "causal". See ``TokenScores``.
        """
        if isinstance(text, str):
            return self.ask(ScoreTokens(model, text, scheme))
        return self.ask_all([ScoreTokens(model, one, scheme) for one in texts_.check_texts(text)])

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
        found = [Preference(*both) for both in zip(scores[0::2], scores[1::2], strict=True)]
        return found[0] if isinstance(a, str) else found

    def mask_lens(self, model: str, text: str, top_k: int = 5, *, masked: Collection[int] = ()) -> tuple[MaskLens, ...]:
        """The masked-word head applied to each mask after every layer (logit lens)."""
        return self.ask(FollowMask(model, text, top_k, masked))

    def mask_shifts(
        self,
        model: str,
        before: tuple[str, Collection[int]],
        after: tuple[str, Collection[int]],
        top_k: int = 10,
    ) -> tuple[tuple[Shift, ...], ...]:
        """Per mask the predictions that moved most between two texts, each with its masked positions."""
        return self.ask(CompareMasks(model, before, after, top_k))

    def masked_text(self, model: str, text: str, masked: Collection[int]) -> str:
        """The text with the tokens at the positions ``masked`` written as the model's mask."""
        return self.ask(WriteMasks(model, text, masked))

    def put(self, model: str, text: str, fills: Mapping[int, int]) -> str:
        """The text with the tokens at some positions replaced by others (position -> id), spaced as they read."""
        return self.ask(PutTokens(model, text, fills))

    @overload
    def next_sentence(self, model: str, a: str, b: str) -> SentenceScore: ...

    @overload
    def next_sentence(self, model: str, a: Sequence[tuple[str, str]]) -> list[SentenceScore]: ...

    def next_sentence(
        self, model: str, a: str | Sequence[tuple[str, str]], b: str | None = None
    ) -> SentenceScore | list[SentenceScore]:
        """Whether B follows A: ``.p_next`` in [0, 1]. For ALBERT: whether A and B stand in order (``.kind`` "SOP").

        Instead of two texts there may be a list of pairs, batched by length. Raises NotSupported for a model without
        such a head.
        """
        found = self.ask_all([JudgePair(model, *pair) for pair in texts_.pairs_of(a, b)])
        return found[0] if isinstance(a, str) else found

    def iter_next_sentences(self, model: str, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, SentenceScore]]:
        """Like ``next_sentence`` for many pairs: yields (index of the pair, score) as batches are done."""
        return self.stream_all([JudgePair(model, *pair) for pair in texts_.check_sentences(pairs)])

    def measure_cost(
        self, models: Sequence[str], lengths: Sequence[int] = COST_LENGTHS, repeats: int = COST_REPEATS
    ) -> Generator[CostEvent, None, None]:
        """Time some models side by side, see ``model_zoo.timing.measure``; close the iterator to stop.

        A model that cannot be had gets a CostFailure, and the others are measured.
        """
        return self.stream(MeasureCost(models, lengths, repeats))

    def cost_subject(self, model: str, lengths: Sequence[int] = COST_LENGTHS) -> CostSubject:
        """What ``measure_cost`` knows of a model before it times anything."""
        return self.ask(DescribeCost(model, lengths))

    def dissect(self, model: str, text: str, text_pair: str | None = None, *, layer: int = 0, head: int = 0) -> Anatomy:
        """A text on its way through one layer and one head (both from 0), stage by stage, computed from the weights.

        Raises InvalidInput for a layer or a head that does not exist. A model whose parts are not known says so by the
        answer's ``why_not``.
        """
        return self.ask(Dissect(model, text, text_pair, layer, head))

    def nearest_tokens(self, model: str, token: int, top_k: int = 10) -> tuple[Neighbour, ...]:
        """The tokens whose input embeddings have the highest cosine with that of a token, by its id, best first.

        Special tokens and rows of the table that stand for none are left out.
        """
        return self.ask(NearestTokens(model, token, top_k))

    def read_positions(self, model: str, n: int = 64) -> Positions:
        """How a model is told the first n positions: a learned table, angles, or a bias by distance."""
        return self.ask(ReadPositions(model, n))

    def fill_without(
        self, model: str, text: str, masked: Collection[int] = (), *, without: Without = "future", top_k: int = 10
    ) -> tuple[MaskPrediction, ...]:
        """As ``fill_mask``, of a model that is kept from seeing something: with "future" no token may attend to those
        behind it; with "positions" all tokens are told the same position, so that their order is lost.

        Raises NotSupported as ``fill_mask`` does, and for networks that take no such input.
        """
        return self.ask(FillWithout(model, text, masked, without, top_k))

    def take_step(self, model: str, text: str, position: int, *, rate: float = 0.001, top_k: int = 8) -> TrainingStep:
        """Hide the token at a position, and take one step of gradient descent towards it: see ``TrainingStep``.

        A copy learns; the model stays as it is. Raises NotSupported and InvalidInput as ``fill_mask`` does.
        """
        return self.ask(TakeStep(model, text, position, rate, top_k))

    def ablate(
        self,
        model: str,
        text: str,
        heads: Iterable[tuple[int, int]] = (),
        *,
        text_pair: str | None = None,
        attention: Iterable[int] = (),
        feed_forward: Iterable[int] = (),
        edges: Iterable[Edge] = (),
        masked: Collection[int] = (),
        value: Value = "zero",
        other: str | tuple[str, str] | None = None,
        top_k: int = 10,
        targets: Sequence[str | int] = (),
    ) -> tuple[MaskPrediction, ...] | SentenceScore:
        """What a model answers with parts of it switched off: as ``fill_mask``, of a causal model what is next as
        ``next_tokens``, and with a ``text_pair`` as ``next_sentence``.

        ``heads`` are (layer, head) from 0; ``attention`` and ``feed_forward`` are layers whose whole block is off;
        ``edges`` say which token may not look at which. The ``value`` of what is off is "zero", its "mean" over the
        tokens of 100 built-in sentences, or with "other" what it is in the run of the ``other`` text, of equally many
        tokens or words: see ``Change``. Nothing off is the model as it is.

        Raises InvalidInput for parts that are not there, NotSupported for models without the head or the parts.
        """
        change = Change(
            heads=tuple(heads), attention=tuple(attention), feed_forward=tuple(feed_forward), edges=tuple(edges)
        )
        return self.ask(Ablate(model, text, text_pair, change, masked, value, _pair(other), top_k, targets))

    def intervene(
        self,
        model: str,
        text: str,
        changes: Sequence[Change],
        *,
        text_pair: str | None = None,
        masked: Collection[int] = (),
        aim: TargetAnswer | None = None,
        value: Value = "zero",
        other: str | tuple[str, str] | None = None,
        top_k: int = 5,
    ) -> Effects:
        """What each of many changes does to one answer: a run a change, in batches, each from the first layer on that
        it touches. ``stream(Intervene(...))`` gives them piece by piece.

        Values are those of ``ablate``, and it raises as ``ablate`` does.
        """
        return self.ask(
            Intervene(model, text, text_pair, masked, aim or TargetAnswer(), tuple(changes), value, _pair(other), top_k)
        )

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
        """Activation patching: the run of ``text``, with one vector at a time put in from the run of the ``other``.

        The readings come layer by layer, of "heads" each with head by head, and then with every position of ``text``.
        Of "states" there is a layer more: 0 are those that enter the first. Of a head its output is put in, of the
        others what a block adds. Words are matched in their order: both texts have equally many, and the mask in the
        same place. A word that has another number of tokens in the ``other`` text gets the mean of their vectors.
        Raises as ``ablate`` does.
        """
        info, n = self.info(model), len(self.encode(model, text))
        if what not in _PUT_IN:
            raise InvalidInput(f"There is nothing called {what!r} to put in. Choose {', '.join(_PUT_IN)}.")
        changes = [replace(change, positions=(at,)) for change in _PUT_IN[what](info) for at in range(n)]
        return self.intervene(model, text, changes, masked=masked, aim=aim, value="other", other=other, top_k=top_k)

    def attribute(
        self,
        model: str,
        text: str,
        text_pair: str | None = None,
        *,
        method: Method = "integrated gradients",
        masked: Collection[int] = (),
        aim: TargetAnswer | None = None,
        measure: Measure = "log P",
        steps: int = 32,
    ) -> Attribution:
        """How much of an answer each token is made answerable for, by one of ``METHODS``.

        "occlusion" hides a word at a time, and shares what that loses among the word's tokens. Integrated gradients go
        from the text with every token hidden (see ``Change.hidden``) to the text, in so many ``steps``, and tell how
        far their sum is from what it should be. Attention's own answers are those of all layers, as seen from the
        vector that the answer is read from. Raises NotSupported where a method does not fit a model.
        """
        return self.ask(Attribute(model, text, text_pair, masked, aim or TargetAnswer(), method, measure, steps))

    def decompose(
        self, model: str, text: str, *, masked: Collection[int] = (), aim: TargetAnswer | None = None, top_k: int = 5
    ) -> Decomposition:
        """The logit of an answer as the sum of embeddings, every head, every feed-forward layer, and biases (direct
        logit attribution). Raises NotSupported for families whose layers are not known part by part.
        """
        return self.ask(Decompose(model, text, None, masked, aim or TargetAnswer(), top_k))

    def output_projections(self, model: str, stack: Stack = "encoder") -> tuple[FloatArray | None, ...]:
        """W_O (heads, d', width) a layer, for runs that were pickled: see ``AttentionRun.output_projections``."""
        return self.ask(ReadProjections(model, stack))

    def info(self, model: str) -> ModelInfo:
        """What is known of a model once it is loaded; loads it if need be."""
        return self.ask(DescribeModel(model))

    def why_not(self, model: str, what: Literal["mlm", "nsp"]) -> str | None:
        """Why a model cannot fill masks or judge pairs of sentences, in a sentence or two; None where it can."""
        return self.ask(ExplainRefusal(model, what))


def _pair(other: str | tuple[str, str] | None) -> tuple[str, str | None] | None:
    return (other, None) if isinstance(other, str) else other


# What can be put in from another run, a change a part, in the order of the readings.
_PUT_IN: Final[Mapping[str, Callable[[ModelInfo], list[Change]]]] = {
    "states": lambda info: [Change(states=(layer,)) for layer in range(info.n_layers + 1)],
    "heads": lambda info: [
        Change(heads=((layer, head),)) for layer in range(info.n_layers) for head in range(info.n_heads)
    ],
    "attention": lambda info: [Change(attention=(layer,)) for layer in range(info.n_layers)],
    "feed_forward": lambda info: [Change(feed_forward=(layer,)) for layer in range(info.n_layers)],
}
