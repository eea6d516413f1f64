"""A run through an encoder that can be taken up again at any layer, with other states and with a change a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, Literal

import torch
from transformers.modeling_outputs import BaseModelOutput

from model_zoo import capture
from model_zoo.errors import NotSupported
from model_zoo.interventions.editing import Editor, editing
from model_zoo.interventions.reading import Reader
from model_zoo.loading import LoadedModel
from model_zoo.module_discovery import LayerCall, first_of
from model_zoo.places import Change, changing, running_layer
from model_zoo.types import Encoding

Block = Literal["attention", "feed_forward"]
BLOCKS: Final[Mapping[Block, str]] = {"attention": "attention.out", "feed_forward": "mlp.out"}
"""The places of what whole blocks add."""


class LayerwiseRun:
    """One text, or several of one length, gone through once; ``run`` goes through its layers again.

    ``states`` (rows, n, width) are those that enter each layer, and what leaves the last, before any final norm; there
    are none for a family whose layers are not called one by one. ``final`` is what the model's head reads. The caller
    decides about gradients.
    """

    def __init__(
        self, loaded: LoadedModel, encodings: Sequence[Encoding], embedded: torch.Tensor | None = None
    ) -> None:
        """``embedded`` (rows, n, width) stand in the place of the tokens' own embeddings."""
        self.loaded = loaded
        self.layers = loaded.layers
        self.inputs = loaded.inputs(encodings)
        if embedded is not None:
            rows = len(embedded)
            self.inputs = {name: value.expand(rows, *value.shape[1:]) for name, value in self.inputs.items()}
            beyond = self.inputs["input_ids"].shape[1] - embedded.shape[1]  # Nyströmformer is given whole segments
            self.inputs["inputs_embeds"] = torch.nn.functional.pad(embedded, (0, 0, 0, beyond)) if beyond else embedded
        self._layer_calls: list[LayerCall] = []
        self.states: list[torch.Tensor] = []
        inputs = {name: value for name, value in self.inputs.items() if embedded is None or name != "input_ids"}
        with self._noted():
            last: torch.Tensor = loaded.encoder(**inputs)[0]
        self.final = self._decoded(last)
        self._answers: dict[tuple[str, int], torch.Tensor] = {}

    @property
    def n_bytes(self) -> int:
        """The bytes of what it keeps: states, and the logits of one head."""
        return sum(states.nbytes for states in (*self.states, self.final)) + 4 * len(self.loaded.tokenizer)

    def logits(self, read: Reader) -> torch.Tensor:
        """What the model's head answers to ``final``: a large matrix for a small change, so it is asked once."""
        key = (read.aim.reads, read.row)
        if key not in self._answers:
            self._answers[key] = read.logits(self.final)
        return self._answers[key]

    @property
    def n_layers(self) -> int:
        return self.loaded.info.n_layers if self.layers is None else len(self.layers.modules)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note how each layer is called by this thread, and what the last one gives."""
        if self.layers is None:
            yield
            return
        back, modules = self.layers.back, self.layers.modules

        def enter(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if len(self._layer_calls) == len(modules):  # a decoder that shares them
                return
            states, call = LayerCall.split(args, kwargs)
            self._layer_calls.append(call)
            self.states.append(states.permute(back))

        def leave(_: Any, __: Any, output: Any) -> None:
            if len(self.states) == len(modules) and len(self._layer_calls) == len(modules):
                self.states.append(first_of(output).permute(back))

        by_module = dict.fromkeys(modules)
        with capture.hooked(by_module, enter, before=True, with_kwargs=True), capture.hooked(by_module, leave):
            yield

    def run(
        self,
        rows: int,
        editor: Editor,
        *,
        first: int = 0,
        states: torch.Tensor | None = None,
        blocks: Mapping[tuple[Block, int], Change] | None = None,
        between: Callable[[int, torch.Tensor], torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """What the head reads, (rows, n, width), of ``rows`` runs from layer ``first`` on, each changed by the editor's
        row and the blocks'. ``states`` are those that enter there, by default this text's own. ``between`` is given the
        states that enter each layer, and those behind the last (by number), and gives those to go on with.
        """
        loaded = self.loaded
        if self.layers is None:
            return self._run_encoder(rows, editor)
        now = self.states[first].expand(rows, -1, -1) if states is None else states
        order, back = self.layers.order, self.layers.back
        changes = {(layer, BLOCKS[block]): change for (block, layer), change in (blocks or {}).items()}
        with editing(loaded, editor), changing(loaded, changes):
            for number in range(first, self.n_layers):
                if between is not None:
                    now = between(number, now)
                editor.layer = number
                call, module = self._layer_calls[number], self.layers.modules[number]
                states_now = now.permute(order).contiguous()
                with running_layer(number):
                    now = call.run(module, states_now, partial(_rows_of, rows=rows)).permute(back)
            if between is not None:
                now = between(self.n_layers, now)
        return self.finish(now)

    def finish(self, states: torch.Tensor) -> torch.Tensor:
        """What the head reads, of what leaves the last layer."""
        if self.loaded.final_norm is not None:
            states = self.loaded.final_norm(states)
        return self._decoded(states[:, : self.inputs["input_ids"].shape[1]])

    def _decoded(self, states: torch.Tensor) -> torch.Tensor:
        """What the decoder makes of the encoder's last states, where there is one and an answer is read after it."""
        answers = self.loaded.info.mlm or self.loaded.info.tuned_for is not None
        if not self.loaded.model.config.is_encoder_decoder or not answers:
            return states
        rows = len(states)
        arguments = {name: value for name, value in self.inputs.items() if name != "inputs_embeds"}
        inputs = {name: value.expand(rows, *value.shape[1:]) for name, value in arguments.items()}
        read = BaseModelOutput(last_hidden_state=states)
        return self.loaded.model.base_model(**inputs, encoder_outputs=read, use_cache=False)[0]

    def _run_encoder(self, rows: int, editor: Editor) -> torch.Tensor:
        """Runs all of the encoder, for a family whose layers are not called one by one."""
        inputs = {name: value.expand(rows, *value.shape[1:]) for name, value in self.inputs.items()}
        editor.counts = True
        with editing(self.loaded, editor):
            final: torch.Tensor = self.loaded.encoder(**inputs)[0]
        return self._decoded(final)


