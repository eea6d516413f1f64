"""The numbers of a checkpoint by transformers alone: its own classes, its own tokenizer, eager attention, no engine.

Tests and ``python -m model_zoo.check`` hold the engine against these. Weights come from safetensors only, in float32.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from propcache.api import cached_property
from safetensors import safe_open
from transformers import (
    CONFIG_MAPPING,
    AttentionInterface,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForNextSentencePrediction,
    AutoModelForPreTraining,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    FillMaskPipeline,
    PreTrainedConfig,
)
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from model_zoo.families.bilstm import BiLSTMConfig, BiLSTMModel
from model_zoo.types import FloatArray

AutoModel.register(BiLSTMConfig, BiLSTMModel, exist_ok=True)

# What eager attention gives as output_attentions: scores before softmax, or the weights of the keys in a window around
# each query; of all others weights that sum to 1.
SCORES = ("squeezebert",)
WINDOWS = ("longformer",)

# Their tokenizers leave out which text a token is of, though their models were trained with it.
TYPED = ("albert", "xlnet")


@dataclass(frozen=True)
class Plain:
    """A checkpoint as transformers alone opens it: its ``folder``, and the safetensors that hold its ``weights``, those
    of the folder if none are named; never a pickle. ``model_type`` is that of a config that has none, ``reading`` what
    a tokenizer's files do not say.
    """

    folder: Path
    weights: tuple[Path, ...] = ()
    model_type: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def config(self) -> Any:
        settings, _ = PreTrainedConfig.get_config_dict(self.folder, local_files_only=True)
        kind = settings.get("model_type") or self.model_type
        return CONFIG_MAPPING[kind].from_dict({**settings, "model_type": kind})

    @cached_property
    def tokenizer(self) -> Any:
        return AutoTokenizer.from_pretrained(
            self.folder, config=self.config, trust_remote_code=False, local_files_only=True, **self.reading
        )

    def loaded(self, auto: Any, attention: str = "eager") -> Any:
        """The network by the class that ``auto`` finds for it, read anew."""
        config = copy.deepcopy(self.config)
        options = {"config": config, "attn_implementation": attention, "dtype": torch.float32}
        if self.weights:
            network = auto._model_mapping[type(config)]
            return network.from_pretrained(None, state_dict=_tensors(self.weights), **options).eval()
        return auto.from_pretrained(self.folder, use_safetensors=True, local_files_only=True, **options).eval()

    def network(self) -> Any:
        """The network without heads, ready to be watched."""
        bare = type(self.config) in AutoModel._model_mapping
        model = self.loaded(AutoModel) if bare else self.loaded(AutoModelForCausalLM).base_model
        prepare(model)
        return model

    def encoded(self, texts: Sequence[tuple[str, str | None]]) -> list[tuple[list[FloatArray], FloatArray]]:
        """For each text or pair: encoder attention, (heads, n, n) a layer, and hidden states (layers + 1, n, width). A
        layer without attention has maps of no heads, and there are no states where they have not all the same shape.
        """
        model = self.network()
        return [self._encoded(model, *text) for text in texts]

    def _encoded(self, model: Any, text: str, pair: str | None) -> tuple[list[FloatArray], FloatArray]:
        kind = model.config.model_type
        types = True if kind in TYPED else None
        inputs = self.tokenizer(text, pair, return_tensors="pt", return_token_type_ids=types)
        encoder = model.get_encoder() if model.config.is_encoder_decoder else model
        with torch.no_grad(), _noting_layers(encoder) as noted:
            output = encoder(**inputs, output_attentions=True, output_hidden_states=True)
        maps = [
            layer_maps
            for layer_maps in getattr(output, "attentions", None) or ()
            if isinstance(layer_maps, torch.Tensor)
        ]
        if 0 < len(maps) < len(output.hidden_states) - 1:  # of some layers only, without a word of which
            of_layer = {layer: matrix for matrix in maps for layer, tensor in noted if tensor is matrix}
            none = maps[0].new_zeros(1, 0, *maps[0].shape[2:])
            maps = [of_layer.get(layer, none) for layer in range(len(output.hidden_states) - 1)]
        if kind in SCORES:
            maps = [scores.softmax(-1) for scores in maps]
        if kind in WINDOWS:
            maps = [_unwindowed(windowed) for windowed in maps]
        alike = len({getattr(states, "shape", None) for states in output.hidden_states}) == 1
        states = torch.stack(output.hidden_states, 1)[0].numpy() if alike else np.zeros(0, np.float32)
        n = inputs["input_ids"].shape[1]
        maps = [layer if layer.shape[-2:] == (n, n) else layer.new_zeros(1, 0, n, n) for layer in maps]
        return [layer[0].numpy() for layer in maps], states

    def decoded(self, text: str, written: str) -> dict[str, list[FloatArray]]:
        """Both attentions of the decoder, (heads, queries, keys) a layer: the class with the head is given the text
        that was written as labels, which the model itself turns into the decoder's input.
        """
        model = self.loaded(AutoModelForSeq2SeqLM)
        labels = self.tokenizer(written, return_tensors="pt").input_ids
        with torch.no_grad():
            output = model(**self.tokenizer(text, return_tensors="pt"), labels=labels, output_attentions=True)
        return {
            "decoder": [maps[0].numpy() for maps in output.decoder_attentions],
            "cross": [maps[0].numpy() for maps in output.cross_attentions],
        }

    def filled(self, text: str, top_k: int) -> list[list[tuple[int, float]]]:
        """By transformers' pipeline: a mask's (token id, probability), best first, for every mask of the text; there
        are two or more.
        """
        fill = FillMaskPipeline(model=self.loaded(AutoModelForMaskedLM), tokenizer=self.tokenizer, top_k=top_k)
        return [[(entry["token"], entry["score"]) for entry in answers] for answers in fill(text)]

    def predicted(
        self, text: str, top_k: int, masked: bool, without: tuple[int, int] | None = None
    ) -> list[list[tuple[int, float]]]:
        """(token id, probability), best first, at every mask of a text, or where it is not ``masked`` after it; with
        the head (layer, head) switched off, if any. Raises NotComparable where none can be.
        """
        model = self.loaded(AutoModelForMaskedLM if masked else AutoModelForCausalLM, _OFF if without else "eager")
        inputs = self.tokenizer(text, return_tensors="pt")
        with torch.no_grad(), _switched_off(model, without):
            (scores,) = model(**inputs).logits
        rows = scores[inputs["input_ids"][0] == self.tokenizer.mask_token_id] if masked else scores[-1:]
        best = rows.float().softmax(-1).topk(min(top_k, rows.shape[-1]))
        return [list(zip(*pair, strict=True)) for pair in zip(best.indices.tolist(), best.values.tolist(), strict=True)]

    def sentence_logits(self, a: str, b: str) -> FloatArray:
        """The two scores of the sentence head."""
        inputs = self.tokenizer(a, b, return_tensors="pt")
        with torch.no_grad():
            if self.config.model_type != "albert":  # megatron-bert's class is called so too, and means SOP
                scores = self.loaded(AutoModelForNextSentencePrediction)(**inputs).logits
            else:
                # As ALBERT was trained: the second sentence with its [SEP] is segment 1. Its tokenizer leaves segments
                # out.
                segments = torch.tensor([[side or 0 for side in inputs.sequence_ids(0)]])
                segments[0, -1] = 1
                model = self.loaded(AutoModelForPreTraining)
                scores = model(inputs["input_ids"], token_type_ids=segments).sop_logits
        return np.asarray(scores[0])


_OFF = "a head switched off"
_switch: list[Any] = []


class NotComparable(Exception):
    """A network whose heads transformers gives nobody a way to switch off."""


def _attend(module: torch.nn.Module, *inputs: Any, **options: Any) -> Any:
    """What the network's own file computes, without a head where ``_switched_off`` says so."""
    output, weights = sys.modules[type(module).__module__].eager_attention_forward(module, *inputs, **options)
    return (_switch[-1](module, output) if _switch else output), weights


