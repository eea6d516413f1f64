"""Controls that several pages share, and the fields behind them: the text, its masks, the model, the head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model_zoo import DEFAULT_MODEL, registry
from model_zoo.text import refuse_too_long
from model_zoo.tuned import is_id
from model_zoo.types import AttentionRun, ModelSpec
from ui import address, lesson_links, notes, size_card, tuned
from ui.examples import Examples
from ui.field import Field, count, place, places
from ui.messages import join_names
from viz.direction import direction_of
from web.settings import settings

Option = TypeVar("Option")


def no_line_breaks_around(text: str) -> str:
    """A line break at the end of a text is not part of it."""
    return text.strip("\r\n")


TEXT: Field[str] = Field(
    "text", "The cat sat on the mat because it was tired.", always=True, clean=no_line_breaks_around
)
PAIR: Field[str] = Field("pair", "", clean=no_line_breaks_around)
MODEL: Field[str] = Field("model", DEFAULT_MODEL, always=True)
# The head in which “it” can be seen to look at “cat” in the app's own sentence.
LAYER: Field[int] = Field("layer", 2, count("layer"), always=True)
HEAD: Field[int] = Field("head", 4, count("head"), always=True)

# The tokens of the text that are masked by a click, from 0, and which of all masks is followed, from 0 among them.
MASKS: Field[tuple[int, ...]] = Field("masks", (), places("masks"), always=True)
MASK: Field[int] = Field("mask", 0, place("the mask"))

STEPPER = 176  # px, with its label


def input_line(name: str = "") -> DeltaGenerator:
    """The line of a page's inputs: texts, model, examples. It wraps in a narrow window. A second one has a name."""
    return st.container(horizontal=True, vertical_alignment="top", gap="small", key=f"inputs {name}".strip())


def controls(name: str = "") -> DeltaGenerator:
    """The line of a view's controls, right above its picture, their labels beside them. A second one has a name."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"controls {name}".strip())


def running_as(words: Iterable[str], key: str) -> AbstractContextManager[object]:
    """A place for buttons of words, which runs from the right where a text of these words does."""
    return st.container(key=f"right to left {key}") if direction_of(words) == "rtl" else nullcontext()


def popover(label: str, icon: str, key: str | None = None) -> DeltaGenerator:
    """A small button in a line of controls, and what it opens."""
    return st.popover(label, icon=icon, width="content", key=key)


def texts(second: bool = True) -> tuple[str, str | None]:
    """A text and, if ``second``, a second one, in the line of what is asked. Returns what was typed.

    Raises InvalidInput for a text that is too long.
    """
    text = text_area("Text", TEXT)
    if not second:
        return short_enough(text), None
    pair = text_area("Second text (optional)", PAIR)
    if not pair.strip():
        return short_enough(text), None
    return short_enough(text, "The first text"), short_enough(pair, "The second text")


def text_area(label: str, field: Field[str]) -> str:
    """A text on one line, which grows while one writes in it."""
    return st.text_area(label, **field.bound, height=68, placeholder=label, label_visibility="collapsed")


def short_enough(text: str, noun: str = "The text") -> str:
    """The text itself if it is not too long to be read; otherwise InvalidInput says so.

    The browser would not say that it refuses or cuts what is pasted, so it is not told of the limit.
    """
    refuse_too_long(text, noun, settings().longest_text)
    return text


def try_example(examples: Examples) -> None:
    """The titles of a page's examples behind a button; a click puts the page into that example's state."""

    def use(place: int) -> None:
        lesson_links.close()
        address.put(examples.state(examples.all[place]))

    offers("Examples", ":material/lightbulb:", [example.title for example in examples.all], use, "examples")


def open_with_first(examples: Examples, untouched: Sequence[Field[Any]], sets: Sequence[Field[Any]]) -> None:
    """On a first visit set the fields ``sets`` as in the first example, if those of ``untouched`` are untouched."""
    if address.opens_on_example(untouched):
        opening = examples.state(examples.all[0])
        address.put({field: opening[field] for field in sets})


def page_link(page: str, label: str, icon: str | None = None, /, **values: Any) -> None:
    """A link to another page by its name; it sets some of that page's fields, by their names."""
    st.page_link(address.path(page), label=label, icon=icon, query_params=address.link(page, **values))


def model() -> str:
    """A model of the registry or, where that is allowed, any Hugging Face id or folder typed in."""
    known = [*registry.MODELS, *tuned.session_models()]
    chosen = MODEL.value
    if chosen not in (None, *known):
        if may_be_named(chosen):
            known.append(chosen)
        else:
            notes.complain([f"{not_listed([chosen])} {model_label(MODEL.default)} is shown."])
            MODEL.value = MODEL.default
    selected = st.selectbox(
        "Model",
        known,
        **MODEL.bound,
        format_func=in_the_box,
        accept_new_options=settings().any_model,
        label_visibility="collapsed",
        width=300,
    )
    st.html(f"<style>{''.join(map(_second_line, range(len(known)), known))}</style>")
    about = "BERT base, BERT large and the bundled models side by side"
    with st.popover("Sizes", icon=":material/straighten:", width="content", key="sizes", help=about):
        size_card.draw(MODEL.value or MODEL.default, "of the box")
    return cast(str, selected)


