"""From a source's files to a model that runs: device, number format, the heads a checkpoint really has."""

from __future__ import annotations

import inspect
import logging
import threading
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import torch
import transformers
from cachetools import LRUCache
from propcache.api import cached_property
from threadpoolctl import ThreadpoolController
from transformers import AutoModelForSeq2SeqLM
from transformers.utils import logging as transformers_logging

from model_zoo import (
    capture,
    checkpoint,
    config_checks,
    configs,
    eager_attention,
    module_discovery,
    named_pooling,
    network,
    out_of_memory,
    places,
    registry,
    sources,
)
from model_zoo.capture import Call
from model_zoo.eager_attention import Projections
from model_zoo.encoding import as_bad_checkpoint, encode, is_panic, shifted, token_names
from model_zoo.errors import BadCheckpoint, ModelZooError, NotSupported, OutOfMemory
from model_zoo.families import Family, family_of
from model_zoo.machine import memory_limit
from model_zoo.sources import Source
from model_zoo.tokenizer import read_tokenizer
from model_zoo.trial import SAMPLE, Trial, leave_the_fused_kernel_where_wrong, try_out
from model_zoo.types import STACKS, Device, DType, Encoding, FloatArray, ModelInfo, Stack, TunedFor

_log = logging.getLogger(__name__)

# transformers prints missing weights as a warning; here they decide which heads exist, and the page says so.
logging.getLogger("transformers.modeling_utils").setLevel(logging.ERROR)
# At that level it checks how weights would be spread over several devices, and prints every one that is not.
logging.getLogger("transformers.distributed.tensor_parallel").setLevel(logging.ERROR)
transformers_logging.disable_progress_bar()

# Bounds for models that set no limit of their own. Outside the fused kernel attention may take n x n floats a head
# (finished maps, XLNet's relative positions), elsewhere it does not.
_UNLIMITED_TOKENS = 4096
_UNLIMITED_TOKENS_UNFUSED = 512


# Settings of a run, which are this app's and no checkpoint's, though a config may hold them.
_OF_A_RUN = {
    "return_dict": True,
    "output_attentions": False,
    "output_hidden_states": False,
    "chunk_size_feed_forward": 0,
    "use_cache": False,
}

# The padding of a network that was never given any: no token has this number.
_NO_PADDING = -1

# Bytes of untouched runs that a model keeps: a click on a head goes through the same text again.
_KEPT_RUNS = 16e6

# What a failure to load is told as, by the file of this package that it happened in, the earlier before the later.
_FAILED_IN = {
    "configs": f"transformers {transformers.__version__} does not understand its config.json",
    "tokenizer": f"transformers {transformers.__version__} cannot read its tokenizer's files",
    "network": f"transformers {transformers.__version__} cannot make its network of its config.json and its weights",
    "loading": "a few words do not pass through its network part by part: it needs more than text, or another config",
}

Item = TypeVar("Item")


def best_device() -> torch.device:
    """cuda, else mps, else cpu."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def device_for(requested: Device | None) -> torch.device:
    """The device that was asked for, without one the best; float32 is float32 there, which on a GPU need not be so.

    Raises NotSupported for a device that this machine has not.
    """
    device = torch.device(requested) if requested else best_device()
    if device.type != "cpu" and not torch.get_device_module(device).is_available():
        raise NotSupported(
            f"This machine has no {device} that torch can use, and models were to run on it. Choose "
            f"{best_device()}, or leave the choice of a device out."
        )
    torch.set_float32_matmul_precision("highest")  # no TF32, which keeps 10 of 23 bits
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.conv.fp32_precision = torch.backends.cudnn.rnn.fp32_precision = "ieee"
    return device


def dtype_for(device: torch.device, requested: DType | None = None) -> torch.dtype:
    """The number format that was asked for; without one half precision on a GPU, float32 on a CPU."""
    if requested is not None:
        return getattr(torch, requested)
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.float16 if device.type == "mps" else torch.float32


def default_budget(device: torch.device) -> int:
    """Bytes for models: 70% of a GPU's memory, or two fifths of what this process may use on a CPU."""
    if device.type == "cuda":
        return int(0.7 * torch.cuda.get_device_properties(device).total_memory)
    return int(0.4 * memory_limit())


def _remembered_runs() -> LRUCache[Any, Any]:
    """See ``interventions.layerwise``."""
    return LRUCache(_KEPT_RUNS, getsizeof=lambda run: run.n_bytes)


