"""A confined process that writes the tensors of pickles into safetensors: arguments are a folder, then the pickles.

Only tensors are read (``weights_only``). Names that share one tensor, as tied matrices do, are written once; the
metadata of the file says under ``aliases`` which other names it has. The last line that is printed is a word of JSON.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file


def end(**answer: object) -> None:
    """Say how it ended, and end."""
    print(json.dumps(answer), flush=True)
    sys.exit(0 if answer.get("done") else 1)


def load_tensors(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of a pickle, in its order. An archive with compressed files is none that torch wrote."""
    is_archive = zipfile.is_zipfile(file)
    if is_archive:
        with zipfile.ZipFile(file) as archive:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                end(refused="archive")
    try:
        content: Any = torch.load(file, map_location="cpu", weights_only=True, mmap=is_archive)
    except pickle.UnpicklingError as error:
        requested = re.search(r"GLOBAL (\S{1,60})", str(error))
        end(refused="code" if requested else "damaged", asked=requested.group(1) if requested else "")
    if not isinstance(content, dict) or not content:
        end(refused="no table")
    for name, tensor in content.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            end(refused="no table")
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
            end(refused="format")
    return content


def write(named: dict[str, torch.Tensor], file: Path) -> None:
    kept: dict[tuple[object, ...], str] = {}
    tensors: dict[str, torch.Tensor] = {}
    aliases: dict[str, str] = {}
    storages: set[int] = set()
    for name, tensor in named.items():
        data, place = tensor.detach(), tensor.untyped_storage().data_ptr()
        same = (place, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if tensor.numel() and same in kept:
            aliases[name] = kept[same]
            continue
        kept[same] = name
        # A part of a tensor that others are parts of, too, gets memory of its own.
        tensors[name] = data.clone() if place in storages else data.contiguous()
        storages.add(place)
    save_file(tensors, file, {"format": "pt", "aliases": json.dumps(aliases)})


def main() -> None:
    torch.set_num_threads(1)
    target, *files = map(Path, sys.argv[1:])
    for number, file in enumerate(files, 1):
        name = "model.safetensors" if len(files) == 1 else f"model-{number:05}-of-{len(files):05}.safetensors"
        write(load_tensors(file), target / name)
    end(done=True)


main()
