"""Measures what a pretrained model passes on: frozen features beside fine-tuning, and a task trained before another.

    python -m tools.transfer [--write]

Prints one JSON line per figure; ``--write`` puts them where the lessons read them (training/finetuning/transfer.json).
All figures are of the built-in sets and the bundled models, on one thread, some minutes in all. Importing it loads no
torch.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from analysis.probing.classifier import STRENGTHS, fit, one_thread
from analysis.probing.features import ArrayVectors
from model_zoo import DEFAULT_MODEL, tuned
from model_zoo.engine_interface import EngineInterface
from model_zoo.types import FloatArray
from training.finetuning.data import Data, Split, Tagged, cast_all
from training.finetuning.entities import first_pieces
from training.finetuning.finetune import Finetune
from training.finetuning.results import Prediction, TaggedWords
from training.finetuning.scores import evaluate, value
from training.finetuning.seeds import fingerprint
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from training.finetuning.transfer import (
    CONCATENATED,
    DIRECTLY,
    FILE,
    FINE_TUNED,
    ORDERS,
    SEEDS,
    SMALL,
    TransferScore,
    frozen_ways,
)


def _features(states: FloatArray, names: Sequence[str]) -> dict[str, FloatArray]:
    """What is read off a text's vectors (layers + 1, n, width), by the names of ``frozen_ways``: (n, numbers)."""
    last = states[1:][-CONCATENATED:]
    features = (states[0], states[-2], states[-1], np.concatenate(list(last), axis=1), last.sum(axis=0))
    return dict(zip(names, features, strict=True))


def frozen(engine: EngineInterface, model: str, data: Data) -> dict[str, list[Prediction]]:
    """Tags of the test split by a linear classifier on features of frozen weights. Its strength is that with the
    highest score on the development split.
    """
    ways = frozen_ways(engine.info(model).n_layers)
    vectors: dict[tuple[str, Split], list[FloatArray]] = {}
    pieces_of: dict[Split, list[list[int | None]]] = {}
    splits: tuple[Split, ...] = ("train", "dev", "test")
    for split in splits:
        items = cast_all(Tagged, data.split(split))
        states = dict(engine.iter_hidden_states(model, [item.text for item in items]))
        pieces_of[split] = []
        for place, item in enumerate(items):
            pieces = first_pieces(states[place].encoding, item.spans)
            pieces_of[split].append(pieces)
            kept = [piece for piece in pieces if piece is not None]
            for way, features in _features(states[place].states, ways).items():
                vectors.setdefault((way, split), []).append(features[kept])
    return {way: _classified(data, {split: vectors[way, split] for split in splits}, pieces_of) for way in ways}


def _classified(
    data: Data, vectors: Mapping[Split, list[FloatArray]], pieces_of: Mapping[Split, list[list[int | None]]]
) -> list[Prediction]:
    numbers = {label: number for number, label in enumerate(data.labels)}
    items = cast_all(Tagged, data.train)
    tags = [
        numbers[tag]
        for item, pieces in zip(items, pieces_of["train"], strict=True)
        for tag, piece in zip(item.tags, pieces, strict=True)
        if piece is not None
    ]
    train = np.concatenate(vectors["train"])

    def predict(strength: float) -> dict[Split, list[Prediction]]:
        rows = np.arange(len(train))
        probe = fit(ArrayVectors(train), rows, np.array(tags), len(data.labels), c=strength)
        predictions: dict[Split, list[Prediction]] = {}
        for split in ("dev", "test"):
            every = np.concatenate(vectors[split])
            log_p = probe.log_probabilities(ArrayVectors(every), np.arange(len(every)))
            best = iter([data.labels[place] for place in log_p.argmax(axis=1)])
            predictions[split] = [
                TaggedWords(
                    item.words,
                    tuple("O" if piece is None else next(best) for piece in pieces),
                    (1.0,) * len(item.words),
                )
                for item, pieces in zip(cast_all(Tagged, data.split(split)), pieces_of[split], strict=True)
            ]
        return predictions

    with one_thread():
        tried = [predict(strength) for strength in STRENGTHS]
    return max(tried, key=lambda predictions: value(data.measure, data.dev, predictions["dev"]))["test"]


def _tuned(engine: EngineInterface, model: str, data: Data, settings: Settings) -> tuple[str, list[Prediction]]:
    """A model's id after training, and what it says of the test split."""
    tuned_model = engine.ask(Finetune(model, data, settings, tuned.new_id()))
    return tuned_model.id, list(tuned_model.predictions)


def directly_and_after(engine: EngineInterface, model: str, target: str, seed: int) -> dict[str, list[Prediction]]:
    """What a model says of a set's test split that has learned a few of its examples, directly or after another set."""
    data = SETS[target].build()
    few = Settings(examples=SMALL.examples, epochs=SMALL.epochs, seed=seed)
    alone, predictions = _tuned(engine, model, data, few)
    by_way, made = {DIRECTLY: predictions}, [alone]
    for before in ORDERS[target]:
        first, _ = _tuned(engine, model, SETS[before].build(), Settings(epochs=3, seed=seed))
        second, by_way[before] = _tuned(engine, first, data, few)
        made += [first, second]
    engine.forget_tuned(made)
    return by_way


def measure(engine: EngineInterface) -> Iterator[TransferScore]:
    """Every figure."""
    entities = SETS["entities"].build()
    for model in (DEFAULT_MODEL, "embedded/tinybert"):
        by_way = {way: [predictions] for way, predictions in frozen(engine, model, entities).items()}
        by_way[FINE_TUNED] = []
        for seed in range(SEEDS):
            id, predictions = _tuned(engine, model, entities, Settings(seed=seed))
            engine.forget_tuned([id])
            by_way[FINE_TUNED].append(predictions)
        yield from (_scored(engine, model, entities, way, predictions) for way, predictions in by_way.items())
    for target in ORDERS:
        by_seed = [directly_and_after(engine, DEFAULT_MODEL, target, seed) for seed in range(SEEDS)]
        for way in by_seed[0]:
            yield _scored(engine, DEFAULT_MODEL, SETS[target].build(), way, [ways[way] for ways in by_seed])


def _scored(
    engine: EngineInterface, model: str, data: Data, way: str, of_seeds: Sequence[Sequence[Prediction]]
) -> TransferScore:
    score = evaluate(data, *of_seeds)[0]
    return TransferScore(
        model=model,
        revision=engine.info(model).revision,
        set=data.name,
        items=fingerprint(data),
        way=way,
        score=round(score.value, 4),
        low=round(score.low, 4),
        high=round(score.high, 4),
        seeds=len(of_seeds),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write: bool = parser.parse_args().write
    from model_zoo import Engine

    rows = []
    for score in measure(Engine()):
        rows.append(json.dumps(asdict(score)))
        sys.stdout.write(rows[-1] + "\n")
        sys.stdout.flush()
    if write:
        FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