@dataclass(eq=False, kw_only=True)
class LoadedModel:
    """A model in memory, ready to run: the network and its heads, its tokenizer, what is known of both."""

    info: ModelInfo
    family: Family
    model: Any
    tokenizer: Any
    max_tokens: int
    missing: frozenset[str]  # names of weights that the checkpoint does not hold: these are random
    tokenizer_lock: threading.Lock = field(default_factory=threading.Lock)
    means: dict[str, Any] = field(default_factory=dict, init=False)  # see interventions.means
    means_lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    layerwise_runs: LRUCache[Any, Any] = field(default_factory=_remembered_runs, init=False)
    layerwise_lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _projections_lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _projections: dict[Stack, tuple[FloatArray | None, ...]] = field(default_factory=dict, init=False)
    takes_type_ids: bool = field(init=False)  # decided once: it may take a run, which nobody's hooks are to see

    def __post_init__(self) -> None:
        self.takes_type_ids = self._takes_type_ids()

    def without_memory(self) -> LoadedModel:
        """The same model without what it remembers of runs, all that is known of the network being found out before:
        for runs that are edited.
        """
        _ = self.trial, self.places, self.final_norm, self.output_projections("encoder")
        copied = copy(self)
        copied.means, copied.layerwise_runs = {}, _remembered_runs()
        return copied

    @property
    def full_precision(self) -> bool:
        return self.info.dtype == "float32"

    @property
    def n_bytes(self) -> int:
        tensors = {t.data_ptr(): t for t in (*self.model.parameters(), *self.model.buffers())}
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())

    @property
    def encoder(self) -> Any:
        """The network without its heads; of an encoder-decoder, the encoder."""
        base = self.model.base_model
        return base.get_encoder() if self.model.config.is_encoder_decoder else base

    def encode(self, text: str, text_pair: str | None = None, max_tokens: int | None = None) -> Encoding:
        """Tokens of a text or a pair, cut at the model's limit, or at ``max_tokens`` if that is less.

        [MASK] stands for the model's own mask, however that is written; the encoding holds the texts as they were read.
        Every question to the model comes through here, so that all of them see the same tokens.
        """
        limit = self.max_tokens if max_tokens is None else min(max_tokens, self.max_tokens)
        mask_token = self.tokenizer.mask_token or "[MASK]"
        read, read_pair = (part and part.replace("[MASK]", mask_token) for part in (text, text_pair))
        with self.tokenizer_lock, as_bad_checkpoint(self.info.id):
            encoding = encode(self.tokenizer, read or "", read_pair, limit)
        n_known = getattr(self.model.config, "vocab_size", None)
        if n_known is not None and max(encoding.ids, default=0) >= n_known:  # on a GPU this would end every model's run
            raise BadCheckpoint(
                f"The tokenizer of “{self.info.id}” makes a token that its network does not know "
                f"(number {max(encoding.ids):,} of {n_known:,}). Change the text, or choose another model."
            )
        return encoding

    def encode_decoder(self, text: str, text_pair: str | None, max_tokens: int | None = None) -> Encoding:
        """What the decoder is given while the encoder reads ``text``: see ``Engine.attend``."""
        encoding = self.encode(text_pair or (text if self.family.restores else ""), None, max_tokens)
        start = self.decoder_start(encoding.ids)
        if start is None:
            raise NotSupported(
                f"{self.info.id} does not say with which token its decoder starts "
                "(decoder_start_token_id in config.json), so its decoder cannot be run. Look at its encoder."
            )
        return shifted(encoding, self.token_names([start])[0], start)

    def decoder_start(self, ids: Sequence[int]) -> int | None:
        """The token that its decoder is given before some others: what transformers puts before labels (mBART's last,
        which is their language), else what the config says; None where nobody does.
        """
        network = AutoModelForSeq2SeqLM._model_mapping.get(type(self.model.config), None)
        with suppress(AssertionError, AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            return int(network.prepare_decoder_input_ids_from_labels(self.model, labels=torch.tensor([[*ids]]))[0, 0])
        return getattr(self.model.config, "decoder_start_token_id", None)

    def forward(self, encoding: Encoding, states: torch.Tensor | None = None, **options: Any) -> Any:
        """One pass of the encoder; with the encoder's hidden ``states``, of the decoder."""
        inputs = self.inputs([encoding])
        if states is None:
            return self.encoder(**inputs, **options)
        decoder = self.model.base_model.get_decoder()
        return decoder(input_ids=inputs["input_ids"], encoder_hidden_states=states, use_cache=False, **options)

    def inputs(self, encodings: Sequence[Encoding]) -> dict[str, torch.Tensor]:
        """What the model takes for a batch (batch, longest), padded on the right; masked where padded."""
        longest = max(*map(len, encodings), self.family.padded_length(self.model.config))

        def padded(rows: Iterable[Sequence[int]], fill: int) -> torch.Tensor:
            return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], device=self.model.device)

        known = getattr(self.model.config, "pad_token_id", None), self.tokenizer.pad_token_id
        fill = next((token for token in known if isinstance(token, int) and token >= 0), 0)  # heads go by the config's
        inputs = {"input_ids": padded((e.ids for e in encodings), fill)}
        if self.takes_type_ids and all(e.type_ids is not None for e in encodings):
            inputs["token_type_ids"] = padded((e.type_ids or () for e in encodings), 0)
        if any(len(encoding) < longest for encoding in encodings):
            inputs["attention_mask"] = self.family.mask(padded(([1] * len(e) for e in encodings), 0), self.model.dtype)
        return inputs

    @cached_property
    def trial(self) -> Trial:
        """What its encoder does with a few words."""
        return try_out(self)

    def pads_for(self, task: TunedFor | None = None) -> bool:
        """Whether texts of several lengths can share a batch: a padded text has the numbers that it has alone, also
        where a head for a ``task`` reads them.
        """
        last = self.family.sums_up_last or getattr(self.model.config, "pad_token_id", None) == _NO_PADDING
        return not (last and task in ("classification", "similarity")) and self.trial.pads

    def order_by_layer(self, of_attention: Sequence[Item], of_others: Item) -> tuple[Item, ...]:
        """What was made by each layer of the encoder with attention, at the numbers of these layers; ``of_others`` at
        those without. Nothing, where there is no attention to show.
        """
        if len(of_attention) in (0, self.info.n_layers):
            return tuple(of_attention)
        numbers, n_layers = self.trial.attention_layers, self.trial.n_layers
        if not numbers:
            return ()
        of_layer = dict(zip(numbers, of_attention, strict=True))
        return tuple(of_layer.get(number, of_others) for number in range(n_layers))

    @property
    def vocabulary_size(self) -> int:
        """How many rows its vocabulary has: the tokenizer's tokens, and what the network has beyond them."""
        return max(len(self.tokenizer), getattr(self.model.config, "vocab_size", None) or 0)

    def token_names(self, ids: Sequence[int]) -> list[str]:
        """Tokens as the model writes them."""
        return token_names(self.tokenizer, ids)

    @property
    def gives_maps(self) -> bool:
        """Whether attention comes as finished maps only: in families outside the fused kernel of which nobody has said
        where their queries and keys are.
        """
        return self._is_eager and self.unfused is None

    @property
    def _is_eager(self) -> bool:
        return self.model.config._attn_implementation == "eager"

    @property
    def unfused(self) -> Projections | None:
        """Where queries and keys are to be captured outside the fused kernel; None for families that go through it."""
        return self.family.projections_of(self.model.config) if self._is_eager else None

    def recording(self, n_tokens: int) -> AbstractContextManager[list[Call]]:
        """The attention calls this thread makes inside the block, in order; the longest text has ``n_tokens``."""
        if self.unfused is None:
            return capture.recording()
        return eager_attention.recording(self.encoder, self.unfused, n_tokens)

    def _takes_type_ids(self) -> bool:
        """Whether the network tells texts apart by type; many accept the argument and have one type only."""
        if "token_type_ids" not in inspect.signature(self.encoder.forward).parameters:
            return False
        if self.family.type_ids is not None:
            return self.family.type_ids
        n_types = getattr(self.model.config, "type_vocab_size", None)
        return self._tells_types_apart() if n_types is None else n_types > 1

    def _tells_types_apart(self) -> bool:
        """Whether types change what comes out, and are not looked up in the table of words (GPT-2)."""
        encoding, outputs = self.encode(SAMPLE), []
        lookups: list[None] = []
        ids = torch.tensor([encoding.ids], device=self.model.device)
        words = self.encoder.get_input_embeddings()
        with torch.inference_mode(), capture.hooked([words], lambda *_: lookups.append(None)):
            for types in (torch.zeros_like(ids), (torch.arange(ids.shape[1], device=ids.device) > 1).long()[None]):
                with suppress(IndexError, RuntimeError):  # TAPAS takes seven types for each token
                    outputs.append(self.encoder(input_ids=ids, token_type_ids=types)[0])
        return len(outputs) == len(lookups) == 2 and not torch.equal(*outputs)

    @cached_property
    def final_norm(self) -> torch.nn.Module | None:
        """The norm behind the encoder's last layer, which its output has passed through and the layers before have not;
        None where the last layer ends in a norm of its own (BERT). Found by watching, so no family has to be named.
        """
        return module_discovery.final_norm(self.encoder, self.sample_pass)

    @cached_property
    def layers(self) -> module_discovery.Layers | None:
        """The modules of the encoder's layers; None where they do not hand on hidden states one to the next. Found by
        watching, so no family has to be named.
        """

        def run() -> Sequence[torch.Tensor]:
            return self.forward(self.encode(SAMPLE), output_hidden_states=True).hidden_states

        return module_discovery.layers(self.encoder, run, self.final_norm)

    @cached_property
    def places(self) -> tuple[Mapping[str, places.Place | None], ...]:
        """The places of each layer at which activations are recorded and edited: see ``places.find``."""
        return places.find(self)

    def output_modules(self) -> Sequence[Any | None]:
        """The module that the output of each layer's attention goes through, where it was found to be one."""
        if self.unfused is None:
            return self.order_by_layer(module_discovery.output_modules(self.model, self.sample_pass)[1], None)
        by_weight = {id(getattr(module, "weight", None)): module for module in self.encoder.modules()}
        return self.order_by_layer([by_weight.get(id(of)) for of in self.unfused.output_weights(self.encoder)], None)

    def output_projections(self, stack: Stack) -> tuple[FloatArray | None, ...]:
        """See ``AttentionRun.output_projections``; those of the fused kernel are found once, by watching where
        attention's output goes.
        """
        with self._projections_lock:
            if stack not in self._projections:
                if self.unfused is not None:
                    output_matrices = self.unfused.output_matrices(self.encoder)
                    self._projections[stack] = tuple(map(capture.as_array, output_matrices))
                elif stack == "encoder":
                    of_calls = module_discovery.output_projections(self.model, self.sample_pass)
                    self._projections[stack] = self.order_by_layer(of_calls, None)
                else:
                    weights = module_discovery.output_projections(
                        self.model, partial(self.sample_pass, self.sample_pass())
                    )
                    self._projections |= {name: tuple(self.family.select_stack(name, weights)) for name in STACKS[1:]}
            return self._projections[stack]

    def sample_pass(self, states: torch.Tensor | None = None) -> torch.Tensor:
        """A few words passed through, to be watched on the way: see ``forward``."""
        encoding = self.encode(SAMPLE) if states is None else self.encode_decoder(SAMPLE, SAMPLE)
        return self.forward(encoding, states).last_hidden_state


