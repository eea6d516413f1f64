"""Whether one sentence follows another (NSP), or in which order two stand (SOP), as far as a model learned it."""

from __future__ import annotations

from model_zoo import registry
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel


def refuse_without_head(loaded: LoadedModel) -> None:
    """Raises NotSupported, with the reason, for a checkpoint without a sentence head of its own."""
    if loaded.info.nsp is not None:
        return
    spec = registry.find(loaded.info.id)
    raise NotSupported(
        f"{spec.name if spec else loaded.info.id} cannot say whether one sentence follows another. "
        f"{loaded.family.without_nsp} Choose a BERT with a next-sentence head, such as {registry.DEFAULT_MODEL}."
    )
