"""Where an answer is read off a network, and by what it is measured: a ``TargetAnswer``, in one text of one model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from model_zoo import causal, masked, sentence
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import Output, head_of, logits_of, target_id
from model_zoo.types import Encoding, Prediction, Reading, TargetAnswer

_NEXT = ("is next", "is not next")
_IN_ORDER = ("in order", "not in order")


@dataclass(eq=False, slots=True, kw_only=True)
class Reader:
    """Reads answers off the vectors that a network's head is given.

    ``encoding`` holds the ids that the network is given, masks in their places; ``position`` is that of the answer,
    None for one to the whole text; ``row`` the vector it is read from.
    """

    loaded: LoadedModel
    aim: TargetAnswer
    encoding: Encoding
    position: int | None
    row: int
    answer: int = 0
    foil: int | None = None

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Logits of all answers there are (rows, answers), float32, from final states (rows, n, width)."""
        match self.aim.reads:
            case "mask" | "next token":
                return torch.cat(list(logits_of(self.loaded, states[:, self.row])))
            case "next sentence":
                head = self.loaded.model.get_submodule(self.loaded.family.sentence_head)
                return head(_pooled(self.loaded, states)).float()
            case "class":
                return class_logits(self.loaded, states, [self.encoding])

    def name(self, answer: int) -> str:
        """An answer as the model writes it."""
        match self.aim.reads:
            case "mask" | "next token":
                return self.loaded.token_names([answer])[0]
            case "next sentence":
                return (_IN_ORDER if self.loaded.info.nsp == "SOP" else _NEXT)[answer]
            case "class":
                return self.loaded.info.labels[answer]

    def choose_answers(self, untouched: torch.Tensor) -> None:
        """Choose the answers, now that the untouched run's logits (answers,) are known."""
        best = int(untouched.argmax())
        self.answer = best if self.aim.answer is None else self._find(self.aim.answer, len(untouched))
        self.foil = None if self.aim.foil is None else self._find(self.aim.foil, len(untouched))
        if self.foil == self.answer:
            raise InvalidInput(
                f"The target and the answer it is compared with are both “{self.name(self.answer)}”, so there is no "
                "difference. Choose two different answers."
            )

    def _find(self, wanted: str | int, n: int) -> int:
        if self.aim.reads in ("mask", "next token"):
            position = len(self.encoding) if self.position is None else self.position
            return target_id(self.loaded, self.encoding, position, wanted)[1]
        names = [self.name(number) for number in range(n)]
        if isinstance(wanted, str) and wanted in names:
            return names.index(wanted)
        if isinstance(wanted, int) and 0 <= wanted < n:
            return wanted
        raise InvalidInput(f"There is no answer {wanted!r} here. Choose one of {', '.join(names)}.")

    def prediction(self, logs: torch.Tensor, answer: int) -> Prediction:
        """An answer with its probability, given ln P of all (answers,)."""
        return Prediction(self.name(answer), answer, float(logs[answer].exp()))

    def readings(self, logits: torch.Tensor, untouched: torch.Tensor, top_k: int) -> list[Reading]:
        """One a row of ``logits`` (rows, answers); KL from ln P of the ``untouched`` run (answers,)."""
        logs = logits.log_softmax(dim=-1)
        divergences = (untouched.exp() * (untouched - logs)).sum(dim=-1).clamp(min=0).tolist()
        highest, ids = logs.topk(min(top_k, logs.shape[-1]), dim=-1)
        readings = []
        for row, divergence in enumerate(divergences):
            best = zip(ids[row].tolist(), highest[row].exp().tolist(), strict=True)
            other_log = other_logit = None
            if self.foil is not None:
                other_log, other_logit = float(logs[row, self.foil]), float(logits[row, self.foil])
            readings.append(
                Reading(
                    float(logs[row, self.answer]),
                    float(logits[row, self.answer]),
                    other_log,
                    other_logit,
                    divergence,
                    tuple(Prediction(self.name(id), id, p) for id, p in best),
                )
            )
        return readings


def reader(
    loaded: LoadedModel, text: str, text_pair: str | None, masked_: Collection[int], aim: TargetAnswer
) -> Reader:
    """The text as the network is given it, and where the answer is read.

    Raises NotSupported for a model without the head, InvalidInput where there is no mask, no second text, or no answer
    of that name.
    """
    match aim.reads:
        case "mask":
            masked.refuse_without_head(loaded)
            encoding, positions = masked.mask_positions(loaded, loaded.encode(text, text_pair), masked_)
            position = positions[0] if aim.position is None else aim.position
            if position not in positions:
                raise InvalidInput(
                    f"There is no mask at position {position}. The masks are at {', '.join(map(str, positions))}."
                )
            return Reader(loaded=loaded, aim=aim, encoding=encoding, position=position, row=position)
        case "next token":
            causal.refuse_without_head(loaded)
            encoding = causal.encode_uncut(loaded, text)
            return Reader(loaded=loaded, aim=aim, encoding=encoding, position=None, row=len(encoding) - 1)
        case "next sentence":
            sentence.refuse_without_head(loaded)
            if text_pair is None:
                raise InvalidInput("There is one text only. Give a second one that may follow it.")
        case "class":
            refuse_without_classes(loaded)
    encoding = loaded.encode(text, text_pair)
    row = len(encoding) - 1 if loaded.family.sums_up_last or loaded.trial.causal else 0
    return Reader(loaded=loaded, aim=aim, encoding=encoding, position=None, row=row)


def refuse_without_classes(loaded: LoadedModel) -> None:
    """Raises NotSupported for a model that is no classifier."""
    if loaded.info.tuned_for != "classification":
        raise NotSupported(
            f"{loaded.info.id} was not fine-tuned for classification, so it predicts no class. Train a model on the "
            "page “Train”, or choose a checkpoint that was fine-tuned for classification."
        )


def class_logits(loaded: LoadedModel, states: torch.Tensor, encodings: Sequence[Encoding]) -> torch.Tensor:
    """Logits of all classes (rows, classes), float32, from final states (rows, n, width) of texts, or of one text: the
    model's own head, whatever it reads, behind an encoder that hands out these states.
    """
    head = head_of(loaded.model, Output((states, _pooled(loaded, states))))
    inputs = {name: value.expand(len(states), *value.shape[1:]) for name, value in loaded.inputs(encodings).items()}
    return head(**inputs).logits.float()


def hiding(loaded: LoadedModel) -> int:
    """The token that is read in the place of a hidden one: the mask, or where there is none that for unknown words, or
    for the end of a text.
    """
    tokenizer = loaded.tokenizer
    every = (tokenizer.mask_token_id, tokenizer.unk_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    return next((token for token in every if token is not None), 0)


def hide_tokens(loaded: LoadedModel, encoding: Encoding, places: Sequence[int]) -> Encoding:
    """The same text with other tokens in some places: those that are read where a token is hidden."""
    token, hidden = hiding(loaded), set(places)
    return replace(encoding, ids=tuple(token if at in hidden else id for at, id in enumerate(encoding.ids)))


def _pooled(loaded: LoadedModel, states: torch.Tensor) -> torch.Tensor | None:
    """What the network makes of the first token's vector for heads about whole texts, (rows, width)."""
    base: Any = loaded.model.base_model
    pooler = getattr(base, "pooler", None)
    if pooler is None:
        return None
    beside = isinstance(pooler, torch.nn.Linear)  # ALBERT's activation is no part of it
    return base.pooler_activation(pooler(states[:, 0])) if beside else pooler(states)
