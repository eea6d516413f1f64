"""Every setting of the app: its name, default and meaning, in one place. ``python -m ui.settings`` prints them.

Values come from environment variables, else from ``.streamlit/secrets.toml``, else the defaults here. Imports neither
streamlit nor torch: other rooms get what they need passed in.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, Literal

import psutil
from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

SECRETS = Path(".streamlit/secrets.toml")
PREFIX = "INSIDE_BERT_"

# Where Community Cloud checks an app out.
_COMMUNITY_CLOUD = Path("/mount/src")


def _on_community_cloud() -> bool:
    return _COMMUNITY_CLOUD in Path.cwd().parents


def memory_limit() -> int:
    """The machine's memory, or the container's share of it (cgroup 2 or 1), in bytes."""
    limits = [psutil.virtual_memory().total]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return min(limits)


def _megabytes(share: float, most: float) -> int:
    return int(min(share * memory_limit(), most * 2**20) / 2**20)


class Settings(BaseSettings):
    """The settings as they are in force; an environment variable is the name in capitals after ``PREFIX``.

    In the profile ``hosted`` what was not set by hand has other defaults: see ``_HOSTED``.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, toml_file=SECRETS, extra="ignore", frozen=True)

    hosted: bool = Field(
        default_factory=_on_community_cloud,
        description="Strangers use the app: only listed models, smaller limits, no details of errors. True by itself "
        "on Community Cloud.",
    )
    any_model: bool = Field(
        default=True, description="Whether visitors may name any model of the hub or a folder, or only listed ones."
    )
    error_details: bool = Field(
        default=True, description="Whether a message about an unforeseen error names it and its place."
    )
    model_memory_mb: int = Field(
        default_factory=lambda: _megabytes(0.4, 2**20), gt=0, description="Memory of all models together on a CPU, MB."
    )
    result_memory_mb: int = Field(
        default_factory=lambda: _megabytes(0.05, 128), gt=0, description="Memory of remembered answers, MB."
    )
    process_memory_mb: int = Field(
        default_factory=lambda: _megabytes(0.85, 2**20),
        gt=0,
        description="Memory of the process beyond which answers, then idle models, are forgotten, MB.",
    )
    upload_mb: int = Field(default=10, gt=0, le=50, description="Largest file that can be uploaded, MB.")
    longest_text: int = Field(default=100_000, gt=0, description="Characters of the longest text that is read.")
    runs: int = Field(
        default_factory=lambda: min(4, os.cpu_count() or 1), gt=0, description="Model runs at a time; others wait."
    )
    threads: int = Field(
        default_factory=lambda: max(1, (os.cpu_count() or 1) // 4), gt=0, description="Torch's threads for each run."
    )
    batch: int = Field(
        default=8, gt=0, description="Waiting questions of one kind and model that are run together at most."
    )
    page_runs: int = Field(default=2, gt=0, description="Pages that are drawn at a time; others wait.")
    log_format: Literal["text", "json"] = Field(default="text", description="How a line of the log is written.")
    status_code: str = Field(
        default="",
        description="What a teacher types on the page Status to use its button; without it the button needs none.",
    )
    upload_memory_mb: int = Field(
        default_factory=lambda: _megabytes(0.1, 256), gt=0, description="Memory of all uploaded files together, MB."
    )

    @model_validator(mode="before")
    @classmethod
    def _of_profile(cls, given: Any) -> Any:
        """Defaults of the profile, where nothing else was said."""
        hosted = given.get("hosted", _on_community_cloud())
        return {**_HOSTED, **given} if str(hosted).lower() in ("1", "true", "yes", "on") else given

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


# Defaults of the profile ``hosted`` that differ.
_HOSTED: dict[str, Any] = {"any_model": False, "error_details": False, "upload_mb": 5, "longest_text": 20_000}


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()


def main() -> None:
    print(settings())


if __name__ == "__main__":
    main()
