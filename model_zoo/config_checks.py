"""Whether what a config.json says can be true of the weights beside it: told before anything of that size is made.

The headers of the weights say how many tensors and numbers there are. A network needs about as many, so that a config
can neither make this process build for hours nor take more memory than the files promise.
"""

from __future__ import annotations

import json
import logging
import math
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as torch_module
from transformers import PreTrainedConfig

from model_zoo.errors import BadCheckpoint, ModelZooError
from model_zoo.out_of_memory import is_shortage
from model_zoo.sources import Source
from model_zoo.types import MB

_log = logging.getLogger(__name__)

# A config's class makes lists of as many entries. How many layers, heads and experts there can be, the weights say;
# vocabularies and widths of layers may have 262,144. Labels have names, 21,000 at the most.
_MOST_OF_A_KIND = 1_000_000
_MOST_LABELS = 100_000
_KINDS = re.compile(r"layer|head|expert|group|block|stage|network", re.IGNORECASE)
# Longformer pads every text to a whole number of windows.
_MOST_IN_A_WINDOW = 4096
_MOST_LEVELS = 20
# Whose keys are anybody's words.
_NAMES_OF_LABELS = ("id2label", "label2id")

# Sizes as transformers' configs name them; each is a whole number from 1 on where a config has it.
_NAMES_OF_SIZES = """
hidden_size vocab_size intermediate_size num_hidden_layers num_attention_heads d_model d_kv d_ff d_inner encoder_layers
decoder_layers num_decoder_layers encoder_attention_heads decoder_attention_heads encoder_ffn_dim decoder_ffn_dim
num_heads num_layers embedding_size num_hidden_groups inner_group_num num_feedforward_networks
num_key_value_heads num_random_blocks block_size
"""
_SIZES = _NAMES_OF_SIZES.split()
_DIMENSIONS = ("num_labels", "vocab_size", "type_vocab_size", "max_position_embeddings", "hidden_size")
_LAYERS = ("num_hidden_layers", "encoder_layers", "decoder_layers", "num_decoder_layers", "num_layers")

# Parts of the app's own network may be missing in the file (a head, a pooler), and tables of constants come on top.
_SHARE = 1.5
_SLACK_BYTES = 64 * MB
# Registered while a network is built: matrices that are tied afterwards, heads that the file lacks.
_TENSORS_SHARE = 4
_TENSORS_SLACK = 500


def refuse_config_file(folder: Path, model: str) -> dict[str, Any]:
    """The settings of a config.json. Raises BadCheckpoint for one with numbers that no network has, before a class
    reads it: some make a list entry for each of their layers or labels.
    """

    def no_number(name: str) -> None:
        raise _implausible(model, f"holds {name}, which is not a number")

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"), parse_constant=no_number)
    except (OSError, ValueError, RecursionError) as error:
        raise BadCheckpoint(
            f"The config.json of “{model}” cannot be read. Copy the checkpoint again, or choose another."
        ) from error
    if not isinstance(config, dict):
        raise _implausible(model, "is not a table of settings")
    if config.get("quantization_config") is not None:
        raise BadCheckpoint(
            f"The weights of “{model}” are quantized (quantization_config in its config.json), which this app does not "
            "read. Choose the checkpoint that they were made from."
        )
    if config.get("fusion_config") is not None:
        raise _implausible(model, "asks for a fusion_config, which this app does not load")
    if config.get("pruned_heads"):
        raise _implausible(model, "says that heads were cut out (pruned_heads), and this app builds whole networks")
    for name, value in _entries(config, model):
        if isinstance(value, float) and not math.isfinite(value):
            raise _implausible(model, f"gives {_quote(value)} for {name[:40]}")
        if isinstance(value, bool) or not isinstance(value, int):
            if name in _SIZES and value is not None:
                raise _no_size(model, name, value)
            continue
        if abs(value) > _most_of(name):
            raise _implausible(model, f"gives {_quote(value)} for {name[:40]}, more than any network has")
    decoded: dict[str, Any] = PreTrainedConfig._decode_special_floats(config)
    return decoded


def _most_of(name: str) -> float:
    """The largest number that a setting of this name has anywhere."""
    if name == "attention_window":
        return _MOST_IN_A_WINDOW
    if "label" in name:
        return _MOST_LABELS
    return _MOST_OF_A_KIND if _KINDS.search(name) else math.inf


