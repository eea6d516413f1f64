"""View "Teacher and student": a small model learns from labels alone, and from what a larger one says as well."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from jobs.tuning import Candidate, Tuning
from model_zoo import DEFAULT_MODEL
from pages.train import side_by_side
from pages.train.scene import Scene
from training.finetuning.data import Data
from training.finetuning.results import Tuned
from training.finetuning.settings import Settings
from ui import Field, View, ask_for, number, widgets
from ui.tuned import short_name
from web.background import desk

_STUDENT = "embedded/tinybert"
_TEACHER_NAME = "Teacher"
_LOSS = (
    r"L = \alpha \,\mathrm{CE}(\text{labels}) + (1-\alpha)\, T^2 \,"
    r"\mathrm{KL}(\text{teacher}_T \,\|\, \text{student}_T)"
)

STUDENT: Field[str] = Field("student", _STUDENT, of="train")
ALPHA: Field[float] = Field("alpha", 0.3, number("the weight of the labels", 0, 1, step=0.1), of="train")
TEMPERATURE: Field[float] = Field("temperature", 2.0, number("the temperature", 0.1, 20, step=0.5), of="train")


class Distilling(Tuning):
    """A teacher and two students."""


def draw(scene: Scene) -> None:
    with widgets.controls():
        student = _ask_student()
        with widgets.popover("Loss", ":material/functions:"):
            st.latex(_LOSS)
            st.number_input("α", **ALPHA.bound, help="The weight of the labels; the teacher loss gets the rest.")
            st.number_input(
                "Temperature T",
                **TEMPERATURE.bound,
                help="Divides all logits before the softmax: the higher, the flatter the distribution.",
            )
        taught = candidates(scene.data, scene.settings, _teacher(scene), student, ALPHA.value, TEMPERATURE.value)
        side_by_side.button(Distilling, "Train teacher and students", taught, key="distil")
    if scene.data is not None and scene.data.kind != "classification":
        ask_for("Choose a classification task: distillation needs a teacher’s probabilities of labels.")
    job, runs = side_by_side.current(Distilling, taught, "distillation")
    side_by_side.draw_curves(job, runs, "distillation")
    st.caption(
        "With the teacher, the training loss is the whole sum L, so its thin line is not comparable; on the "
        "development split every loss is the cross-entropy with the labels."
    )
    _said(*(run.tuned for run in runs[1:]))
    side_by_side.put_python(job, runs, scene.user_data)
    side_by_side.show_table(runs, "distillation")


def _said(alone: Tuned | None = None, taught: Tuned | None = None) -> None:
    """What the two students came to; nothing until both have."""
    if alone is None or taught is None:
        return
    a, b = map(side_by_side.reached, (alone, taught))
    st.markdown(
        f"On this data and with this seed the student reaches **{a}** with labels alone and **{b}** with its teacher: "
        f"{side_by_side.differ(alone, taught)}."
    )


def _ask_student() -> str:
    known = side_by_side.encoders()
    if not widgets.may_be_named(STUDENT.value):
        STUDENT.value = STUDENT.default
    if STUDENT.value not in known:
        known.append(STUDENT.value)
    return str(st.selectbox("Student", known, **STUDENT.bound, format_func=short_name, width=260))


def _teacher(scene: Scene) -> str:
    """The model chosen above; the default one where that is the student itself."""
    return DEFAULT_MODEL if scene.model == STUDENT.value else scene.model


def candidates(
    data: Data | None, settings: Settings, teacher: str, student: str, alpha: float, temperature: float
) -> list[Candidate]:
    """The teacher, the student alone, and the student with its teacher; none without labels."""
    if data is None or data.kind != "classification":
        return []
    first = f"{_TEACHER_NAME}: {short_name(teacher)}"
    taught = replace(settings, alpha=alpha, temperature=temperature)
    return [
        Candidate(first, teacher, data, settings),
        Candidate(f"{short_name(student)}, labels alone", student, data, settings, keep=False),
        Candidate(f"{short_name(student)}, with the teacher", student, data, taught, teacher=first, keep=False),
    ]


VIEW: View[Scene] = View(
    "distillation",
    "Teacher and student",
    draw,
    about="A large model teaches a small one: the student learns the teacher’s probabilities, not only the right "
    "labels (Hinton et al. 2015).",
    more="The teacher is fine-tuned first. The student is then trained twice on the same examples: on their labels "
    "alone, and also on the teacher’s probabilities (soft targets), which show how confident it is of each label. At a "
    "higher temperature T small probabilities count more; with α = 1 the teacher has no influence.",
    fields=(STUDENT, ALPHA, TEMPERATURE),
    left_out=lambda _scene: "" if desk().current(Distilling) is None else side_by_side.NOT_IN_LINK,
    starts=True,
    tab=80,
    terms=("distillation", "soft targets"),
)
