"""``python -m benchmarks.ablation``: how far zero and mean ablation of one part move the prediction at a mask.

Heads, attention blocks and feed-forward blocks of the bundled models, one at a time, in 30 built-in sentences, one of
each subject, with their longest word masked; the means are over others. A line a model, kind of part and layer: KL of
the prediction from the untouched one in nats, mean over parts and sentences, and in how many of the cases it is less
with the mean than with zeros. No times: these numbers are the same on every machine, up to rounding.
"""

from __future__ import annotations

import numpy as np

from benchmarks.measure import arguments, emit
from model_zoo import Engine
from model_zoo.heldout import spread_pairs, written_pairs
from model_zoo.registry import MODELS
from model_zoo.types import Change, DoubleArray, ModelInfo, Value

_MEANS = 100  # sentences that means are over


def texts() -> list[str]:
    """One of each subject, the longest word masked."""
    known = set(spread_pairs(_MEANS))
    others = {pair.subject: pair.first for pair in written_pairs() if pair not in known}
    longest = (max(text.rstrip(".").split(), key=len) for text in others.values())
    return [text.replace(word, "[MASK]", 1) for text, word in zip(others.values(), longest, strict=True)]


def parts(info: ModelInfo) -> dict[str, list[list[Change]]]:
    """What is switched off, by kind and layer."""
    layers = range(info.n_layers)
    return {
        "heads": [[Change(heads=((layer, head),)) for head in range(info.n_heads)] for layer in layers],
        "attention blocks": [[Change(attention=(layer,))] for layer in layers],
        "feed-forward blocks": [[Change(feed_forward=(layer,))] for layer in layers],
    }


def divergences(engine: Engine, model: str, changes: list[Change], value: Value) -> DoubleArray:
    """KL in nats, (sentences, changes)."""
    every = [engine.intervene(model, text, changes, value=value).readings for text in texts()]
    return np.array([[one.divergence for one in readings] for readings in every])


def main() -> None:
    arguments(__doc__).parse_args()
    engine = Engine("cpu")
    for model in [spec.id for spec in MODELS.values() if spec.hub_id is None and spec.attention]:
        for kind, by_layer in parts(engine.info(model)).items():
            changes = [change for layer in by_layer for change in layer]
            zero, mean = (divergences(engine, model, changes, value) for value in ("zero", "mean"))
            width = len(by_layer[0])
            rows = [(layer + 1, slice(layer * width, (layer + 1) * width)) for layer in range(len(by_layer))]
            for layer, columns in [*rows, ("all", slice(None))]:
                emit(
                    model=model,
                    parts=kind,
                    layer=layer,
                    zero=float(zero[:, columns].mean()),
                    mean=float(mean[:, columns].mean()),
                    less=float((mean < zero)[:, columns].mean()),
                )


if __name__ == "__main__":
    main()
