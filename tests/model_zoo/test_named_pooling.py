"""What a checkpoint's files say of its vectors of sentences: as old and new sentence-transformers write them, with what
nobody here can follow, and damaged.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checkpoints import TEXT, TEXT_PAIR, WIDTH, Checkpoint
from sentence_transformers import SentenceTransformer

from model_zoo import Engine, loading, named_pooling, sources
from model_zoo.errors import InvalidInput
from model_zoo.types import NamedPooling

NETWORK = {"path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
NORMALIZE = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
DENSE = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}


def written(folder: Path, *modules: Any, **files: Any) -> Path:
    """A folder with these modules, and with files by name: ``pooling`` and ``bert`` are those of the settings."""
    names = {
        "pooling": "1_Pooling/config.json",
        "bert": "sentence_bert_config.json",
        "whole": "config_sentence_transformers.json",
    }
    for name, content in {"modules.json": list(modules), **{names[key]: value for key, value in files.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("pooling", "modes"),
    [
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, ("mean",)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ("cls",)),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, ("max", "mean")),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, ("mean_sqrt_len_tokens",)),
        ({"pooling_mode_weightedmean_tokens": True}, ("weightedmean",)),
        ({"pooling_mode_lasttoken": True}, ("lasttoken",)),
        ({"word_embedding_dimension": 8}, ("mean",)),
        ({"embedding_dimension": 8, "pooling_mode": "cls", "include_prompt": True}, ("cls",)),
        ({"pooling_mode": ["mean", "cls"]}, ("mean", "cls")),
    ],
)
def test_poolings_old_and_new(pooling: dict[str, Any], modes: tuple[str, ...], tmp_path: Path) -> None:
    pooling_read = named_pooling.read(written(tmp_path, NETWORK, POOLING, NORMALIZE, pooling=pooling))
    assert pooling_read == NamedPooling(modes)  # type: ignore[arg-type]


ROUTER = {"type": "sentence_transformers.models.Router", "path": ""}
SPLADE = {"type": "sentence_transformers.sparse_encoder.models.SpladePooling", "path": "1_SpladePooling"}
USUAL = (NETWORK, POOLING)
PROMPT = {"default_prompt_name": "query", "prompts": {"query": "query: "}}
MEAN = NamedPooling(("mean",))
MORE = [
    ((*USUAL, DENSE), {"pooling": {"pooling_mode": "cls"}}, NamedPooling(("cls",), None, ("a dense layer",))),
    (USUAL, {"pooling": {}, "whole": PROMPT}, NamedPooling(("mean",), None, ("a prompt before each text",))),
    (USUAL, {"pooling": {}, "whole": PROMPT | {"default_prompt_name": None}}, MEAN),
    (USUAL, {"pooling": {"pooling_mode": "median"}}, NamedPooling((), None, ("the pooling “median”",))),
    ((ROUTER, POOLING), {"pooling": {}}, NamedPooling(("mean",), None, ("the module “Router”",))),
    ((NETWORK, SPLADE), {}, NamedPooling((), None, ("the module “SpladePooling”",))),
    (USUAL, {"pooling": {}, "bert": {"max_seq_length": 128}}, NamedPooling(("mean",), 128)),
    (USUAL, {"pooling": {}, "bert": {"max_seq_length": None}}, MEAN),
    ((NETWORK,), {}, None),
]


@pytest.mark.parametrize(("modules", "files", "expected"), MORE)
def test_more_than_a_pooling(
    modules: tuple[Any, ...], files: dict[str, Any], expected: NamedPooling | None, tmp_path: Path
) -> None:
    assert named_pooling.read(tmp_path) is None  # without such files nothing is named
    assert named_pooling.read(written(tmp_path, *modules, **files)) == expected


UNREAD = "a config.json that this app cannot read"
DAMAGED = [
    (("not a module",), {}, "a modules.json that this app cannot read"),
    *((USUAL, files, UNREAD) for files in ({}, {"pooling": "{"}, {"pooling": "[" * 100_000}, {"pooling": []})),
    (USUAL, {"pooling": {}, "bert": []}, "a sentence_bert_config.json that this app cannot read"),
    *(
        ((NETWORK, POOLING | {"path": path}), {"pooling": {}}, f"the pooling in “{path}”, a folder")
        for path in ("../1_Pooling", "/etc/1_Pooling", "elsewhere")
    ),
]


@pytest.mark.parametrize(("modules", "files", "message"), DAMAGED, ids=range(len(DAMAGED)))
def test_files_that_are_damaged(modules: tuple[Any, ...], files: dict[str, Any], message: str, tmp_path: Path) -> None:
    pooling_read = named_pooling.read(written(tmp_path / "model", *modules, **files))
    assert pooling_read.modes == ()
    assert pooling_read.besides[0].startswith(message)


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = written(tmp_path / "elsewhere", NETWORK, pooling={"pooling_mode": "cls"})
    folder = written(tmp_path / "model", NETWORK, POOLING)
    (folder / "1_Pooling").symlink_to(elsewhere / "1_Pooling")
    pooling_read = named_pooling.read(folder)
    assert pooling_read.modes == ()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for number, named in enumerate((NamedPooling(("mean",), 256), NamedPooling(("cls", "max"), None))):
        (folder := tmp_path / str(number)).mkdir()
        named_pooling.write(named, folder, 8)
        assert named_pooling.read(folder) == named


def test_a_model_knows_and_damage_keeps_nobody_from_it(copied: Path, checkpoint: Checkpoint) -> None:
    def loaded(folder: Path) -> NamedPooling | None:
        return loading.load(sources.find(str(folder)), torch.device("cpu")).info.pooling

    assert loaded(checkpoint("bert")) is None
    assert loaded(written(copied, NETWORK, POOLING, pooling={"pooling_mode": "max"})) == NamedPooling(("max",))
    before = sources.find(str(copied)).stamp
    assert loaded(written(copied, NETWORK, POOLING, pooling="{")) is not None
    assert sources.find(str(copied)).stamp != before


def test_a_text_beyond_its_own_limit_is_not_read_in_silence(copied: Path, engine: Engine) -> None:
    """Cut there, it has the vector that sentence-transformers gives; else methods warn and the answer says so."""
    short, model = "The cat.", str(copied)
    named_pooling.write(NamedPooling(("mean",), 8), copied, WIDTH)
    with pytest.warns(UserWarning, match="max_tokens=8"):
        whole, of_short = engine.encoded_states(model, [TEXT, short])
    assert (whole.published_limit, of_short.published_limit) == (8, None)
    assert len(whole.encoding) > 8 >= len(of_short.encoding)
    assert "cut at 8" in repr(whole)
    with pytest.warns(UserWarning, match="max_tokens=8"):
        engine.hidden_states(model, TEXT)
    attended = engine.attend(model, TEXT, states=True)
    assert attended.states is not None
    assert attended.states.published_limit == 8
    cut = engine.encoded_states(model, [TEXT, TEXT_PAIR, short], max_tokens=8)  # a warning would be an error here
    assert [(hidden.published_limit, hidden.encoding.n_dropped > 0) for hidden in cut[::2]] == [
        (None, True),
        (None, False),
    ]
    with pytest.raises(InvalidInput, match="max_tokens is 0"):
        engine.encoded_states(model, TEXT, max_tokens=0)
    theirs = SentenceTransformer(model, device="cpu", local_files_only=True).encode([TEXT, short])
    ours = [hidden.states[-1].mean(axis=0) for hidden in cut[::2]]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert np.abs(whole.states[-1].mean(axis=0) - theirs[0]).max() > 1e-3
