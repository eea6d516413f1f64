"""Walks through the app: what a visitor may do next, what has to hold afterwards, and the shortest way to a failure.

After every action nothing may have gone wrong; the address opened by another visitor, a look at another page, and the
browser's Back and Forward must each give the state that was there. Each of these is a step: a run of the app.
"""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from on_screen import NO_PICTURES, unpacked
from streamlit.testing.v1.element_tree import Element, Widget
from walks.visitor import Address, Visitor

from model_zoo import registry
from pages import PAGES as ALL_PAGES
from ui import address

HOME, *PAGES = ALL_PAGES
STEPS = tuple(sorted({field.name for field in address.all_declared() if field.step}))
_ONE_OF_STEPS = {field.key for field in address.all_declared() if field.step}
_TEXTS = (
    "The dog chased the cat.",
    "Unbelievably, it rained.\n",
    "He drank a cup of [MASK] and a [MASK].",
    "a a a",
    "",
    "   ",
    "🙂 שלום <script>alert(1)</script> | `x` $y$",
    "word " * 140,
    "One. Two! Three?",
    "Line one\nline two, a | b\tc",
)
# What takes long by its nature, or makes what follows do so, is walked through by tests of its own.
_LONG = ("Run", "Measure", "Test", "Train", "Race", "Download", "Try again", "Stop", "Empty the caches")
_LISTS = ("selectbox", "multiselect", "select_slider", "button_group", "menu_button")
_LEFT_OUT = ("download_button", "file_uploader")
_MODELS = tuple(model for model, spec in registry.MODELS.items() if spec.hub_id is None)
_BROKEN = "Something went wrong inside the app"


@dataclass(frozen=True, slots=True)
class Step:
    """``action`` is "use", "choose", "go", "follow", "back" or "forward"; ``which`` a widget's key or label, a page."""

    action: str
    which: str = ""
    value: object = None

    def __str__(self) -> str:
        return " ".join(
            part for part in (self.action, self.which, "" if self.value is None else repr(self.value)) if part
        )


class Failure(AssertionError):
    """What did not hold, and the way there."""

    def __init__(self, problem: str, way: Sequence[Step], address: Address) -> None:
        self.problem, self.way, self.address = problem, tuple(way), address
        steps = "\n".join(f"  {n}. {step}" for n, step in enumerate(way, start=1))
        super().__init__(f"{problem}\nfrom {address}:\n{steps}")


State = dict[str, str]


def state_of(visitor: Visitor) -> State:
    """What the page on screen shows: its fields as an address writes them, without those too long for one; what every
    widget is set to, be it a field's or not; and every picture.
    """
    state = {name: text for name, text in _written(visitor).items() if len(text) <= address.LONGEST_VALUE}
    for widget in visitor.widgets():
        if getattr(widget, "form_id", ""):  # what is typed into a form and not sent yet is no state of the page
            continue
        if widget.type not in (*_LEFT_OUT, "button", "menu_button") and widget.proto.id:
            value = widget.value
            state[f"widget {_name(widget)}"] = repr(list(value) if isinstance(value, tuple) else value)[:200]
    for element in visitor.elements():
        if element.type == "bidi_component" and element.proto.component_name not in NO_PICTURES:
            content = element.proto.bytes or element.proto.json.encode()
            if element.proto.component_name == "grid":  # whose frame the browser moves by itself
                _, content = unpacked(content)
            state[f"picture {element.proto.component_name} {_key(element)}"] = _hash(content)
        elif element.type == "plotly_chart":
            state[f"picture {_key(element)}"] = _hash(element.proto.spec.encode())
    return state


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def trouble(visitor: Visitor) -> str | None:
    """What has gone wrong on the screen."""
    for element in visitor.elements():
        if element.type == "exception":
            return f"an error: {element.proto.message}"
        if element.type == "error" and _BROKEN in element.value:
            return f"an error behind a message: {element.value}"
    return None


