"""Choosing what to train on, which model, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from model_zoo import registry
from pages.train import fields, own_data
from pages.train.fields import OWN
from training.finetuning.data import BuiltIn, Data, Kind
from training.finetuning.scores import MEASURES, too_few_to_choose_by
from training.finetuning.seeds import scores_by_model
from training.finetuning.sets import SETS
from training.finetuning.settings import Learns, Settings, recommended_rate
from ui import as_text, notes, widgets
from ui.tuned import short_name
from web.process import process_cache

KINDS: Mapping[Kind, str] = {
    "classification": "classification of texts or pairs",
    "tagging": "tags of words (NER)",
    "answering": "answers in a passage (extractive QA)",
    "similarity": "similarity of two texts (STS)",
}
_ABOUT_LEARNS: Mapping[Learns, str] = {
    "all": "All weights are trained. Usually the best scores, and the slowest.",
    "top": "The layers near the output and the task head are trained; lower layers stay frozen.",
    "lora": "The weights stay frozen; beside each matrix that makes queries or values, two small ones are trained "
    "(Hu et al. 2022). Far fewer weights are trained.",
    "head": "Task head only, encoder frozen (feature-based, as ELMo was used). The fastest: the model reads every "
    "text once.",
}


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
    st.caption(_ABOUT_LEARNS[learns])
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
    left, right = st.columns(2)
    rate = left.number_input(
        "Learning rate",
        **fields.RATE.bound,
        format="%.7g",
        placeholder=_recommended(model, learns),
        help="How far a step goes. For all weights of BERT base, 0.00002 to 0.00005 is recommended (Devlin et al. "
        "2019); ten times that can destroy what pretraining taught. Narrower models take larger steps, and so "
        "do LoRA and the head, which start untrained. Empty: the recommended rate.",
    )
    batch = right.number_input("Batch", **fields.BATCH.bound, help="Examples per step. 16 or 32 is recommended.")
    epochs = left.number_input(
        "Epochs", **fields.EPOCHS.bound, help="How often each example is seen. Devlin et al. 2019 used 2 to 4."
    )
    patience = right.number_input(
        "Patience, epochs",
        **fields.PATIENCE.bound,
        placeholder="all epochs",
        help="Early stopping: training ends when the score on the development split has not risen for so many epochs. "
        "Empty: all epochs are trained. Either way the weights of the epoch with the best score are kept.",
    )
    examples = left.number_input(
        "Examples",
        **fields.EXAMPLES.bound,
        placeholder="all",
        help="How many of the training split are used. Use fewer to see what little data can do.",
    )
    warmup = right.number_input(
        "Warm-up",
        **fields.WARMUP.bound,
        help="The share of steps in which the rate rises to its maximum, before it falls. 0.06 to 0.1 is usual.",
    )
    decay = left.number_input(
        "Weight decay",
        **fields.DECAY.bound,
        format="%.3f",
        help="Pulls the weights a little towards 0 at each step. 0.01 is usual.",
    )
    seed = right.number_input(
        "Seed",
        **fields.SEED.bound,
        help=(
            "Sets the task head’s random start and the order of the examples. On a CPU the same seed gives the "
            "same model."
        ),
    )
    seeds = left.number_input(
        "Seeds",
        **fields.SEEDS.bound,
        help="Trains again with the next seeds. With few examples the seed alone can move the score by several "
        "points: the band shows by how much.",
    )
    tokens = right.number_input(
        "Longest text, tokens", **fields.TOKENS.bound, help="Longer texts are cut during training."
    )
    settings = Settings(
        learns=learns,
        layers=fields.LAYERS.value,
        rank=fields.RANK.value,
        head_first=0 if learns == "head" else min(fields.HEAD_FIRST.value, int(epochs)),
        rate=rate,
        batch=int(batch),
        epochs=int(epochs),
        patience=None if patience is None else int(patience),
        warmup=warmup,
        weight_decay=decay,
        seed=int(seed),
        max_tokens=int(tokens),
        examples=None if examples is None else int(examples),
    )
    return settings, int(seeds)
