"""A fitted lens: a map for each layer that was fitted to what leaves the last one (after Belrose et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model_zoo.errors import NotSupported
from model_zoo.types.arrays import FloatArray, IntArray, ReadOnly, read_only
from model_zoo.types.shows import DataFrame, Shows, joined, table
from model_zoo.types.wording import counted


@dataclass(frozen=True, slots=True)
class FittedLens(Shows):
    """What is added to the vector x that the logit lens gives to the head after each layer but the last: x A + b.

    ``changes`` are the bytes of little-endian float16 (layers, width + 1, width): A, and b in its last row; layer 0 is
    after the embeddings. ``average`` are those of float16 (width,): the mean of what the head read at the ``n_masks``
    that it was fitted on, all that is known without looking at a layer. It holds for this ``revision`` of the ``model``
    alone. Bytes, so that it can be a field of a question.
    """

    model: str
    revision: str
    width: int
    n_masks: int
    changes: bytes
    average: bytes

    def __post_init__(self) -> None:
        size = 2 * self.width * (self.width + 1)
        if self.width < 1 or not self.changes or len(self.changes) % size or len(self.average) != 2 * self.width:
            raise ValueError(f"a lens of width {self.width} has {size} bytes a layer; got {len(self.changes)}")

    @classmethod
    def from_changes(
        cls, model: str, revision: str, n_masks: int, changes: npt.ArrayLike, average: npt.ArrayLike
    ) -> FittedLens:
        """From arrays (layers, width + 1, width) and (width,). Raises NotSupported for what float16 cannot hold."""
        with np.errstate(over="ignore"):
            small, mean = (np.asarray(values).astype("<f2") for values in (changes, average))
        if not (np.isfinite(small).all() and np.isfinite(mean).all()):
            raise NotSupported(
                f"No lens can be fitted to {model}: its vectors hold numbers that are too large. Choose another model."
            )
        return cls(model, revision, len(mean), n_masks, small.tobytes(), mean.tobytes())

    @property
    def n_layers(self) -> int:
        """Layers with a map, the embeddings among them; as many as the model has."""
        return len(self.changes) // (2 * self.width * (self.width + 1))

    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """``changes`` (layers, width + 1, width) and ``average`` (width,) as float32."""
        shape = self.n_layers, self.width + 1, self.width
        changes = np.frombuffer(self.changes, dtype="<f2").reshape(shape).astype(np.float32)
        return read_only(changes), read_only(np.frombuffer(self.average, dtype="<f2").astype(np.float32))

    def to_frame(self) -> DataFrame:
        """One row a layer: layer (0 is after the embeddings), the Frobenius norm of A and the length of b. The numbers
        themselves are ``arrays()``.
        """
        changes, _ = self.arrays()
        return table(
            {
                "layer": range(self.n_layers),
                "norm_of_A": np.linalg.norm(changes[:, :-1], axis=(1, 2)),
                "length_of_b": np.linalg.norm(changes[:, -1], axis=1),
            }
        )

    def __repr__(self) -> str:
        layers = counted(self.n_layers, "layer")
        return f"<FittedLens of {self.model}: {layers}, width {self.width}, fitted on {self.n_masks:,} masks>"


@dataclass(frozen=True, slots=True)
class MaskVectors(ReadOnly, Shows):
    """What the logit lens gives to the head at some masks: float32 (masks, layers + 1, width), the last what the head
    reads in the model itself. ``text_of`` (masks,) is the place of each mask's text.
    """

    vectors: FloatArray
    text_of: IntArray

    @classmethod
    def joined(cls, parts: Sequence[MaskVectors]) -> MaskVectors:
        """Those of several, the texts of the parts being numbered together."""
        return cls(np.concatenate([part.vectors for part in parts]), np.concatenate([part.text_of for part in parts]))

    def to_frame(self) -> DataFrame:
        """One row a number: mask, text (its place among the texts), layer, dimension, value."""
        mask, layer, dimension = np.indices(self.vectors.shape).reshape(3, -1)
        return table(
            {
                "mask": mask,
                "text": self.text_of[mask],
                "layer": layer,
                "dimension": dimension,
                "value": self.vectors.reshape(-1),
            }
        )

    def __repr__(self) -> str:
        masks, layers, width = self.vectors.shape
        return f"<MaskVectors of {counted(masks, 'mask')}, {counted(layers - 1, 'layer')}, width {width}>"


@dataclass(frozen=True, slots=True)
class LensDistances(ReadOnly, Shows):
    """How far each lens is from the model's final prediction at some masks: KL(final ‖ lens) in nats, float32.

    ``logit`` and ``fitted`` are (layers, masks), from the embeddings to the layer before the last; ``average`` (masks,)
    is what the head makes of the fitted lens's average vector, whatever the mask; None where there is no such lens.
    ``text_of`` (masks,) as in ``MaskVectors``.
    """

    logit: FloatArray
    text_of: IntArray
    fitted: FloatArray | None = None
    average: FloatArray | None = None

    @classmethod
    def joined(cls, parts: Sequence[LensDistances]) -> LensDistances:
        """Those of several, as in ``MaskVectors``."""

        def column(name: str) -> Any:
            every = [getattr(part, name) for part in parts]
            return None if every[0] is None else np.concatenate(every, axis=-1)

        return cls(*map(column, cls.__dataclass_fields__))

    def to_frame(self) -> DataFrame:
        """One row a lens, layer and mask: lens ("logit", "fitted"), layer, mask, text (its place among the texts),
        kl_nats.
        """
        layer, mask = np.indices(self.logit.shape).reshape(2, -1)
        places = {"layer": layer, "mask": mask, "text": self.text_of[mask]}
        lenses = {"logit": self.logit, "fitted": self.fitted}
        return joined(
            [
                table({"lens": name, **places, "kl_nats": distances.reshape(-1)})
                for name, distances in lenses.items()
                if distances is not None
            ]
        )

    def __repr__(self) -> str:
        layers, masks = self.logit.shape
        return f"<LensDistances of {counted(masks, 'mask')}, {counted(layers, 'layer')}>"