class Walk:
    """One visitor on his way, and everything that is checked after each of his actions."""

    def __init__(self, begin: Address) -> None:
        self._begin = begin
        self.way: list[Step] = []
        self.visitor = Visitor(STEPS)
        self.n_others = 0  # runs of those who open the links
        self.visitor.open(begin)
        self._states = [state_of(self.visitor)]
        self._sound("opening")

    @property
    def n_steps(self) -> int:
        return self.visitor.n_runs + self.n_others

    def take(self, step: Step) -> bool:
        """Take a step and check; False where there is nothing to take it with. Raises Failure."""
        if not self._take(step):
            return False
        self.way.append(step)
        self._sound("the last step")
        self._remember()
        self._check_history()
        self._check_link()
        self._check_another_page()
        return True

    def _take(self, step: Step) -> bool:
        visitor = self.visitor
        match step.action:
            case "go":
                visitor.go(step.which)
            case "back":
                visitor.back()
            case "forward":
                visitor.forward()
            case "use":
                widget = next((w for w in visitor.widgets() if _name(w) == step.which), None)
                if widget is None or not _takes(widget, step.value):
                    return False
                visitor.use(widget, step.value)
            case "choose":
                element = next((e for e in visitor.elements() if _selectable(e) and _key(e) == step.which), None)
                if element is None:
                    return False
                visitor.choose(element, step.value)
            case "follow":
                link = next(
                    (e for e in visitor.elements() if e.type == "page_link" and e.proto.label == step.which), None
                )
                if link is None:
                    return False
                visitor.follow(link)
        return True

    def _fail(self, problem: str) -> None:
        raise Failure(problem, self.way, self._begin)

    def _sound(self, when: str) -> None:
        problem = trouble(self.visitor)
        if problem is not None:
            self._fail(f"After {when}: {problem}")

    def _remember(self) -> None:
        self._states[len(self.visitor.history) :] = [state_of(self.visitor)]

    def _same(self, before: State, after: State, when: str) -> None:
        differ = [f"{name}: {before.get(name)!r} -> {after.get(name)!r}" for name in {*before, *after}
                  if before.get(name) != after.get(name)]  # fmt: skip
        if differ:
            self._fail(f"{when}, another state: {'; '.join(sorted(differ))}")

    def _check_history(self) -> None:
        """Back gives the former step, Forward this one."""
        here = self._states[-1]
        if not self.visitor.history:
            return
        self.visitor.back()
        self._sound("Back")
        self._same(*_that_go(self._states[-2], state_of(self.visitor)), "After Back")
        self.visitor.forward()
        self._sound("Forward")
        self._same(here, state_of(self.visitor), "After Back and Forward")

    def _check_link(self) -> None:
        """The address gives another visitor the same state, and the same things to use."""
        other = Visitor(STEPS)
        other.open(self.visitor.address)
        self.n_others += other.n_runs
        problem = trouble(other)
        if problem is not None:
            self._fail(f"For another visitor at {self.visitor.address}: {problem}")
        long = {name for name, text in _written(self.visitor).items() if len(text) > address.LONGEST_VALUE}
        if not long:
            self._same(self._states[-1], state_of(other), "For another visitor")

    def _check_another_page(self) -> None:
        """A look at another page and back, by the menu, changes nothing here, be it too long for an address or not."""
        before = _written(self.visitor)
        self.visitor.detour(next(page for page in (HOME.path, PAGES[0].path) if page != self.visitor.address.page))
        self._sound("a look at another page")
        self._same(before, _written(self.visitor), "After a look at another page")


def _that_go(before: State, after: State) -> tuple[State, State]:
    """Of two states what Back brings again: all but the fields that stay as they are, and where these differ, but the
    pictures, which may hang on them.
    """
    stay = {field.name for field in address.all_declared() if field.stays}
    changed = any(before.get(name) != after.get(name) for name in stay)

    def goes(name: str) -> bool:
        return name not in stay and not (changed and name.startswith("picture "))

    earlier, later = ({name: value for name, value in state.items() if goes(name)} for state in (before, after))
    return earlier, later


def _written(visitor: Visitor) -> State:
    """The fields of the page on screen, as an address would write them if it could be as long as it liked."""
    page: address.CurrentPage | None = visitor.value(address.CURRENT_PAGE, None)
    written = {}
    for field in page.fields if page else ():
        value = visitor.value(field.key, field.default)
        written[field.name] = field.codec.write(tuple(value) if isinstance(value, list) else value)
    return written


def next_step(visitor: Visitor, chance: random.Random) -> Step:
    """Anything that a visitor could do here."""
    if chance.random() < 0.12:
        return Step("go", chance.choice([HOME, *PAGES]).path)
    if chance.random() < 0.06:
        return Step(chance.choice(["back", "forward"]))
    widgets = [
        widget
        for widget in visitor.widgets()
        if widget.type not in _LEFT_OUT and (widget.type != "button" or not widget.label.startswith(_LONG))
    ]
    elements = [element for element in visitor.elements() if _selectable(element)]
    links = [element.proto.label for element in visitor.elements() if element.type == "page_link"]
    choice = chance.choice(
        [*widgets, *elements, *links[:2], *(w for w in widgets if _name(w) in _ONE_OF_STEPS)] or [HOME.path]
    )
    if isinstance(choice, Widget):
        return Step("use", _name(choice), _value(choice, chance))
    if isinstance(choice, Element):
        return Step("choose", _key(choice), _selection(choice, chance))
    return Step("follow", choice) if choice in links else Step("go", choice)