AttentionInterface.register(_OFF, _attend)
AttentionMaskInterface.register(_OFF, eager_mask)


@contextmanager
def _switched_off(model: Any, without: tuple[int, int] | None) -> Iterator[None]:
    """Inside the block nothing comes out of the head (layer, head) of the encoder. Raises NotComparable where that
    cannot be had.
    """
    if without is None:
        yield
        return
    base = model.base_model
    encoder = base.get_encoder() if model.config.is_encoder_decoder else base
    names = {module: name for name, module in encoder.named_modules()}
    layers: list[tuple[int, Any]] = []

    def switch(module: torch.nn.Module, output: torch.Tensor) -> torch.Tensor:
        if module not in names:
            return output
        # By its place in the network's names; layers that share their weights, by the order of calls.
        shared = bool(layers) and layers[-1][1] is module
        layers.append((layers[-1][0] + 1 if shared else _layer_of(names[module]), module))
        if layers[-1][0] != without[0]:
            return output
        kept = output.clone()
        kept[:, :, without[1]] = 0
        return kept

    _switch.append(switch)
    try:
        yield
    finally:
        _switch.pop()
    if [layer for layer, _ in layers].count(without[0]) != 1:
        raise NotComparable


def _layer_of(name: str) -> int:
    """The first number in a module's name: "layers.3.self_attn" is of layer 3; -1 without any."""
    number = re.search(r"(?<![^.])\d+(?![^.])", name)
    return int(number[0]) if number else -1


@contextmanager
def _noting_layers(encoder: Any) -> Iterator[list[tuple[int, torch.Tensor]]]:
    """The layer of each tensor that a module has handed on beside its output, the innermost module first."""
    noted: list[tuple[int, torch.Tensor]] = []

    def note(name: str) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            rest = output[1:] if isinstance(output, tuple) else ()
            noted.extend((_layer_of(name), tensor) for tensor in rest if isinstance(tensor, torch.Tensor))

        return hook

    handles = [module.register_forward_hook(note(name)) for name, module in encoder.named_modules()]
    try:
        yield noted
    finally:
        for handle in handles:
            handle.remove()


def prepare(model: Any) -> None:
    """Set BigBird to full attention. It would do so itself in the first pass of a short text, but then it gives no maps
    of that pass, and the modules that are watched are replaced.
    """
    if model.config.model_type == "big_bird":
        model.set_attention_type("original_full")


def _tensors(weights: Sequence[Path]) -> dict[str, torch.Tensor]:
    tensors: dict[str, torch.Tensor] = {}
    for file in weights:
        with safe_open(file, "pt") as part:
            tensors |= {name: part.get_tensor(name) for name in part.keys()}  # noqa: SIM118 (it is no mapping)
            # Names of one and the same tensor in a converted pickle: see ``model_zoo.pickles``.
            aliases: Mapping[str, str] = json.loads((part.metadata() or {}).get("aliases", "{}"))
            tensors |= {name: tensors[of] for name, of in aliases.items()}
    return tensors


def _unwindowed(windowed: torch.Tensor) -> torch.Tensor:
    batch, heads, n, width = windowed.shape
    full = torch.zeros(batch, heads, n, n)
    for query in range(n):
        for place in range(width):
            key = query + place - width // 2
            if 0 <= key < n:
                full[:, :, query, key] = windowed[:, :, query, place]
    return full
