"""Choosing what to train on, which model, and how."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from model_zoo import registry
from pages.train import fields, own_data
from pages.train.fields import OWN
from training.finetuning.data import BuiltIn, Data, Kind
from training.finetuning.scores import MEASURES, too_few_to_choose_by
from training.finetuning.seeds import scores_by_model
from training.finetuning.sets import SETS
from training.finetuning.settings import Learns, Settings, recommended_rate
from ui import Field, as_text, notes, widgets
from ui.tuned import short_name
from web.process import process_cache

KINDS: Mapping[Kind, str] = {
    "classification": "classification of texts or pairs",
    "tagging": "tags of words (NER)",
    "answering": "answers in a passage (extractive QA)",
    "similarity": "similarity of two texts (STS)",
}
_TEXTS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "settings.toml").read_text(encoding="utf-8")
)
_NUMBERS: tuple[Field[Any], ...] = (
    fields.RATE,
    fields.BATCH,
    fields.EPOCHS,
    fields.PATIENCE,
    fields.EXAMPLES,
    fields.WARMUP,
    fields.DECAY,
    fields.SEED,
    fields.SEEDS,
    fields.TOKENS,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the controls ask for. ``data`` is None where the visitor's own cannot be read."""

    data: Data | None
    built_in: BuiltIn | None
    model: str
    settings: Settings
    seeds: int
    user_data: own_data.UserData | None = None


@process_cache(most=len(SETS))
def _built(name: str) -> Data:
    """A built-in set, made once for everybody."""
    return SETS[name].build()


def draw() -> Choice:
    """All controls of the page, in the line of what is asked; what they ask for."""
    if fields.SET.value not in (*SETS, OWN):
        notes.complain([f"There is no data set “{fields.SET.value}” here. {SETS[fields.SET.default].title} is shown."])
        fields.SET.value = fields.SET.default
    chosen = st.selectbox(
        "Data",
        [*SETS, OWN],
        **fields.SET.bound,
        format_func=lambda name: "Your own data" if name == OWN else f"{SETS[name].title}: {KINDS[SETS[name].kind]}",
        label_visibility="collapsed",
        width=300,
    )
    built_in, user_data = SETS.get(chosen), None
    if built_in is None:
        with widgets.popover("Your own data", ":material/upload_file:"):
            user_data = own_data.draw(fields.SEED.value)
        data = user_data.data if user_data else None
    else:
        data = _built(chosen)
        with widgets.popover("About the data", ":material/description:", "about_data"):
            _about(built_in, data)
    model = widgets.model()
    with widgets.popover("How", ":material/tune:"):
        settings, seeds = _settings(model)
    return Choice(data, built_in, model, settings, seeds, user_data)


def _about(built_in: BuiltIn, data: Data) -> None:
    st.markdown(f"**{built_in.question}**")
    st.markdown("\n\n".join(filter(None, (built_in.card, _expected(data)))))
    sizes = f"{len(data.train):,} items to train, {len(data.dev):,} for development, {len(data.test):,} to test."
    st.caption(f"{sizes} {too_few_to_choose_by(data)}".strip())


def _expected(data: Data) -> str:
    """What was reached on the data, with training and without, in Markdown; "" where it has not been measured."""
    by_model, measure = scores_by_model(data), MEASURES[data.measure]
    if not by_model:
        return ""
    without = {model: f"{measure.format(of.baseline)} by {of.baseline_is}" for model, of in by_model.items()}
    alike = len(set(without.values())) == 1
    lines = []
    for model, of in by_model.items():
        interval = f"{measure.format(of.low)} to {measure.format(of.high)}"
        beside = "" if alike else f"; without fine-tuning {without[model]}"
        lines.append(f"- {as_text(short_name(model))}: {measure.format(of.mean)} ({interval}){beside}")
    if alike:
        lines.append(f"- Without fine-tuning: {next(iter(without.values()))}")
    n = max(len(of.values) for of in by_model.values())
    return (
        f"**What to expect.** {measure.title} on the test split, trained on all examples with the settings that “How” "
        f"opens with: the mean of {n} seeds, and its 95% interval over seeds and groups of items.\n\n"
    ) + "\n".join(lines)


def _recommended(model: str, learns: Learns) -> str:
    spec = registry.find(model)
    if spec is None:
        return "automatic"
    return f"auto: {recommended_rate(learns, spec.width, spec.attention):g}"


def _settings(model: str) -> tuple[Settings, int]:
    """The settings, and how many seeds."""
    learns = widgets.choice("Weights to train", fields.LEARN)
    st.caption(_TEXTS["learns"][learns])
    left, right = st.columns(2)
    if learns == "top":
        left.number_input("Layers to train", **fields.LAYERS.bound, help="Counted from the output.")
    if learns == "lora":
        left.number_input(
            "Rank", **fields.RANK.bound, help="Columns of the small matrices: more columns can learn more."
        )
    if learns != "head":
        fields.HEAD_FIRST.value = min(fields.HEAD_FIRST.value, fields.EPOCHS.value)
        (left if learns == "all" else right).number_input(
            "Head-only epochs first",
            **fields.HEAD_FIRST.bound | {"max_value": fields.EPOCHS.value},
            help=(
                "The new task head is trained first, then everything, so that its early errors do not disturb the "
                "encoder. (ULMFiT’s gradual unfreezing goes on layer by layer, Howard & Ruder 2018; here it is "
                "the head first, then all.)"
            ),
        )
    for column, field in zip(itertools.cycle(st.columns(2)), _NUMBERS):
        options: dict[str, Any] = dict(_TEXTS[field.name])
        if field is fields.RATE:
            options["placeholder"] = _recommended(model, learns)
        column.number_input(options.pop("label"), **field.bound, **options)
    patience, examples = fields.PATIENCE.value, fields.EXAMPLES.value
    settings = Settings(
        learns=learns,
        layers=fields.LAYERS.value,
        rank=fields.RANK.value,
        head_first=0 if learns == "head" else min(fields.HEAD_FIRST.value, int(fields.EPOCHS.value)),
        rate=fields.RATE.value,
        batch=int(fields.BATCH.value),
        epochs=int(fields.EPOCHS.value),
        patience=None if patience is None else int(patience),
        warmup=fields.WARMUP.value,
        weight_decay=fields.DECAY.value,
        seed=int(fields.SEED.value),
        max_tokens=int(fields.TOKENS.value),
        examples=None if examples is None else int(examples),
    )
    return settings, int(fields.SEEDS.value)
