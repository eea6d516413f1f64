"""Fine-tuning in a notebook: one call, and an object that predicts, has scores and can be saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import model_zoo
from model_zoo import DEFAULT_MODEL, tuned
from model_zoo.engine_interface import EngineInterface
from model_zoo.errors import InvalidInput
from model_zoo.types.shows import DataFrame, Shows
from training.finetuning import folder
from training.finetuning.data import Data
from training.finetuning.finetune import Finetune
from training.finetuning.predict import Predict, SoftScores
from training.finetuning.results import Answered, Classified, Prediction, Score, TaggedWords, Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings


class TunedModel(Shows):
    """A tuned model and the engine that holds it. ``outcome`` has everything that was measured."""

    def __init__(self, engine: EngineInterface, outcome: Tuned) -> None:
        self.engine, self.outcome = engine, outcome

    def __repr__(self) -> str:
        return repr(self.outcome).replace("Tuned", "TunedModel", 1)

    def to_frame(self) -> DataFrame:
        """The scores on the test split, see ``Tuned.to_frame``."""
        return self.outcome.to_frame()

    @property
    def id(self) -> str:
        """The model's name for every question to ``engine``: ``engine.attend(tuned.id, text)``."""
        return self.outcome.id

    @property
    def scores(self) -> dict[str, Score]:
        """The scores on the test split with their intervals, by measure."""
        return {score.measure: score for score in self.outcome.scores}

    def predictions(self, texts: Sequence[str | tuple[str, str]]) -> tuple[Prediction, ...]:
        """The full prediction for each text or pair; for answering, a pair is a question and its passage."""
        pairs = tuple((text, None) if isinstance(text, str) else (text[0], text[1]) for text in texts)
        return self.engine.ask(Predict(self.id, pairs))

    def predict(self, texts: Sequence[str | tuple[str, str]]) -> list[str | list[str] | float]:
        """The prediction for each text: its label, the tags of its words, its answer ("" for none) or its score."""
        answers: list[str | list[str] | float] = []
        for prediction in self.predictions(texts):
            if isinstance(prediction, Classified):
                answers.append(prediction.label)
            elif isinstance(prediction, TaggedWords):
                answers.append(list(prediction.tags))
            elif isinstance(prediction, Answered):
                answers.append(prediction.text)
            else:
                answers.append(prediction.score)
        return answers

    def save(self, target: str | Path) -> Path:
        """Write the model's folder, with its card; it must be new or empty. Raises InvalidInput."""
        return folder.copy(self.engine.tuned_folder(self.id), Path(target).expanduser())


def finetune(
    data: str | Data,
    model: str = DEFAULT_MODEL,
    *,
    engine: EngineInterface | None = None,
    seed: int = 0,
    teacher: TunedModel | None = None,
    **settings: object,
) -> TunedModel:
    """Tune a model on a built-in set, by its name, or on other data; ``settings`` are those of ``Settings``.

    With a ``teacher``, a classifier that was tuned on the same data, it learns from that one's scores, too. Raises
    InvalidInput for an unknown set, and what ``Finetune`` raises.
    """
    if isinstance(data, str):
        if data not in SETS:
            raise InvalidInput(f"There is no set “{data}” here. Choose one of {', '.join(SETS)}.")
        data = SETS[data].build()
    engine = engine or (teacher.engine if teacher else model_zoo.Engine())
    chosen = Settings(seed=seed, **settings)  # type: ignore[arg-type]
    soft = None
    if teacher is not None:
        texts = tuple((item.text, item.pair) for item in data.first(chosen.examples, seed).train)
        soft = engine.ask(SoftScores(teacher.id, texts))
    question = Finetune(model, data, chosen, tuned.new_id(), soft=soft)
    *_, outcome = engine.stream(question)
    assert isinstance(outcome, Tuned)
    return TunedModel(engine, outcome)
