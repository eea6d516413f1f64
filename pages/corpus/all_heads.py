"""View "All heads": every head in the plane of two measures, the heads that do what one looks for, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from analysis.corpus.head_statistics import HeadStatistics
from analysis.corpus.relations import Relation
from analysis.head_measures import special_names
from pages.corpus.measures import Numbers, Sought
from pages.corpus.scene import Scene, open_head
from ui import Field, View, as_python, as_text, caption, figures, note, notes, pattern, save, tables, widgets
from viz.head_measure import HeadMeasure
from viz.planes import head_scatter
from web.engine import engine

_NAME = pattern(r"[A-Za-z0-9_:.\-]{1,60}", "is not the name of a measure.", empty=True)
ACROSS: Field[str] = Field("across", "previous", _NAME, of="corpus")
UP: Field[str] = Field("up", "entropy", _NAME, of="corpus")
COLOUR: Field[str] = Field("colour", "delimiter", _NAME, of="corpus")
FIND: Field[str] = Field("find", "", _NAME, of="corpus")

_TABLE = "corpus_head_table"
_PLACE, _LABEL, _NUMBER, _END = 50, 150, 130, 60  # px


def draw(scene: Scene) -> None:
    statistics = scene.measured.statistics
    numbers = Numbers(scene.measured, special_names(engine().encode(scene.model, scene.corpus.texts[0])))
    findable = numbers.sought()
    with widgets.controls():
        find = _chosen(
            "Find a head that …",
            FIND,
            {"": "(choose)"} | {name: criterion.says for name, criterion in findable.items()},
            330,
        )
        names = [_chosen(label, field, numbers.titles, 230) for label, field in (("Across", ACROSS), ("Up", UP))]
        with widgets.popover("Colour", ":material/palette:"):
            names.append(_chosen("Colour", COLOUR, numbers.titles, 230))
    across, up, colour = map(numbers.of, names)
    as_python.put(
        scene.statistics_python(names) + "heads = statistics.every_head()  # a column each\n"
        "numbers = np.array(\n    [\n"
        f"        {numbers.python_code(names[0])},  # across\n"
        f"        {numbers.python_code(names[1])},  # up\n"
        f"        {numbers.python_code(names[2])},  # colour\n"
        "    ]\n)",
        lambda: np.array([across.values, up.values, colour.values]),
        Relation,
    )
    sought = findable.get(find)
    best = sought.best() if sought else []
    if sought:
        _say(statistics, sought, best, numbers.of(sought.measure))
    figures.show(
        partial(
            head_scatter,
            statistics.every_head(),
            across,
            up,
            colour,
            chosen=scene.place,
            matches=best,
            matches_name=sought.says if sought else "",
        ),
        "corpus scatter",
        "all-heads",
        lambda point: open_head(int(point[0]), int(point[1])),
    )
    caption(
        f"Point at a head for its numbers with their 95% intervals over {scene.units}; click it, or a row of the "
        "table, to open it."
    )
    _table(statistics, numbers)


def _chosen(label: str, field: Field[str], options: Mapping[str, str], width: int) -> str:
    """A choice among options that the data decide: a link may name one that they do not have."""
    if field.value not in options:
        if field.value != field.default:
            note(f"Among these measures there is no “{field.value}”, so another is shown.")
        field.value = field.default if field.default in options else next(iter(options))
    return st.selectbox(label, **field.offering(options), width=width)


def _say(statistics: HeadStatistics, sought: Sought, best: list[int], measure: HeadMeasure) -> None:
    """The heads that do most what one looks for, in a sentence, with what can be said of each."""
    values = []
    for place in best:
        value, low, high = (measure.format(ends[place]) for ends in (measure.values, measure.lows, measure.highs))
        values.append(f"**{value}**{measure.after} ({low} to {high})")
    (layer, head), *others = (statistics.head(place) for place in best)
    then = ", ".join(
        f"{other.layer + 1}.{other.head + 1}: {text}" for other, text in zip(others, values[1:], strict=True)
    )
    criterion = as_text(f"{sought.says} most")
    st.markdown(f"**Layer {layer + 1}, head {head + 1}** {criterion}: {values[0]}." + f" Then {then}." * bool(then))
    caption(f"The numbers are a {measure.unit}, with 95% intervals. {sought.condition}".rstrip())


def _table(statistics: HeadStatistics, numbers: Numbers) -> None:
    """All heads with all measures and intervals; a row that is selected opens its head."""
    frame = numbers.frame()
    titles = {name: measure.name for name, measure in numbers.measures.items()}
    config = {
        "layer": st.column_config.NumberColumn(width=_PLACE),
        "head": st.column_config.NumberColumn(width=_PLACE),
        "label": st.column_config.TextColumn("kind", width=_LABEL),
    }
    for name, measure in numbers.measures.items():
        config[name] = st.column_config.NumberColumn(titles[name], format="%.2f", width=_NUMBER, help=measure.unit)
        for end, called in (("low", "from"), ("high", "to")):
            config[f"{name}_{end}"] = st.column_config.NumberColumn(called, format="%.2f", width=_END)

    def open_selected(row: int) -> None:
        open_head(*statistics.head(row))

    tables.draw_selectable(frame, _TABLE, open_selected, height=400, placeholder="not defined", column_config=config)
    save.table("All heads", lambda: frame, "all-heads")


VIEW = View(
    "all",
    "All heads",
    draw,
    "Every head by two measures of your choice, a third as colour. Look for a head by what it does.",
    "The numbers are means over all sentences; intervals take sentences, not tokens, as units; of those that templates "
    "made, frames: sentences with the same relations in the same order. A head that finds a relation is chosen on one "
    "half of the sentences and judged on the other.",
    fields=(ACROSS, UP, COLOUR, FIND),
    left_out=lambda _scene: notes.not_in_link(["how you sorted the table"]),
    needs=("attention", "results"),
    tab=10,
    terms=("attention head", "kind of head"),
)
