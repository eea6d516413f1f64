"""Memory that runs out in the middle of a run: how to tell, and what can be given back. Imports torch."""

from __future__ import annotations

import gc

import torch

from model_zoo.errors import OutOfMemory


def is_shortage(error: BaseException) -> bool:
    """Whether a failure means that there was no memory left, on a GPU or in the machine."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    # On a CPU torch has no class of its own for it: "DefaultCPUAllocator: not enough memory", or "can't allocate".
    words = str(error) if isinstance(error, RuntimeError) else ""
    return "not enough memory" in words or "can't allocate memory" in words


def give_back(device: torch.device) -> None:
    """Give back what torch keeps for later, after what nobody refers to any more."""
    gc.collect()
    if device.type != "cpu":
        torch.get_device_module(device).empty_cache()


def too_little(model: str) -> OutOfMemory:
    """What somebody is told whose question found no memory."""
    return OutOfMemory(
        f"There was not enough memory left to run {model} on this text. Shorten the text, choose a smaller model, "
        "or try again when others are done."
    )
