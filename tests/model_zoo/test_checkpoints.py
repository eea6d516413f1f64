"""The tiny checkpoints that other tests load: whole, the same every time, with attention that is worth comparing."""

from pathlib import Path

import numpy as np
import pytest
import transformers
from by_transformers import slow_maps
from checkpoints import FAMILIES, N_HEADS, N_LAYERS, TEXT, TEXT_PAIR, WITH_ATTENTION, Checkpoint, build


@pytest.mark.parametrize("name", FAMILIES)
def test_a_checkpoint_is_whole_and_the_same_every_time(name: str, checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder, head = checkpoint(name), getattr(transformers, FAMILIES[name].head)
    assert {file.name for file in folder.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}
    again = build(name, tmp_path)
    assert (again / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    _, report = head.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"] | report["unexpected_keys"] | report["mismatched_keys"]
    if FAMILIES[name].interface:
        assert head.from_pretrained(folder, attn_implementation="sdpa").config._attn_implementation == "sdpa"
    else:
        with pytest.raises(ValueError, match="scaled_dot_product_attention"):
            head.from_pretrained(folder, attn_implementation="sdpa")


@pytest.mark.parametrize("name", WITH_ATTENTION)
def test_attention_is_far_from_uniform_and_causal_where_it_says_so(name: str, checkpoint: Checkpoint) -> None:
    maps = np.stack(slow_maps(checkpoint(name), TEXT, TEXT_PAIR))
    assert maps.shape[:2] == (N_LAYERS, N_HEADS)
    np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)
    assert (not np.triu(maps, 1).any()) == FAMILIES[name].causal
    # Somewhere a query gives one key more than three times its even share.
    assert ((maps > 0).sum(axis=-1) * maps.max(axis=-1)).max() > 3
