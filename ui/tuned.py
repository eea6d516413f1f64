"""The models that this visitor has trained: their names, on every page that lets one choose a model."""

from __future__ import annotations

import os
from collections.abc import Iterable

from jobs.tuning import Tuning
from model_zoo import registry, tuned
from ui.messages import number_repeats
from web.background import desk


def session_models() -> dict[str, str]:
    """What the screen calls them, by id, the last one first; of equal names, the later have a number."""
    kept = [run for job in desk().every(Tuning) for run in job.kept]
    names = number_repeats(run.candidate.name for run in kept)
    return {run.id: name for run, name in zip(reversed(kept), reversed(names), strict=True)}


def name(model: str) -> str | None:
    """What the screen calls a tuned model; None for any other."""
    if not tuned.is_id(model):
        return None
    return session_models().get(model, "A model trained in another session")


def short_name(model: str) -> str:
    """What pictures and lists call any model: the name without where it comes from, or the end of its path."""
    spec = registry.find(model)
    if spec is not None:
        return spec.short_name
    return name(model) or os.path.basename(os.path.normpath(model))


def left_out(models: Iterable[str]) -> str:
    """What to say of a link to pages of these models."""
    if any(map(tuned.is_id, models)):
        return "Not in it: the model you trained, which is kept until you leave. Save it to keep it longer."
    return ""
