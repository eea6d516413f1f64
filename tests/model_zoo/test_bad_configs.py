"""Configs that lie: refused in a sentence before anything of their size is built, whatever they say."""

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoints import Checkpoint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import BertConfig, EncoderDecoderConfig

from model_zoo import Engine, config_checks, loading, sources
from model_zoo.errors import BadCheckpoint, ModelZooError
from model_zoo.registry import UNTRAINED

CPU = torch.device("cpu")


@pytest.fixture
def tiny(checkpoint: Checkpoint, tmp_path: Path) -> Callable[..., str]:
    """``tiny("bert", vocab_size=7)`` is that family's tiny checkpoint with another config, its other files linked."""

    def folder(name: str, text: str | None = None, **changes: Any) -> str:
        return with_config(checkpoint(name), tmp_path / name, text, changes)

    return folder


def with_config(original: Path, folder: Path, text: str | None, changes: dict[str, Any]) -> str:
    folder.mkdir(exist_ok=True)
    for file in original.iterdir():
        if not (folder / file.name).exists() and file.name != "config.json":
            os.link(file, folder / file.name)
    config = json.loads((original / "config.json").read_text(encoding="utf-8")) | changes
    (folder / "config.json").write_text(text or json.dumps(config), encoding="utf-8")
    return str(folder)


def refusal(model: str) -> str:
    with pytest.raises(BadCheckpoint) as caught:
        loading.load(sources.find(model), CPU)
    return str(caught.value)


@pytest.mark.parametrize("prefix", ["", UNTRAINED])
@pytest.mark.parametrize(
    ("family", "changes", "message"),
    [
        ("bert", {"num_hidden_layers": 10_000}, "gives 10,000 for num_hidden_layers, and the weights are "),
        ("bert", {"num_hidden_layers": 10**7}, "gives 10,000,000 for num_hidden_layers, more than any network has"),
        ("bert", {"num_hidden_layers": 999}, "gives 999 for num_hidden_layers, and the weights are "),
        ("bert", {"num_hidden_layers": 0}, "gives 0 for num_hidden_layers, which is a whole number from 1 on"),
        ("albert", {"num_hidden_layers": 999}, "gives 999 for num_hidden_layers, and the weights are "),
        ("bart", {"decoder_layers": 10**6}, "gives 1,000,000 for decoder_layers"),
        ("gpt2", {"n_layer": 10**6}, "gives 1,000,000 for num_hidden_layers"),
        ("gpt2", {"n_head": -2}, "gives -2 for num_attention_heads"),
        ("modernbert", {"num_hidden_layers": 10**9}, "gives 1,000,000,000 for num_hidden_layers"),
        ("bert", {"num_attention_heads": 10**6}, "cannot be shared out evenly among its 1,000,000 heads"),
        ("bert", {"num_attention_heads": 5}, "gives 32 for hidden_size, which cannot be shared out evenly among its 5"),
        ("bert", {"hidden_act": "no such thing"}, "describes a network that transformers cannot build"),
        ("bert", {"num_attention_heads": -4}, "gives -4 for num_attention_heads, which is a whole number from 1 on"),
        ("bert", {"num_attention_heads": 0}, "gives 0 for num_attention_heads"),
        ("bert", {"num_attention_heads": True}, "num_attention_heads"),
        ("bert", {"num_attention_heads": 2.5}, "num_attention_heads"),
        ("bert", {"num_hidden_layers": "12"}, "num_hidden_layers"),
        ("bert", {"hidden_size": -16}, "gives -16 for hidden_size"),
        ("bert", {"vocab_size": 10**9}, "describes a network of "),
        ("bert", {"max_position_embeddings": 10**9}, "describes a network of "),
        ("bert", {"intermediate_size": 10**9}, "describes a network of "),
        ("bert", {"num_labels": 10**9}, "gives 1,000,000,000 for num_labels"),
        ("bert", {"some": {"deeper": {"num_experts": 10**7}}}, "gives 10,000,000 for num_experts"),
        ("bert", {"quantization_config": {"quant_method": "fp8"}}, "are quantized"),
        ("longformer", {"attention_window": 10**8}, "gives 100,000,000 for attention_window"),
        ("albert", {"num_hidden_groups": 900}, "describes a network of many times the tensors"),
    ],
)
def test_sizes_that_cannot_be(
    prefix: str, family: str, changes: dict[str, Any], message: str, tiny: Callable[..., str]
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert message in refusal(prefix + tiny(family, **changes))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"model_type": "bert", "layer_norm_eps": NaN}', "holds NaN, which is not a number"),
        ('{"model_type": "bert", "layer_norm_eps": -Infinity}', "holds -Infinity, which is not a number"),
        ('{"model_type": "bert", "layer_norm_eps": 1e999}', "gives inf for layer_norm_eps"),
        ('{"model_type": "bert", "hidden_size": 1' + "0" * 5000 + "}", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"a":' * 50 + "1" + "}" * 50, "is nested more than 20 deep"),
        ("[1, 2]", "is not a table of settings"),
        ("\0", "cannot be read"),
    ],
)
def test_configs_that_are_no_table_of_numbers(text: str, message: str, tiny: Callable[..., str]) -> None:
    assert message in refusal(tiny("bert", text))


