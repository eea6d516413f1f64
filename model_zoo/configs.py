"""A checkpoint's config.json, as those of today and those of before have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, AutoModelForTextEncoding, PreTrainedModel

from model_zoo import config_checks
from model_zoo.errors import BadCheckpoint

# Configs of before 2020 do not say what network they are of. A part of the name of a weight that one kind alone has;
# the first that is found counts.
_SIGNS = (
    ("attention.self.in_proj.weight", "deberta"),
    ("attention.self.query_proj.weight", "deberta-v2"),
    ("rel_attn.", "xlnet"),
    ("albert_layer_groups.", "albert"),
    ("attention.q_lin.", "distilbert"),
    ("self.query_global.", "longformer"),
    ("attn.Wqkv.", "modernbert"),
    ("attn.c_attn.", "gpt2"),
    ("SelfAttention.relative_attention_bias.", "t5"),
    ("attention.attn.q.", "mpnet"),
    ("encoder_attn.", "bart"),
    ("encoder.layer.0.bottleneck.", "mobilebert"),
    ("encoder.layers.0.attention.query.", "squeezebert"),
    ("electra.", "electra"),
    ("generator_predictions.", "electra"),
    ("discriminator_predictions.", "electra"),
    ("roberta.", "roberta"),
    ("lm_head.layer_norm.", "roberta"),
    ("encoder.layer.0.attention.self.query.", "bert"),
)


# Networks that are another one and no more than a matrix behind its first token.
_INSIDE = {"dpr": "bert"}


def own_code(model: str, kind: str = "") -> BadCheckpoint:
    """What is said of a checkpoint that runs code of its own, though transformers has a network of this ``kind``."""
    but = f": the network that transformers has for “{kind}” is another one" if kind else ""
    return BadCheckpoint(
        f"“{model}” needs code from its own repository, which this app never runs{but}. Choose another model."
    )


def load_config(folder: Path, names: Sequence[str], model: str) -> Any:
    """The config of a checkpoint whose weights have these names, with what only these tell: that a decoder was left
    out, or how a head is built. Raises BadCheckpoint, and whatever transformers does.

    What it does not know of, such as ``output_past`` or ``finetuning_task``, is left alone.
    """
    settings = config_checks.refuse_config_file(folder, model)
    has_code = "auto_map" in settings
    kind = settings.get("model_type") or (None if has_code else _kind(settings, names))
    kind = next((known for known in (kind, str(kind).lower()) if known in CONFIG_MAPPING), kind)
    if kind not in CONFIG_MAPPING and has_code:
        raise own_code(model)
    if kind is None:
        raise BadCheckpoint(
            f"The config.json of “{model}” does not say which network it describes (model_type), and neither its other "
            "settings nor the names of its weights tell. Choose another checkpoint."
        )
    if kind not in CONFIG_MAPPING:
        raise BadCheckpoint(
            f"“{model}” is a network of the kind “{str(kind)[:40]}”, which transformers {transformers.__version__} "
            "does not know. Choose another model."
        )
    kind = _INSIDE.get(kind, kind)
    config = CONFIG_MAPPING[kind].from_dict({**settings, "model_type": kind})
    if config.is_encoder_decoder and type(config) in AutoModelForTextEncoding._model_mapping:
        config.is_encoder_decoder = any("decoder." in name for name in names)
    # DeBERTa as its authors publish it. Those that also tell replaced words were trained on that, and not on this.
    if any("lm_predictions." in name for name in names) and not any("mask_predictions." in name for name in names):
        config.legacy = False
    return config


def _kind(settings: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The ``model_type`` of a config that has none: that of the class it names, else by the names of its weights."""
    for architecture in settings.get("architectures") or ():
        network: Any = getattr(transformers, str(architecture), None)
        is_network = isinstance(network, type) and issubclass(network, PreTrainedModel)
        if is_network and (of_network := getattr(network, "config_class", None)) is not None:
            return str(of_network.model_type)
    return next((kind for sign, kind in _SIGNS if any(sign in name for name in names)), None)
