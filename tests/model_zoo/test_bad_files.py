"""Folders that harm: pipes, links, giants, tokenizers that abort or panic, files that change or go away meanwhile."""

import gc
import json
import os
import shutil
import socket
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoints import Checkpoint
from huggingface_hub import constants
from loopback_hub import Hub
from refused import message
from transformers import BertForPreTraining

from model_zoo import Engine, confined, loading, machine, sources, tokenizer_sandbox
from model_zoo import checkpoint as checkpoint_files
from model_zoo.errors import BadCheckpoint, DiskFull, ModelZooError, OutOfMemory, UnknownModel
from model_zoo.registry import UNTRAINED
from model_zoo.types import megabytes

CPU = torch.device("cpu")
STOPPED = "was tried on a few words and stopped with an error"


def load(folder: Path) -> loading.LoadedModel:
    return loading.load(sources.find(str(folder)), CPU)


# What is not an ordinary file
READ = [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "chat_template.jinja",
]


@pytest.mark.parametrize("name", [*READ, "anything", "additional_chat_templates/own.jinja", "1_Pooling/config.json"])
def test_a_pipe_is_never_opened(name: str, copied: Path) -> None:
    file = copied / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    assert f"“{file.name}” of “{copied}” is not an ordinary file, so this app does not open it." in message(str(copied))


def test_neither_devices_nor_sockets_nor_folders_are_opened(copied: Path) -> None:
    weights = copied / "model.safetensors"
    weights.unlink()
    weights.symlink_to("/dev/zero")
    assert "is not an ordinary file" in message(str(copied))
    weights.unlink()
    weights.mkdir()
    assert "is not an ordinary file" in message(str(copied))
    weights.rmdir()
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(copied, os.O_RDONLY)  # the whole path is longer than a socket's name may be
        try:
            listening.bind(f"/proc/self/fd/{here}/model.safetensors")
        finally:
            os.close(here)
        assert "is not an ordinary file" in message(str(copied))


