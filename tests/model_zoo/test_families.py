"""Families that differ from the rule: each is found, tested and necessary, and what only one of them does is right."""

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest
import torch
from by_transformers import network
from checkpoints import FAMILIES as CHECKPOINTS
from checkpoints import Checkpoint
from transformers import AutoConfig, BigBirdModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from model_zoo import Engine, families, registry
from model_zoo.errors import NotSupported
from model_zoo.families import FAMILIES, Family, family_of

FILES = [file.name for file in pkgutil.iter_modules(families.__path__) if file.name != "rule"]


@pytest.mark.parametrize("model_type", FAMILIES)
def test_every_family_has_a_checkpoint_that_all_tests_of_families_find(model_type: str) -> None:
    """If not: tests/checkpoints/families.toml lacks it. Nyströmformer's, which transformers alone cannot run on a text
    of any other length than a segment's, has tests of its own.
    """
    tiny = {checkpoint.model_type for checkpoint in CHECKPOINTS.values()}
    in_the_repository = {spec.family for spec in registry.MODELS.values() if spec.hub_id is None}
    assert model_type in tiny | in_the_repository | {"nystromformer"}
    assert model_type in CONFIG_MAPPING


@pytest.mark.parametrize("file", FILES)
def test_a_file_holds_one_family_and_has_its_name(file: str) -> None:
    module = importlib.import_module(f"model_zoo.families.{file}")
    defined = [family for family in FAMILIES.values() if type(family).__module__ == module.__name__]
    assert len(set(defined)) == 1
    assert defined[0].model_types[0].replace("-", "_") == file


@pytest.mark.parametrize("model_type", sorted(FAMILIES.keys() - {"bilstm"}))
def test_a_family_that_follows_the_rule_needs_no_file(model_type: str) -> None:
    """The LSTM's file is there for its network."""
    message = vars(type(FAMILIES[model_type])).keys() - {"model_types"}
    assert any(name in vars(Family) for name in message)


def test_no_family_is_said_twice() -> None:
    every = [model_type for family in set(FAMILIES.values()) for model_type in family.model_types]
    assert len(every) == len(set(every)) == len(FAMILIES)


def test_a_new_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "perceiver.py").write_text(
        '"""Perceiver."""\nfrom model_zoo.families.rule import Family\n\n\n'
        'class Perceiver(Family):\n    model_types = ("perceiver",)\n    half = False\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(tmp_path)])
    discovered = families._import_families()
    assert discovered.keys() == FAMILIES.keys() | {"perceiver"}
    assert not discovered["perceiver"].half


def test_all_others_follow_the_rule() -> None:
    assert type(family_of("never heard of")) is Family


def test_full_attention_of_bigbird_does_not_depend_on_what_came_before(checkpoint: Checkpoint) -> None:
    """transformers alone gives a long text other numbers once a short one has passed through the same network."""
    short, long, runs = "The cat sat.", "the old cat and the dog " * 20, []
    for texts in ((long, short), (short, long)):
        engine = Engine("cpu")
        by_text = {text: engine.attend(str(checkpoint("big_bird")), text) for text in texts}
        runs.append(by_text[long])
    for layer in range(runs[0].n_layers):
        np.testing.assert_array_equal(runs[0].layer(layer), runs[1].layer(layer))


def test_bigbird_reads_as_far_as_its_attention_is_full(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("big_bird")
    config = AutoConfig.from_pretrained(folder)
    assert config.attention_type == "block_sparse"
    run = engine.attend(str(folder), "the old cat and the dog " * 20)
    limit = (5 + 2 * config.num_random_blocks) * config.block_size
    assert run.n_tokens == limit < config.max_position_embeddings
    assert run.encoding.n_dropped > 0
    # At the limit transformers still computes full attention by itself; one token more and it would not.
    full = BigBirdModel.from_pretrained(folder).eval()
    for ids, type_after in ((run.encoding.ids, "original_full"), ((*run.encoding.ids, 5), "block_sparse")):
        full.set_attention_type("block_sparse")
        with torch.no_grad():
            full(torch.tensor([ids]))
        assert full.attention_type == type_after
    with torch.no_grad():
        maps = network(folder)(torch.tensor([run.encoding.ids]), output_attentions=True).attentions
    for layer, expected in enumerate(maps):
        np.testing.assert_allclose(run.layer(layer), expected[0].numpy(), atol=2e-5)


def test_an_untrained_sentence_head_is_not_asked(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="BigBird was trained on masked words only"):
        engine.next_sentence(str(checkpoint("big_bird")), "The cat sat.", "It was tired.")


def test_without_attention_there_is_a_clear_refusal(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="has no attention to show"):
        engine.attend(str(checkpoint("fnet")), ["The cat sat.", "It was tired."])