@contextmanager
def keeping_gradients() -> Iterator[None]:
    """Inside the block gradients are kept, whatever the caller is at."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def layerwise_run(loaded: LoadedModel, encodings: Sequence[Encoding]) -> LayerwiseRun:
    """A run without gradients through some texts, which may have been gone through before."""
    key = tuple((encoding.ids, encoding.type_ids) for encoding in encodings)
    with loaded.layerwise_lock:
        known: LayerwiseRun | None = loaded.layerwise_runs.get(key)
    if known is not None:
        return known
    with torch.inference_mode():
        run = LayerwiseRun(loaded, encodings)
    with loaded.layerwise_lock, suppress(ValueError):  # too large to be kept
        loaded.layerwise_runs[key] = run
    return run


def _rows_of(value: Any, rows: int) -> Any:
    """What a layer is given for one text, for as many rows; what is not by row stays, as do places, which are whole
    numbers and the same for all.
    """
    is_ids = isinstance(value, torch.Tensor) and not value.is_floating_point() and value.dtype != torch.bool
    if isinstance(value, torch.Tensor) and not is_ids and value.ndim > 1 and len(value) == 1:
        return value.expand(rows, *value.shape[1:])
    return value


def refuse_without_blocks(loaded: LoadedModel) -> None:
    """Raises NotSupported for a network in which it was not seen what whole blocks add."""
    if not all({*BLOCKS.values()} <= of_layer.keys() for of_layer in loaded.places):
        raise NotSupported(
            f"What whole blocks add was not found in the layers of {loaded.info.id} ({loaded.info.family}), so they "
            "cannot be switched off. Switch heads off, or choose another model, such as BERT."
        )
