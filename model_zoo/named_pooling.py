"""How a sentence becomes one vector, by the files that a checkpoint of sentence-transformers has besides.

``modules.json`` lists what a text passes through: the network, then a pooling, and perhaps more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from model_zoo.types import NamedPooling, PoolingMode

MODULES: Final = "modules.json"
FILES: Final = [MODULES, "*_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"]
"""What is downloaded for it, and not missed by a model that has none."""

# Names of before 2026, in the order in which vectors are put one after the other.
_SWITCHES: Final[Mapping[str, PoolingMode]] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_CHANGE_NO_COSINE: Final = ("Normalize", "Dropout")
_CALLED: Final = {"Dense": "a dense layer", "LayerNorm": "a layer norm"}
_LONGEST: Final = 40  # characters of a name that a file made up


class _UnreadableError(Exception):
    """A file is not what sentence-transformers writes; the message says which."""


def home(folder: Path) -> Path:
    """Where MODULES lies: with the network, or around its folder, "0_Transformer", as it was before 2021."""
    is_inside = folder.name.startswith("0_") and (folder.parent / MODULES).is_file()
    return folder.parent if is_inside else folder


def read(folder: Path) -> NamedPooling | None:
    """What the files in a folder name; None where they name no pooling. Files that nobody can follow are said to be so:
    all else that is asked of the model needs none of them.
    """
    if not (home(folder) / MODULES).is_file():
        return None
    try:
        return _read(home(folder), folder)
    except _UnreadableError as error:
        return NamedPooling((), besides=(str(error),))


def _read(folder: Path, network: Path) -> NamedPooling | None:
    modules = _json(folder, MODULES)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise _UnreadableError(f"a {MODULES} that this app cannot read")
    kinds = [str(module.get("type", "")).rpartition(".")[2][:_LONGEST] for module in modules]
    if kinds == ["Transformer"]:  # a cross-encoder, say
        return None
    modes: tuple[PoolingMode, ...] = ()
    besides: list[str] = []
    for place, (module, kind) in enumerate(zip(modules, kinds, strict=True)):
        if kind == "Pooling" and not modes:
            modes = _modes(folder, str(module.get("path", "")))
        elif not (kind == "Transformer" and place == 0) and kind not in _CHANGE_NO_COSINE:
            besides.append(_CALLED.get(kind, f"the module “{kind}”"))
    if _prompt(folder):
        besides.append("a prompt before each text")
    most = _table(network, "sentence_bert_config.json").get("max_seq_length")
    max_tokens = most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None
    return NamedPooling(modes, max_tokens, tuple(dict.fromkeys(besides)))


def _modes(folder: Path, place: str) -> tuple[PoolingMode, ...]:
    """Those of one pooling, whose vectors are put one after the other."""
    subfolder = folder / place
    # Of no other folder were the files looked at before they are opened.
    if subfolder.parent != folder or not place.endswith("_Pooling") or subfolder.is_symlink():
        raise _UnreadableError(f"the pooling in “{place[:_LONGEST]}”, a folder that is not read")
    settings = _table(subfolder, "config.json", needed=True)
    named = settings.get("pooling_mode")
    if named is None:
        modes = [mode for switch, mode in _SWITCHES.items() if settings.get(switch)] or ["mean"]
    else:
        modes = named if isinstance(named, list) else [named]
    for mode in modes:
        if mode not in get_args(PoolingMode):
            raise _UnreadableError(f"the pooling “{str(mode)[:_LONGEST]}”")
    return tuple(modes)


def _prompt(folder: Path) -> bool:
    """Whether a text gets words before it when nobody asks for others."""
    settings = _table(folder, "config_sentence_transformers.json")
    prompts = settings.get("prompts")
    return isinstance(prompts, dict) and bool(prompts.get(str(settings.get("default_prompt_name"))))


def _table(folder: Path, name: str, *, needed: bool = False) -> dict[str, Any]:
    table = _json(folder, name) if needed or (folder / name).is_file() else {}
    if not isinstance(table, dict):
        raise _UnreadableError(f"a {name} that this app cannot read")
    return table


def _json(folder: Path, name: str) -> Any:
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _UnreadableError(f"a {name} that this app cannot read") from error


def write(named: NamedPooling, folder: Path, width: int) -> None:
    """Write it beside a network whose vectors are ``width`` numbers, as sentence-transformers reads it. Raises
    OSError.
    """
    for name, content in _config_files(named, width):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")


def _config_files(named: NamedPooling, width: int) -> Iterator[tuple[str, Any]]:
    types = {"": "sentence_transformers.models.Transformer", "1_Pooling": "sentence_transformers.models.Pooling"}
    yield MODULES, [{"idx": n, "name": str(n), "path": path, "type": types[path]} for n, path in enumerate(types)]
    switches = {switch: mode in named.modes for switch, mode in _SWITCHES.items()}
    yield "1_Pooling/config.json", {"word_embedding_dimension": width, **switches}
    if named.max_tokens is not None:
        yield "sentence_bert_config.json", {"max_seq_length": named.max_tokens}
