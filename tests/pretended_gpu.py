"""A GPU that is none: tensors that lie in the processor's memory, say that they lie on "cuda", and fail where a real
one's would.

What is computed is what the processor computes, so that answers can be compared to the last bit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves, tree_map_only

from model_zoo import loading

CUDA = torch.device("cuda", 0)

# What takes tensors of several devices: it moves them, or wants lengths where the processor reads them.
_BOTH = (
    torch.Tensor.to,
    torch.Tensor.copy_,
    torch._VF.lstm,
    torch._VF._pack_padded_sequence,
    torch._VF._pad_packed_sequence,
)
_INDEXES = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)
_IN_MEMORY = (torch.Tensor.numpy, torch.Tensor.__array__)


class OnGpu(torch.Tensor):
    """A tensor that says that it lies on a GPU."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == torch.Tensor.device.__get__:
            return CUDA
        if func == torch.Tensor.is_cuda.__get__:
            return True
        if func is torch.Tensor.get_device:
            return 0
        if func in _IN_MEMORY:
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first")
        if func is torch.Tensor.__deepcopy__:
            return _copied(*args)
        _refuse_mixed(func, args, kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            if func is torch.Tensor.to:
                args, kwargs, leaves = _moved(args, kwargs)
            else:
                leaves = func is torch.Tensor.cpu
            result = func(*args, **kwargs)
        if func is torch._VF._pack_padded_sequence:
            packed, sizes = result
            return _put_there(packed), sizes  # which the processor reads, too
        if leaves:
            return tree_map_only(torch.Tensor, lambda tensor: tensor.as_subclass(torch.Tensor), result)
        return _put_there(result)


class _Factories(TorchFunctionMode):
    """What is made on, or sent to, the GPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.to and not isinstance(args[0], OnGpu):
            args, kwargs, stays = _moved(args, kwargs)
            result = func(*args, **kwargs)
            return result if stays else _put_there(result)
        if kwargs.get("device") is not None and torch.device(kwargs["device"]).type == "cuda":
            _refuse_mixed(func, args, {})
            del kwargs["device"]
            with torch.device("cpu"):
                return _put_there(func(*args, **kwargs))
        return func(*args, **kwargs)


def _moved(args: Any, kwargs: Any) -> tuple[Any, Any, bool]:
    """The arguments of ``Tensor.to`` without the GPU, and whether the result lies in the processor's memory."""
    targets = [
        argument
        for argument in (*args[1:], *kwargs.values())
        if isinstance(argument, str | torch.device | torch.Tensor)
    ]
    devices = [
        argument.device if isinstance(argument, torch.Tensor) else torch.device(argument) for argument in targets
    ]
    stays = devices[0].type != "cuda" if devices else not isinstance(args[0], OnGpu)
    if any(device.type == "cuda" for device in devices):
        cpu, plain = torch.device("cpu"), torch.Tensor

        def without(argument: Any) -> Any:
            if isinstance(argument, OnGpu):
                return argument.as_subclass(plain)
            return cpu if argument in ("cuda", "cuda:0", torch.device("cuda"), CUDA) else argument

        first, *rest = args
        args = (first, *map(without, rest))
        kwargs = {name: without(value) for name, value in kwargs.items()}
    return args, kwargs, stays


def _put_there(result: Any) -> Any:
    def put(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype: the MPS framework has no float64.")
        return tensor if isinstance(tensor, OnGpu) else tensor.as_subclass(OnGpu)

    return tree_map_only(torch.Tensor, put, result)


def _copied(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    if id(tensor) not in memo:
        copy: Any = _put_there(tensor.detach().clone())
        if isinstance(tensor, torch.nn.Parameter):
            copy = torch.nn.Parameter(copy, tensor.requires_grad)
        memo[id(tensor)] = copy
    return memo[id(tensor)]


def _refuse_mixed(func: Any, args: Any, kwargs: Any) -> None:
    """Raises RuntimeError, as torch does, where tensors of both sides meet; a single number may come from anywhere, and
    so may the places that an index names.
    """
    if func in _BOTH:
        return
    tensors = [argument for argument in tree_leaves((args, kwargs)) if isinstance(argument, torch.Tensor)]
    if func in _INDEXES and isinstance(args[0], OnGpu):
        tensors = [args[0], *(argument for argument in tree_leaves(args[2:]) if isinstance(argument, torch.Tensor))]
    here = [argument for argument in tensors if not isinstance(argument, OnGpu) and argument.ndim]
    there = [argument for argument in tensors if isinstance(argument, OnGpu)]
    if here and there:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but {resolve_name(func) or func} was given some on cuda:0 "
            "and some on cpu"
        )


def _module_moved(module: torch.nn.Module, device: torch.device) -> torch.nn.Module:
    """``Module.to``, which leaves a parameter that several modules have in common the same."""
    if device.type == "cuda":
        moved: dict[int, Any] = {}
        for part in module.modules():
            for tensors in (part._parameters, part._buffers):
                for name, tensor in tensors.items():
                    if tensor is not None:
                        tensors[name] = _copied(tensor, moved)
    return module


@contextmanager
def pretended_gpu() -> Iterator[None]:
    """Inside the block an ``Engine("cuda")`` of this thread runs on the GPU that is none."""
    machine = SimpleNamespace(
        synchronize=lambda *_: None,
        empty_cache=lambda: None,
        reset_peak_memory_stats=lambda *_: None,
        memory_allocated=lambda *_: 0,
        max_memory_allocated=lambda *_: 0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "device_for", torch.device)
        patch.setattr(torch, "get_device_module", lambda *_: machine)
        patch.setattr(torch.backends.cudnn, "is_acceptable", lambda _: False)
        patch.setattr(torch.nn.Module, "to", _module_moved)
        with _Factories():
            yield