def may_be_named(model: str) -> bool:
    """Whether a visitor may ask for a model: for listed ones alone, where strangers use the app."""
    return settings().any_model or registry.find(model) is not None or is_id(model)


def not_listed(models: Sequence[str]) -> str:
    """The sentence about models that may not be named, of which there is at least one."""
    quoted = join_names([f"“{model[:100]}”" for model in models])
    return (
        f"{quoted} {'is' if len(models) == 1 else 'are'} not in the list of models, and this app only allows models "
        "from the list."
    )


def model_label(model_id: str) -> str:
    """A model's name and its size."""
    spec = registry.find(model_id)
    if spec is None:
        return tuned.name(model_id) or model_id
    return f"{spec.name} · {_size(spec)}"


def _size(spec: ModelSpec) -> str:
    return f"{spec.layers} layers" + (f" × {spec.heads} heads" if spec.heads else ", no attention")


def in_the_box(model_id: str) -> str:
    """As short as tells models apart: "Small BERT · 6×12"."""
    spec = registry.find(model_id)
    if spec is None:
        return model_label(model_id)
    size = f"{spec.layers}×{spec.heads}" if spec.heads else f"{spec.layers} layers"
    return f"{spec.short_name} · {size}"


def _second_line(place: int, model_id: str) -> str:
    """The style that says the rest of a model in the open list: Streamlit has one text for the box and the list, and
    numbers the list's items by their place among the options.
    """
    spec = registry.find(model_id)
    if spec is None:
        return ""
    bundled = ", bundled" if spec.hub_id is None else ""
    rest = f"{_size(spec)}, {spec.parameters / 1e6:,.0f} million weights{bundled}"
    return f'[role="listbox"][aria-label="Model"] [data-key="{place}"] [data-item-hl]::after {{ content: "{rest}"; }}\n'


def choice(
    label: str,
    field: Field[Option],
    labels: Mapping[Option, str] | None = None,
    *,
    help: str | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
) -> Option:
    """One of a few options, as buttons side by side: the field's own, or those of ``labels`` and their names."""
    chosen = st.segmented_control(
        label,
        **(field.bound if labels is None else field.offering(labels)),
        required=True,
        help=help,
        label_visibility=label_visibility,
    )
    return cast(Option, chosen)


def draw_again(label: str, seed: Field[int]) -> None:
    """A button that draws with the next seed."""

    def again() -> None:
        seed.value = (seed.value + 1) % 1_000_000

    st.button(label, on_click=again, icon=":material/casino:")


def offers(label: str, icon: str, titles: Sequence[str], use: Callable[[int], None], key: str) -> None:
    """What can be taken instead of typed, as a menu that closes after a choice; ``use`` is told the place of it."""
    st.menu_button(
        label,
        range(len(titles)),
        key=key,
        icon=icon,
        format_func=titles.__getitem__,
        on_click=lambda: use(st.session_state[key]),
    )


def stepper(
    noun: Literal["layer", "head"],
    highest: int,
    field: Field[Any] | None = None,
    *,
    label: str = "",
    whose: str = "This model",
    otherwise: int = 0,
) -> int:
    """A stepper for a layer or head from 1 to ``highest``, in a line of controls; returns it counted from 0, or
    ``otherwise``, which counts from 0, too, where the field is empty.
    """
    field = field or (LAYER if noun == "layer" else HEAD)
    into_range(field, highest, noun, whose)
    number: int | None = st.number_input(
        label or noun.title(), **field.bound | {"max_value": highest}, placeholder=str(otherwise + 1), width=STEPPER
    )
    return otherwise if number is None else number - 1


def head(run: AttentionRun) -> tuple[int, int]:
    """Steppers for layer and head, in a line of controls; returns both counted from 0."""
    layer = stepper("layer", run.n_layers)
    return layer, stepper("head", run.heads_of(layer))


def select_head(layer: int, head: int | None) -> None:
    """Choose a head as the steppers do, both from 0; or a layer, whatever its head."""
    LAYER.value = layer + 1
    if head is not None:
        HEAD.value = head + 1


def into_range(field: Field[Any], highest: int, noun: str, whose: str = "This model") -> None:
    """Bring a layer or head into the range there is, before its widget is drawn; says so if it had to."""
    complaint = clamp(field, highest, noun, whose)
    if complaint:
        notes.complain([complaint])


def clamp(field: Field[Any], highest: int, noun: str, whose: str) -> str | None:
    """Bring a number that counts from 1 into the range that there is; a sentence if it had to and somebody chose it,
    None if not. Nothing chosen stays nothing.
    """
    value = field.value
    if value is None or 1 <= value <= highest:
        return None
    field.value = min(max(1, value), highest)
    if value == field.default:
        return None
    return f"{whose} has {noun}s 1 to {highest}; {noun} {value} does not exist, so {noun} {field.value} is shown."
