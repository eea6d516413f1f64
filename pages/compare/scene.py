"""What every view of the page "Compare" is given: the models that could be loaded, the texts, and who is A and B."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.alignment import Alignment, align
from model_zoo import text as texts
from model_zoo.errors import Busy, InvalidInput, NotDownloaded, NotSupported, OutOfMemory, Unreachable
from model_zoo.types import Encoding, ModelInfo, megabytes
from pages.compare import choice
from pages.compare.choice import name
from pages.compare.fields import BESIDE, MASKS
from ui import (
    TEXT,
    Need,
    View,
    address,
    as_python,
    as_text,
    caption,
    failures_as_messages,
    join_names,
    note,
    notes,
    say_cut,
    widgets,
)
from web.engine import engine

Result = TypeVar("Result")

_FAILED = "models_failed"
_QUICK = 0.3  # seconds in which models that are in memory answer; nothing is announced before
_BETWEEN_LOOKS = 0.5
_ANEW = (NotDownloaded, Unreachable, Busy)
COLUMNS = 2  # pictures beside each other; more would be too small to read


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """``models`` are those that were loaded, in the order chosen; ``failed`` says of the others why not.

    ``a`` is the reference, ``b`` what it is compared with; both are the same where one model was chosen.
    """

    chosen: tuple[str, ...]
    infos: Mapping[str, ModelInfo]
    failed: Mapping[str, Exception]
    beside: int
    text: str
    pair: str | None

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(model for model in self.chosen if model in self.infos)

    @property
    def a(self) -> str:
        return self.models[0]

    @property
    def b(self) -> str:
        """The model chosen for it; another one, or A itself, where that could not be loaded."""
        if self.beside == 1:
            return self.a
        others = [model for model in self.models if model != self.a]
        wanted = self.chosen[self.beside - 1]
        return wanted if wanted in others else (others or self.models)[0]

    def name(self, model: str) -> str:
        return name(model, self.chosen)

    def of_each(self, models: Sequence[str], noun: str, expression: str) -> str:
        """Lines of Python that bind a list, named by its ``noun``, to an expression of each ``model``."""
        return f"models = {as_python.literal(list(models))}\n{noun}s = [{expression} for model in models]\n"

    def texts_in_python(self, **named: object) -> str:
        """The text, or both, as the last arguments of a call."""
        return as_python.arguments(self.text, self.pair, **named)

    def lacks(self, need: Need) -> str | None:
        """Nothing: what one of the models cannot do is said in its place, and the others are shown."""
        raise AssertionError(need)

    def check(self) -> None:
        """Raises InvalidInput, once for all models, for a text that none of them could read."""
        texts.check(self.text, "The text" if self.pair is None else "The first text")
        if self.pair is not None:
            texts.check(self.pair, "The second text")


def make(view: View[Scene]) -> Scene | None:
    """Ask for the text and the models, and load them; None where none of them could be loaded.

    B is asked for where the view has a field for it. Raises InvalidInput where no model is chosen.
    """
    if address.opens_on_example((TEXT, MASKS)):
        address.put({MASKS: (3,)})
    with widgets.input_line():
        text, pair = widgets.texts()
    chosen, beside = choice.models(with_b=BESIDE in view.fields)
    if not chosen:
        raise InvalidInput("No model is chosen. Choose two to four.")
    infos, failed = load(chosen)
    scene = Scene(chosen=chosen, infos=infos, failed=failed, beside=beside, text=text, pair=pair)
    _failures(scene)
    _say_unknown(scene)
    return scene if scene.models else None


def load(models: Sequence[str]) -> tuple[dict[str, ModelInfo], dict[str, Exception]]:
    """Load models beside each other, each with a line that says how far it is; what failed is kept with its reason.

    A failure stays until another try is asked for: otherwise every click would wait for the hub again. Only a
    download that waits for consent is looked at anew, and a cluster that did not answer.
    """
    kept: dict[str, Exception] = st.session_state.get(_FAILED, {})
    failed = {model: error for model, error in kept.items() if model in models and not isinstance(error, _ANEW)}
    infos: dict[str, ModelInfo] = {}
    outcomes = gather([model for model in models if model not in failed], engine().info, "loading")
    for model, outcome in outcomes.items():
        if isinstance(outcome, Exception):
            failed[model] = outcome
        else:
            infos[model] = outcome
    _refuse_what_does_not_fit(infos, failed)
    st.session_state[_FAILED] = failed
    return infos, failed


def _refuse_what_does_not_fit(infos: dict[str, ModelInfo], failed: dict[str, Exception]) -> None:
    """Models that only fit into memory one at a time would throw each other out with every click."""
    used = 0
    for model, info in list(infos.items()):
        size = info.parameters * (4 if info.dtype == "float32" else 2)
        budget = engine().model_budget
        if used + size > budget:
            del infos[model]
            failed[model] = OutOfMemory(
                f"{name(model)} does not fit into memory with the others: together they need "
                f"{megabytes(used + size)}, and this app may use {megabytes(budget)} for models. Leave one out, or "
                "choose a smaller one."
            )
        else:
            used += size


def gather(models: Sequence[str], call: Callable[[str], Result], doing: str) -> dict[str, Result | Exception]:
    """``call`` of every model, in threads; its result or what it raised, in the order of the models.

    The threads draw nothing: the page's own thread watches them.
    """
    if not models:
        return {}
    pool = ThreadPoolExecutor(len(models), thread_name_prefix="compare")
    began = time.monotonic()
    futures = {model: pool.submit(call, model) for model in models}
    pool.shutdown(wait=False)  # takes no more calls; those at work go on even if the visitor leaves
    place = st.empty()
    if wait(futures.values(), timeout=_QUICK).not_done:
        _watch(futures, place, began, doing)
    place.empty()
    return {model: future.exception() or future.result() for model, future in futures.items()}  # type: ignore[misc]


def _watch(futures: Mapping[str, Future[Result]], place: DeltaGenerator, began: float, doing: str) -> None:
    with place.container():
        lines = {model: st.status(_line(model, doing, began)) for model in futures}
    open_ = dict(futures)
    while open_:
        done = wait(open_.values(), timeout=_BETWEEN_LOOKS, return_when=FIRST_COMPLETED).done
        for model, future in list(open_.items()):
            if future not in done:
                lines[model].update(label=_line(model, doing, began))
                continue
            del open_[model]
            seconds = f"{time.monotonic() - began:.1f} s"
            if future.exception() is None:
                lines[model].update(label=as_text(f"{name(model)}: done in {seconds}"), state="complete")
            else:
                lines[model].update(label=as_text(f"{name(model)}: failed after {seconds}"), state="error")


def _line(model: str, doing: str, began: float) -> str:
    return as_text(f"{name(model)}: {doing}, {time.monotonic() - began:.0f} s")


def call_each(models: Sequence[str], call: Callable[[str], Result]) -> dict[str, Result | Exception]:
    """``call`` of every model, one after the other; its result or what it raised."""
    outcomes: dict[str, Result | Exception] = {}
    for model in models:
        try:
            outcomes[model] = call(model)
        except Exception as error:
            outcomes[model] = error
    return outcomes


def successes(outcomes: Mapping[str, Result | Exception]) -> dict[str, Result]:
    """What worked."""
    return {model: outcome for model, outcome in outcomes.items() if not isinstance(outcome, Exception)}


def common_words_in_python(answers: str, n: int) -> str:
    """A line that binds ``alignment`` to the common words of the ``n`` encodings of ``answers``."""
    return f"alignment = align([answer.encoding for answer in {answers}]{' * 2' * (n == 1)})\n"


def common_words(scene: Scene, encodings: Mapping[str, Encoding]) -> Alignment:
    """The words that all these models see whole; says what is left out of the comparison, and why.

    ``units`` follow the order of ``encodings``; a single one is aligned with itself.
    """
    several = list(encodings.values())
    alignment = align(several if len(several) > 1 else several * 2)
    summary = alignment.summary([scene.name(model) for model in (*encodings, *encodings)][: len(alignment.units)])
    if summary:
        say_cut(summary)
    return alignment


def _say_unknown(scene: Scene) -> None:
    """What the models' vocabularies do not have, each thing once; what is wrong with the text, the views say."""
    encodings = successes(call_each(scene.models, lambda model: engine().encode(model, scene.text, scene.pair)))
    of: dict[str, list[str]] = {}
    for model, encoding in encodings.items():
        of.setdefault(notes.not_in_vocabulary([encoding], model), []).append(scene.name(model))
    for unknown, names in of.items():
        if unknown:
            note(unknown if len(of) == 1 else f"{join_names(names)}: {unknown}")


