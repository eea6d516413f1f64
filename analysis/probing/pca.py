"""Vectors of every layer in two dimensions (principal components), for looking at."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from model_zoo.types import FloatArray


@dataclass(frozen=True, slots=True)
class Projection:
    """``points`` (layers + 1, n, 2) and the share of the variance each axis shows, ``explained`` (layers + 1, 2)."""

    points: FloatArray = field(repr=False)
    explained: FloatArray = field(repr=False)


def principal_components(vectors: FloatArray) -> Projection:
    """The first two principal components of each layer by itself; vectors (layers + 1, n, width), n > 1.

    The sign of a component means nothing; it is chosen so that points move as little as possible from one
    layer to the next.
    """
    n_layers, n, _ = vectors.shape
    points = np.zeros((n_layers, n, 2), dtype=np.float32)
    explained = np.zeros((n_layers, 2), dtype=np.float32)
    for layer in range(n_layers):
        centred = vectors[layer].astype(np.float64)
        centred -= centred.mean(axis=0)
        # The eigenvectors of the smaller of the two products, n × n or width × width, are enough.
        if n <= centred.shape[1]:
            values, basis = np.linalg.eigh(centred @ centred.T)
            components = basis[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
        else:
            values, basis = np.linalg.eigh(centred.T @ centred)
            components = centred @ basis[:, ::-1][:, :2]
        total = float(np.square(centred).sum())
        if layer:
            before = points[layer - 1].astype(np.float64)
            components = components * np.where((components * before[:, : components.shape[1]]).sum(axis=0) < 0, -1, 1)
        points[layer, :, : components.shape[1]] = components
        if total > 0:
            explained[layer, : components.shape[1]] = np.maximum(values[::-1][:2], 0) / total
    return Projection(points, explained)
