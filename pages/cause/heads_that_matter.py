"""View "Heads that matter": every head switched off by itself, and a set of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from analysis.agreement import readable
from analysis.effects import BYS, By, lost, measured
from analysis.erasure import each_hidden
from analysis.words import Unit
from jobs.ablation import GreedyJob
from jobs.explaining import explainable
from model_zoo.errors import NotSupported
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, Effects, counted, signed
from pages.cause import effect_views
from pages.cause import scene as scenes
from pages.cause.fields import BLOCKS, BY, OFF, VALUE, change_of, name_of
from pages.cause.scene import Scene
from ui import View, as_python, caption, figures, note, notes, save, say, start_button, token_line, watch
from ui.as_python import Lines
from ui.cells import Cells, show
from viz.curves import pruning
from viz.erasure import LEGEND, without_word
from viz.head_effects import head_effects
from viz.token_line import Line
from web.background import desk
from web.engine import engine

Map = npt.NDArray[np.float64]

_MOST_NAMED = 6
_LONGEST_FOR_WORDS = 64  # tokens; beyond, hiding each word twice takes seconds


def draw(scene: Scene) -> None:
    controls = scenes.row(scene, "attention", "mask")
    if controls is None:
        return
    with controls:
        by = scenes.measure()
        value = st.selectbox("Ablation", **VALUE.bound, label_visibility="collapsed", width=170)
    question = replace(scene.resolved, value=value)
    parts, n_blocks = _parts(scene)
    single_parts = replace(question, changes=tuple(change_of([part]) for part in parts))
    effects = scenes.answered(replace(single_parts, top_k=1), len(scene.encoding))
    off = _off(parts)
    with st.container(key="result-first"):
        left, right = st.columns([3, 2], gap="medium")
    with right:  # first: it is what a click waits for
        _switches(parts)
        together = _together(scene, replace(question, changes=(change_of(off),)), off)
    with left:
        if effects is not None:
            _map(scene, effects, by, n_blocks, off)
            _map_python(scene, effects, by, n_blocks)
    if together is not None:
        _together_python(scene, together, change_of(off))
    if off:
        _words(scene, question, off)
    _greedy(scene, question)


def _parts(scene: Scene) -> tuple[list[str], int]:
    """All that can be switched off, by name, and how many whole blocks a layer has that can."""
    layers, heads = range(1, scene.info.n_layers + 1), range(1, scene.info.n_heads + 1)
    n_blocks = len(BLOCKS) if _has_blocks(scene) else 0
    return [f"{layer}.{part}" for layer in layers for part in (*heads, *BLOCKS[:n_blocks])], n_blocks


def _has_blocks(scene: Scene) -> bool:
    """Whether this family's layers are known part by part."""
    try:
        engine().ask(replace(scene.resolved, changes=(Change(feed_forward=(0,)),), top_k=1))
    except NotSupported:
        return False
    return True


def _off(parts: Sequence[str]) -> tuple[str, ...]:
    """What is off, of what there is; says so where something chosen is not there."""
    off = tuple(part for part in OFF.value if part in parts)
    if off != OFF.value:
        gone = ", ".join(part for part in OFF.value if part not in parts)
        note(f"This model has no {gone}, so it is left out.")
        OFF.value = off
    return off


def _map(scene: Scene, effects: Effects, by: By, n_blocks: int, off: Sequence[str]) -> None:
    layers, heads = scene.info.n_layers, scene.info.n_heads
    values = lost(effects, by).reshape(layers, heads + n_blocks)
    parts, _ = _parts(scene)
    at = {part: divmod(place, heads + n_blocks) for place, part in enumerate(parts)}
    payload = head_effects(values, heads, by, picked=[at[part] for part in off], mark="off")

    def picked(cells: Cells) -> None:
        OFF.value = tuple(parts[row * (heads + n_blocks) + column] for row, column in cells)

    show(payload, "cause_map", picked)
    caption(_most(effects, by, parts))
    save.table("Every part", lambda: _table(scene, effects, parts), "heads-that-matter")


def _ablation() -> str | None:
    """What stands in the place of what is off, where that is not zeros."""
    return None if VALUE.value == VALUE.default else VALUE.value


def _map_python(scene: Scene, effects: Effects, by: By, n_blocks: int) -> None:
    blocks = "    parts += [Change(attention=(layer,)), Change(feed_forward=(layer,))]\n" * bool(n_blocks)
    as_python.put(
        scene.python_code(foil=by == "difference") + f"info = engine.info({as_python.literal(scene.model)})\n"
        "parts = []\n"
        "for layer in range(info.n_layers):\n"
        "    parts += [Change(heads=((layer, head),)) for head in range(info.n_heads)]\n"
        f"{blocks}"
        f"effects = {scene.intervene('parts', value=_ablation())}\n"
        f'numbers = lost(effects, "{by}").reshape(info.n_layers, -1)  # a row a layer',
        lambda: lost(effects, by).reshape(scene.info.n_layers, -1),
    )


