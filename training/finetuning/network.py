"""The network that is trained: a copy of a loaded model's encoder in float32 with a new task head, and the choice of
weights that learn.

The loaded model is shared by everybody and is never trained.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from transformers.modeling_outputs import BaseModelOutputWithPooling

from model_zoo import capture
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.network import TUNED
from model_zoo.registry import UNTRAINED
from training.finetuning import lora
from training.finetuning.data import Data
from training.finetuning.settings import Learns, Settings
from training.finetuning.tasks import TASKS

_POOLER = "pooler"


def refuse_untunable(loaded: LoadedModel, data: Data) -> None:
    """Raises NotSupported for a model that has no encoder to tune, or whose architecture has no head for the task."""
    info = loaded.info
    if info.cross_attention or loaded.trial.causal:
        reason = "has a decoder beside its encoder" if info.cross_attention else "reads from left to right (a decoder)"
        raise NotSupported(
            f"{info.id} {reason}, and only encoders are tuned here. Choose a model such as BERT, RoBERTa or ModernBERT."
        )
    if type(loaded.model.config) not in TUNED[data.kind]._model_mapping:
        raise NotSupported(
            f"{info.id} ({info.family}) has no head for this task in transformers. Choose a model such as BERT, "
            "RoBERTa or ModernBERT."
        )


def fresh(loaded: LoadedModel, data: Data, settings: Settings) -> Any:
    """A network for the data's task before its first step: the model's weights, with those of the head drawn by the
    seed.

    For an untrained model all weights are drawn by the seed. Raises NotSupported.
    """
    refuse_untunable(loaded, data)
    config = copy.deepcopy(loaded.model.config)
    TASKS[data.kind].configure(config, data)
    made_of = TUNED[data.kind]._model_mapping[type(config)]
    attention = "sdpa" if config._attn_implementation == capture.IMPLEMENTATION else config._attn_implementation
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        network = made_of._from_config(config, dtype=torch.float32, attn_implementation=attention)
        _take_over(network, loaded)
        if settings.learns == "lora":  # after the weights of the network, so that its head begins as it does without
            lora.add(network.base_model, settings.rank)
    return network.to(loaded.model.device)


def _take_over(network: Any, loaded: LoadedModel) -> None:
    """Copy the weights that the loaded model's checkpoint has under the same names."""
    if loaded.info.id.startswith(UNTRAINED):
        return
    base = f"{network.base_model_prefix}."
    weights = {name: weight for name, weight in loaded.model.state_dict().items() if name not in loaded.missing}
    if loaded.model.base_model is loaded.model:  # no head was loaded, and so no prefix
        weights = {base + name: weight for name, weight in weights.items()}
    if loaded.info.tuned_for is not None:  # its head answers another question
        weights = {name: weight for name, weight in weights.items() if name.startswith(base)}
    state = network.state_dict()
    fitting = {name: weight for name, weight in weights.items() if name in state and state[name].shape == weight.shape}
    network.load_state_dict(fitting, strict=False)
    random = [name for name in state.keys() - fitting.keys() if name.startswith(base) and _POOLER not in name]
    if random:
        raise NotSupported(
            f"{loaded.info.id} lacks {len(random)} weights that its architecture needs for this task (such as "
            f"{min(random)}). Choose another model."
        )


def set_learning(network: Any, learns: Learns, layers: int) -> int:
    """Choose the weights that are trained; returns how many numbers they are. The pooler counts as part of the head."""
    base = f"{network.base_model_prefix}."
    of_layers = _stack(network) if learns == "top" else nn.ModuleList()
    if learns == "top" and layers > len(of_layers):
        raise NotSupported(
            f"This model has {len(of_layers)} layers that can be trained alone, and {layers} were asked for. "
            f"Choose at most {len(of_layers)}, or train all weights."
            if len(of_layers)
            else "The layers of this model share their weights, so its top ones cannot be trained alone. Train all."
        )
    top = {id(weight) for layer in list(of_layers)[-layers:] for weight in layer.parameters()}
    n = 0
    for name, weight in network.named_parameters():
        in_lora = lora.is_own(name)
        of_head = not name.startswith(base) or _POOLER in name
        weight.requires_grad_(learns == "all" or of_head or id(weight) in top or (learns == "lora" and in_lora))
        n += weight.numel() * weight.requires_grad
    return n


def _stack(network: Any) -> nn.ModuleList:
    """The layers of the encoder; empty where they share their weights."""
    n_layers = network.config.num_hidden_layers
    stacks = [part for part in network.base_model.modules() if isinstance(part, nn.ModuleList)]
    return next((stack for stack in stacks if len(stack) == n_layers), nn.ModuleList())


class SmallVocabulary:
    """Leaves of the input embeddings only the rows of tokens that occur, until ``restore``.

    Rows that do not occur get no gradient: AdamW would only let them decay, all by the same factor, which ``restore``
    makes up for. What is left out need not be moved through the optimizer at each step: half of all weights of a small
    BERT.
    """

    def __init__(self, network: Any, ids: Iterable[int]) -> None:
        self._embedding: nn.Embedding = network.get_input_embeddings()
        weight = self._embedding.weight
        used = sorted({*ids, self._embedding.padding_idx or 0})
        self._all_rows = weight.detach()
        self._used = torch.tensor(used, device=weight.device)
        self._places = torch.zeros(len(weight), dtype=torch.long, device=weight.device)
        self._places[self._used] = torch.arange(len(used), device=weight.device)
        self._padding = self._embedding.padding_idx
        self._set(nn.Parameter(weight.detach()[self._used].clone(), requires_grad=weight.requires_grad))
        if self._padding is not None:
            self._embedding.padding_idx = int(self._places[self._padding])

    def _set(self, weight: nn.Parameter) -> None:
        self._embedding.weight = weight
        self._embedding.num_embeddings = len(weight)

    def places(self, ids: torch.Tensor) -> torch.Tensor:
        """The embedding rows selected by token ids, of the same shape."""
        return self._places[ids]

    def restore(self, decay: float) -> None:
        """All rows again; those left out times ``decay``."""
        with torch.no_grad():
            weight = self._all_rows * decay
            weight[self._used] = self._embedding.weight
        self._set(nn.Parameter(weight))
        self._embedding.padding_idx = self._padding


class CachedEncoder(nn.Module):
    """Stands for an encoder whose weights do not change: answers with its last layer's states, computed once."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.config = encoder.config
        self.states: torch.Tensor | None = None  # (batch, n, width) of the batch that comes next

    def forward(self, *_inputs: Any, **_named: Any) -> BaseModelOutputWithPooling:
        pooler = getattr(self.encoder, _POOLER, None)
        pooled = None if pooler is None else pooler(self.states)
        return BaseModelOutputWithPooling(last_hidden_state=self.states, pooler_output=pooled)


def seconds_a_text(network: Any, texts: Sequence[Mapping[str, torch.Tensor]]) -> float:
    """Seconds of a forward pass over one text by itself: the median over the texts, each run once before.

    Kernels of some networks are made at the first text of a length.
    """
    machine = torch.get_device_module(network.device)
    network.eval()
    times = []
    for inputs in (*texts, *texts):
        machine.synchronize()
        began = time.perf_counter()
        with torch.no_grad():
            network(**inputs)
        machine.synchronize()  # a GPU is asked, and answers later
        times.append(time.perf_counter() - began)
    return statistics.median(times[len(texts) :])
