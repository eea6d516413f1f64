"""Every setting of the app: its name, default and meaning, in one place. ``python -m web.settings`` prints them.

Values come from environment variables (``INSIDE_BERT_RUNS=2``), else from the table ``[inside_bert]`` of
``.streamlit/secrets.toml`` (``runs = 2``), else from the profile ``hosted``, else they are the defaults here. Imports
neither streamlit nor torch: other packages get what they need passed in.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from model_zoo import tuned
from model_zoo.engine_settings import (
    MOST_MB,
    EngineSettings,
    allowed,
    checked,
    hide_password,
    machine_default,
    sentences,
    share_of_memory,
)
from model_zoo.text import single_line
from model_zoo.types import MB

PREFIX = "INSIDE_BERT_"
LOCAL = "local"
TABLE = "inside_bert"

ROOT = Path(__file__).resolve().parents[1]

# Where Streamlit looks for secrets, too, and in its order: what stands beside app.py wins.
SECRETS = tuple(Path(folder, ".streamlit/secrets.toml") for folder in (os.path.expanduser("~"), os.curdir, ROOT))

# Where Community Cloud checks an app out. It promises no environment variable to know it by.
_COMMUNITY_CLOUD = Path("/mount/src")


class WrongSetting(SystemExit):
    """A setting cannot be used, or does not exist. Where the app starts it ends with this sentence and no traceback."""


def _on_community_cloud() -> bool:
    return _COMMUNITY_CLOUD in ROOT.parents


_ORIGIN = re.compile(r"https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]+)?", re.IGNORECASE)


def _is_address(address: str, *schemes: str) -> bool:
    """Raises ValueError for a port that is none, or a name that no host can have."""
    parts = urlsplit(address)
    (parts.hostname or "").encode("idna")
    return parts.scheme in schemes and parts.port != 0 and "//" in address and not set(address) & set(" ?#")


def _is_engine(engine: str) -> bool:
    return engine == LOCAL or (_is_address(engine, "http", "https") and bool(urlsplit(engine).hostname))


def _is_redis(address: str) -> bool:
    path = urlsplit(address).path
    if _is_address(address, "unix"):
        return len(path) > 1
    return not address or (_is_address(address, "redis", "rediss") and re.fullmatch(r"/?|/\d+", path) is not None)


def _are_origins(sites: str) -> bool:
    return all(_ORIGIN.fullmatch(site) and urlsplit(site).port != 0 for site in sites.split())


def _is_path(path: str) -> bool:
    """Raises RuntimeError for the home of a user whom there is not."""
    return bool(Path(path).expanduser())


class Settings(BaseSettings, EngineSettings):
    """The settings as they are in force; an environment variable is the name in capitals after ``PREFIX``. Those of the
    engine come first.

    In the profile ``hosted`` what was not set by hand has other defaults: see ``_HOSTED``.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, env_ignore_empty=True, coerce_numbers_to_str=True
    )

    hosted: bool = machine_default(
        _on_community_cloud,
        "on Community Cloud",
        description="The profile for strangers: only listed models, no local folders, smaller limits, no details of "
        "errors.",
    )
    engine: Annotated[str, checked("local or an address such as http://127.0.0.1:8000", _is_engine)] = Field(
        default=LOCAL,
        description="Where models run: `local`, in this process; or the address of a cluster, such as "
        "`http://127.0.0.1:8000` (see hosting.md).",
    )
    engine_token: Annotated[str, checked("one line of text")] = Field(
        default="", repr=False, description="The token that the cluster asks for: the same on both sides."
    )
    error_details: bool = Field(
        default=True, description="Whether a message about an unforeseen error names it and its place."
    )
    tuned_mb: int = machine_default(
        lambda: tuned.default_limit() // MB,
        "4000; where temporary files lie in memory, at most 20% of it",
        ge=1,
        le=MOST_MB,
        description="Disk for all tuned models together, with archives of them to save and stopped trainings, MB.",
    )
    upload_mb: int = Field(default=10, ge=1, le=50, description="Largest file that can be uploaded, MB.")
    unpacked_mb: int = Field(
        default=50, ge=1, le=50, description="Files that are read as sentences, together and unpacked, MB."
    )
    longest_text: int = Field(
        default=100_000, ge=100, le=100_000, description="Characters of the longest text that is read."
    )
    page_runs: int = Field(default=2, ge=1, le=1_000, description="Pages that are drawn at the same time; others wait.")
    log_questions: bool = Field(
        default=False, description="Whether every question is logged: its id, kind, model and time, not its text."
    )
    log_format: Literal["text", "json"] = Field(default="text", description="Format of a line of the log.")
    embedded_by: Annotated[
        str,
        checked("sites such as https://moodle.example.org or https://*.example.org, with spaces between", _are_origins),
    ] = Field(
        default="",
        description="Other sites that may show the app in a frame, such as `https://moodle.example.org`, or all sites "
        "of a domain, `https://*.example.org`, with spaces between.",
    )
    status_code: Annotated[str, checked("one line of at most 200 characters", lambda code: len(code) <= 200)] = Field(
        default="",
        repr=False,
        description=(
            "The code that a teacher types on the page Status to use its button; without one, the button needs no code."
        ),
    )
    rooms_file: Annotated[str, checked("the path of a file", _is_path)] = Field(
        default="",
        description="A file that keeps the rooms of the page Learn through a restart: a few kilobytes, with what "
        "teachers show and students answer, for a day; without one they are in memory alone.",
    )
    rooms_redis: Annotated[str, checked("an address such as redis://127.0.0.1:6379/0", _is_redis)] = Field(
        default="",
        repr=False,
        description="A Redis server that keeps them instead, such as `redis://127.0.0.1:6379/0`, so that every process "
        "finds them (see hosting.md).",
    )
    upload_memory_mb: int = machine_default(
        lambda: share_of_memory(0.1, 256),
        "10% of the memory, at most 256",
        ge=1,
        le=MOST_MB,
        description="Memory of all uploaded files together, MB.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        secrets = InitSettingsSource(settings_cls, _secrets())
        return init_settings, env_settings, secrets, _Profile(settings_cls, _HOSTED)


# Defaults of the profile ``hosted`` that differ.
_HOSTED: dict[str, Any] = {
    "any_model": False,
    "error_details": False,
    "download_mb": 2000,
    "pickles": "listed",
    "upload_mb": 5,
    "unpacked_mb": 5,
    "longest_text": 20_000,
}


class _Profile(InitSettingsSource):
    def __call__(self) -> dict[str, Any]:
        chosen = self.current_state.get("hosted", _on_community_cloud())
        try:
            hosted = TypeAdapter(bool).validate_python(chosen)
        except ValidationError:  # which is said of the setting itself
            return {}
        return super().__call__() if hosted else {}


def _secrets() -> dict[str, Any]:
    """The table of the secrets. At the top of the file, Streamlit would make environment variables of settings, but
    only of those that it reads itself, and only while the app runs.
    """
    secrets: dict[str, Any] = {}
    for path in SECRETS:
        try:
            written = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, or not TOML
            raise WrongSetting(f"{path} cannot be read: {error}. Fix it or remove it.") from error
        for name in written:
            if name != TABLE and name.lower() == TABLE:
                raise WrongSetting(f"{path} has a table [{name}], which is not read. Write [{TABLE}].")
        outside = [name for name in written if name.upper().startswith(PREFIX)]
        if outside:
            name = outside[0].lower().removeprefix(PREFIX.lower())
            complaint = f"{path} has {outside[0]} outside of its table. Write {name} under [{TABLE}]."
            raise WrongSetting(single_line(complaint))
        table = written.get(TABLE, {})
        if not isinstance(table, dict):
            raise WrongSetting(f"In {path}, {TABLE} is not a table. Write [{TABLE}], and the settings below it.")
        secrets |= table
    return secrets


@cache
def settings() -> Settings:
    """The settings of this process, read once. Raises WrongSetting for one that cannot be used or does not exist."""
    for variable in os.environ:
        if variable.upper().startswith(PREFIX):
            _refuse_unknown(variable, variable.upper().removeprefix(PREFIX).lower(), "the environment", str.upper)
    for name in _secrets():
        _refuse_unknown(name, name, "secrets.toml", str)
    try:
        tempfile.gettempdir()
        return Settings()
    except FileNotFoundError as error:
        complaint = "There is no folder for temporary files that the app may write to. Set TMPDIR to one."
        raise WrongSetting(complaint) from error
    except ValidationError as error:
        raise WrongSetting(sentences(error, Settings.model_fields, _place)) from error


def _refuse_unknown(written: str, name: str, where: str, style: Callable[[str], str]) -> None:
    if name in Settings.model_fields:
        return
    prefix = written[: len(written) - len(name)]
    meant = difflib.get_close_matches(name, Settings.model_fields, n=1)
    hint = (
        f"Did you mean {prefix}{style(meant[0])}?"
        if meant
        else "`python -m look_inside_bert.web.settings` lists all settings."
    )
    raise WrongSetting(f"{single_line(written[:40])} in {where} is not a setting of this app. {hint}")


def _place(name: str) -> str:
    return "secrets.toml" if _origin(name) == "secrets.toml" else f"the environment ({PREFIX}{name.upper()})"


def _origin(name: str, hosted: bool = False) -> str:
    if name in EnvSettingsSource(Settings)():
        return "environment"
    if name in _secrets():
        return "secrets.toml"
    return "profile hosted" if hosted and name in _HOSTED else "default"


def _format_value(value: object) -> str:
    match value:
        case None | "":
            return "–"
        case bool():
            return "on" if value else "off"
        case int():
            return f"{value:_}" if value >= 10_000 else str(value)
    return str(value)


def table() -> list[tuple[str, ...]]:
    """Every setting: name, value in force, where that comes from, default here, meaning."""
    current = settings()
    rows: list[tuple[str, ...]] = [("Setting", "Value", "From", "Default", "Meaning")]
    for name, field in Settings.model_fields.items():
        value = getattr(current, name)
        text = hide_password(_format_value(value)) if field.repr or not value else "(hidden)"
        default = _format_value(field.get_default(call_default_factory=True))
        rows.append((name, text, _origin(name, current.hosted), default, field.description or ""))
    return rows


def _align(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """docs/settings.md: every setting, the same on every machine."""
    rows = [_row(("Setting", "Default", "When hosted", "Allowed", "Meaning")), _row(["---"] * 5)]
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        default = extra["default_text"] if isinstance(extra, dict) else _format_value(field.default)
        hosted = _format_value(_HOSTED[name]) if name in _HOSTED else ""
        rows.append(_row((f"`{name}`", str(default), hosted, allowed(field), field.description or "")))
    about = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").format(PREFIX=PREFIX, TABLE=TABLE)
    return "\n".join(["<!-- Written by: python -m web.settings --markdown > docs/settings.md -->", about, *rows, ""])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(f"python -m {__spec__.name}", description="Print every setting of the app.")
    parser.add_argument("--markdown", action="store_true", help="print the page docs/settings.md instead")
    if parser.parse_args(arguments).markdown:
        print(page(), end="")
        return
    print(_align(table()))


if __name__ == "__main__":
    main()
