"""The settings of an engine: name, default, bound and meaning, for web processes and for the replicas of a cluster.

Imports no torch. A notebook gives ``Engine`` its arguments and needs none of this.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic.fields import FieldInfo

from model_zoo.machine import memory_limit
from model_zoo.text import single_line
from model_zoo.types import MB, Device, DType, Pickles

MOST_MB: Final = 100_000_000
"""A hundred terabytes; more is taken for a slip."""

_LONGEST: Final = 2_000  # characters of a text


def machine_default(value: Callable[[], Any], default_text: str, **options: Any) -> Any:
    """A field whose default follows the machine; ``default_text`` is how that is written down."""
    return Field(default_factory=value, json_schema_extra={"default_text": default_text}, **options)


def share_of_memory(share: float, most: float = float("inf")) -> int:
    """MB that are a share of the machine's memory, at least 1 and at most ``most``."""
    return max(1, int(min(share * memory_limit() / MB, most)))


def checked(words: str, is_allowed: Callable[[str], bool] = lambda _: True) -> WrapValidator:
    """Checks a setting that is a text: one line that is no longer than any is, and allowed, which ``words`` say
    (it "should be ..."). Spaces around it do not count. What ``is_allowed`` raises is a no.
    """

    def check(value: Any, read: ValidatorFunctionWrapHandler) -> str:
        with suppress(ValueError, RuntimeError):  # what is not a text, too
            text = str(read(value)).strip()
            if text.isprintable() and len(text) <= _LONGEST and is_allowed(text):
                return text
        raise ValueError(words)

    return WrapValidator(check)


def allowed(field: FieldInfo) -> str:
    """What a setting may be, in words, by its type and bounds; "" for a text, of which its check says it."""
    choices = (kind for kind in get_args(field.annotation) if get_origin(kind) is Literal)  # and None
    kind = next(choices, field.annotation)
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        *others, last = get_args(kind)
        return f"{', '.join(others)} or {last}"
    bounds: list[Any] = [
        getattr(bound, name) for name in ("ge", "le") for bound in field.metadata if hasattr(bound, name)
    ]
    return f"{'a' if kind is float else 'a whole'} number from {bounds[0]:_} to {bounds[1]:_}" if bounds else ""


def sentences(error: ValidationError, fields: Mapping[str, FieldInfo], place: Callable[[str], str]) -> str:
    """What is wrong with settings, a sentence for each; ``place`` says where one stands. Secrets, which are the fields
    without a ``repr``, are not quoted.
    """
    return " ".join(
        _sentence(name, fields[name], wrong["input"], place(name), str(wrong.get("ctx", {}).get("error", "")))
        for wrong in error.errors()
        for name in [str(wrong["loc"][0])]
    )


def _sentence(name: str, field: FieldInfo, value: object, place: str, words: str) -> str:
    quoted = f" “{_beginning(value)}”" if field.repr else ""
    should = allowed(field) or words
    return f"The setting {name} is{quoted} in {place}, and should be {should}. Change it, or leave it out."


def _beginning(value: object) -> str:
    try:
        written = str(value)
    except ValueError:  # a number of thousands of digits
        written = "…"
    return single_line(hide_password(written)[:40])


def hide_password(address: str) -> str:
    return re.sub("//[^/]*@", "//…@", address)


class EngineSettings(BaseModel):
    """What whoever runs the app can set of its engine. A field here is all that a new setting needs beside the argument
    of ``Engine`` that it is for.
    """

    any_model: bool = Field(
        default=True, description="Whether visitors may name any model of the hub or a folder, or only listed ones."
    )
    device: Device | None = machine_default(
        lambda: None,
        "cuda, else mps, else cpu",
        description="Where models run: on a GPU (`cuda`), a Mac's GPU (`mps`) or the processor (`cpu`).",
    )
    dtype: DType | None = machine_default(
        lambda: None,
        "float32; half precision on a GPU",
        description="Number format that models run in. Interventions, attributions and tokens' scores always run in "
        "`float32`.",
    )
    model_memory_mb: int | None = machine_default(
        lambda: None,
        "40% of the memory, or 70% of a GPU's",
        ge=1,
        le=MOST_MB,
        description="Memory of all models together, MB.",
    )
    result_memory_mb: int = machine_default(
        lambda: share_of_memory(0.05, 48),
        "5% of the memory, at most 48",
        ge=1,
        le=MOST_MB,
        description="Memory of remembered answers, MB.",
    )
    process_memory_mb: int = machine_default(
        lambda: share_of_memory(0.85),
        "85% of the memory",
        ge=1,
        le=MOST_MB,
        description="Memory of the process beyond which answers, then idle models, are forgotten, MB.",
    )
    download_mb: int | None = Field(
        default=None,
        ge=1,
        le=MOST_MB,
        description="Disk that downloaded models may take together, MB; no bound where not set.",
    )
    pickles: Pickles = Field(
        default="any",
        description="Whose weights are converted where they are published as pickles (`pytorch_model.bin`): nobody's "
        "(`never`), those of listed models (`listed`), or all (`any`). A pickle is opened in a process of its own.",
    )
    runs: int = machine_default(
        lambda: min(4, os.cpu_count() or 1),
        "one per core, at most 4",
        ge=1,
        le=256,
        description="How many questions run on models at the same time; others wait.",
    )
    threads: int = machine_default(
        lambda: max(1, (os.cpu_count() or 1) // 4),
        "one for four cores",
        ge=1,
        le=256,
        description="Torch's threads for each run.",
    )
    batch: int = Field(
        default=8, ge=1, le=1_000, description="Waiting questions of one kind and model that are run together at most."
    )

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``Engine``: those of the same names, and ``model_bytes`` for ``model_memory_mb``,
        ``download_bytes`` for ``download_mb`` and so on.
        """
        arguments = {}
        for name in EngineSettings.model_fields:
            value = getattr(self, name)
            if name.endswith("_mb"):
                name = f"{name.removesuffix('_mb').removesuffix('_memory')}_bytes"
                value = None if value is None else value * MB
            arguments[name] = value
        return arguments