def _together_python(scene: Scene, effects: Effects, off: Change) -> None:
    blocks = {"attention": off.attention, "feed_forward": off.feed_forward}
    parts = as_python.arguments(heads=off.heads or None, **{name: of or None for name, of in blocks.items()})
    lines = scene.python_code() + Lines("", (Change,))
    effect_views.put_python(scene, effects, lines, f"Change({parts})", value=_ablation())


def _most(effects: Effects, by: By, parts: Sequence[str]) -> str:
    """The heads whose loss moves the answer most, and how many hardly move it, as plain text."""
    values = lost(effects, by)
    heads = [place for place, part in enumerate(parts) if part.partition(".")[2] not in BLOCKS]
    largest = max(abs(values[place]) for place in heads)
    small = sum(abs(values[place]) < 0.1 * largest for place in heads)
    most, least = (pick(heads, key=lambda place: values[place]) for pick in (max, min))
    extremes = [place for place in (most, least) if abs(values[place]) >= 0.1 * largest and values[place]]
    named = " and ".join(
        f"{name_of(parts[place]).lower()} ({signed(values[place], plus=True)})" for place in dict.fromkeys(extremes)
    )
    largest_effects = f"Largest effects: {named}; " if named else ""
    return (
        f"{largest_effects}{counted(small, 'head')} of {len(heads)} have under a tenth of the largest effect. "
        f"{scenes.describe_numbers(by)} Colours are capped at the largest head; blocks may exceed it."
    )


def _switches(parts: Sequence[str]) -> None:
    """The same choice as in the map, for the keyboard."""
    st.multiselect(
        "Ablated together",
        parts,
        **OFF.bound,
        format_func=lambda part: part.replace(".forward", ", feed-forward").replace(".attention", ", all heads"),
        placeholder="Click cells, or choose: 3.7 is layer 3, head 7",
    )


def _together(scene: Scene, question: Intervene, off: Sequence[str]) -> Effects | None:
    if not off:
        effect_views.untouched(scene, scene.untouched, "heads")
        st.caption("Click a cell to switch that part off.")
        return None
    effects = engine().ask(question)
    change = f"{name_of(off[0]).lower()} off" if len(off) == 1 else f"{len(off)} parts off"
    effect_views.draw(scene, effects, change, "heads")
    return effects


def _words(scene: Scene, question: Intervene, off: Sequence[str]) -> None:
    """The words that the answer rests on, before and after: each hidden by itself."""
    units = explainable(scene.encoding, scene.position)
    if not units or len(scene.encoding) > _LONGEST_FOR_WORDS:
        return
    change = change_of(off)
    hidden = each_hidden(units)
    both = (change, *(replace(change, hidden=word.hidden) for word in hidden))
    before = engine().ask(replace(question, changes=hidden, top_k=1))
    after = engine().ask(replace(question, changes=both, top_k=1))
    after = replace(after, untouched=after.readings[0], readings=after.readings[1:])

    def lines(*, dark: bool) -> list[Line]:
        both_lost = ((lost(before, "bits"), "Original"), (lost(after, "bits"), "Off"))
        return [_lit(units, bits, label, dark) for bits, label in both_lost]

    if as_python.has_lines():
        _words_python(scene, before, after)
    st.markdown("**Words the prediction depends on** (occlusion), before and after")
    token_line.show(lines, "words before and after", "words-before-and-after")
    st.caption(
        "Below each word: the bits of log₂ P that the prediction loses when only that word is hidden (before "
        f"− after). {LEGEND}."
    )


def _words_python(scene: Scene, before: Effects, after: Effects) -> None:
    both = "[change, *(replace(change, hidden=word.hidden) for word in hidden)]"
    as_python.put(
        "hidden = each_hidden(explainable(effects.encoding, effects.position))\n"
        f"before = {scene.intervene('hidden', value=_ablation())}\n"
        f"off, *after = {scene.intervene(both, value=_ablation())}.readings\n"
        'then = [measured(off, "bits") - measured(reading, "bits") for reading in after]\n'
        'numbers = np.array([lost(before, "bits"), then])  # a row before, a row after',
        lambda: np.array([lost(before, "bits"), lost(after, "bits")]),
        measured,
        part="Words the prediction depends on, before and after",
    )


def _lit(units: Sequence[Unit], effects: Map, label: str, dark: bool) -> Line:
    items = []
    for unit, bits in zip(units, effects.tolist(), strict=True):
        number = "0" if abs(bits) < 0.05 else signed(bits, 1, plus=True)
        items.append(without_word(unit.label, bits, number, f"without “{unit.label}”: {number} bits lost", dark=dark))
    return Line(tuple(items), label=label)


def _table(scene: Scene, effects: Effects, parts: Sequence[str]) -> pd.DataFrame:
    bits, probability, difference, divergence = (lost(effects, by) for by in BYS)
    return scene.table(
        {
            "answer": effects.answer.token,
            "against": None if effects.foil is None else effects.foil.token,
            "off": parts,
            "value": VALUE.value,
            "bits_lost": bits,
            "p_lost": probability,
            "logit_difference_lost": difference,
            "kl_bits": divergence,
            "first_answer": [reading.best[0].token for reading in effects.readings],
        }
    )


