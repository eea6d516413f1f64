"""The race of the bundled models at the built-in sets, with the page's default settings.

    python -m benchmarks.finetune [--set NAME] [--seeds N] [--racer ID] [--few] [--log FILE] [--write]

The bundled models, and the published all-MiniLM-L6-v2 where its package is installed, learn all examples of every
built-in set; with ``--few`` the default model, its like with random weights and the LSTM also 200. Prints README's
tables: means over seeds with intervals over seeds and items. ``--log`` writes a line of JSON a training to a file, with
its predictions for the test split, and trainings that stand there are not repeated: the race can be interrupted.
``--write`` puts what seeds and the strongest baseline reached where the page and the cards read it
(training/finetuning/seeds.json). What an epoch takes: ``benchmarks.questions``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import arguments, markdown_table
from model_zoo import DEFAULT_MODEL, Engine, tuned
from model_zoo.registry import UNTRAINED
from model_zoo.sources import packaged
from model_zoo.types import MB
from training.finetuning.data import Data, Item, Labelled, PassageQuestion, Tagged
from training.finetuning.finetune import Finetune
from training.finetuning.results import Answered, AnswerSpan, Classified, Prediction, Rated, TaggedWords, Tuned
from training.finetuning.scores import MEASURES, evaluate
from training.finetuning.seeds import SeedScores, fingerprint, write
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui.precomputed import EMBEDDED

FEW = 200
_PUBLISHED = "sentence-transformers/all-MiniLM-L6-v2"

Run = dict[str, Any]
"""One training, as one line of JSON: what was trained on what, its scores, and what it said of the test split."""


def racers() -> list[str]:
    """The bundled models, and the published one where the package that ships it is installed."""
    return [*EMBEDDED, *([_PUBLISHED] if packaged(_PUBLISHED) is not None else [])]


def candidates(data: Data, models: Sequence[str], seeds: int, *, few: bool) -> Iterator[Run]:
    """What is to be trained, each as the part of its line that tells it from others: a seed of every model first."""
    counts: list[tuple[str, int]] = [(model, len(data.train)) for model in models]
    if few and len(data.train) > FEW:
        counts += [(model, FEW) for model in (DEFAULT_MODEL, f"{UNTRAINED}{DEFAULT_MODEL}", "embedded/bilstm")]
    for seed in range(seeds):
        for model, examples in counts:
            of_set = {"set": data.name, "items": fingerprint(data)}
            yield of_set | {"model": model, "examples": examples, "seed": seed}


def trained(engine: Engine, data: Data, candidate: Run) -> Run:
    """Train one, with default settings."""
    settings = Settings(seed=candidate["seed"], examples=candidate["examples"])
    *_, result = engine.stream(Finetune(candidate["model"], data, settings, tuned.new_id(), keep=False))
    assert isinstance(result, Tuned)
    score = result.score()
    scored = {"score": score.measure, "value": score.value, "always_alike": score.baseline}
    chosen = {"epoch": result.best.epoch, "dev": result.best.score}
    beside = {"trivial": score.strongest_baseline, "trivial_is": result.strongest_baseline}
    costs = {
        "ms_a_text": 1000 * result.latency,
        "weights_mb": result.n_bytes / MB,
        "seconds": result.seconds,
    }
    predictions = [_plain(prediction) for prediction in result.predictions]
    return candidate | scored | chosen | beside | costs | {"rate": result.rate, "said": predictions}


def _plain(prediction: Prediction) -> Any:
    """What the scores need of a prediction, as JSON."""
    match prediction:
        case Classified():
            return prediction.label
        case TaggedWords():
            return prediction.tags
        case Answered():
            return prediction.text
        case Rated():
            return prediction.score


def _read(value: Any, item: Item) -> Prediction:
    """The prediction again."""
    if isinstance(item, Labelled):
        return Classified(value, ())
    if isinstance(item, Tagged):
        return TaggedWords(item.words, tuple(value), (1.0,) * len(value))
    if isinstance(item, PassageQuestion):
        return Answered((AnswerSpan(0, len(value), value, 1.0),) if value else (), 0.0)
    return Rated(value)


def race(data: Data, wanted: Iterable[Run], train: Callable[[Data, Run], Run], log: Path | None) -> list[Run]:
    """Every run that is wanted: from the log, or trained now, and then written there."""
    lines = log.read_text(encoding="utf-8").splitlines() if log is not None and log.exists() else []
    known = [json.loads(line) for line in lines]
    runs = []
    for candidate in wanted:
        run = next((known_run for known_run in known if candidate.items() <= known_run.items()), None)
        if run is None:
            run = train(data, candidate)
            if log is not None:
                with log.open("a", encoding="utf-8") as file:
                    print(json.dumps(run), file=file)
        runs.append(run)
    return runs


def together(data: Data, runs: Sequence[Run]) -> SeedScores:
    """The runs of a model as one: their mean with its interval over seeds and items, and what it stands beside."""
    predictions = [[_read(value, item) for value, item in zip(run["said"], data.test, strict=True)] for run in runs]
    score, first = evaluate(data, *predictions)[0], runs[0]
    return SeedScores(
        values=tuple(round(run["value"], 4) for run in runs),
        mean=round(score.value, 4),
        low=round(score.low, 4),
        high=round(score.high, 4),
        baseline=round(first["trivial"], 4),
        baseline_is=first["trivial_is"],
    )


def markdown(data: Data, runs: Sequence[Run]) -> str:
    """The race as a table of the README: means over seeds, with intervals over seeds and items."""
    factor, digits = (100, 0) if MEASURES[data.measure].percent else (1, 2)

    def written(value: float) -> str:
        return f"{factor * value:.{digits}f}"

    rows = []
    for (model, examples), group in _by_model(runs).items():
        name = f"`{model.removeprefix(UNTRAINED)}`"
        name = f"random weights of {name}" if model.startswith(UNTRAINED) else name
        score = together(data, group)
        interval = f"{written(score.mean)} ({written(score.low)}–{written(score.high)})"
        seeds = f"{len(score.values)}: {written(min(score.values))} to {written(max(score.values))}"
        rows.append([name, str(examples), interval, seeds, f"{group[0]['weights_mb']:.0f}"])
    full_runs = [run for run in runs if run["examples"] == len(data.train)]
    beside = {"majority baseline": full_runs[0]["always_alike"]} if full_runs[0]["always_alike"] is not None else {}
    for run in full_runs:
        of = f" ({run['model']})" if "model" in run["trivial_is"] else ""
        beside[run["trivial_is"] + of] = run["trivial"]
    rows += [[name, "", written(value), "", ""] for name, value in beside.items()]
    measure = f"{MEASURES[data.measure].title} (95%)"
    return markdown_table((data.title.lower(), "examples", measure, "seeds", "weights, MB"), rows)


def _by_model(runs: Iterable[Run]) -> dict[tuple[str, int], list[Run]]:
    """The runs by model and number of examples: the seeds of each together."""
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        groups.setdefault((run["model"], run["examples"]), []).append(run)
    return groups


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--set", dest="names", action="append", choices=list(SETS), help="a set (default: all of them)")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each model")
    parser.add_argument("--racer", dest="racers", action="append", help="a model; may be given again")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    train = partial(trained, Engine("cpu"))
    for name in chosen.names or SETS:
        data = SETS[name].build()
        wanted = candidates(data, chosen.racers or racers(), chosen.seeds, few=chosen.few)
        runs = race(data, wanted, train, chosen.log)
        print(markdown(data, runs), end="\n\n", flush=True)
        if chosen.write:
            groups = _by_model(run for run in runs if run["examples"] == len(data.train))
            write(data, {model: together(data, group) for (model, _), group in groups.items()})


if __name__ == "__main__":
    main()
