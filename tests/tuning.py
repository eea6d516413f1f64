"""Small data of every kind, and outcomes by hand, for tests of fine-tuning."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model_zoo import Engine, tuned
from training.finetuning.data import Data, Item, Kind, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.finetune import Finetune
from training.finetuning.results import Event, Tuned
from training.finetuning.settings import Settings

WORDS = (
    *("cat", "dog", "river", "bank", "train", "piano", "letter", "coat"),
    *("bridge", "market", "apple", "winter", "baker", "doctor", "teacher", "garden"),
)


def classifier(folder: Path, into: Path) -> Any:
    """A checkpoint's encoder with a head for the classes a, b and c, drawn at random; saved, and the network itself."""
    from transformers import AutoModelForSequenceClassification

    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=3, id2label={0: "a", 1: "b", 2: "c"}, label2id={"a": 0, "b": 1, "c": 2}
    ).eval()
    for file in folder.iterdir():
        if "token" in file.name or file.name in ("vocab.txt", "vocab.json", "merges.txt", "special_tokens_map.json"):
            shutil.copy(file, into)
    network.save_pretrained(into)
    return network


def items(kind: Kind, n: int, seed: int = 0) -> tuple[Item, ...]:
    """So many different ones of words that the tiny models know, of different lengths."""
    rng = np.random.default_rng((seed, n))
    return tuple(_item(kind, rng, number) for number in range(n))


def _item(kind: Kind, rng: np.random.Generator, number: int) -> Item:
    words = [str(word) for word in rng.choice(WORDS, size=int(rng.integers(3, 9)))]
    text = f"the {' '.join(words)} {number}"
    if kind == "classification":
        return Labelled(text, None, "early" if number % 2 else "late")
    if kind == "tagging":
        tags = ["O"] * (len(words) + 2)
        tags[1:3] = ["B-THING", "I-THING"]
        return Tagged(tuple(text.split()), tuple(tags))
    if kind == "answering":
        answers = () if number % 4 == 0 else ((text.index(words[1]), words[1]),)
        return PassageQuestion(f"what is {number}", text, answers)
    return Scored(text, f"a {' '.join(reversed(words))}", float(number % 6))


_OF_KIND: dict[Kind, dict[str, Any]] = {
    "classification": {"labels": ("early", "late"), "measure": "accuracy"},
    "tagging": {"labels": ("O", "B-THING", "I-THING"), "measure": "entity_f1"},
    "answering": {"labels": (), "measure": "span_f1"},
    "similarity": {"labels": (), "measure": "spearman"},
}


def data(kind: Kind = "classification", train: int = 12, dev: int = 6, test: int = 6, **others: Any) -> Data:
    """A set of a kind; its items are different in each part."""
    every = items(kind, train + dev + test)
    parts = every[:train], every[train : train + dev], every[train + dev :]
    return Data(f"small {kind}", "A small set", kind, *parts, **(_OF_KIND[kind] | others))


def question(model: str, of: Data | None = None, **settings: Any) -> Finetune:
    """A short training."""
    plain: dict[str, Any] = {"epochs": 2, "batch": 4, "rate": 1e-3, "max_tokens": 32}
    return Finetune(model, data() if of is None else of, Settings(**(plain | settings)), tuned.new_id())


def outcome(engine: Engine, question: Finetune) -> Tuned:
    """What comes out of a training."""
    events: list[Event] = list(engine.stream(question))
    assert isinstance(events[-1], Tuned)
    return events[-1]