def _failures(scene: Scene) -> None:
    """Why models could not be loaded, beside each other, with a button to try again."""
    failed = [model for model in scene.chosen if model in scene.failed]
    for model, column in zip(failed, st.columns(len(failed)) if failed else (), strict=True):
        with column:
            st.markdown(f"**{as_text(scene.name(model))}**")
            show_failure(scene.failed[model])
    if any(not isinstance(error, NotDownloaded) for error in scene.failed.values()):
        st.button("Try again", on_click=lambda: st.session_state.pop(_FAILED, None), icon=":material/refresh:")
    if scene.models and not {scene.chosen[0], scene.chosen[scene.beside - 1]} <= set(scene.models):
        names = scene.name(scene.a), "itself" if scene.a == scene.b else scene.name(scene.b)
        caption(f"Meanwhile {names[0]} is compared with {names[1]}.")


def about_models(scene: Scene) -> None:
    """What each of the models is, in a line."""
    for model in scene.models:
        info = scene.infos[model]
        parameters = f"{info.parameters / 1e6:.1f} M parameters"
        facts = f"{info.size}, width {info.width}, {parameters}, revision {info.revision[:14]}"
        st.caption(f"**{as_text(scene.name(model))}:** {as_text(facts)}.")


def draw_columns(
    scene: Scene,
    outcomes: Mapping[str, Result | Exception],
    draw: Callable[[str, Result], None],
    columns: int = COLUMNS,
    *,
    row_name: str = "models",
    named: bool = True,
) -> None:
    """``draw`` every model's result under its name, ``columns`` in a row; what went wrong stands in its place.

    ``draw`` itself names the models where they are not to be ``named``. Several such rows in a view are told apart by
    ``what`` they show.
    """
    for (model, outcome), place in zip(
        outcomes.items(), rows_of_columns(len(outcomes), columns, row_name), strict=True
    ):
        with place:
            if named or isinstance(outcome, Exception):
                st.markdown(f"**{as_text(scene.name(model))}**")
            if isinstance(outcome, Exception):
                show_failure(outcome)
                continue
            with failures_as_messages():
                draw(model, outcome)


def rows_of_columns(n: int, columns: int = COLUMNS, row_name: str = "models") -> Iterator[DeltaGenerator]:
    """``n`` places in rows of ``columns``; one that would stand alone in its row has all of it.

    Where the window is too narrow for columns, a row scrolls sideways: pictures below each other could not be compared.
    """
    rows = st.container(key=f"beside {row_name}")
    for start in range(0, n, columns):
        here = min(columns, n - start)
        yield from rows.columns(1 if here == 1 else columns, gap="medium")[:here]


def say_failures(scene: Scene, outcomes: Mapping[str, object]) -> None:
    """What went wrong, each thing once: what models cannot do in a line, the rest as the failure it is."""
    for model, outcome in outcomes.items():
        if isinstance(outcome, NotSupported):
            caption(str(outcome))
        elif isinstance(outcome, Exception):
            st.markdown(f"**{as_text(scene.name(model))}**")
            show_failure(outcome)


def show_failure(error: Exception) -> None:
    """What a model cannot do is told like any other difference; the rest is a failure."""
    if isinstance(error, NotSupported):
        st.info(as_text(str(error)), icon=":material/block:")
        return
    with failures_as_messages():
        raise error
