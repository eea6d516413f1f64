"""How to tune: which weights learn, how fast, how long. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from model_zoo.errors import InvalidInput

Learns = Literal["all", "top", "lora", "head"]
LEARNS: tuple[Learns, ...] = get_args(Learns)

BASE_RATE = 5e-5
"""The highest of the rates that Devlin et al. 2019 recommend for all weights of BERT base."""

_BASE_WIDTH = 768
_HIGHEST_RATE = 5e-4
_FEW_WEIGHTS: Final = 1e-3  # LoRA and a head begin at nothing; and so does all that an LSTM has to learn of a text

MOST_EPOCHS = 50
LARGEST_BATCH = 128
MOST_TOKENS = 512

TOKENS_A_PASS = 1024
"""At most so many tokens of a batch go through the network at a time: more would take several tenths of a second, for
which others wait.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a model is tuned; all of it, with the seed, goes into the link and the card, so that it can be repeated.

    ``learns``: "all" weights, the "top" ``layers`` and the head, "lora" (Hu et al. 2022) of ``rank`` on queries and
    values and the head, or the "head" alone. ``head_first`` epochs of the ``epochs`` train the head alone before the
    rest joins in (gradual unfreezing). ``rate`` is the highest learning rate; None takes the recommended one.
    ``batch`` items make a step, in ``accumulate`` passes. The rate rises over the share ``warmup`` of the steps, then
    falls to 0. Training ends when the score on the development split has not risen for ``patience`` epochs (early
    stopping; None: it goes on for all epochs), not counting those of the head alone before. ``examples`` of the
    training items are used, all of them by default. ``seconds`` of work, not counting evaluating, end it early; the
    rate falls within that time. ``max_tokens`` is where longer texts are cut.

    With ``soft`` targets of a teacher (see ``Finetune``) the loss is alpha CE + (1 - alpha) T² KL at ``temperature`` T
    (Hinton et al. 2015).
    """

    learns: Learns = "all"
    layers: int = 2
    rank: int = 8
    head_first: int = 0
    rate: float | None = None
    batch: int = 16
    accumulate: int = 1
    epochs: int = 5
    patience: int | None = None
    warmup: float = 0.1
    weight_decay: float = 0.01
    seed: int = 0
    max_tokens: int = 128
    examples: int | None = None
    seconds: float | None = None
    alpha: float = 0.5
    temperature: float = 2.0

    def __post_init__(self) -> None:
        checks = (
            (self.learns in LEARNS, f"What learns is one of {', '.join(LEARNS)}."),
            (self.layers >= 1, "At least one layer has to learn: choose 1 or more."),
            (1 <= self.rank <= 64, "The rank of LoRA is a number from 1 to 64."),
            (0 <= self.head_first <= self.epochs, "The head cannot train alone for longer than all epochs."),
            (self.rate is None or 0 < self.rate <= 1, "The learning rate is above 0 and at most 1; try 0.00005."),
            (1 <= self.batch <= LARGEST_BATCH, f"A batch has 1 to {LARGEST_BATCH} items."),
            (1 <= self.accumulate <= self.batch, "A batch cannot be taken in more passes than it has items."),
            (1 <= self.epochs <= MOST_EPOCHS, f"Train for 1 to {MOST_EPOCHS} epochs."),
            (self.patience is None or self.patience >= 1, "The patience is at least one epoch; leave it out for none."),
            (0 <= self.warmup <= 1, "The warm-up is a share of the steps, from 0 to 1."),
            (0 <= self.weight_decay <= 1, "The weight decay is a number from 0 to 1."),
            (self.seed >= 0, "The seed is a whole number from 0 on."),
            (8 <= self.max_tokens <= MOST_TOKENS, f"Texts are cut at 8 to {MOST_TOKENS} tokens."),
            (self.examples is None or self.examples >= 2, "Train on at least two items."),
            (self.seconds is None or self.seconds > 0, "The time to train is more than 0 seconds."),
            (0 <= self.alpha <= 1, "The weight of the hard labels is a number from 0 to 1."),
            (self.temperature > 0, "The temperature is a number above 0."),
        )
        for holds, message in checks:
            if not holds:
                raise InvalidInput(message)

    def rate_for(self, width: int, attention: bool = True) -> float:
        """The highest learning rate for a model of this width: the one chosen, else the recommended one."""
        return recommended_rate(self.learns, width, attention) if self.rate is None else self.rate


def recommended_rate(learns: Learns, width: int, attention: bool = True) -> float:
    """The learning rate for a model of this width, and with ``attention`` or without (an LSTM).

    For all weights that of BERT base times how much narrower a model is, 1e-4 for the bundled BERT. (There, twice as
    much is better on some of the built-in sets and learns nothing on others; half as much is slower.)
    """
    if learns in ("lora", "head") or not attention:
        return _FEW_WEIGHTS
    return min(_HIGHEST_RATE, float(f"{BASE_RATE * _BASE_WIDTH / width:.1g}"))