@cache
def _leave_the_cores_to_torch() -> None:
    """One thread for numpy's matrix products. Its waiting threads keep the cores busy that torch needs next:
    with two cores a forward pass of 128 tokens took twice as long after attention had been computed.
    """
    ThreadpoolController().select(internal_api="openblas").limit(limits=1)


def load(source: Source, device: torch.device, dtype: DType | None = None) -> LoadedModel:
    """Read a source's files, after downloading them if need be, into ``dtype``, or that of ``dtype_for``; into float32
    where the family's network works in no other. A model that is not in the registry is tried on a few words.

    Raises BadCheckpoint if they are no model, OutOfMemory if there is less memory than it needs.
    """
    _leave_the_cores_to_torch()
    if source.folder is None:
        source = replace(sources.download(source), untrained=source.untrained)
    try:
        loaded = _load(source, device, dtype)
        if not sources.is_listed(source.id):
            _try_out(loaded)
    except ModelZooError:
        raise
    except BaseException as error:  # transformers raises whatever it stumbles over: OSError, ValueError, KeyError ...
        traceback.clear_frames(error.__traceback__)  # they hold what was loaded so far
        if out_of_memory.is_shortage(error):
            raise OutOfMemory(
                f"The memory ran out while {source.id} was loaded. Wait until other models are done and try again, or "
                "choose a smaller model."
            ) from error
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise BadCheckpoint(_unreadable(source.id, error)) from error
    if source.stamp != checkpoint.stamp(source.folder or Path()):
        raise BadCheckpoint(
            f"The files of “{source.id}” changed while they were read. Try again when nothing writes to them any more."
        )
    return loaded


