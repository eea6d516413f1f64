"""Tiny checkpoints of architectures that no family here names, with BERT's tokenizer."""

from pathlib import Path
from typing import Any

import torch
import transformers
from checkpoints.tokenizing import tokenizer_of

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
}
FUNNEL: dict[str, Any] = {
    "block_sizes": [1, 1],
    "num_decoder_layers": 1,
    "d_model": 32,
    "n_head": 4,
    "num_hidden_layers": None,
    "hidden_size": None,
}
HYBRID: dict[str, Any] = {
    "layer_types": ["conv", "full_attention", "conv", "full_attention"],
    "num_hidden_layers": 4,
}  # of Lfm2: attention in half of its layers
LED: dict[str, Any] = {
    "attention_window": 4,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
}


def build(name: str, head: str, folder: Path, **settings: Any) -> Path:
    """Write the checkpoint of the class ``name`` + ``head`` into a folder; settings of None are left out."""
    tokenizer = tokenizer_of("BertTokenizer")
    ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": 2, "eos_token_id": 3}
    network: Any = getattr(transformers, f"{name}{head}")
    sizes = ids | {"vocab_size": len(tokenizer)} | SIZES | settings
    config = network.config_class(**{key: value for key, value in sizes.items() if value is not None})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
