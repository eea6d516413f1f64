"""Predictions before and after a change, side by side, in a sentence, as bars and as a table: several views end so."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd

from analysis.agreement import readable
from analysis.effects import same_answer
from model_zoo.types import Effects, Prediction, Reading
from pages.cause.scene import Scene
from ui import as_python, figures, save, say
from ui.as_python import Lines
from viz.bars import bars
from viz.layout import percent

_MOST = 6


def draw(scene: Scene, effects: Effects, change: str, key: str) -> None:
    """The untouched run beside the first changed one, of which ``what`` says how it differs."""
    after = effects.readings[0]
    say(describe_change(effects, after, change))
    names, before_p, after_p = _both(effects, after)
    figure = partial(
        bars,
        [readable(name) for name in names],
        [("original", before_p), (change, after_p)],
        written=".1%",
        top=max(*before_p, *after_p),
    )
    figures.show(figure, f"before and after {key}", key)
    save.table("Before and after", lambda: _table(scene, effects, after, change), f"{key}-answers")


def put_python(scene: Scene, effects: Effects, lines: Lines, change: str, **named: object) -> None:
    """The best answers after a change, an expression, which uses what ``lines`` bind; ``named`` are settings. Where
    lines stand here already, they have bound that.
    """
    as_python.put(
        Lines("" if as_python.has_lines() else lines.text, lines.uses) + f"change = {change}\n"
        f"effects = {scene.intervene('[change]', **named, top_k=scene.question.top_k)}\n"
        "numbers = np.array([answer.probability for answer in effects.readings[0].best])",
        lambda: np.array([answer.probability for answer in effects.readings[0].best]),
        part="The most probable answers after the change",
    )


def untouched(scene: Scene, effects: Effects, key: str) -> None:
    """What the model answers when nothing is changed."""
    say(f"{scene.describe_target(effects)}.")
    best = effects.untouched.best[:_MOST]
    series = [("original", [prediction.probability for prediction in best])]
    figure = partial(bars, [readable(prediction.token) for prediction in best], series, written=".1%")
    figures.show(figure, f"original {key}", key)


def describe_change(effects: Effects, after: Reading, change: str) -> str:
    """What a change does to the answer, in a sentence or two, as plain text."""
    name, before_p = readable(effects.answer.token), effects.answer.probability
    after_p = math.exp(after.log_probability)
    first = f"With {change}, “{name}” goes from {percent(before_p)} to {percent(after_p)}."
    if percent(before_p) == percent(after_p):
        first = f"With {change}, “{name}” stays at {percent(after_p)}."
    best = after.best[0]
    if same_answer(effects, after):
        return f"{first} “{readable(best.token)}” is still the top prediction."
    return f"{first} The top prediction is now “{readable(best.token)}”, with {percent(best.probability)}."


def _both(effects: Effects, after: Reading) -> tuple[list[str], list[float], list[float]]:
    """The best answers of both runs by name, as far as both say how probable they are."""
    sides = [_known(effects, effects.untouched, before=True), _known(effects, after, before=False)]
    best = [*effects.untouched.best[:_MOST], *after.best[:_MOST]]
    ids = [
        answer_id
        for answer_id in dict.fromkeys(prediction.id for prediction in best)
        if all(answer_id in side for side in sides)
    ]
    ids.sort(key=lambda answer_id: -max(side[answer_id].probability for side in sides))
    ids = ids[:_MOST]
    return (
        [sides[0][answer_id].token for answer_id in ids],
        [sides[0][answer_id].probability for answer_id in ids],
        [sides[1][answer_id].probability for answer_id in ids],
    )


def _known(effects: Effects, reading: Reading, *, before: bool) -> dict[int, Prediction]:
    """All probabilities that a run tells, by the number of the answer."""
    known = {prediction.id: prediction for prediction in reading.best}
    for answer, log in ((effects.answer, reading.log_probability), (effects.foil, reading.foil_log_probability)):
        if answer is not None and log is not None:
            p = answer.probability if before else math.exp(log)
            known[answer.id] = Prediction(answer.token, answer.id, p)
    return known


def _table(scene: Scene, effects: Effects, after: Reading, change: str) -> pd.DataFrame:
    return scene.table(
        [
            {
                "read_at": scene.where if scene.position is None else scene.position + 1,
                "run": run,
                "rank": rank,
                "answer": prediction.token,
                "probability": prediction.probability,
                "kl_bits": reading.divergence / math.log(2),
            }
            for run, reading in (("original", effects.untouched), (change, after))
            for rank, prediction in enumerate(reading.best, start=1)
        ]
    )
