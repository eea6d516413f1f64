"""The text as words that light up: how much each gets of the one that is pointed at, in a head, a layer or a mean."""

from __future__ import annotations

from functools import partial

from analysis.filters import Filtered
from analysis.views import all_maps, mean_of_all
from pages.attention.scene import Scene
from ui import save
from ui.component import component, on_component_event
from ui.widgets import select_head
from viz import lit_words
from viz.attended import word_maps, words_payload
from viz.component import pack
from web.engine import engine

_KEY = "lit_words"


def draw(scene: Scene, layer: int, number: int) -> None:
    """The words of a text, lit by a map (both from 0), the mean of its layer's heads, and the mean of all there are.

    Nothing where the filter leaves no tokens.
    """
    filtered = _filtered(scene, layer, number)
    if 0 in filtered.weights.shape:
        return
    name = scene.file("words", layer, number)
    payload = words_payload(scene.maps, filtered, layer, number, steps=True, group="attention", file=name)
    save.picture(payload["file"])
    mount = component("words", lit_words.SOURCE)
    mount(key=_KEY, data=pack(payload), on_head_change=on_component_event(_KEY, "head", partial(_step, scene)))


def _step(scene: Scene, place: object) -> None:
    maps = all_maps(scene.maps)
    if isinstance(place, int) and 0 <= place < len(maps):
        layer, number = maps[place]
        select_head(layer, number if scene.of_heads else None)


def file(scene: Scene, layer: int, number: int) -> str:
    """The same as an HTML file that works by itself, for one map (both from 0) and the means.

    Raises InvalidInput when the filter leaves no tokens.
    """
    filtered = _filtered(scene, layer, number)
    name = scene.file("words", layer, number)
    payload = words_payload(scene.maps, filtered, layer, number, steps=False, file=name)
    maps = {"Head" if scene.of_heads else "Layer": scene.called(layer, number)}
    return scene.standalone(lit_words.SOURCE, payload, "word by word", filtered, maps)


def _filtered(scene: Scene, layer: int, number: int) -> Filtered:
    """The filter applied to the matrices (3 or 2, n, m), as it is to a map and to a mean of heads elsewhere."""
    maps = scene.maps
    # Once per text and model, whatever the filter.
    mean = engine().derived(("mean of all maps", *scene.run_key, maps.measure), lambda: mean_of_all(maps))
    return scene.filtered(word_maps(maps, layer, number, mean))