def test_sizes_of_a_config_within_a_config(checkpoint: Checkpoint) -> None:
    source = sources.find(str(checkpoint("bert")))
    for wrong in ({"num_hidden_layers": -1}, {"num_attention_heads": 0}):
        full = EncoderDecoderConfig(encoder=BertConfig(**wrong).to_dict(), decoder=BertConfig().to_dict())
        with pytest.raises(BadCheckpoint, match=f"for {next(iter(wrong))}, which is a whole number from 1 on"):
            config_checks.refuse_config(full, source)


@pytest.mark.slow
def test_a_config_that_fails_only_when_the_network_runs(tiny: Callable[..., str]) -> None:
    """It is refused when the model is loaded, and not with an error of torch on somebody's question."""
    engine = Engine("cpu")
    model = tiny("xlnet", attn_type="neither")
    for _ in range(2):
        with pytest.raises(BadCheckpoint, match="cannot be loaded"):
            engine.attend(model, "the cat")
    assert engine.held() == []


def test_tokens_that_the_network_does_not_know(checkpoint: Checkpoint, tmp_path: Path, engine: Engine) -> None:
    """An index out of a table of a GPU would end the process' use of it."""
    folder = Path(with_config(checkpoint("bert"), tmp_path / "model", None, {}))
    rules = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    rules["model"]["vocab"]["zebra"] = 90_000
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text(json.dumps(rules), encoding="utf-8")
    assert engine.attend(str(folder), "the cat").n_tokens == 4
    with pytest.raises(BadCheckpoint, match=r"makes a token that its network does not know \(number 90,000 of "):
        engine.attend(str(folder), "the zebra")
    assert engine.attend(str(folder), "cat the").n_tokens == 4


NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(-3, 70),
    st.sampled_from([0, 1, -1, 999, 1000, 1001, 2**31, 2**63, 10**9, 10**400]),
    st.floats(),
)
JUNK = st.recursive(
    st.one_of(NUMBERS, st.none(), st.booleans(), st.text(max_size=8), st.just("x" * 10_000)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
NAMES = """
architectures attention_probs_dropout_prob attn_implementation auto_map bos_token_id chunk_size_feed_forward
classifier_dropout dtype eos_token_id hidden_act hidden_dropout_prob hidden_size id2label initializer_range
intermediate_size is_decoder is_encoder_decoder layer_norm_eps max_position_embeddings model_type num_attention_heads
num_hidden_layers num_labels output_attentions output_hidden_states pad_token_id problem_type pruned_heads return_dict
tie_word_embeddings torch_dtype transformers_weights type_vocab_size use_cache vocab_size add_cross_attention
per_layer_config rope_parameters layer_types num_experts _attn_implementation experts_implementation fusion_config
name_or_path _name_or_path
"""


@pytest.mark.slow
@settings(
    max_examples=300, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(changes=st.dictionaries(st.sampled_from(NAMES.split()), JUNK, min_size=1, max_size=3))
def test_any_config_is_refused_or_answers(changes: dict[str, Any], checkpoint: Checkpoint, tmp_path: Path) -> None:
    model = with_config(checkpoint("bert"), tmp_path / "junk", None, changes)
    engine = Engine("cpu")
    try:
        assert engine.attend(model, "the cat").n_tokens == 4
        engine.fill_mask(model, "the [MASK] sat")
        engine.next_sentence(model, "the cat", "the dog")
    except ModelZooError as error:
        assert 20 < len(str(error)) < 1000  # noqa: PT017 (both ends are right)
    engine.close()
