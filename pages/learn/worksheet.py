"""Lessons on paper: one HTML file to print, with the class's own sentence, and the solutions on pages of their own.

What is asked stands before, what the model says stands in the solutions alone: answers, replies and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import floor, isfinite, log10
from pathlib import Path
from typing import Final

import pandas as pd
from markdown_it import MarkdownIt

from model_zoo import registry
from model_zoo.errors import ModelZooError
from model_zoo.types import counted
from pages.learn.case import Case
from pages.learn.lesson import Choice, Lesson, Sketch, Step
from pages.learn.lessons import LESSONS
from pages.learn.plans import Meeting, Plan, Row, links, prepared, title
from ui import as_text
from ui.glossary import quote, strip_terms
from viz.layout import clipped, visible_text

ROWS: Final = 12
"""Rows of a table that are printed; more would be a page of numbers nobody reads."""
COLUMNS: Final = 8
_LONGEST_CELL: Final = 40  # characters

_STYLE = (Path(__file__).parent / "worksheet.css").read_text(encoding="utf-8")
# What visitors typed arrives escaped (``ui.messages.as_text``); HTML in it would stand as it is typed even so.
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True, slots=True)
class Section:
    """A lesson with what it is about, and those of its steps that are printed, from 1."""

    lesson: Lesson
    case: Case
    steps: tuple[int, ...]


def section(lesson: Lesson, case: Case, *, own_sentence: bool, steps: Sequence[int] = ()) -> Section:
    """A lesson about the class's own sentence, if it has one, and a second one where the lesson needs two; else
    about the lesson's own example. Of all steps, unless some are named.
    """
    text, pair = case.text, case.pair if lesson.paired else None
    if not own_sentence or (lesson.paired and not pair):
        text, pair = lesson.examples[0][0], lesson.examples[0][1] or None
    token = case.token if text == case.text else None
    steps = steps or range(1, len(lesson.steps) + 1)
    return Section(lesson, replace(case, text=text, pair=pair, token=token), tuple(steps))


def html(heading: str, sections: Sequence[Section], plan: Plan | None = None) -> str:
    """The worksheet, one self-contained page; ``plan`` stands before it.

    A step that cannot be worked out for its sentence says why.
    """
    front = "" if plan is None else _plan(plan)
    sheets = "".join(map(_sheet, sections))
    solutions = "".join(map(_solutions, sections))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{_STYLE}</style></head><body>"
        f'{front}{sheets}<section class="solutions"><h1>Solutions</h1>{solutions}</section></body></html>\n'
    )


def _every_step(section: Section, kind: str, make: Callable[[Step], str]) -> str:
    """A section a step; where there is none to make, the sentence that says why."""
    parts = []
    for place in section.steps:
        try:
            inside = make(section.lesson.steps[place - 1](section.case))
        except ModelZooError as error:
            inside = _block(as_text(str(error)), "lead")
        parts.append(f'<section class="{kind}"><h3>{escape(title(section.lesson.name, place))}</h3>{inside}</section>')
    return "".join(parts)


# ---- what is asked ----------------------------------------------------------------------------------------------


def _sheet(section: Section) -> str:
    lead = _block(section.lesson.question, "lead")
    return (
        '<section class="lesson"><p class="names"><span>Name</span><span>Date</span></p>'
        f"<h1>{_numbered(section.lesson)}</h1>{lead}{_aims(section)}{_about(section)}"
        f"{_every_step(section, 'step', _exercise)}</section>"
    )


def _aims(section: Section) -> str:
    """What one can do afterwards, where the lesson is printed from its beginning."""
    if section.steps[0] != 1:
        return ""
    return _block("After this lesson you can\n\n" + "\n".join(f"- {aim}" for aim in section.lesson.aims))


def _numbered(lesson: Lesson) -> str:
    return f"Lesson {list(LESSONS).index(lesson.name) + 1}: {escape(lesson.title)}"


def _about(section: Section) -> str:
    """The sentence, and what of the model is looked at."""
    case = section.case
    texts = " – ".join(quote(visible_text(" ".join(text.split()))) for text in (case.text, case.pair) if text)
    looked_at = {"layer": f"layer {case.layer + 1}", "head": f"head {case.head + 1}"}
    named = [label for control, label in looked_at.items() if control in section.lesson.controls]
    return _block(f"{texts} · {', '.join([_model(case), *named])}", "about")


def _model(case: Case) -> str:
    spec = registry.find(case.model)
    return as_text(spec.name if spec else case.model)


def _exercise(step: Step) -> str:
    question = step.ask()
    if isinstance(question, Choice):
        options = "".join(f"<li><span>{_inline(option.text)}</span></li>" for option in question.options)
        room = f'<ul class="options">{options}</ul>'
    else:
        room = _chart(question)
    return f'{_block(step.text())}{_block(question.question, "question")}{room}<div class="lines"></div>'


# ---- what the model says ----------------------------------------------------------------------------------------


def _solutions(section: Section) -> str:
    return (
        f"<h2>{_numbered(section.lesson)}</h2>{_computed_by(section.case)}{_every_step(section, 'solution', _solution)}"
    )


def _computed_by(case: Case) -> str:
    try:
        info = case.info
    except ModelZooError:  # which every step says
        return ""
    return _block(f"Computed by {_model(case)} ({as_text(info.id)}), revision {as_text(info.revision)}.", "small")


def _solution(step: Step) -> str:
    question = step.ask()
    if isinstance(question, Choice):
        right = question.options[question.right]
        answer = _block(f"**{right.text}** – {right.reply}")
    else:
        answer = _chart(question, question.truth)
    sources = _block(f"Sources: {as_text('; '.join(map(str, step.sources)))}.", "small") if step.sources else ""
    why = _block(f"**Why?** {step.why()}")
    numbers = step.numbers()
    table = _table(numbers) if len(numbers) else ""
    return f"{_block(question.question)}{answer}{why}{table}{sources}"


def _table(numbers: pd.DataFrame) -> str:
    """The first rows and columns, rounded, and what is left out."""
    visible = numbers.iloc[:ROWS, :COLUMNS]
    head = "".join(f"<th>{escape(clipped(str(name), _LONGEST_CELL))}</th>" for name in visible.columns)
    columns = [_column(visible.iloc[:, place].tolist()) for place in range(visible.shape[1])]
    rows = "".join(f"<tr>{''.join(cells)}</tr>" for cells in zip(*columns, strict=True))
    left_out = [
        counted(n - most, f"more {noun}")
        for n, most, noun in ((len(numbers), ROWS, "row"), (len(numbers.columns), COLUMNS, "column"))
        if n > most
    ]
    note = "Numbers are rounded."
    if left_out:
        note += f" Left out: {' and '.join(left_out)}, which the page saves as “Numbers (CSV)”."
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{_block(note, 'small')}"


def _column(values: Sequence[object]) -> list[str]:
    """Cells with as many decimals as the largest number of the column needs for about four digits."""
    sizes = [abs(value) for value in values if isinstance(value, float) and isfinite(value)]
    decimals = 3 - floor(log10(max(sizes))) if any(sizes) else 0
    cells = []
    for value in values:
        if value is None or value != value:
            cells.append("<td>–</td>")
        elif isinstance(value, float):
            written = f"{value:.{max(decimals, 0)}f}" if decimals < 8 else f"{value:.3g}"
            cells.append(f'<td class="number">{written.replace("-", "−")}</td>')
        elif isinstance(value, int) and not isinstance(value, bool):
            cells.append(f'<td class="number">{str(value).replace("-", "−")}</td>')
        else:
            cells.append(f"<td>{escape(clipped(str(value), _LONGEST_CELL))}</td>")
    return cells


# ---- a chart to draw in -----------------------------------------------------------------------------------------

_WIDTH, _HEIGHT, _LEFT, _ABOVE = 640, 170, 50, 8  # px; of the field, left of it and above it


def _chart(question: Sketch, heights: Sequence[float] = ()) -> str:
    """A grid with a place for each label, and bars in it where there are heights."""
    n = len(question.labels)
    width = (_WIDTH - _LEFT) / n
    turned = max(map(len, question.labels)) * 6.5 > width
    below = 12 + (min(max(map(len, question.labels)), 24) * 5 if turned else 8)
    elements = []
    for tenth in range(11):
        y = _ABOVE + _HEIGHT * (1 - tenth / 10)
        shade = "#000" if tenth == 0 else "#bbb"
        elements.append(f'<line x1="{_LEFT}" y1="{y:g}" x2="{_WIDTH}" y2="{y:g}" stroke="{shade}"/>')
        if tenth % 5 == 0:
            axis_label = escape(_written(question.top * tenth / 10, question.unit))
            elements.append(f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{axis_label}</text>')
    for place, label in enumerate(question.labels):
        x, y = _LEFT + width * (place + 0.5), _ABOVE + _HEIGHT + 14
        elements.append(
            f'<line x1="{x:.1f}" y1="{_ABOVE}" x2="{x:.1f}" y2="{_ABOVE + _HEIGHT}" stroke="#ddd" stroke-width="1"/>'
        )
        if heights:
            bar = _HEIGHT * min(max(heights[place] / question.top, 0), 1)
            elements.append(
                f'<rect x="{x - width * 0.3:.1f}" y="{_ABOVE + _HEIGHT - bar:.1f}" width="{width * 0.6:.1f}" '
                f'height="{bar:.1f}" fill="#555"/>'
            )
        turn = f' text-anchor="end" transform="rotate(-40 {x:.1f} {y})"' if turned else ' text-anchor="middle"'
        elements.append(f'<text x="{x:.1f}" y="{y}"{turn}>{escape(clipped(label, 24))}</text>')
    total = _ABOVE + _HEIGHT + below
    return f'<svg viewBox="0 0 {_WIDTH + 10} {total:g}" role="img" aria-label="chart">{"".join(elements)}</svg>'


def _written(value: float, unit: str) -> str:
    return f"{value:.0%}" if unit == "%" else f"{value:.3g} {unit}".strip()


# ---- a plan -----------------------------------------------------------------------------------------------------


def _plan(plan: Plan) -> str:
    several = len(plan.meetings) > 1
    meetings = (
        (f"<h2>Meeting {number}: {escape(meeting.title)}</h2>" if several else "") + _meeting(meeting)
        for number, meeting in enumerate(plan.meetings, start=1)
    )
    about = _block(plan.about, "lead")
    return f'<section class="lesson"><h1>{escape(plan.title)}</h1>{about}{"".join(meetings)}</section>'


def _opened(row: Row) -> Iterator[str]:
    """The steps and the pages that a row opens, these with their questions."""
    yield from (escape(label) for label, *_ in links(row))
    for page, link in prepared(row):
        yield f"<b>{escape(page.title)}: {escape(link.title)}.</b> {_inline(link.question)}"


def _meeting(meeting: Meeting) -> str:
    rows = "".join(
        f'<tr><td class="number">{begin}–{end}</td><td>{_inline(row.teacher)}</td>'
        f"<td>{_inline(row.students)}</td><td>{'<br>'.join(_opened(row))}</td></tr>"
        for begin, end, row in meeting.timed()
    )
    return (
        '<table class="plan"><thead><tr><th>Minutes</th><th>The teacher</th><th>The class</th>'
        f"<th>Steps and pages</th></tr></thead><tbody>{rows}</tbody></table>"
    )


# ---- Markdown ---------------------------------------------------------------------------------------------------


def _block(text: str, kind: str = "") -> str:
    """Markdown with terms as HTML, in a block of its own."""
    inside = _MARKDOWN.render(strip_terms(text))
    return f'<div class="{kind}">{inside}</div>' if kind else inside


def _inline(text: str) -> str:
    return str(_MARKDOWN.renderInline(strip_terms(text)))
