"""What travels between web process and cluster, as bytes: msgpack, with the project's own types by name and raw arrays.

Reading runs no code of the sender's: a name stands for one of the dataclasses and errors listed here, or the message is
refused. Questions check their fields where they are read, as they do where they are made.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import pkgutil
import struct
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgpack
import numpy as np

from model_zoo import errors
from model_zoo.errors import ModelZooError
from model_zoo.version import __version__

# The type of a message's content, and the headers that say which version asks, under which id, and for which text.
# The last two are names that Ray Serve knows.
MESSAGE: Final = "application/msgpack"
VERSION: Final = "X-Inside-Bert-Version"
ID: Final = "X-Request-ID"
TEXT: Final = "X-Session-ID"

# Where the types that travel are defined: every public dataclass of these, and of the modules inside packages.
_PLACES: Final = (
    "look_inside_bert.model_zoo.types",
    "look_inside_bert.model_zoo.questions",
    "look_inside_bert.serving.messages",
    "look_inside_bert.analysis.corpus",
    "look_inside_bert.analysis.lens_fit",
    "look_inside_bert.evidence.items",
    "look_inside_bert.evidence.questions",
    "look_inside_bert.reading.items",
    "look_inside_bert.training.measure_quality",
    "look_inside_bert.training.finetuning.data",
    "look_inside_bert.training.finetuning.finetune",
    "look_inside_bert.training.finetuning.predict",
    "look_inside_bert.training.finetuning.results",
    "look_inside_bert.training.finetuning.settings",
)

_TUPLE, _SET, _ARRAY, _OBJECT, _ERROR = range(5)

# Kinds of numpy's types that are numbers: bool, whole, float. Never objects.
_NUMBERS = "biuf"

_DEEPEST: Final = 40


class _Inside(threading.local):
    """How many messages inside messages this thread reads."""

    depth = 0


_inside = _Inside()

_LENGTH: Final = struct.Struct(">I")


class BadMessage(ValueError):
    """Bytes that are none of this file's messages."""


@cache
def _types() -> dict[str, type[Any]]:
    """The dataclasses and named tuples that travel, by "module:name"."""
    types: dict[str, type[Any]] = {}
    for place in _PLACES:
        package = importlib.import_module(place)
        inside = pkgutil.iter_modules(package.__path__, f"{place}.") if hasattr(package, "__path__") else ()
        for module in [package, *(importlib.import_module(module_info.name) for module_info in inside)]:
            for kind in vars(module).values():
                if isinstance(kind, type) and _fields(kind) is not None and kind.__module__ == module.__name__:
                    types[_name(kind)] = kind
    return types


def _name(kind: type[Any]) -> str:
    """What a type is called in messages: "module:name", without the package that all modules lie in."""
    return f"{kind.__module__.removeprefix('look_inside_bert.')}:{kind.__name__}"


@cache
def _errors() -> dict[str, type[ModelZooError]]:
    return {
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, ModelZooError)
    }


@cache
def version() -> str:
    """What both sides have to agree in: the project's version, and a fingerprint of every type that travels."""
    shapes = [
        f"{name}({', '.join(f'{field}: {kind.__annotations__.get(field)}' for field in _fields(kind) or ())})"
        for name, kind in sorted(_types().items())
    ]
    fingerprint = hashlib.sha256("\n".join([*shapes, *sorted(_errors())]).encode()).hexdigest()
    return f"{__version__}-{fingerprint[:12]}"


def pack(value: object) -> bytes:
    """A value as bytes. Raises TypeError for what is not listed to travel."""
    return msgpack.packb(value, default=_packed, strict_types=True, unicode_errors="surrogatepass")


def unpack(data: bytes) -> Any:
    """The value again; its arrays lie in ``data`` and are read-only.

    Raises BadMessage, and what a question raises that refuses its fields.
    """
    if _inside.depth >= _DEEPEST:  # each level is one on the machine's own stack, which ends the process where it ends
        raise BadMessage("nested too deep for a message of this app")
    _inside.depth += 1
    try:
        return msgpack.unpackb(data, ext_hook=_unpacked, strict_map_key=False, unicode_errors="surrogatepass")
    except (ModelZooError, BadMessage):
        raise
    except Exception as error:  # broken bytes, unknown fields
        raise BadMessage(f"no message of this app ({type(error).__name__})") from error
    finally:
        _inside.depth -= 1


def _packed(value: Any) -> msgpack.ExtType:
    kind = type(value)
    if kind is tuple:
        return _extension(_TUPLE, list(value))
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind not in _NUMBERS:
            raise TypeError(f"an array of {array.dtype} does not travel")
        return _extension(_ARRAY, [array.dtype.str, list(array.shape), array.tobytes()])
    if kind in (set, frozenset):
        return _extension(_SET, list(value))
    if isinstance(value, ModelZooError):
        return _extension(_ERROR, [kind.__name__, list(value.__reduce__()[1]), dict(vars(value))])
    if _types().get(_name(kind)) is not kind:
        raise TypeError(f"{_name(kind)} is not listed to travel")
    return _extension(_OBJECT, [_name(kind), *(getattr(value, field) for field in _names()[kind])])


def _extension(code: int, content: list[Any]) -> msgpack.ExtType:
    return msgpack.ExtType(code, pack(content))


@cache
def _names() -> dict[type[Any], tuple[str, ...]]:
    """The fields that a value of each type is made from."""
    return {kind: _fields(kind) or () for kind in _types().values()}


def _fields(kind: type[Any]) -> tuple[str, ...] | None:
    """The fields of a type; None for one that is neither a dataclass nor a named tuple."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind) if field.init)
    return getattr(kind, "_fields", None) if issubclass(kind, tuple) else None


def _unpacked(code: int, data: bytes) -> Any:
    if code not in _READERS:
        raise BadMessage(f"no kind of value has the number {code}")
    return _READERS[code](unpack(data))


def _array(content: list[Any]) -> Any:
    written, shape, data = content
    dtype = np.dtype(written)
    if dtype.kind not in _NUMBERS:
        raise BadMessage(f"arrays of {written} do not travel")
    array = np.frombuffer(data, dtype).reshape(shape)
    return array if shape else array[()]


def _object(content: list[Any]) -> Any:
    name, *values = content
    kind = _types().get(name)
    if kind is None:
        raise BadMessage(f"{str(name)[:80]} is not listed to travel")
    return kind(**dict(zip(_names()[kind], values, strict=True)))


def _error(content: list[Any]) -> ModelZooError:
    name, arguments, more = content
    kind = _errors().get(name)
    if kind is None:
        raise BadMessage(f"{str(name)[:80]} is no error of this app")
    error = kind(*arguments)
    vars(error).update(more)
    return error


_READERS: Final[dict[int, Callable[[Any], Any]]] = {
    _TUPLE: tuple,
    _SET: frozenset,
    _ARRAY: _array,
    _OBJECT: _object,
    _ERROR: _error,
}


def framed(value: object) -> bytes:
    """A value of a stream: its length in four bytes, and its bytes."""
    data = pack(value)
    return _LENGTH.pack(len(data)) + data


def frames(chunks: Iterator[bytes]) -> Iterator[Any]:
    """The values of a stream that comes in pieces of any size. Bytes of a value that never came whole are left out."""
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk
        while len(waiting) >= _LENGTH.size:
            (n_bytes,) = _LENGTH.unpack_from(waiting)
            end = _LENGTH.size + n_bytes
            if len(waiting) < end:
                break
            yield unpack(bytes(waiting[_LENGTH.size : end]))
            del waiting[:end]
