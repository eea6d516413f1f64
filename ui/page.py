"""A page, a view, and the loop that runs every page: what it is about, what it is given, and the view chosen.

A page is a folder in ``pages/`` whose ``page.py`` declares a ``Page`` and runs it; a view is one file that declares a
``View``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, Literal, Protocol, TypeVar

import streamlit as st

from model_zoo.types import ModelSpec
from ui import address, as_python, browser, lesson_links, notes, old_links, page_frame, save, tuned
from ui.appearance import PRESENT
from ui.field import Field, one_of, pattern
from ui.lesson_links import LessonLink, LessonLinks
from ui.messages import ask_for, failures_as_messages, fragment

Need = Literal["attention", "mlm", "nsp", "pair", "mask", "results"]
"""What a view cannot do without: something the model has, or something the visitor gives."""


class Scene(Protocol):
    """What the views of a page are given."""

    def lacks(self, need: Need) -> str | None:
        """Why a view that needs this cannot be shown, in a sentence that says what to do; None where it can."""


S = TypeVar("S", bound=Scene)


def view_field(page: str, default: str) -> Field[str]:
    """The field that holds which view of a page is shown."""
    return Field("view", default, pattern("[a-z][a-z ]*", "is not the name of a view."), of=page, step=True)


@dataclass(frozen=True, slots=True)
class View(Generic[S]):
    """``name`` stands in the address, ``title`` on the tab; ``about`` says in one short sentence what to do or how to
    read it, ``more`` what there is to say beyond that, behind "?", and ``caution``, under it, what it does not show.

    ``terms`` are what the literature calls it, by their names in the glossary; they stand beside the page's title.
    ``tab`` orders the tabs, in steps of ten, so that there is room for another one between two. ``draw`` computes
    nothing that a package below can compute. ``fields`` are those that not all views of the page have. ``left_out``
    says what is on the screen and not in the page's address, in a sentence; "" where there is no such thing. A view
    that ``starts`` what it shows has a button for that, so that the page's own is not the first one to press.
    """

    name: str
    title: str
    draw: Callable[[S], None]
    about: str = ""
    more: str = ""
    caution: str = ""
    fields: tuple[Field[Any], ...] = ()
    needs: tuple[Need, ...] = ()
    left_out: Callable[[S], str] = lambda _scene: ""
    starts: bool = False
    terms: tuple[str, ...] = ()
    tab: int = 1000


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in the app about some ``terms`` of the glossary: its ``label``, and the fields that open it."""

    label: str
    values: dict[str, Any]
    terms: tuple[str, ...]


def views_of(page: str) -> tuple[View[Any], ...]:
    """The views of a page, by the order of their tabs: what the files of its folder have as ``VIEW``."""
    folder = import_module(f"look_inside_bert.pages.{page}")
    files = [info.name for info in iter_modules(folder.__path__) if info.name not in ("page", "__main__")]
    modules = [import_module(f"{folder.__name__}.{file}") for file in files]
    views: list[View[Any]] = [module.VIEW for module in modules if hasattr(module, "VIEW")]
    return tuple(sorted(views, key=lambda view: view.tab))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[S]):
    """``name`` is that of its file, ``question`` what it answers, ``how`` what one does there. ``about`` opens it,
    under its ``heading`` where that is not its ``title``. ``view`` is the field that holds which of its ``views`` is
    shown.

    ``scene`` draws what is above the views and gives them what they draw, being told which one is chosen; None where
    nothing can be shown yet. With ``apart`` the browser redraws a view alone when one of its controls
    is used, so a view must change nothing outside of it. ``footer`` is drawn under every view, and what ``left_out``
    says holds for every view. A page without views has a ``body`` alone, and ``explains`` tells where on it terms of
    the glossary are explained. ``lesson_links`` are shown on the home page. ``shows`` says in a few words what the page
    shows of a model, or why it does not.
    """

    name: str
    title: str
    icon: str
    question: str
    how: str
    about: str
    heading: str = ""
    fields: tuple[Field[Any], ...] = ()
    view: Field[str] | None = None
    views: tuple[View[S], ...] = ()
    scene: Callable[[View[S]], S | None] | None = None
    apart: bool = False
    footer: Callable[[S], None] | None = None
    left_out: Callable[[S], str] = lambda _scene: ""
    body: Callable[[], None] | None = None
    lesson_links: LessonLinks | None = None
    explains: Callable[[], Iterable[Mention]] = tuple
    shows: Callable[[ModelSpec], str] | None = None

    @property
    def view_choice(self) -> Field[str]:
        """The field that holds which view is shown, with the views there are as its options."""
        assert self.view is not None
        return replace(self.view, codec=one_of("the view", {view.name: view.title for view in self.views}))

    @property
    def path(self) -> str:
        """Where its file lies, from the project's root."""
        return address.path(self.name)

    def mentions(self) -> Iterable[Mention]:
        """Where on this page terms of the glossary are looked into or explained."""
        if self.view is None:
            return self.explains()
        return [Mention(view.title, {self.view.name: view.name}, view.terms) for view in self.views if view.terms]

    def values_of(self, link: LessonLink) -> dict[str, Any]:
        """What a link for a lesson sets, by the names of the fields."""
        assert self.lesson_links is not None
        return {field.name: value for field, value in self.lesson_links.state(link).items()}

    def draw_lesson_link(self, link: LessonLink, where: str = "") -> None:
        """A link to this page with its question, and a button that copies it; ``where`` tells two of the same apart."""
        query = address.link(self.name, **self.values_of(link))
        with st.container(gap=None, key=f"lesson link {self.name} {link.name} {where}".strip()):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(self.path, label=f"**{link.title}**", icon=self.icon, query_params=query, width="content")
                browser.copy_link(query, key=f"copy {self.name} {link.name} {where}".strip(), page=self.name)
            st.markdown(link.question)

    @property
    def all_fields(self) -> tuple[Field[Any], ...]:
        """What its address holds: its own fields and those of its views, each once."""
        of_views = [field for view in self.views for field in view.fields]
        view = [self.view_choice] if self.view else []
        question = [lesson_links.ASKED] if self.lesson_links else []
        companions = [field for companion in _COMPANIONS for field in companion.fields]
        return tuple(dict.fromkeys([*self.fields, *view, *of_views, *question, *companions, PRESENT]))

    @property
    def chosen(self) -> View[S]:
        """The view that is shown."""
        assert self.view is not None
        name = self.view.value
        return next((view for view in self.views if view.name == name), self.views[0])


