"""Trainings that were run before the app was given out: what the views of the page "Train" open on.

``python -m pages.train`` runs them anew. They are handed out only where they were run on the weights, the data and with
the settings that there are now. They hold no times: those are of one machine at one moment.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import nan
from typing import Any, Final

import numpy as np

from analysis.before_after import Path
from jobs.tuning import Candidate, Run
from model_zoo.errors import ModelZooError
from model_zoo.registry import UNTRAINED
from model_zoo.types import AttentionRun, FloatArray, MapsLayer, ModelInfo
from training.finetuning.data import Data
from training.finetuning.results import Classified, Evaluated, Score, Started, Stepped, Tuned
from training.finetuning.seeds import fingerprint
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui.precomputed import DIGITS, FOLDER
from web.engine import engine
from web.process import process_cache

FILE = FOLDER / "trainings.json"
SET: Final = "sentiment"
"""The data of all of them: the set that the page opens with."""
PARTS: Final = {kind.__name__: [field.name for field in fields(kind)] for kind in (Settings, Score, Tuned)}


@dataclass(frozen=True)
class Inside:
    """The model of the example "train" after its training, where it is not here to be asked.

    ``attention`` are its weights (layers, heads, n, n) on the first test text, ``cka`` compares each layer with before
    over the ``n_tokens`` tokens of ``n_texts`` texts, ``path`` are the texts of the development split in the plane
    after each of the ``epochs``, and ``answers`` what it answers to the texts that the set gives to try.
    """

    attention: FloatArray
    cka: FloatArray
    n_tokens: int
    n_texts: int
    path: Path
    epochs: tuple[int, ...]
    answers: tuple[Classified, ...]

    def run(self, before: AttentionRun, info: ModelInfo) -> AttentionRun:
        """The tuned model's run on the text of the untuned one's."""
        layers = tuple(MapsLayer(maps) for maps in self.attention)
        return AttentionRun(encoding=before.encoding, model=info, layers=layers)


def runs(of: str) -> tuple[Run, ...]:
    """The runs of an example, "train", "race", "scratch" or "distillation"; empty where it no longer holds."""
    stored = _read()
    return stored[0].get(of, ()) if stored else ()


def inside() -> Inside | None:
    """What is known of the inside of the tuned model; None where it no longer holds."""
    stored = _read()
    return stored[1] if stored else None


@process_cache(most=1)
def data() -> Data:
    """The data of all examples."""
    return SETS[SET].build()


def pack(examples: Mapping[str, Sequence[Run]], within: Inside) -> str:
    """The file's text."""
    every = {run.candidate.model.removeprefix(UNTRAINED) for runs_ in examples.values() for run in runs_}
    attention = within.attention.astype("<f2")
    stored = {
        "parts": PARTS,
        "data": fingerprint(data()),
        "revisions": {model: engine().revision(model) for model in sorted(every)},
        "examples": {name: [_packed(run, name) for run in of_name] for name, of_name in examples.items()},
        "inside": {
            "shape": attention.shape,
            "attention": base64.b64encode(attention.tobytes()).decode(),
            "cka": np.round(within.cka.astype(float), DIGITS).tolist(),
            "n_tokens": within.n_tokens,
            "n_texts": within.n_texts,
            "points": [np.round(points.astype(float), 2).tolist() for points in within.path.points],
            "explained": np.round(np.asarray(within.path.explained, dtype=float), DIGITS).tolist(),
            "epochs": within.epochs,
            "answers": [[runs_.label, _rounded(runs_.probabilities)] for runs_ in within.answers],
        },
    }
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(number, DIGITS) for number in numbers]


def _packed(run: Run, of: str) -> dict[str, Any]:
    """A run: its steps only where a view draws them, its predictions only where one reads them."""
    candidate, tuned = run.candidate, run.tuned
    assert tuned is not None, run.failed
    steps = tuned.steps[-1:] if of == "scratch" else tuned.steps
    return {
        "name": candidate.name,
        "model": candidate.model,
        "settings": asdict(candidate.settings),
        "teacher": candidate.teacher,
        "keep": candidate.keep,
        "scores": [asdict(score) for score in tuned.scores],
        "predictions": [_rounded(item.probabilities) for item in tuned.predictions if isinstance(item, Classified)]
        if of == "train"
        else [],
        "rate": tuned.rate,
        "n_parameters": tuned.n_parameters,
        "n_learning": tuned.n_learning,
        "strongest_baseline": tuned.strongest_baseline,
        "steps": [
            [s.step, round(s.epoch, DIGITS), round(s.loss, DIGITS), float(f"{s.learning_rate:.3g}")] for s in steps
        ],
        "evaluated": [[e.step, e.epoch, round(e.loss, DIGITS), round(e.score, DIGITS)] for e in tuned.evaluated],
    }


@process_cache(most=1)
def _read() -> tuple[dict[str, tuple[Run, ...]], Inside] | None:
    """The file, where it holds for what there is now."""
    try:
        stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
        now = {model: engine().revision(model) for model in stored["revisions"]}
    except (FileNotFoundError, ModelZooError):
        return None
    if (stored["parts"], stored["revisions"], stored["data"]) != (PARTS, now, fingerprint(data())):
        return None
    examples = {name: tuple(map(_run, of_name)) for name, of_name in stored["examples"].items()}
    return examples, _inside(stored["inside"])


def _run(stored: Mapping[str, Any]) -> Run:
    settings = Settings(**stored["settings"])
    candidate = Candidate(
        stored["name"], stored["model"], data(), settings, teacher=stored["teacher"], keep=stored["keep"]
    )
    labels = data().labels
    steps = tuple(Stepped(step, epoch, loss, rate, nan) for step, epoch, loss, rate in stored["steps"])
    evaluated = tuple(Evaluated(*values) for values in stored["evaluated"])
    tuned = Tuned(
        id=stored["model"],
        base=stored["model"],
        data=data().first(settings.examples, settings.seed),
        settings=settings,
        scores=tuple(Score(**score) for score in stored["scores"]),
        predictions=tuple(Classified(labels[int(np.argmax(row))], tuple(row)) for row in stored["predictions"]),
        rate=stored["rate"],
        n_parameters=stored["n_parameters"],
        n_learning=stored["n_learning"],
        n_bytes=4 * stored["n_parameters"],
        latency=nan,
        seconds=nan,
        steps=steps,
        evaluated=evaluated,
        first_vectors=(),
        strongest_baseline=stored["strongest_baseline"],
    )
    begun = Started(tuned.n_parameters, tuned.n_learning, steps[-1].step)
    return Run(candidate, tuned.id, begun, list(steps), list(evaluated), tuned=tuned)


def _inside(stored: Mapping[str, Any]) -> Inside:
    flat = np.frombuffer(base64.b64decode(stored["attention"]), dtype="<f2")
    return Inside(
        attention=flat.reshape(stored["shape"]).astype(np.float32),
        cka=np.array(stored["cka"], dtype=np.float32),
        n_tokens=stored["n_tokens"],
        n_texts=stored["n_texts"],
        path=Path(np.array(stored["points"], dtype=np.float32), (stored["explained"][0], stored["explained"][1])),
        epochs=tuple(stored["epochs"]),
        answers=tuple(Classified(label, tuple(probabilities)) for label, probabilities in stored["answers"]),
    )


def labelled(info: ModelInfo, labels: Sequence[str]) -> ModelInfo:
    """What is known of a model once it tells these labels apart."""
    return replace(info, tuned_for="classification", labels=tuple(labels))