@pytest.mark.parametrize("name", READ)
def test_links_out_of_the_folder_are_not_followed(name: str, copied: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / name
    elsewhere.parent.mkdir()
    elsewhere.write_text("secret", encoding="utf-8")
    (copied / name).unlink(missing_ok=True)
    (copied / name).symlink_to(elsewhere)
    assert f"“{name}” of “{copied}” is a link to a file in another folder" in message(str(copied))


def test_links_as_the_hub_s_cache_has_them_are_followed(copied: Path, tmp_path: Path) -> None:
    blobs = tmp_path / "models--someone--tiny" / "blobs"
    blobs.mkdir(parents=True)
    for file in list(copied.iterdir()):
        file.rename(blobs / file.name)
        file.symlink_to(blobs / file.name)
    link = tmp_path / "link to the folder"
    link.symlink_to(copied)
    assert load(link).info.nsp == "NSP"


@pytest.mark.parametrize(
    ("name", "n_bytes"),
    [("config.json", 5e6), ("tokenizer.json", 70e6), ("tokenizer_config.json", 9e6), ("vocab.txt", 70e6)],
)
def test_giants_are_not_read(name: str, n_bytes: float, copied: Path) -> None:
    with (copied / name).open("ab") as file:
        file.truncate(int(n_bytes))  # takes no room on the disk
    assert f"“{name}” of “{copied}” has {megabytes(int(n_bytes))}, and no such file needs more" in message(str(copied))


def test_giants_on_the_hub_are_not_fetched(tiny_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checkpoint_files._MOST_BYTES, "*.json", 1000)
    assert "“tokenizer.json” of “someone/tiny” has 0.0 MB" in message("someone/tiny")
    assert not any("resolve" in request for request in tiny_hub.requests)


def test_a_header_too_large_is_not_read(copied: Path) -> None:
    with (copied / "model.safetensors").open("wb") as file:
        file.write((17 * 2**20).to_bytes(8, "little"))
        file.truncate(20 * 2**20)
    assert "cannot be read (a header of 18 MB)" in message(str(copied))


def test_weights_that_no_memory_holds_are_not_read_through(copied: Path) -> None:
    """A file with holes takes no room on the disk, and hours to go through."""
    n_bytes = 2**43
    header = json.dumps({"w": {"dtype": "F32", "shape": [n_bytes // 4], "data_offsets": [0, n_bytes]}}).encode()
    with (copied / "model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        try:
            file.truncate(8 + len(header) + n_bytes)
        except OSError:
            pytest.skip("this file system has no files of 8 TB")
    with pytest.raises(OutOfMemory, match=r"needs 8,796,093 MB, more than the .* of this machine"):
        sources.find(str(copied))


def test_the_memory_of_a_container_is_what_counts(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("1000", encoding="ascii")
    monkeypatch.setattr(machine, "CGROUPS", (limit,))
    with pytest.raises(OutOfMemory, match=r"needs 0.1 MB, more than the 0.0 MB of this machine"):
        sources.find(str(copied))


# Tokenizers
def replace(searched: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": searched, "content": content}


def twice(rule: dict[str, Any]) -> dict[str, Any]:
    return {"normalizer": {"type": "Sequence", "normalizers": [rule, rule]}}


ENORMOUS = twice(replace({"String": "q"}, "q" * 10**5))
RARE = twice(replace({"Regex": "[ы]"}, "ы" * 10**5))
PADDING = {"strategy": {"Fixed": 10**12}, "direction": "Right", "pad_to_multiple_of": None}
PADDED = {"padding": PADDING | {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}}
CUT = {"max_length": 5, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}


def split(pattern: str) -> dict[str, Any]:
    return {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}}


def with_rules(folder: Path, changes: dict[str, Any]) -> Path:
    file = folder / "tokenizer.json"
    rules = json.loads(file.read_text(encoding="utf-8")) | changes
    file.write_text(json.dumps(rules), encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (ENORMOUS, "needed more than 0.5 GB of memory"),
        (RARE, "needed more than 0.5 GB of memory"),
        (split("(a+)+$"), "stopped with an error"),
        ({"model": {"type": "BPE"}}, "stopped with an error"),
    ],
)
def test_a_tokenizer_that_dies_is_refused(
    changes: dict[str, Any], message: str, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process the first two would end it: no memory is left, and the library aborts."""
    monkeypatch.setattr(tokenizer_sandbox, "_BYTES", 2**29)  # filled sooner
    assert tokenizer_sandbox._tried((copied / "tokenizer.json").read_bytes()).failure is None
    with pytest.raises(
        BadCheckpoint, match=rf"was tried on a few words and {message}.*Choose another checkpoint, or save"
    ):
        load(with_rules(copied, changes))


def test_padding_of_the_file_reaches_nobody(copied: Path) -> None:
    """What sentence transformers leave in it; here so much that it would end the process."""
    loaded = load(with_rules(copied, PADDED | {"truncation": CUT}))
    assert len(loaded.encode("the cat")) == len(load(copied).encode("the cat")) < 10
    assert len(loaded.encode("the cat " * 20)) > 20


NO_JSON = ["[" * 200_000, '{"normalizer":' * 5000, "", "null", "\0"]


@pytest.mark.parametrize(
    ("name", "text"), [*(("tokenizer.json", text) for text in NO_JSON), ("tokenizer.4.0.0.json", "{}")], ids=range(6)
)
def test_a_tokenizer_that_is_none(name: str, text: str, copied: Path) -> None:
    """transformers takes the file that tokenizer_config.json names for its version."""
    (copied / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadCheckpoint, match=STOPPED):
        load(copied)


def test_a_tokenizer_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_sandbox, "_tried", lambda *_: confined.Outcome("time"))
    with pytest.raises(BadCheckpoint, match=r"was not done after 10 seconds"):
        tokenizer_sandbox.refuse_dangerous(b"never seen before", "someone/slow")


def test_what_has_passed_is_not_tried_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(copied)
    monkeypatch.setattr(tokenizer_sandbox, "_tried", lambda *_: confined.Outcome("error"))
    load(copied)
    with_rules(copied, {"version": "1.0 "})
    with pytest.raises(BadCheckpoint, match=STOPPED):
        load(copied)


def test_a_tokenizer_without_a_file_of_its_own_is_tried_too(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = json.loads((copied / "tokenizer.json").read_text(encoding="utf-8"))
    words = sorted(rules["model"]["vocab"], key=rules["model"]["vocab"].get)
    (copied / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    (copied / "tokenizer.json").unlink()
    assert load(copied).encode("the cat").tokens[0] == "[CLS]"
    monkeypatch.setattr(tokenizer_sandbox, "_passed", {})
    monkeypatch.setattr(tokenizer_sandbox, "_tried", lambda *_: confined.Outcome("error"))
    with pytest.raises(BadCheckpoint, match=STOPPED):
        load(copied)


def test_embedded_models_need_no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_sandbox, "_tried", lambda *_: confined.Outcome("error"))
    monkeypatch.setattr(tokenizer_sandbox, "_passed", {})
    assert Engine("cpu").info("embedded/tinybert").mlm


def test_a_tokenizer_that_panics_on_somebody_s_text(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """The library's panic is no Exception, and would end the script of whoever asks."""
    folder = Path(shutil.copytree(checkpoint("modernbert"), tmp_path / "copied"))
    engine, model = Engine("cpu"), str(with_rules(folder, split("(ы+)+$")))
    assert engine.attend(model, "the cat").n_tokens > 2
    with pytest.raises(BadCheckpoint, match=f"^The tokenizer of “{model}” failed on this text"):
        engine.attend(model, "ы" * 64 + "!")
    assert engine.attend("embedded/tinybert", "the cat").n_tokens == 4


@pytest.mark.parametrize(
    "changes",
    [{"model_max_length": "long"}, {"model_max_length": -5}, {"added_tokens_decoder": [1]}, {"mask_token": 3}, None],
)
def test_settings_of_a_tokenizer_that_are_nonsense(changes: dict[str, Any] | None, copied: Path) -> None:
    file = copied / "tokenizer_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps([settings] if changes is None else settings | changes), encoding="utf-8")
    with pytest.raises(BadCheckpoint):
        load(copied)


# Settings that name a file elsewhere: it is not read, or its lines would stand on screen
def names_a_secret(folder: Path, file: str, key: str) -> None:
    """A vocabulary alone, as checkpoints of before had it, and settings that name another one outside."""
    rules = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(rules["model"]["vocab"]), "utf-8")
    secret = folder.parent / "secret"
    secret.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hunter2"]), "utf-8")
    known = json.loads((folder / file).read_text("utf-8")) if (folder / file).exists() else {}
    (folder / file).write_text(json.dumps(known | {key: str(secret)}), "utf-8")


@pytest.mark.parametrize(
    ("file", "key"),
    [
        *(("tokenizer_config.json", key) for key in ("vocab", "merges", "gguf_file")),
        *(("special_tokens_map.json", key) for key in ("vocab", "vocab_file", "tokenizer_file")),
    ],
)
def test_no_file_elsewhere_is_read(file: str, key: str, copied: Path) -> None:
    names_a_secret(copied, file, key)
    with pytest.raises(BadCheckpoint, match=f"The {file} of .* names a file to read the tokenizer from \\(“{key}”\\)"):
        load(copied)


@pytest.mark.parametrize("key", ["vocab_file", "tokenizer_file", "special_tokens_map_file", "name_or_path"])
def test_where_a_tokenizer_lay_when_it_was_saved_is_no_matter(key: str, copied: Path) -> None:
    """Published checkpoints say so; transformers does not read from there."""
    names_a_secret(copied, "tokenizer_config.json", key)
    assert "hunter2" not in load(copied).encode("hunter2").tokens


# Files that change while they are used
def test_weights_cut_off_under_a_loaded_model(copied: Path) -> None:
    """Mapped to the file, they would end the process at the next question (SIGBUS)."""
    engine, model = Engine("cpu"), str(copied)
    before = engine.hidden_states(model, ["the cat"])[0]
    if sys.platform == "linux":
        assert str(copied) not in Path("/proc/self/maps").read_text(encoding="utf-8")
    with (copied / "model.safetensors").open("r+b") as file:
        file.truncate(0)
    assert (engine.hidden_states(model, ["the cat", "the dog"])[0] == before).all()
    for file_ in copied.iterdir():
        file_.unlink()
    assert engine.attend(model, "the dog").n_tokens > 2
    engine.close()
    with pytest.raises(BadCheckpoint, match="holds no config"):
        engine.attend(model, "the dog")


def test_a_folder_that_changes_between_find_and_load(copied: Path, checkpoint: Checkpoint) -> None:
    """Its answers would be remembered as those of the weights that were there before."""
    source = sources.find(str(copied))
    for name in ("config.json", "model.safetensors"):
        (copied / name).write_bytes((checkpoint("bert_headless") / name).read_bytes())
    with pytest.raises(BadCheckpoint, match="changed while they were read"):
        loading.load(source, CPU)
    assert loading.load(sources.find(str(copied)), CPU).info.nsp is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "failure", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to ...")]
)
def test_a_load_that_fails_halfway(failure: Exception, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory is free again at once, the next try works, and other models answer."""
    engine, model = Engine("cpu"), str(copied)
    plain, half = BertForPreTraining.from_pretrained, []

    def broken(*args: Any, **options: Any) -> Any:
        loaded, _report = plain(*args, **options)
        half.append(weakref.ref(loaded))
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(BertForPreTraining, "from_pretrained", broken)
        with pytest.raises(OutOfMemory, match=f"The memory ran out while {model} was loaded") as caught:
            engine.info(model)
        assert engine.info("embedded/bilstm").mlm
    gc.collect()
    assert half[0]() is None
    assert caught.value.__cause__ is failure
    assert [held.info.id for held in engine.held()] == ["embedded/bilstm"]
    assert engine.info(model).nsp == "NSP"


# A disk that fills up
def test_a_reserve_stays_on_the_disk(
    hub: Hub, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Something else fills the disk while the weights come: whole files stay, the rest is thrown away."""
    hub.models["someone/tiny"] = checkpoint("bert")
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    engine = Engine("cpu", ask_before_download=True)
    left = [10 * sources.DISK_RESERVE]
    monkeypatch.setattr(sources, "free_disk", lambda: left[0])
    source = sources.find("someone/tiny")

    def report(done: int) -> None:
        if done > source.download_bytes // 2:
            left[0] = sources.DISK_RESERVE // 3

    with pytest.raises(DiskFull, match=r"on the disk, which has 0\.0 MB left for it .* Free some space"):
        sources.download(source, report)
    assert list(tmp_path.rglob("*.incomplete")) == []
    assert sources.downloaded("someone/tiny") is None
    for file in (tmp_path / "hub").rglob("snapshots/*/*"):
        assert file.read_bytes() == (checkpoint("bert") / file.name).read_bytes()
    assert engine.info("embedded/tinybert").mlm
    with pytest.raises(DiskFull):
        engine.info("someone/tiny")
    left[0] = 10 * sources.DISK_RESERVE
    engine.download("someone/tiny").wait()
    assert engine.info("someone/tiny").mlm


# Names
TYPED = [
    *(
        "/etc",
        "~",
        "~root",
        "../..",
        ".",
        "",
        "nul\0byte",
        "\\\\server\\share",
        "//server/share",
        "C:\\",
        "file:///etc",
    ),
    *("untrained:/etc", "untrained:untrained:embedded/bert", "untrained:" * 5000, "x" * 10**6, "\ud800"),
    *("someone/something", "Embedded/BERT", "embedded/bert/", "embedded/../../etc"),
]


@pytest.fixture
def nothing_opens(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever asks for a file, a folder, or the network fails."""

    def fail(*_arguments: Any, **_options: Any) -> None:
        raise AssertionError("a name was looked for")

    with monkeypatch.context() as patch:
        for name in ("stat", "lstat", "scandir", "listdir", "open", "readlink"):
            patch.setattr(os, name, fail)
        for name in ("isdir", "exists", "isfile", "expanduser", "realpath"):
            patch.setattr(os.path, name, fail)
        patch.setattr("builtins.open", fail)
        patch.setattr(socket, "socket", fail)
        patch.setattr(sources, "snapshot_download", fail)
        patch.setattr(sources, "HfApi", fail)
        yield


@pytest.mark.usefixtures("nothing_opens")
def test_no_name_but_a_listed_one_is_looked_for() -> None:
    refusals = []
    for name in TYPED:
        assert not sources.is_listed(name)
        try:
            sources.find(name, any_model=False)
        except UnknownModel as error:
            refusals.append(str(error))
    assert len(refusals) == len(TYPED)
    assert max(map(len, refusals)) < 200
    with pytest.raises(AssertionError, match="a name was looked for"):
        sources.find("/etc")


def test_an_engine_of_listed_models() -> None:
    engine = Engine("cpu", any_model=False)
    asks = (engine.info, lambda model: engine.attend(model, "the cat"), lambda model: engine.download(model).wait())
    for name in TYPED:
        for ask in asks:
            with pytest.raises(UnknownModel, match="is not in this app's list of models"):
                ask(name)
    for model in ("embedded/tinybert", f"{UNTRAINED}embedded/tinybert"):
        assert sources.is_listed(model)
        assert engine.attend(model, "the cat").n_tokens == 4


@pytest.mark.usefixtures("no_hub")
def test_untrained_of_untrained_is_no_model() -> None:
    for name in ("untrained:untrained:embedded/bert", "untrained:" * 5000, "untrained:no such model!"):
        with pytest.raises(ModelZooError):
            sources.find(name)