@dataclass(frozen=True, slots=True)
class Companion:
    """What goes along with every page, as a class of students does: ``fields`` that every address holds; ``begin``,
    called before anything is drawn, ``draw``, under the headline, and ``end``, when the views are drawn.
    """

    fields: tuple[Field[Any], ...]
    begin: Callable[[Page[Any]], None]
    draw: Callable[[Page[Any]], None]
    end: Callable[[Page[Any]], None]


_COMPANIONS: list[Companion] = []


def accompany(*companions: Companion) -> None:
    """Let these alone go along with every page from now on."""
    _COMPANIONS[:] = companions


def run(page: Page[Any]) -> None:
    """Draw a page: the only thing its file does."""
    moved = old_links.new_page(page.name, st.query_params.to_dict())
    if moved is not None:
        st.switch_page(address.path(moved[0]), query_params=moved[1])
    ignored = address.enter(page.name, page.title, page.all_fields)
    page_frame.frame()
    for companion in _COMPANIONS:
        companion.begin(page)
    view = page.chosen if page.views else None
    about, more = (page.about, "") if view is None else (view.about or page.about, view.more)
    terms = () if view is None else view.terms
    page_frame.headline(page.heading or page.title, about, (more, page.about), terms)
    notes.complain(ignored)
    for companion in _COMPANIONS:
        companion.draw(page)
    save.clear("", page.about, page.fields)
    if page.body is not None:
        page.body()
        if save.has_files():
            fragment(save.box)()
        address.publish()
        return
    assert page.scene is not None
    if page.lesson_links is not None:
        page.lesson_links.ask()
    scene = None
    with failures_as_messages():
        scene = page.scene(page.chosen)
    if scene is None:  # what cannot be shown has an address, too
        _link(page, "")
        return
    _switch(page)
    (fragment(_show) if page.apart else _show)(page, page.chosen, scene)


def _switch(page: Page[Any]) -> None:
    """The tabs of the views. The label "View" is for those who do not see that they are tabs."""
    with st.container(key="views"):
        st.segmented_control("View", **page.view_choice.bound, required=True, wrap=False, label_visibility="collapsed")


def _show(page: Page[Any], view: View[Any], scene: Any) -> None:
    save.clear(view.title, view.about, (*page.fields, *view.fields))
    as_python.clear()
    with failures_as_messages():
        if not lacking(scene, view.needs):
            view.draw(scene)
    if view.caution:
        st.caption(view.caution)
    if page.footer is not None:
        page.footer(scene)
    _link(page, " ".join(filter(None, (page.left_out(scene), view.left_out(scene)))))


def lacking(scene: Scene, needs: Iterable[Need]) -> bool:
    """Whether something is needed that is not there; says what to do about it. The loop asks this of every view's
    ``needs``; a view that shows something even so asks it itself.
    """
    reason = next(filter(None, map(scene.lacks, needs)), None)
    if reason is not None:
        with st.container(key="answer-lacking"):
            ask_for(reason)
    return reason is not None


def _link(page: Page[Any], left_out: str) -> None:
    """Let the address restore the page; a button that copies it, and what it lacks: a long text, and ``left_out``."""
    with failures_as_messages():
        for companion in _COMPANIONS:
            companion.end(page)
    chosen = (part for value in address.query().values() for part in value.split(","))
    left_out = " ".join(filter(None, (left_out, tuned.left_out(chosen))))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="to-take-away"):
        for box in (save.box, as_python.box, save.citation_box):
            fragment(box)()
        browser.copy_link(address.shared_query())
        scope = "what is chosen" if left_out else "what you see"
        if address.publish():
            sentence = f"This page's link restores {scope}."
        else:
            sentence = (
                f"The text is longer than the {address.LONGEST_VALUE:,} characters a link can carry, so this page's "
                f"link restores {scope} without the text."
            )
        st.caption(f"{sentence} {left_out}".strip())
