"""Choosing what to train on, which model, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from model_zoo import registry
from pages.train import fields, own_data
from pages.train.fields import OWN
from training.finetuning.data import BuiltIn, Data, Kind
from training.finetuning.sets import SETS
from training.finetuning.settings import Learns, Settings, recommended_rate
from ui import notes, widgets
from web.process import kept

KINDS: Mapping[Kind, str] = {
    "classification": "labels of texts or pairs",
    "tagging": "tags of words",
    "answering": "answers in a passage",
    "similarity": "how alike two texts are",
}
_ABOUT_LEARNS: Mapping[Learns, str] = {
    "all": "Every weight may change. Usually the best scores, and the slowest.",
    "top": "The layers near the output and the head change; what lies below stays as it was.",
    "lora": "The weights stay, and a small matrix is learnt beside each that makes queries or values "
    "(Hu et al. 2022). Far fewer weights learn.",
    "head": "The model stays as it is, and only the head on top of it learns (feature-based, as ELMo was used). The "
    "fastest: the model reads every text once.",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What the controls ask for. ``data`` is None where the visitor's own cannot be read."""

    data: Data | None
    built_in: BuiltIn | None
    model: str
    settings: Settings
    seeds: int


@kept(most=len(SETS))
def _built(name: str) -> Data:
    """A built-in set, made once for everybody."""
    return SETS[name].build()


def draw() -> Choice:
    """All controls of the page, in the line of what is asked; what they ask for."""
    if fields.SET.value not in (*SETS, OWN):
        notes.complaints([f"There is no set “{fields.SET.value}” here. {SETS[fields.SET.default].title} is shown."])
        fields.SET.value = fields.SET.default
    chosen = st.selectbox(
        "Data",
        [*SETS, OWN],
        **fields.SET.bound,
        format_func=lambda name: "Your own data" if name == OWN else f"{SETS[name].title}: {KINDS[SETS[name].kind]}",
        label_visibility="collapsed",
        width=300,
    )
    built_in = SETS.get(chosen)
    if built_in is None:
        with widgets.popover("Your own data", ":material/upload_file:"):
            data = own_data.draw(fields.SEED.value)
    else:
        data = _built(chosen)
        with widgets.popover("About the data", ":material/description:"):
            _about(built_in, data)
    model = widgets.model()
    with widgets.popover("How", ":material/tune:"):
        settings, seeds = _settings(model)
    return Choice(data, built_in, model, settings, seeds)


def _about(built_in: BuiltIn, data: Data) -> None:
    st.markdown(f"**{built_in.question}**")
    st.markdown(built_in.card)
    st.caption(f"{len(data.train):,} items to train, {len(data.dev):,} for development, {len(data.test):,} to test.")


def _recommended(model: str, learns: Learns) -> str:
    spec = registry.find(model)
    if spec is None:
        return "automatic"
    return f"auto: {recommended_rate(learns, spec.width, spec.attention):g}"


def _settings(model: str) -> tuple[Settings, int]:
    """The settings, and how many seeds."""
    learns = widgets.choice("Which weights learn", fields.LEARN)
    st.caption(_ABOUT_LEARNS[learns])
    left, right = st.columns(2)
    if learns == "top":
        left.number_input("Layers that learn", **fields.LAYERS.bound, help="Counted from the output.")
    if learns == "lora":
        left.number_input("Rank", **fields.RANK.bound, help="Columns of the small matrices: more learn more.")
    if learns != "head":
        fields.HEAD_FIRST.value = min(fields.HEAD_FIRST.value, fields.EPOCHS.value)
        (left if learns == "all" else right).number_input(
            "Epochs of the head alone first",
            **fields.HEAD_FIRST.bound | {"max_value": fields.EPOCHS.value},
            help="Gradual unfreezing: the new head learns first, so that its early mistakes do not disturb the model.",
        )
    left, right = st.columns(2)
    rate = left.number_input(
        "Learning rate",
        **fields.RATE.bound,
        format="%.7g",
        placeholder=_recommended(model, learns),
        help="How far a step goes. For all weights of BERT base 0.00002 to 0.00005 are recommended; ten times as much "
        "destroys what it knows. Narrower models take larger steps, and so do LoRA and the head, which begin at "
        "nothing. Empty is the recommended one.",
    )
    epochs = right.number_input(
        "Epochs", **fields.EPOCHS.bound, help="How often every example is seen. 3 to 5 are recommended."
    )
    batch = left.number_input(
        "Batch", **fields.BATCH.bound, help="Examples that make one step. 16 or 32 are recommended."
    )
    examples = right.number_input(
        "Examples",
        **fields.EXAMPLES.bound,
        placeholder="all",
        help="How many of the training split are used. Fewer show what little data can do.",
    )
    warmup = left.number_input(
        "Warm-up",
        **fields.WARMUP.bound,
        help="The share of the steps in which the rate rises to its highest, before it falls. 0.06 to 0.1 are usual.",
    )
    decay = right.number_input(
        "Weight decay",
        **fields.DECAY.bound,
        format="%.3f",
        help="Draws the weights a little towards 0 at each step. 0.01 is usual.",
    )
    seed = left.number_input(
        "Seed",
        **fields.SEED.bound,
        help="Decides how the head begins and the order of the examples. On a CPU the same seed gives the same model.",
    )
    seeds = right.number_input(
        "Seeds",
        **fields.SEEDS.bound,
        help="Trains again with the next seeds. With few examples the seed alone moves the score by several points: "
        "the band shows by how much.",
    )
    tokens = left.number_input(
        "Longest text, tokens", **fields.TOKENS.bound, help="Longer texts are cut while the model trains."
    )
    settings = Settings(
        learns=learns,
        layers=fields.LAYERS.value,
        rank=fields.RANK.value,
        head_first=0 if learns == "head" else min(fields.HEAD_FIRST.value, int(epochs)),
        rate=rate,
        batch=int(batch),
        epochs=int(epochs),
        warmup=warmup,
        weight_decay=decay,
        seed=int(seed),
        max_tokens=int(tokens),
        examples=None if examples is None else int(examples),
    )
    return settings, int(seeds)