def _load(source: Source, device: torch.device, dtype: DType | None) -> LoadedModel:
    assert source.folder is not None
    names = checkpoint.read_headers(source.weights, source.id).names
    config = configs.load_config(source.folder, names, source.id)
    config_checks.refuse_config(config, source)
    for name, value in _OF_A_RUN.items():
        setattr(config, name, value)
    tokenizer = read_tokenizer(source.folder, config, source.id, listed=sources.is_listed(source.id))
    family = family_of(config.model_type)
    family.configure(config)
    number_format = dtype_for(device, dtype) if family.half else torch.float32
    model, missing = network.build(source, config, family, device, number_format)
    heads = set() if source.untrained else network.heads(model, family, missing, source.id)
    eager = model.config._attn_implementation == "eager"
    max_tokens = _max_tokens(config, tokenizer, model, family)
    if max_tokens is not None and max_tokens < 1:
        raise BadCheckpoint(
            f"“{source.id}” says that it reads at most {max_tokens} tokens (tokenizer_config.json or config.json). "
            "Choose another checkpoint, or copy this one again."
        )
    spec, n_heads = registry.find(source.id), getattr(config, "num_attention_heads", 0)
    info = ModelInfo(
        id=f"{sources.UNTRAINED}{source.id}" if source.untrained else source.id,
        revision=source.revision,
        family=config.model_type,
        n_layers=getattr(config, "num_hidden_layers", 0),
        n_heads=n_heads,
        why_no_attention="" if n_heads else "has no attention to show",
        width=getattr(config, "hidden_size", 0),
        parameters=source.n_parameters - network.n_constants(model, missing),
        max_tokens=max_tokens,
        # A published head may be there and never have been trained; the registry knows, the file does not.
        mlm="mlm" in heads and tokenizer.mask_token_id is not None and (spec is None or spec.mlm),
        nsp=family.nsp if "nsp" in heads and (spec is None or spec.nsp) else None,
        device=str(device),
        dtype=str(model.dtype).removeprefix("torch."),
        cross_attention=bool(config.is_encoder_decoder),
        lm="lm" in heads,
        tuned_for=network.tuned_for(config) if "task" in heads else None,
        labels=network.labels(config) if "task" in heads else (),
        converted=source.converted,
        pooling=named_pooling.read(source.folder),
    )
    bound = max_tokens or (_UNLIMITED_TOKENS_UNFUSED if eager and n_heads else _UNLIMITED_TOKENS)
    return LoadedModel(
        info=info, family=family, model=model, tokenizer=tokenizer, max_tokens=bound, missing=frozenset(missing)
    )