def _entries(value: Any, model: str) -> Iterator[tuple[str, Any]]:
    """Every name and value of a config, those in lists under the list's name, at whatever depth."""
    waiting = [("", value, 0)]
    while waiting:
        name, value, level = waiting.pop()
        if level > _MOST_LEVELS:
            raise _implausible(model, f"is nested more than {_MOST_LEVELS} deep")
        if isinstance(value, dict):
            waiting += [(str(key), part, level + 1) for key, part in value.items() if key not in _NAMES_OF_LABELS]
        elif isinstance(value, list):
            waiting += [(name, part, level + 1) for part in value]
        else:
            yield name, value


def refuse_config(config: Any, source: Source) -> None:
    """Raises BadCheckpoint where a config, as its class reads it, or one inside it, has sizes that are no whole numbers
    from 1 on, or more layers than the weights have tensors.
    """
    for part in (config, *_nested(config)):
        known = part.to_dict()
        # Older configs call them by other names.
        known |= {name: getattr(part, name, None) for name in getattr(type(part), "attribute_map", {})}
        for name in _SIZES:
            value = known.get(name)
            for size in value if isinstance(value, list) else [] if value is None else [value]:  # one for each layer
                if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                    raise _no_size(source.id, name, size)
                if name in _LAYERS and size > source.n_tensors:
                    raise _implausible(
                        source.id, f"gives {_quote(size)} for {name}, and the weights are {source.n_tensors:,} tensors"
                    )


def _no_size(model: str, name: str, value: Any) -> BadCheckpoint:
    return _implausible(model, f"gives {_quote(value)} for {name}, which is a whole number from 1 on")


def _nested(config: Any) -> list[Any]:
    """The configs of a config's parts, those of an encoder and a decoder say."""
    names = getattr(type(config), "sub_configs", {})
    return [part for name in names if hasattr(part := getattr(config, name, None), "to_dict")]


def refuse_network(build: Callable[[], Any], source: Source, config: Any) -> Any:
    """The network that ``build`` makes of a config, without its numbers. Raises BadCheckpoint where it cannot
    be made, or has many more tensors or numbers than the weights.

    It is made on a device that holds no data, so nothing is allocated, and no further than is plausible.
    """
    most = _TENSORS_SHARE * source.n_tensors + _TENSORS_SLACK
    with torch.device("meta"), _limit_tensors(most, source.id):
        try:
            network = build()
        except Exception as error:
            if isinstance(error, ModelZooError) or is_shortage(error) or error.args == (config._attn_implementation,):
                raise
            _log.info("The network of %s cannot be built", source.id, exc_info=error)
            raise _implausible(source.id, _unbuildable(config)) from error
    tensors = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    needed = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if needed > _SHARE * 4 * source.n_parameters + _SLACK_BYTES:
        raise _implausible(
            source.id,
            f"describes a network of {needed / 4e6:,.0f} million numbers, and the weights hold "
            f"{source.n_parameters / 1e6:,.1f} million",
        )
    return network


def _unbuildable(config: Any) -> str:
    """Why no network can be made of a config, as far as it shows."""
    width, heads = (getattr(config, name, None) for name in ("hidden_size", "num_attention_heads"))
    if isinstance(width, int) and isinstance(heads, int) and width % heads:
        return f"gives {width:,} for hidden_size, which cannot be shared out evenly among its {heads:,} heads"
    return "describes a network that transformers cannot build"


def dimension(config: Any, size: int) -> str:
    """The setting that alone has a size, as words in brackets; empty where none does, or several do."""
    names = [name for name in _DIMENSIONS if getattr(config, name, None) == size]
    return f" ({names[0]})" if len(names) == 1 else ""


@contextmanager
def _limit_tensors(n_tensors: int, model: str) -> Iterator[None]:
    """Stops this thread's building of a network at its ``n_tensors``-th tensor."""
    thread, n_built = threading.get_ident(), 0

    def count(_module: Any, _name: str, _parameter: Any) -> None:
        nonlocal n_built
        n_built += threading.get_ident() == thread
        if n_built > n_tensors:
            raise _implausible(model, "describes a network of many times the tensors that the weights are")

    hook = torch_module.register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


def _quote(value: Any) -> str:
    """A value in a sentence, cut where it is long."""
    text = (
        f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30 else repr(value)
    )
    return text if len(text) <= 40 else f"{text[:40]}…"


def _implausible(model: str, claim: str) -> BadCheckpoint:
    return BadCheckpoint(f"The config.json of “{model}” {claim}. Choose another checkpoint, or copy this one again.")
