"""The network of a checkpoint: its class, its weights read or drawn, and which heads it really has."""

from __future__ import annotations

import copy
import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTextEncoding,
    AutoModelForTokenClassification,
)

from model_zoo import adapters, capture, checkpoint, config_checks, configs, sources
from model_zoo.errors import BadCheckpoint
from model_zoo.families import Family, Head
from model_zoo.sources import Source
from model_zoo.types import TunedFor
from model_zoo.types.wording import counted

# from_pretrained builds networks on a device that holds no data, by a switch that other threads see too.
_building = threading.Lock()

_AUTO = {"pretraining": AutoModelForPreTraining, "masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}

TUNED: Mapping[TunedFor, Any] = {
    "classification": AutoModelForSequenceClassification,
    "similarity": AutoModelForSequenceClassification,
    "tagging": AutoModelForTokenClassification,
    "answering": AutoModelForQuestionAnswering,
}
"""The Auto class of networks that were tuned for a task; similarity is a classification with a number for its label."""

# The ends of names of tensors that old files hold beside their weights.
_CONSTANTS = (
    "inv_freq",
    "_mask",
    "masked_bias",
    ".attn.bias",
    ".attention.bias",
    "._weight",
    "embed_positions.weights",
)

_ENDINGS: Mapping[str, TunedFor] = {
    "ForSequenceClassification": "classification",
    "ForTokenClassification": "tagging",
    "ForQuestionAnswering": "answering",
}


def tuned_for(config: Any) -> TunedFor | None:
    """What a checkpoint says that it was tuned for, by the names of its classes; None for others."""
    for architecture in config.architectures or ():
        for ending, task in _ENDINGS.items():
            if str(architecture).endswith(ending) and type(config) in TUNED[task]._model_mapping:
                return "similarity" if task == "classification" and config.num_labels == 1 else task
    return None


def labels(config: Any) -> tuple[str, ...]:
    """The names of the outputs of a head for labels; empty for other heads."""
    if tuned_for(config) not in ("classification", "tagging"):
        return ()
    return tuple(str(config.id2label[place]) for place in sorted(config.id2label))


def _head(config: Any, family: Family) -> Head:
    """The kind of head that a checkpoint's network is built with: next tokens where it names the class for these, else
    what its family says, else the first that transformers has for its architecture.
    """
    kinds: tuple[Head, ...] = ("masked",) if config.is_encoder_decoder else ("masked", "causal")
    classes = {kind: _AUTO[kind]._model_mapping.get(type(config), None) for kind in kinds}
    masked, causal = classes["masked"], classes.get("causal")
    named = causal not in (None, masked) and causal.__name__ in (config.architectures or ())
    if family.head != "none" and named and getattr(config, "is_decoder", False):
        return "causal"
    if family.head is not None:
        return family.head
    return next((kind for kind in kinds if classes[kind] is not None), "none")


def _auto(config: Any, family: Family) -> Any:
    """The Auto class that holds what a checkpoint was tuned for, else its head, or the network alone where there is
    none.
    """
    task = tuned_for(config)
    if task is not None:
        return TUNED[task]
    if type(config).is_encoder_decoder and not config.is_encoder_decoder:
        return AutoModelForTextEncoding
    auto = _AUTO.get(_head(config, family), AutoModel)
    return auto if type(config) in auto._model_mapping else AutoModel


def build(
    source: Source, config: Any, family: Family, device: torch.device, dtype: torch.dtype
) -> tuple[Any, set[str]]:
    """A source's network in evaluation mode on the device, and the names of weights the checkpoint does not hold.

    Raises BadCheckpoint, and whatever transformers and torch do.
    """
    if source.adapter is not None:
        _configure_for_adapter(config, source.adapter, source.id)
    auto = _auto(config, family)
    if type(config) not in auto._model_mapping:
        raise BadCheckpoint(_no_class(config, source.id))
    network = auto._model_mapping[type(config)]
    if isinstance(network, tuple):  # Funnel has two, the second without a decoder
        named = config.architectures or ()
        network = next((candidate for candidate in network if candidate.__name__ in named), network[0])
    config._attn_implementation = capture.IMPLEMENTATION if network._supports_sdpa else "eager"
    with _building, torch.random.fork_rng(devices=[]):
        try:
            outline = None if sources.is_listed(source.id) else _outline(source, config, network)
            torch.manual_seed(0)  # what no file holds, a pooler or all, is drawn as for training, always the same
            model, missing = (_untrained if source.untrained else _trained)(source, config, network, dtype, outline)
        except BadCheckpoint as error:
            if getattr(config, "auto_map", None):
                raise configs.own_code(source.id, config.model_type) from error
            raise
        if source.adapter is not None and not source.untrained:
            missing -= adapters.merge(model, source.adapter, source.id)
        if outline is not None:  # the list's are known
            _refuse_no_numbers(model, source.id)
    _name_base(model, config)
    return model.eval().requires_grad_(False).to(device), missing


def _name_base(model: Any, config: Any) -> None:
    """Have a network with a head say where the network without it is, of which some name another place (Llama 4)."""
    base = AutoModel._model_mapping.get(type(config), None)
    if model.base_model is model and base is not None:
        inside = (name for name, part in model.named_children() if isinstance(part, base))
        model.base_model_prefix = next(inside, model.base_model_prefix)


def _outline(source: Source, config: Any, network: Any) -> Any:
    """A checkpoint's network without its numbers: see ``config_checks.refuse_network``."""

    def build() -> Any:
        return network(copy.deepcopy(config))

    try:
        return config_checks.refuse_network(build, source, config)
    except KeyError as error:
        if error.args != (capture.IMPLEMENTATION,):
            raise
        config._attn_implementation = "eager"  # Falcon's code has a table of the kernels that it knows
        return config_checks.refuse_network(build, source, config)


def _no_class(config: Any, model: str) -> str:
    """Why a config has no network here."""
    if {"encoder", "decoder"} <= type(config).sub_configs.keys():
        return (
            f"“{model}” is two networks in one, an encoder and a decoder of their own kinds, and this app opens one. "
            "Save it by itself, as with model.encoder.save_pretrained(folder), and its tokenizer beside it."
        )
    return f"“{model}” is of the kind “{config.model_type}”, which is no network that reads text. Choose another model."


def _trained(source: Source, config: Any, network: Any, dtype: torch.dtype, outline: Any) -> tuple[Any, set[str]]:
    assert source.folder is not None
    with ExitStack() as files:
        # Read into memory of its own: weights that are mapped to the file take the process with them when somebody
        # cuts the file off. And nothing else is read: with a folder transformers looks for further files in it.
        checkpoint.refuse_unusable(source.folder, source.id)
        opened = [files.enter_context(safe_open(file, "pt", backend="pread")) for file in source.weights]
        tensors = {name: part.get_slice(of) for part in opened for name, of in _names(part, source)}
        wrapper = "" if outline is None else _wrapper(tensors, outline)
        # Whole numbers and truths are places and masks, and no weights.
        integers = {name.removeprefix(wrapper) for name, tensor in tensors.items() if "F" not in tensor.get_dtype()}
        model, report = network.from_pretrained(
            None,
            state_dict={name.removeprefix(wrapper): tensor for name, tensor in tensors.items()},
            config=config,
            dtype=dtype,
            attn_implementation=config._attn_implementation,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
    _refuse_mismatched(report["mismatched_keys"], config, source.id)
    _refuse_left_over(model, report["unexpected_keys"] - integers, source.id)
    # What is never trained is computed: Marian's positions are sines.
    parts = outline.named_parameters() if outline is not None else ()
    computed = {name for name, parameter in parts if not parameter.requires_grad}
    return model, set(report["missing_keys"]) - computed


def _refuse_mismatched(keys: Iterable[tuple[str, Sequence[int], Sequence[int]]], config: Any, model: str) -> None:
    """Raises BadCheckpoint where weights, each with its shape and that by the config, do not fit the network."""
    for name, has, needs in sorted(keys):
        shape, of_config = (" × ".join(map(str, sizes)) for sizes in (has, needs))
        places = zip(has, needs, strict=False)
        why = next((config_checks.dimension(config, size) for other, size in places if size != other), "")
        raise BadCheckpoint(
            f"The config.json of “{model}” does not fit its weights: “{name}” has {shape} numbers, and {of_config} "
            f"by the config{why}. Choose another checkpoint, or copy this one again."
        )


def _configure_for_adapter(config: Any, adapter: Path, model: str) -> None:
    """Give the config of a network the task and the labels of an adapter, which were added to it in training."""
    task = adapters.TASKS.get(adapters.settings(adapter, model).get("task_type"))
    if task is not None and type(config) in TUNED[task]._model_mapping:
        config.architectures = [TUNED[task]._model_mapping[type(config)].__name__]
        config.num_labels = adapters.n_labels(adapters.weights(adapter, model)) or config.num_labels


def _wrapper(names: Iterable[str], network: Any) -> str:
    """What a program has put before the names of weights ("module.", "model._orig_mod."): without it, more of them are
    those of the network. Empty where nothing was, or where two networks lie side by side.
    """
    parameters = network.state_dict().keys()
    known = {*parameters, *(name.removeprefix(f"{network.base_model_prefix}.") for name in parameters)}
    prefixes: Counter[str] = Counter()
    for name in names:
        parts = name.split(".")
        rests = (".".join(parts[place:]) for place in range(len(parts)))
        prefixes.update([name.removesuffix(rest) for rest in rests if rest in known][:1])
    plain = prefixes.pop("", 0)
    (wrapper, n), (_, second) = [*prefixes.most_common(2), ("", 0), ("", 0)][:2]
    return wrapper if n > max(plain, 2 * second) else ""


def _refuse_left_over(model: Any, names: Iterable[str], source: str) -> None:
    """Raises BadCheckpoint where a checkpoint holds weights of the network itself, and not of another head, that this
    network has no place for: it would compute something else than was trained.
    """
    parts = {name for name, _ in model.base_model.named_children()}
    base = f"{model.base_model_prefix}."
    left = []
    for name in sorted(names):
        inner = name.removeprefix(base)
        # Beside heads, networks leave out what is no weight: places, masks and frequencies.
        if inner.partition(".")[0] in parts and not inner.endswith(_CONSTANTS):
            left.append(name)
    if left:
        raise BadCheckpoint(
            f"“{source}” holds {counted(len(left), 'weight')} that its network, by its config.json, does not use (such "
            f"as {left[0]}), so it would not compute what was trained. Choose another checkpoint, or mend the config."
        )


def _refuse_no_numbers(model: Any, name: str) -> None:
    """Raises BadCheckpoint for weights that are infinite or no numbers: every answer would be none, too."""
    with torch.inference_mode():
        # A sum is quicker than a look at each, and is none where one is none.
        sums = [(key, weight.sum(dtype=torch.float32)) for key, weight in model.named_parameters()]
        if torch.stack([total for _, total in sums]).isfinite().all():
            return
        bad = next((key for key, _ in sums if not model.get_parameter(key).isfinite().all()), None)
    if bad is not None:
        raise BadCheckpoint(
            f"“{name}” holds weights that are infinite or no numbers at all (in {bad}): its training failed, or the "
            "file is damaged. Choose another checkpoint, or copy this one again."
        )


def _names(part: Any, source: Source) -> Iterator[tuple[str, str]]:
    """The names of the tensors of a file, each with the one it stands under: see ``confined.convert_pickle``."""
    yield from ((name, name) for name in part.keys())  # noqa: SIM118 (it is no mapping)
    if source.converted:
        yield from json.loads(part.metadata()["aliases"]).items()


def _untrained(_source: Source, config: Any, network: Any, dtype: torch.dtype, _outline: Any) -> tuple[Any, set[str]]:
    """A network without heads, its weights drawn as for training."""
    model = network._from_config(config, dtype=dtype, attn_implementation=config._attn_implementation)
    return model.base_model, set()


def heads(model: Any, family: Family, missing: set[str], name: str) -> set[str]:
    """Which heads have all their weights: one that lacks any would predict at random, so it does not count.

    The pooler serves the sentence head only, so a checkpoint without it still has its encoder.
    """
    prefix = f"{model.base_model_prefix}."
    has_head = model.base_model is not model
    sentence = {key for key in missing if any(part in key for part in ("pooler", family.sentence_head))}
    of_encoder = {key for key in missing - sentence if not has_head or key.startswith(prefix)}
    if of_encoder and getattr(model.config, "auto_map", None):
        raise configs.own_code(name, model.config.model_type)
    if of_encoder:
        raise BadCheckpoint(
            f"“{name}” lacks {len(of_encoder)} of the {len(model.base_model.state_dict())} weights of its encoder "
            f"(such as {min(of_encoder)}), which would have to be random. Choose a complete checkpoint."
        )
    present: set[str] = set()
    if tuned_for(model.config) is not None:
        return {"task"} if has_head and not missing else present
    head = _head(model.config, family)
    if has_head and head in ("pretraining", "masked") and not missing - sentence:
        present.add("mlm")
    if has_head and head == "causal" and not missing:
        present.add("lm")
    if has_head and head == "pretraining" and family.nsp and not sentence:
        present.add("nsp")
    return present


def n_constants(model: Any, missing: set[str]) -> int:
    """Numbers that a checkpoint holds beside the weights, such as BART's bias of zeros."""
    stored = model.state_dict().keys() - missing
    return sum(buffer.numel() for name, buffer in model.named_buffers() if name in stored)
