"""The text as words that light up: how much each gets of the one that is pointed at, in a head, a layer or a mean."""

from __future__ import annotations

from functools import partial

from analysis.filters import Filtered
from analysis.views import all_maps, mean_of_all
from model_zoo.types import FloatArray
from ui import save
from ui.attended_text import AttendedText
from ui.component import component, on_component_event
from ui.widgets import select_head
from viz import lit_words
from viz.attended import word_maps, words_payload
from viz.component import pack
from viz.standalone import standalone_html
from web.engine import engine

_KEY = "lit_words"
GROUP = "attention"


def draw(attended: AttendedText, layer: int, number: int) -> None:
    """The words of a text, lit by a map (both from 0), the mean of its layer's heads, and the mean of all there are.

    Nothing where the filter leaves no tokens.
    """
    filtered = _filtered(attended, layer, number)
    if 0 in filtered.weights.shape:
        return
    name = attended.file("words", layer, number)
    payload = words_payload(attended.maps, filtered, layer, number, steps=True, group=GROUP, file=name)
    save.picture(payload["file"])
    mount = component("words", lit_words.SOURCE)
    mount(key=_KEY, data=pack(payload), on_head_change=on_component_event(_KEY, "head", partial(_step, attended)))


def _step(attended: AttendedText, place: object) -> None:
    """Open the head or the layer that the reader stepped to."""
    maps = all_maps(attended.maps)
    if isinstance(place, int) and 0 <= place < len(maps):
        layer, number = maps[place]
        select_head(layer, number if attended.of_heads else None)


def file(attended: AttendedText, layer: int, number: int) -> str:
    """The same as an HTML file that works by itself, for one map (both from 0) and the means.

    Raises InvalidInput when the filter leaves no tokens.
    """
    filtered = _filtered(attended, layer, number)
    name = attended.file("words", layer, number)
    return standalone_html(
        lit_words.SOURCE,
        words_payload(attended.maps, filtered, layer, number, steps=False, file=name),
        title=f"{attended.words.title}, word by word",
        caption=filtered.summary(),
        meta={
            "Model": attended.run.model.id,
            "Revision": attended.run.model.revision,
            "Head" if attended.of_heads else "Layer": attended.called(layer, number),
            **attended.texts,
            "Numbers": attended.words.quantity,
        },
    )


def _filtered(attended: AttendedText, layer: int, number: int) -> Filtered:
    """The filter applied to the matrices (3 or 2, n, m), as it is to a map and to a mean of heads elsewhere."""
    return attended.filtered(word_maps(attended.maps, layer, number, _mean_of_all(attended)))


def _mean_of_all(attended: AttendedText) -> FloatArray:
    """Computed once per text and model, whatever the filter."""
    maps = attended.maps
    return engine().derived(("mean of all maps", *attended.run_key, maps.measure), lambda: mean_of_all(maps))
