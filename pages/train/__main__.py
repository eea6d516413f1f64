"""``python -m pages.train``: train anew the examples that the page "Train" opens on, which come with the app.

Takes about ten minutes on two processor cores, in float32 on the CPU.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.before_after import path_in_the_plane
from jobs.tuning import Candidate, Run, Tuning
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.engine_interface import EngineInterface
from pages.train import presets, running, weight_changes
from pages.train.choice import Choice
from training.finetuning.predict import Predict
from training.finetuning.results import Classified
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui.messages import join_names, number_repeats
from ui.precomputed import trainings
from ui.tuned import short_name


def candidates() -> Mapping[str, Sequence[Candidate]]:
    """What each view of the page trains as it opens."""
    data, settings, model = trainings.data(), Settings(), DEFAULT_MODEL
    racers = presets.RACERS.default
    named = dict(zip(racers, number_repeats(map(short_name, racers)), strict=True))
    of_students = (presets.STUDENT.default, presets.ALPHA.default, presets.TEMPERATURE.default)
    return {
        "train": running.candidates(Choice(data, SETS[trainings.SET], model, settings, 1)),
        "race": presets.race(data, settings, named),
        "scratch": presets.scratch(data, settings, model),
        "distillation": presets.distillation(data, settings, model, *of_students),
    }


def trained(engine: EngineInterface, examples: Mapping[str, Sequence[Candidate]]) -> dict[str, tuple[Run, ...]]:
    """All candidates, one after the other; what several examples ask for is trained once."""
    jobs: dict[tuple[object, ...], Run] = {}
    runs_by_example: dict[str, tuple[Run, ...]] = {}
    for name, wanted in examples.items():
        job = Tuning(engine, wanted)
        for run in job.runs:
            before = jobs.get(_trains(run.candidate))
            if before is not None and before.tuned is not None:
                run.id, run.tuned = before.id, replace(before.tuned, settings=run.candidate.settings)
        for _ in job.steps():
            pass
        for run in job.runs:
            if run.failed is not None:
                raise ValueError(f"{run.candidate.name} could not be trained: {run.failed}")
            jobs.setdefault(_trains(run.candidate), run)
        runs_by_example[name] = job.runs
        sys.stdout.write(f"{name}: {join_names(run.candidate.name for run in job.runs)}\n")
        sys.stdout.flush()
    return runs_by_example


def _trains(candidate: Candidate) -> tuple[object, ...]:
    """What decides what a candidate learns."""
    settings = candidate.settings
    data = candidate.data.first(settings.examples, settings.seed)
    return candidate.model, data.train, replace(settings, examples=None), candidate.teacher


def looked_into(engine: EngineInterface, run: Run) -> trainings.Inside:
    """What the views show of a tuned model that is here only now."""
    tuned = run.tuned
    assert tuned is not None
    item = tuned.data.test[0]
    after = engine.attend(tuned.id, item.text, item.pair, max_tokens=weight_changes.LONGEST)
    texts = weight_changes.texts_to_compare(tuned)
    cka, n_tokens = weight_changes.compare_layers(engine, tuned, texts)
    answers = engine.ask(Predict(tuned.id, tuple(SETS[trainings.SET].tries)))
    return trainings.Inside(
        attention=np.stack([after.layer(layer) for layer in range(after.n_layers)]),
        cka=cka,
        n_tokens=n_tokens,
        n_texts=len(texts),
        path=path_in_the_plane([epoch.vectors for epoch in tuned.first_vectors]),
        epochs=tuple(epoch.epoch for epoch in tuned.first_vectors),
        answers=tuple(answer for answer in answers if isinstance(answer, Classified)),
    )


def main() -> None:
    engine = Engine("cpu")
    examples = trained(engine, candidates())
    text = trainings.pack(examples, looked_into(engine, examples["train"][0]))
    trainings.FILE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(text.encode()) / 1000:,.0f} kB written to {trainings.FILE}\n")
    engine.close()


if __name__ == "__main__":
    main()
