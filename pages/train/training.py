"""View "Training": the curves while a model learns, and afterwards; the tuned model to open and to save."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from jobs.tuning import Run
from model_zoo import tuned
from model_zoo.errors import ModelZooError
from model_zoo.types import counted
from pages.train import curves, python_lines, running
from pages.train.scene import Scene
from training.finetuning.data import BuiltIn, Data, Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.entities import type_of
from training.finetuning.folder import copy, epoch_kept, learned
from training.finetuning.scores import MEASURES
from ui import View, as_python, as_text, ask_for, page_link, save, widgets
from ui.precomputed import trainings
from viz.layout import clipped
from web.engine import engine
from web.settings import settings

_ABOUT_CURVES = (
    "**Loss** is what training reduces: for labels it is minus the log of the probability of the right one "
    "(cross-entropy). The thin line is the training loss, the line with markers the loss on the development split, "
    "which the model is not trained on. If the first falls while the second rises, the model is overfitting. Of all "
    "epochs the one with the best score on the development split is kept (of equal ones that with the lower loss). The "
    "scores that count come from the test split, under “Results”: it is used once, at the end, on what was kept."
)
_SHOWN = 5  # examples
_LONGEST_CELL = 160  # characters
_OPENED_ON = {"attention": "Attention", "layers": "Layers", "sentence_vectors": "Sentence vectors"}


def draw(scene: Scene) -> None:
    training = running.last()
    if training is None or not (training.running or any(run.evaluated for run in training.runs)):
        runs = trainings.runs("train")
        if runs and training is None:
            curves.draw(runs, [run.candidate.name for run in runs], "training")
            _put_python(scene, runs)
        if scene.data is not None:
            _draw_examples(scene.data.first(scene.settings.examples, scene.settings.seed), scene.built_in)
        else:
            ask_for("Upload data under “Your own data”, or choose a built-in set.")
        return
    runs = training.runs
    curves.draw(runs, [_name(run) for run in runs], "training", job=training)
    if not training.running and not training.can_go_on:
        _put_python(scene, [run for run in runs if run.tuned is not None])
    if not training.running:
        differs = _differs(scene, runs) or runs[0].candidate.settings != scene.settings
        if not differs and len(runs) == 1 and runs[0].tuned is not None:
            running.offer_more_seeds(training)
        for run in training.kept[::-1]:
            _to_take_away(run)


def _put_python(scene: Scene, runs: Sequence[Run]) -> None:
    """The development split after each epoch, and the loss at each step, of all seeds."""
    if not runs:
        return
    several = len(runs) > 1
    lines = python_lines.tune_seeds([run.tuned for run in runs if run.tuned is not None], scene.user_data)
    evaluated = python_lines.of_outcomes("evaluated", "epoch", several=several)
    as_python.put(
        lines + f"numbers = pd.DataFrame({evaluated})",
        lambda: pd.DataFrame([evaluation for run in runs for evaluation in run.evaluated]),
    )
    as_python.put(
        f"numbers = np.array([step.loss for step in {python_lines.of_outcomes('steps', 'step', several=several)}])",
        lambda: np.array([step.loss for run in runs for step in run.steps]),
        part="The training loss at each step",
    )


def _name(run: Run) -> str:
    """The name of a run without its seed: seeds of one model make a band."""
    return run.candidate.name.removesuffix(f", seed {run.candidate.settings.seed}")


def _differs(scene: Scene, runs: tuple[Run, ...]) -> bool:
    candidate = runs[0].candidate
    differs = (candidate.model, candidate.data) != (scene.model, scene.data)
    if differs:
        st.info(
            as_text(f"This is the last training ({candidate.name}); the data or model chosen above has changed since."),
            icon=":material/history:",
        )
    return differs


def _to_take_away(run: Run) -> None:
    """What a model reached, where it can be opened, and its files."""
    outcome = run.tuned
    if outcome is None:
        return
    score = outcome.score()
    measure = MEASURES[score.measure]
    beside = (
        ""
        if score.strongest_baseline is None
        else f" ({measure.format(score.strongest_baseline)} by {outcome.strongest_baseline})"
    )
    with st.container(border=True, key=f"tuned {run.id.removeprefix(tuned.PREFIX)}"):
        st.markdown(
            f"**{as_text(run.candidate.name)}** · "
            f"{measure.title} {measure.format(score.value)} on the test split{beside} · "
            f"{as_text(learned(outcome.settings))} · {epoch_kept(outcome)} · {outcome.seconds:,.0f} s"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            for page, title in _OPENED_ON.items():
                page_link(page, f"Open on {title}", model=run.id)
            page_link("compare", "Compare with the original", models=(outcome.base, run.id))
            name = re.sub(r"[^\w.-]+", "-", f"{outcome.data.title.lower()}-{os.path.basename(outcome.base)}").lstrip(
                ".-"
            )
            save.model(
                "Save the model",
                run.id,
                name,
                "A zip file with safetensors, tokenizer and a model card. Unpack it to load it with transformers, or "
                "type its path as the model here.",
            )
            if settings().any_model:
                with widgets.popover("Save as a folder", ":material/save:"):
                    _save(run, name)


def _save(run: Run, name: str) -> None:
    """Ask where to save a model, and say what came of it; each model has its own button."""
    place, typed, came = str(Path.home() / "tuned" / name), f"folder {run.id}", f"saved {run.id}"
    st.text_input("Folder on the machine that runs the app", key=typed, placeholder=place, persist_state="session")

    def write() -> None:
        target = Path(os.path.expanduser(st.session_state[typed].strip() or place))
        try:
            st.session_state[came] = copy(engine().tuned_folder(run.id), target)
        except ModelZooError as error:
            st.session_state[came] = str(error)

    st.button("Save", key=f"save {run.id}", on_click=write)
    saved = st.session_state.get(came)
    if isinstance(saved, Path):
        st.success(as_text(f"Saved. Type {saved} as the model on any page to load it."))
    elif saved is not None:
        st.warning(as_text(saved), icon=":material/edit:")


def _draw_examples(data: Data, built_in: BuiltIn | None) -> None:
    """The question, and items of the training split as a table."""
    st.subheader(built_in.question if built_in else "What it will learn from", anchor=False)
    n = len(data.train)
    st.table(example_table(data.first(_SHOWN, 0).train))
    count_text = f"{min(_SHOWN, n)} of {counted(n, 'training example')}" if n > _SHOWN else "All training examples"
    st.caption(f"{count_text}, with the correct answers.")


def example_table(items: Sequence[Item]) -> pd.DataFrame:
    """An item a row: its text or texts, and what is true of it. Items are of one kind."""
    rows = [{name: as_text(clipped(text, _LONGEST_CELL)) for name, text in _row(item).items()} for item in items]
    frame = pd.DataFrame(rows)
    return frame.set_index(frame.columns[0])


def _row(item: Item) -> dict[str, str]:
    match item:
        case Labelled():
            second = {} if item.pair is None else {"second text": item.pair}
            return {"text": item.text, **second, "label": item.label}
        case Tagged():
            return {"text": item.text, "entities": _entities(item)}
        case PassageQuestion():
            answers = " | ".join(dict.fromkeys(text for _, text in item.answers))
            passage = _around(item.pair, item.answers[0][0] if item.answers else 0)
            return {"question": item.text, "passage": passage, "answer": answers or "(no answer)"}
        case Scored():
            return {"text": item.text, "second text": item.pair, "score": f"{item.score:g}"}


def _around(passage: str, place: int) -> str:
    """The passage from some words before a character on."""
    start = max(0, passage.rfind(" ", 0, max(0, place - _LONGEST_CELL // 3)) + 1)
    return f"… {passage[start:]}" if start else passage


def _entities(item: Tagged) -> str:
    """Each entity with its type: “Maria Rossi” (PERSON)."""
    entities: list[tuple[list[str], str]] = []
    for word, tag in zip(item.words, item.tags, strict=True):
        if tag.startswith("B-"):
            entities.append(([word], type_of(tag)))
        elif tag.startswith("I-"):
            entities[-1][0].append(word)
    return ", ".join(f"“{' '.join(words)}” ({of})" for words, of in entities) or "none"


VIEW: View[Scene] = View(
    "train",
    "Training",
    draw,
    about="Choose data and a model, press **Train**, and watch the loss fall and the score rise.",
    more=_ABOUT_CURVES,
    tab=10,
    terms=("fine-tuning", "overfitting", "early stopping", "weight decay"),
)
