"""``python -m pages.masked_words [--check | --table]``: fit anew the lenses that come with the app, tell what has
changed since, or print the README's table of their distances from what is stored.

Everything runs on the CPU in float32. ``--check`` writes nothing, and its exit status is 1 where a mean distance from
the final prediction differs by more than 0.02 nats.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from analysis.lens_fit import Distance, JudgedLens
from jobs.lens_fitting import LensFitting
from model_zoo import Engine
from ui.precomputed import command
from ui.precomputed.lenses import LENSES


def fitted(engine: Engine, model: str) -> JudgedLens:
    """A model's lens, fitted now."""
    job = LensFitting(engine, model)
    for _ in job.steps():
        pass
    assert job.judged_lens is not None
    return job.judged_lens


def differences(stored: JudgedLens, fresh: JudgedLens) -> Iterator[str]:
    """Where two lenses are not equally far from the final prediction; a line each."""
    if (stored.lens.revision, stored.n_masks) != (fresh.lens.revision, fresh.n_masks):
        yield "was fitted to other weights or judged by other masks"
        return
    for name in ("logit", "fitted"):
        for layer, (before, now) in enumerate(zip(getattr(stored, name), getattr(fresh, name), strict=True)):
            if abs(before.mean - now.mean) > 0.02:
                yield f"layer {layer}, {name} lens: {now.mean:.3f} nats, and was {before.mean:.3f}"


def table() -> str:
    """The stored distances of all models as a table in Markdown."""
    every = {model: LENSES.load(model) for model in LENSES.models}
    layers = range(max(judged.lens.n_layers for judged in every.values()))
    rows = [
        f"| model | average answer | lens | embeddings | {' | '.join(f'layer {layer}' for layer in layers[1:])} |",
        "|---|---|---|" + "---|" * len(layers),
    ]
    for model, judged in every.items():
        for name, distances in (("logit", judged.logit), ("fitted", judged.fitted)):
            cells = [_written(distance) for distance in distances] + ["–"] * (len(layers) - len(distances))
            first = f"`{model}` | {_written(judged.average)}" if name == "logit" else " | "
            rows.append(f"| {first} | {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _written(distance: Distance) -> str:
    """The mean, and half the width of its interval."""
    return f"{distance.mean:.2f} ± {(distance.high - distance.low) / 2:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return command.run(
        "look_inside_bert.pages.masked_words",
        __doc__,
        arguments,
        LENSES.models,
        file_of=LENSES.file_of,
        make=fitted,
        content=lambda engine, model, judged: LENSES.pack(engine.revision(model), judged),
        changed=lambda model, judged: (f": {line}" for line in differences(LENSES.load(model), judged)),
        table=table,
    )


if __name__ == "__main__":
    sys.exit(main())