def _greedy(scene: Scene, question: Intervene) -> None:
    """The fewest heads whose loss changes the answer, and how many can go before it does."""
    heads = [(layer, head) for layer in range(scene.info.n_layers) for head in range(scene.info.n_heads)]
    with st.expander("How many heads does it take?", icon=":material/stacked_line_chart:"):
        st.markdown(
            "Heads are switched off one after another (greedy ablation). Each step removes the head whose loss hurts "
            "the target **most**: how few heads change the prediction? Or the one whose loss hurts **least**: how "
            "many can go? (Michel et al. 2019 could prune about 20% of the heads of a translation model and 40% of "
            "BERT’s without noticeable loss, though most heads can be removed one at a time.) A greedy search finds "
            "a small set, not always the smallest."
        )
        job = desk().current(GreedyJob)
        wanted = replace(question, changes=(), top_k=1)
        if job is None or job.question != wanted:
            start_button(f"Run the search over {len(heads)} heads", lambda: GreedyJob(engine(), wanted, heads))
            return
        watch(job)
        _draw_search(scene, job)


def _draw_search(scene: Scene, job: GreedyJob) -> None:
    worst, least = job.paths.get("worst first"), job.paths.get("least first")
    answer = readable(scene.untouched.answer.token)
    if worst is not None and worst.changed:
        named = ", ".join(f"{layer + 1}.{head + 1}" for layer, head in worst.heads[:_MOST_NAMED])
        more = ", …" if len(worst.heads) > _MOST_NAMED else ""
        say(f"Without {counted(len(worst.heads), 'head')} ({named}{more}) the model’s top prediction changes.")
        st.button(
            "Switch these off",
            on_click=lambda: setattr(OFF, "value", tuple(f"{a + 1}.{b + 1}" for a, b in worst.heads)),
            icon=":material/toggle_off:",
        )
    elif worst is not None and not job.running:
        st.markdown("Removing heads in this order never changed the top prediction.")
    if least is not None and (least.changed or not job.running) and least.counts[1:]:
        n = least.counts[-1] - least.changed
        st.markdown(
            f"**{n} of {len(job.heads)}** heads can be removed, least important first, before the top prediction "
            "changes."
        )
    if job.running or least is None or worst is None or not least.scores:
        return
    if not job.stopping and as_python.has_lines():
        _greedy_python(scene, [mean.value for path in (worst, least) for mean in path.scores])
    figure = partial(
        pruning, job.curves, f"P({answer})", max(len(path.heads) for path in job.paths.values()), percent=True
    )
    figures.show(figure, "greedy", "heads-greedy")
    save.table("The orders", lambda: _orders(job), "heads-greedy")


def _greedy_python(scene: Scene, probabilities: list[float]) -> None:
    arguments = scene.call("", "text", "aim=aim", masked=scene.masked or None, value=_ablation()).removeprefix(
        "engine."
    )
    as_python.put(
        "heads = [(layer, head) for layer in range(info.n_layers) for head in range(info.n_heads)]\n"
        f"search = GreedyJob(engine, Intervene{arguments}, heads)\n"
        "for _ in search.steps():\n"
        "    pass\n"
        'paths = search.paths["worst first"], search.paths["least first"]\n'
        "numbers = np.array([mean.value for path in paths for mean in path.scores])  # with 0, 1, 2, … heads off",
        lambda: np.array(probabilities),
        part="How many heads does it take?",
    )


def _orders(job: GreedyJob) -> pd.DataFrame:
    rows = [
        {"order": order, "n_off": k, "layer": head[0] + 1, "head": head[1] + 1, "probability": path.scores[k].value}
        for order, path in job.paths.items()
        for k, head in zip(path.counts[1:], path.heads, strict=False)
    ]
    random = enumerate(mean.value for curve in job.curves[2:] for mean in curve.scores)
    return pd.DataFrame(rows + [{"order": "random", "n_off": k, "probability": p} for k, p in random])


def _left_out(_scene: Scene) -> str:
    return notes.not_in_link(["what the search over heads found"] if desk().current(GreedyJob) else [])


VIEW = View(
    "heads",
    "Heads that matter",
    draw,
    "Each head is switched off by itself, and the model predicts again. Click cells to switch several off together.",
    more="A head that is off outputs zeros, or by mean ablation its mean over 100 built-in sentences: at each token "
    "over tokens of its kind (words, masks, full stops, and each special token by itself), so that only what depends "
    "on this text is lost. In the bundled models that usually changes predictions less than zeros do, but not always. "
    "The bias of the output projection stays. **All heads** and **feed-fwd** are the whole attention and feed-forward "
    "blocks of a layer. If the target falls when a head is off, the model uses that head here; if it does not fall, "
    "the head may still contribute, since others may do the same work.",
    caution="A head whose loss changes nothing may still matter: others may be redundant or compensate "
    "(self-repair). And a model without a head is a different model, which may fail in ways of its own.",
    fields=(OFF, VALUE, BY),
    left_out=_left_out,
    tab=10,
    terms=("zero ablation", "mean ablation", "greedy ablation"),
)
