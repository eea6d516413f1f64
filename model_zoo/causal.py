"""What a causal language model (GPT-2) reads before it says what comes next, and its scores of whole texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from model_zoo import registry
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import Slot, predictions
from model_zoo.types import Encoding, Prediction, TokenScores


def refuse_without_head(loaded: LoadedModel) -> None:
    """Raises NotSupported for a model that was not trained to say what comes next."""
    if loaded.info.lm:
        return
    spec = registry.find(loaded.info.id)
    instead = "Type a mask where it should predict a word, or choose" if loaded.info.mlm else "Choose"
    why = "" if loaded.trial.causal else ": in its network a token sees those after it"
    raise NotSupported(
        f"{spec.name if spec else loaded.info.id} has no head that predicts the next token{why}. "
        f"{instead} a causal language model such as GPT-2."
    )


def encode_without_end(loaded: LoadedModel, text: str) -> Encoding:
    """The tokens of a text, without those that tokenizers put behind one (Ettin's): nothing comes after an end."""
    encoding = loaded.encode(text)
    n = len(encoding)
    while n > 1 and encoding.special[n - 1] and encoding.offsets[n - 1] == (0, 0):
        n -= 1
    return encoding.first(n)


def encode_uncut(loaded: LoadedModel, text: str) -> Encoding:
    """The tokens of a text to its end. Raises InvalidInput for one that is longer than the model reads."""
    encoding = encode_without_end(loaded, text)
    if encoding.n_dropped:
        raise InvalidInput(
            f"{loaded.info.id} reads {len(encoding):,} tokens, and the text has {encoding.n_dropped:,} more, "
            "so what comes after its end cannot be told. Shorten the text."
        )
    return encoding


def token_scores(loaded: LoadedModel, texts: Sequence[str]) -> Iterator[tuple[int, TokenScores]]:
    """ln P(token | those before it) of every token after the first, in one pass a text; yields (index, scores)."""
    refuse_without_head(loaded)
    encodings = [loaded.encode(text) for text in texts]
    slots = [
        [
            Slot(place, place - 1, encoding.ids[place])
            for place in range(1, len(encoding))
            if not encoding.special[place]
        ]
        for encoding in encodings
    ]
    for index, answers in predictions(loaded, encodings, slots, 1):
        encoding = encodings[index]
        logs = np.full(len(encoding), np.nan, dtype=np.float32)
        guesses: list[Prediction | None] = [None] * len(encoding)
        for answer in answers:
            logs[answer.position], guesses[answer.position] = answer.log_probability, answer.best[0]
        yield index, TokenScores(encoding, loaded.info, logs, tuple(guesses), "causal")