def _try_out(loaded: LoadedModel) -> None:
    """A few words through all of a network: what its config gets wrong fails here, and not on somebody's question. What
    comes to light is noted.
    """
    if not loaded._is_eager:
        leave_the_fused_kernel_where_wrong(loaded)
    trial, info = loaded.trial, loaded.info
    lm = info.lm and trial.causal
    loaded.info = replace(
        info,
        n_layers=trial.n_layers,
        n_heads=trial.n_heads,
        lm=lm,
        why_no_attention=trial.why_no_attention,
        attention_layers=() if len(trial.attention_layers) == trial.n_layers else trial.attention_layers,
    )
    config = loaded.model.config
    if (
        trial.causal
        and info.tuned_for in ("classification", "similarity")
        and getattr(config, "pad_token_id", None) is None
    ):
        # Its head looks for the last token that is no padding, and refuses batches where nobody says what that is.
        config.pad_token_id = _NO_PADDING
    with torch.inference_mode():
        if info.cross_attention and loaded.decoder_start(loaded.encode(SAMPLE).ids) is not None:
            loaded.sample_pass(loaded.sample_pass())
        if info.mlm or info.nsp or lm or info.tuned_for:
            loaded.model(**loaded.inputs([loaded.encode(SAMPLE)]))


def _unreadable(model: str, error: BaseException) -> str:
    if "trust_remote_code" in str(error) or "custom code" in str(error):
        return str(configs.own_code(model))
    _log.warning("%s cannot be loaded", model, exc_info=error)
    files = {Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)}
    modules = {file.stem for file in files if file.parent == Path(__file__).parent}
    why = next((why for stem, why in _FAILED_IN.items() if stem in modules), _FAILED_IN["loading"])
    return f"“{model}” cannot be loaded: {why}. Choose another checkpoint, or copy this one again."


def _max_tokens(config: Any, tokenizer: Any, model: Any, family: Family) -> int | None:
    """The longest input: what positions there are, less those that padding takes (RoBERTa's kin), and what the
    tokenizer and the family say; None where none of them sets a limit.
    """
    limits = [tokenizer.model_max_length]
    of_family = family.max_tokens(config)
    if of_family is not None:
        limits.append(of_family)
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if positions and positions > 0:
        # Models that count positions from the padding id on keep a padding row in the position table.
        table = next(
            (
                m
                for name, m in model.named_modules()
                if name.endswith("position_embeddings") and hasattr(m, "padding_idx")
            ),
            None,
        )
        offset = table.padding_idx + 1 if table is not None and table.padding_idx is not None else 0
        limits.append(positions - offset)
    limit = min(limits)
    return int(limit) if limit < 10**6 else None
