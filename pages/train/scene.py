"""What every view of the page "Train" is given: the data, the model, the settings, and what the last run tuned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobs.tuning import Run
from model_zoo import registry
from model_zoo.types import TunedFor
from pages.train import choice, running
from pages.train.own_data import UserData
from training.finetuning.data import BuiltIn, Data
from training.finetuning.results import Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import Need, View, as_text, notes, widgets
from ui.own_texts import warn_of_unknown
from ui.precomputed import trainings
from ui.tuned import short_name
from web.engine import engine

_TRIES = 4


@dataclass(frozen=True, slots=True)
class Scene:
    """``data`` is None where own data cannot be read; ``built_in`` is its set, None for the visitor's own.

    ``tuned`` are the outcomes of the last run, one for each of its seeds; ``example`` is what came with the app, for
    as long as there are none; ``own`` is what was read of the visitor's own data.
    """

    data: Data | None
    built_in: BuiltIn | None
    model: str
    settings: Settings
    tuned: tuple[Tuned, ...]
    example: tuple[Tuned, ...] = ()
    user_data: UserData | None = None

    @property
    def outcomes(self) -> tuple[Tuned, ...]:
        """The outcomes to show: at least one in a view that needs results."""
        return self.tuned or self.example

    def lacks(self, need: Need) -> str | None:
        assert need == "results", need
        if self.outcomes:
            return None
        return "This opens once a model has been trained."

    @property
    def _chosen_is_tuned(self) -> bool:
        return registry.find(self.model) is None and engine().info(self.model).tuned_for is not None

    @property
    def last(self) -> Tuned | None:
        """What the last training made, unless another tuned model is chosen: from here, or loaded back."""
        if not self.tuned:
            return None
        first = self.tuned[0]
        return first if self.model in (first.base, first.id) or not self._chosen_is_tuned else None

    @property
    def to_try(self) -> str | None:
        """The tuned model that answers; None where there is none."""
        if self.last is not None:
            return self.last.id
        return self.model if self._chosen_is_tuned else None

    def tries(self, kind: TunedFor) -> tuple[tuple[str, str | None], ...]:
        """Examples for a model that was tuned for this: those of the set it was tuned on; of own data the first items
        of the test split; for a model that was tuned elsewhere those of a set of its kind.
        """
        if self.last is not None:
            data = self.last.data
            if data.name in SETS:
                return SETS[data.name].tries
            return tuple((item.text, item.pair) for item in data.test[:_TRIES])
        return next((built_in.tries for built_in in SETS.values() if built_in.kind == kind), ())


def make(view: View[Scene]) -> Scene:
    """Ask what to train and how, train it or show how far it is, and gather what came out."""
    with widgets.input_line():
        chosen = choice.draw()
        running.button(chosen, main=not view.starts)
    if chosen.user_data is not None:
        warn_of_unknown(chosen.model, ((item.text, item.pair) for item in chosen.user_data.data.train))
    training = running.last()
    tuned = () if training is None else training.tuned
    busy = training is not None and training.running
    runs = () if tuned or busy or view.starts else trainings.runs("train")
    running.draw(chosen, example=None if view.starts else _about(runs))
    example = tuple(run.tuned for run in runs if run.tuned is not None)
    return Scene(chosen.data, chosen.built_in, chosen.model, chosen.settings, tuned, example, chosen.user_data)


def _about(runs: Sequence[Run]) -> str:
    if not runs:
        return ""
    candidate = runs[0].candidate
    return f"**An example, computed before**: {as_text(f'{short_name(candidate.model)}, {candidate.data.title}')}."


def left_out(scene: Scene) -> str:
    """What is on the screen and not in the address."""
    missing = ["the file you uploaded"] if scene.built_in is None and scene.data is not None else []
    if scene.tuned:
        missing.append("the trained model: whoever opens the link has to train again, and on a CPU gets the same one")
    return notes.not_in_link(missing)
