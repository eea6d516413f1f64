"""Predictions before and after a change, side by side, in a sentence, as bars and as a table: several views end so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from analysis.agreement import readable
from analysis.effects import same_answer
from model_zoo.types import Effects, Prediction, Reading
from pages.cause.scene import Scene
from ui import as_python, figures, save, say
from viz.bars import bars
from viz.predictions import percent

_MOST = 6


def draw(scene: Scene, effects: Effects, what: str, key: str) -> None:
    """The untouched run beside the first changed one, of which ``what`` says how it differs."""
    after = effects.readings[0]
    say(said(effects, after, what))
    names, before_p, after_p = _both(effects, after)
    figure = partial(
        bars,
        [readable(name) for name in names],
        [("original", before_p), (what, after_p)],
        written=".1%",
        top=max(*before_p, *after_p),
    )
    figures.show(figure, f"before and after {key}", key)
    save.table("Before and after", lambda: _table(scene, effects, after, what), f"{key}-answers")


def put_python(scene: Scene, effects: Effects, lines: str, imports: Sequence[str], **named: object) -> None:
    """The best answers after a change, to which ``lines`` bind ``change``; ``named`` are settings."""
    as_python.put(
        f"{lines}\n"
        f"effects = {scene.intervene('[change]', **named, top_k=scene.question.top_k)}\n"
        "numbers = np.array([answer.probability for answer in effects.readings[0].best])",
        lambda: np.array([answer.probability for answer in effects.readings[0].best]),
        imports=("import numpy as np", *imports),
        part="The most probable answers after the change",
    )


def untouched(scene: Scene, effects: Effects, key: str) -> None:
    """What the model answers when nothing is changed."""
    say(f"{scene.in_words(effects)}.")
    best = effects.untouched.best[:_MOST]
    shown = [("original", [one.probability for one in best])]
    figure = partial(bars, [readable(one.token) for one in best], shown, written=".1%")
    figures.show(figure, f"original {key}", key)


def said(effects: Effects, after: Reading, what: str) -> str:
    """What a change does to the answer, in a sentence or two, as plain text."""
    name, before_p = readable(effects.answer.token), effects.answer.probability
    after_p = math.exp(after.log_probability)
    first = f"With {what}, “{name}” goes from {percent(before_p)} to {percent(after_p)}."
    if percent(before_p) == percent(after_p):
        first = f"With {what}, “{name}” stays at {percent(after_p)}."
    best = after.best[0]
    if same_answer(effects, after):
        return f"{first} “{readable(best.token)}” is still the top prediction."
    return f"{first} The top prediction is now “{readable(best.token)}”, with {percent(best.probability)}."


def _both(effects: Effects, after: Reading) -> tuple[list[str], list[float], list[float]]:
    """The best answers of both runs by name, as far as both say how probable they are."""
    sides = [_known(effects, effects.untouched, before=True), _known(effects, after, before=False)]
    best = [*effects.untouched.best[:_MOST], *after.best[:_MOST]]
    ids = [one for one in dict.fromkeys(prediction.id for prediction in best) if all(one in side for side in sides)]
    ids.sort(key=lambda one: -max(side[one].probability for side in sides))
    ids = ids[:_MOST]
    return (
        [sides[0][one].token for one in ids],
        [sides[0][one].probability for one in ids],
        [sides[1][one].probability for one in ids],
    )


def _known(effects: Effects, reading: Reading, *, before: bool) -> dict[int, Prediction]:
    """All probabilities that a run tells, by the number of the answer."""
    found = {one.id: one for one in reading.best}
    for answer, log in ((effects.answer, reading.log_probability), (effects.foil, reading.foil_log_probability)):
        if answer is not None and log is not None:
            p = answer.probability if before else math.exp(log)
            found[answer.id] = Prediction(answer.token, answer.id, p)
    return found


def _table(scene: Scene, effects: Effects, after: Reading, what: str) -> pd.DataFrame:
    return scene.table(
        [
            {
                "read_at": scene.where if scene.position is None else scene.position + 1,
                "run": run,
                "rank": rank,
                "answer": one.token,
                "probability": one.probability,
                "kl_bits": reading.divergence / math.log(2),
            }
            for run, reading in (("original", effects.untouched), (what, after))
            for rank, one in enumerate(reading.best, start=1)
        ]
    )