def _name(widget: Widget) -> str:
    return widget.key or widget.label


def _key(element: Element) -> str:
    return element.proto.id.rsplit("-", 1)[-1] if element.proto.id else ""


def _selectable(element: Element) -> bool:
    """A chart, table or component in which something can be selected."""
    kind, proto = element.type, element.proto
    return bool(
        (kind == "plotly_chart" and proto.id and proto.selection_mode)
        or (kind in ("arrow_data_frame", "dataframe") and proto.id and proto.selection_mode)
        or (kind == "bidi_component" and proto.component_name in ("lines", "grid"))
    )


def _value(widget: Widget, chance: random.Random) -> object:
    proto = widget.proto
    match widget.type:
        case "text_area" | "text_input":
            return chance.choice(_TEXTS)
        case "number_input" if proto.data_type == proto.FLOAT:
            return float(f"{chance.uniform(proto.min, proto.max):.2g}")
        case "number_input":
            low, high = (int(proto.min) if proto.has_min else 1), (int(proto.max) if proto.has_max else 9)
            if getattr(widget, "value", None) is not None and chance.random() < 0.5:
                return min(max(int(widget.value) + chance.choice((-1, 1)), low), high)
            return chance.randint(low, min(high, low + 20))
        case "slider":
            return (
                round(chance.uniform(proto.min, proto.max), 2)
                if proto.step < 1
                else chance.randint(int(proto.min), int(proto.max))
            )
        case "checkbox" | "toggle":
            return not widget.value
        case "button":
            return None
        case "multiselect":
            options = _options(widget)
            return tuple(chance.sample(options, min(len(options), chance.randint(1, 3))))
        case _:
            options = _options(widget)
            if (
                widget.type not in ("selectbox", "select_slider", "menu_button")
                and proto.click_mode == proto.MULTI_SELECT
            ):
                return tuple(chance.sample(options, min(len(options), chance.randint(0, 3))))
            return chance.choice(options)


def _options(widget: Widget) -> list[str]:
    """What is read on a list's options; of models those that are there without a network."""
    if widget.type == "select_slider":
        return list(widget.proto.options)
    options = list(widget.options)
    return options[: len(_MODELS)] if _name(widget) in ("model", "compare_models") else options


def _takes(widget: Widget, value: object) -> bool:
    """Whether the widget, of a list of options, has the one that is wanted."""
    if widget.type not in _LISTS:
        return True
    return set(value if isinstance(value, tuple) else (value,)) <= set(_options(widget))


def _selection(element: Element, chance: random.Random) -> object:
    if element.type == "bidi_component" and element.proto.component_name == "grid":
        header, _ = unpacked(element.proto.bytes)
        layer, heads = chance.choice(list(enumerate(header["heads"])))
        return {"head": [layer, chance.randrange(heads)]}
    if element.type == "bidi_component":
        token = {"side": chance.choice(["query", "key"]), "index": chance.randint(0, 3)}
        return chance.choice([{"selected": token}, {"off": [chance.randint(0, 3)]}, {"selected": None, "off": []}])
    if element.type == "plotly_chart":
        traces = json.loads(element.proto.spec)["data"]
        data = [place for trace in traces for place in trace.get("customdata") or [None]]
        return {"points": [{"customdata": chance.choice(data)}] if chance.random() < 0.9 else []}
    return {"rows": [0], "columns": [], "cells": []}


def walk(seed: int, n_steps: int, begin: Address | None = None) -> Walk:
    """Walk at random until so many steps are done; raises Failure with the way there."""
    chance = random.Random(seed)
    way = Walk(begin or Address(chance.choice(PAGES).path))
    while way.n_steps < n_steps:
        way.take(next_step(way.visitor, chance))
    return way


def take(way: Sequence[Step], walked: Walk) -> Walk:
    """Take those of the steps that can be taken. Raises Failure."""
    for step in way:
        walked.take(step)
    return walked


def shortest(failure: Failure) -> Failure:
    """The same failure by as few steps as leaving out some of them can do."""

    def retried(way: Sequence[Step]) -> Failure | None:
        try:
            take(way, Walk(failure.address))
        except Failure as failed:
            return failed
        return None

    best, size = failure, max(len(failure.way) // 2, 1)
    while size:
        place = 0
        while place < len(best.way):
            shorter = retried(best.way[:place] + best.way[place + size :])
            if shorter is not None and len(shorter.way) < len(best.way):
                best = shorter
            else:
                place += size
        size //= 2
    return best
