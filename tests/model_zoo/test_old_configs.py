"""Configs and tokenizers as older checkpoints have them are read as their authors meant them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from checkpoints import FAMILIES, Checkpoint

from model_zoo import Engine, checkpoint, configs, sources
from model_zoo.errors import BadCheckpoint

# Tokens of a vocabulary with capitals, and of one without; what is in brackets counts for neither.
CASED = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "The", "the", "cat", "Café", "##s", "."]
UNCASED = [word.lower() if not word.startswith("[") else word for word in CASED if word != "the"]


def change(folder: Path, name: str, **changes: Any) -> None:
    """Set entries of a JSON file, or remove those that are None."""
    file = folder / name
    entries = json.loads(file.read_text(encoding="utf-8")) | changes if file.exists() else changes
    file.write_text(json.dumps({key: value for key, value in entries.items() if value is not None}), encoding="utf-8")


OLD = [
    "bert",
    "bert_headless",
    "roberta",
    "distilbert",
    "albert",
    "electra_discriminator",
    "deberta",
    "deberta-v2",
    "xlnet",
    "mpnet",
]


@pytest.mark.parametrize("name", OLD)
def test_a_network_is_known_by_its_weights(name: str, checkpoint: Checkpoint) -> None:
    """Neither ``model_type`` nor the class is named."""
    names = names_of(checkpoint(name))
    assert configs._kind({}, names) == FAMILIES[name].model_type
    assert configs._kind({"architectures": None}, names) == FAMILIES[name].model_type


@pytest.mark.parametrize("name", FAMILIES)
def test_a_network_is_known_by_its_class(name: str) -> None:
    family = FAMILIES[name]
    assert configs._kind({"architectures": ["Nothing", family.head]}, []) == family.model_type


@pytest.mark.parametrize("architectures", [["AutoConfig"], ["os"], ["__name__"], ["PreTrainedModel"], [3]])
def test_what_is_no_class_of_a_network(architectures: list[Any]) -> None:
    assert configs._kind({"architectures": architectures}, ["some.weight"]) is None


def names_of(folder: Path) -> tuple[str, ...]:
    return checkpoint.read_headers(checkpoint.weight_files(folder), "it").names


def test_a_bert_without_a_model_type_opens(copy_of: Checkpoint, checkpoint: Checkpoint) -> None:
    folder = copy_of("bert")
    change(folder, "config.json", model_type=None, architectures=None)
    engine = Engine("cpu")
    assert engine.info(str(folder)).nsp == "NSP"
    new = engine.attend(str(checkpoint("bert")), "The cat sat.")
    assert (engine.attend(str(folder), "The cat sat.").layer(2) == new.layer(2)).all()


def test_a_network_that_nobody_knows(copy_of: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy_of("bert")
    change(folder, "config.json", model_type=None, architectures=None)
    monkeypatch.setattr(configs, "_SIGNS", ())
    with pytest.raises(BadCheckpoint) as caught:
        Engine("cpu").info(str(folder))
    assert str(caught.value) == (
        f"The config.json of “{folder}” does not say which network it describes (model_type), and neither its other "
        "settings nor the names of its weights tell. Choose another checkpoint."
    )


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bert", {"pruned_heads": {}, "output_past": True, "finetuning_task": "sst-2", "_num_labels": 5}),
        ("bert", {"emb_size": 312, "cell": {}, "structure": [], "pre_trained": "", "training": ""}),
        ("bert", {"gradient_checkpointing": False, "directionality": "bidi", "pooler_fc_size": 768}),
        ("deberta-v2", {"pos_att_type": "c2p|p2c"}),
        ("deberta", {"pos_att_type": "c2p|p2c"}),
    ],
)
def test_settings_of_before(name: str, changes: dict[str, Any], copy_of: Checkpoint) -> None:
    """They change nothing: the maps are those of the same weights with a config of today."""
    folder = copy_of(name)
    if "pos_att_type" in changes:
        change(folder, "config.json", pos_att_type=["c2p", "p2c"])
    engine, text = Engine("cpu"), "The cat sat on the mat."
    before = engine.attend(str(folder), text).layer(1)
    change(folder, "config.json", **changes)
    assert (Engine("cpu").attend(str(folder), text).layer(1) == before).all()


def test_heads_that_were_cut_out(copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    change(folder, "config.json", pruned_heads={"1": [0]})
    with pytest.raises(
        BadCheckpoint, match=r"says that heads were cut out \(pruned_heads\), and this app builds whole"
    ):
        Engine("cpu").info(str(folder))


@pytest.mark.parametrize(
    ("words", "settings", "tokens"),
    [
        (UNCASED, None, ["the", "cat", "##s", "."]),  # SciBERT
        (CASED, None, ["The", "cat", "##s", "."]),
        (CASED, {"max_len": 64}, ["The", "cat", "##s", "."]),
        (CASED, {"do_lower_case": True}, ["the", "cat", "##s", "."]),
        (UNCASED, {"do_lower_case": False}, ["[UNK]", "cat", "##s", "."]),
    ],
)
def test_capitals_of_a_vocabulary_alone(
    words: list[str], settings: dict[str, Any] | None, tokens: list[str], copy_of: Checkpoint
) -> None:
    """A setting is followed; without one, a vocabulary with capitals has them in its texts."""
    folder = copy_of("bert")
    for file in folder.glob("token*"):
        file.unlink()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    if settings is not None:
        change(folder, "tokenizer_config.json", **settings)
    encoding = Engine("cpu").encode(str(folder), "The cats.")
    assert list(encoding.tokens[1:-1]) == tokens


def test_the_longest_text_of_an_older_tokenizer(copy_of: Checkpoint) -> None:
    folder = copy_of("bert")
    change(folder, "tokenizer_config.json", model_max_length=None, max_len=20)
    assert Engine("cpu").info(str(folder)).max_tokens == 20
    assert sources.find(str(folder)).n_tensors > 10
