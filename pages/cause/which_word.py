"""View "Which word drives it?": every method's answer on one sentence, and which is faithful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis import explanations
from analysis.explanations import Area, Mean, Way
from jobs.explaining import N_SENTENCES, NEARNESS, ORDERS, RANDOM, WAYS, Explained, Explaining, built_in, explain
from model_zoo.questions.intervene import Intervene
from model_zoo.types import METHODS, Attribution, Measure, signed
from pages.cause import scene as scenes
from pages.cause.scene import Scene
from ui import Field, View, as_python, ask_for, caption, figures, one_of, save, start_button, watch, widgets
from ui.cells import show
from viz import cells
from viz.curves import curves
from viz.erasure import LEGEND
from viz.layout import percent
from web.background import desk
from web.engine import engine

_MEASURES: dict[Measure, str] = {"log P": "log₂ P", "P": "P", "logit difference": "Logit difference"}
_WAYS: dict[Way, str] = {
    "deletion": "Deletion: hide the highest-scored words first",
    "insertion": "Insertion: show the highest-scored words first",
}
MEASURE: Field[Measure] = Field("of", "log P", one_of("the measure", _MEASURES), of="cause")
WAY: Field[Way] = Field("way", "deletion", one_of("the curve", _WAYS), of="cause")

_TITLES = {
    "occlusion": "Occlusion",
    "gradient x input": "Gradient × input",
    "integrated gradients": "Integrated gradients",
    "DecompX": "DecompX",
    "attention": "Attention, mean",
    "rollout": "Attention rollout",
    "contributions": "Contributions, rollout",
    "value zeroing": "Value zeroing, rollout",
    "value-weighted attention": "Attention × value",
    "gradient-weighted attention": "Attention × gradient",
    NEARNESS: "Nearness alone",
    RANDOM: "Random order (mean of 5)",
}
_HIGHER = 1.005  # a share of P that is more than rounding above that of the whole text
_MOST = 40  # words for which all methods are worked out
_METHODS = Path(__file__).with_name("methods.md").read_text(encoding="utf-8")


def draw(scene: Scene) -> None:
    controls = scenes.row(scene, "mask")
    if controls is None:
        return
    if len(scene.words) > _MOST:
        ask_for(
            f"The text has {len(scene.words)} words. Every method needs many runs of the model, so at most {_MOST} "
            "words are compared. Shorten the text."
        )
        return
    with controls:
        measure = widgets.choice("Of", MEASURE, label_visibility="collapsed")
        with widgets.popover("The methods", ":material/menu_book:"):
            st.markdown(_METHODS)
    explained = _explained(scene, measure)
    if not explained.curves:
        ask_for("There is no other word to score. Type a longer text.")
        return
    _put_python(scene, explained)
    _scores(scene, explained)
    _holds(scene, explained)
    _many(scene)


def _explained(scene: Scene, measure: Measure) -> Explained:
    question = scene.resolved

    def compute() -> Explained:
        *_, last = explain(engine(), question, measure)
        return last

    with st.spinner("Running all methods …", show_time=True):
        return engine().derived(("explained", question, scene.info.revision, measure), compute)


def _put_python(scene: Scene, explained: Explained) -> None:
    masked, pair = scene.masked or None, scene.encoding.text_pair
    more = as_python.arguments(text_pair=pair, masked=masked)
    arguments = ", ".join(filter(None, (as_python.literal(scene.model), "text", more, "aim=aim")))
    as_python.put(
        scene.python_code(foil=explained.measure == "logit difference")
        + f"*_, found = explain(engine, Intervene({arguments}), {as_python.literal(explained.measure)})\n"
        "numbers = found.to_frame()",
        explained.to_frame,
        explain,
        Intervene,
    )


def _methods_computed(explained: Explained) -> list[str]:
    return [name for name in METHODS if name in explained.scores]


def _scores(scene: Scene, explained: Explained) -> None:
    names = _methods_computed(explained)
    values = np.stack([explained.scores[name] * explained.scale(name) for name in names])
    payload = cells.cells(
        values,
        [_TITLES[name] for name in names],
        [unit.label for unit in explained.units],
        quantity="score",
        down="method",
        across="word",
        each_row=True,
        file="which-word",
    )
    show(payload, "cause_scores")
    caption(
        f"{scene.describe_target(explained.untouched)}. {LEGEND}; attention, contributions and value zeroing have no "
        "sign. Each row has a colour scale of its own."
    )
    for name, attribution in explained.sums.items():
        caption(_sum(name, attribution, explained.scale(name)))
    for why in dict.fromkeys(explained.failures.values()):
        caption(why)
    save.table("All scores", lambda: _score_table(scene, explained), "which-word")


def _sum(name: str, attribution: Attribution, scale: float) -> str:
    """What a method's numbers add up to; ``scale`` gives them the units of the screen."""
    assert attribution.difference is not None
    assert attribution.error is not None
    total, missed = (scale * value for value in (attribution.difference, abs(attribution.error)))
    if attribution.bias is None or attribution.uncounted is None:
        return f"{_TITLES[name]} should add up to {signed(total, 3)}; they miss it by {missed:.4f}."
    beside = "less that of the other answer" if attribution.measure == "logit difference" else "above the mean answer’s"
    parts = (float(attribution.scores.sum()), attribution.uncounted, attribution.bias)
    of_words, of_others, of_biases = (signed(part) for part in parts)
    others = "special tokens" if attribution.position is None else "special tokens and the mask"
    return (
        f"{_TITLES[name]} splits the target’s logit ({signed(total)}, {beside}): {of_words} from the words, "
        f"{of_others} from {others}, {of_biases} from biases; the sum misses it by {missed:.4f}. Attention weights are "
        "frozen: what a word does by steering attention is left out."
    )


def _holds(scene: Scene, explained: Explained) -> None:
    """Which explanation holds on this sentence: curves, areas, and how far the methods agree."""
    left, right = st.columns([3, 2], gap="medium")
    names = [name for name in ORDERS if (name, "deletion") in explained.curves]
    with left:
        st.markdown(
            "**Which is faithful?** Words are hidden or shown in the order of each method, and P of the target is "
            "tracked."
        )
        way = widgets.choice("Curve", WAY, label_visibility="collapsed")
        ranked = sorted(names, key=lambda name: explained.area(name, way), reverse=way == "insertion")
        n = len(explained.words)
        series = [
            (f"{_TITLES[name]}: area {explained.area(name, way):.2f}", explained.curves[name, way]) for name in ranked
        ]
        high = max(float(curve.max()) for _, curve in series)
        p_whole_text = percent(explained.untouched.answer.probability)
        figure = partial(
            curves,
            [str(k) for k in range(n + 1)],
            [(name, curve.tolist()) for name, curve in series],
            quantity="P of the target, as a share of that for the whole text",
            across="words hidden" if way == "deletion" else "words shown",
            span=(0.0, min(high, 1.0)),
            share=True,
        )
        figures.show(figure, f"curves {way}", f"which-word-{way}")
        st.caption(
            "Best on top. "
            + (
                "A good ranking makes the target fall fast: a small area is better."
                if way == "deletion"
                else "A good ranking brings the target back fast: a large area is better."
            )
            + " Occlusion uses the same kind of runs, so it has an advantage here."
            + (" “Nearness alone” only knows where the prediction is made." if NEARNESS in names else "")
            + (
                f" Above 100%, P is higher than for the whole text ({p_whole_text}): an area can exceed 1."
                if high > _HIGHER
                else ""
            )
        )
        save.table("The curves", lambda: _curve_table(scene, explained), "which-word-curves")
        visible = [name for name, of_way in explained.curves if of_way == way]
        as_python.put(
            f'orders = [name for name, way in found.curves if way == "{way}"]\n'
            f'numbers = np.array([found.curves[name, "{way}"] for name in orders])  # by how many words are hidden\n',
            lambda: np.array([explained.curves[name, way] for name in visible]),
            part=_WAYS[way],
        )
    if len(explained.scores) > 1:
        with right:
            _agreement(explained)


def _agreement(explained: Explained) -> None:
    names = _methods_computed(explained)
    taus = explanations.kendall([explained.scores[name][[*explained.words]] for name in names])
    as_python.put(
        "words = [*found.words]\n"
        "numbers = kendall([scores[words] for scores in found.scores.values()])  # of each method with each",
        lambda: taus,
        explanations.kendall,
        part="Do they agree?",
    )
    st.markdown("**Do they agree?** Kendall’s τ between the rankings: 1 identical, 0 unrelated, −1 reversed.")
    short = [_TITLES[name].partition(":")[0] for name in names]
    numbered = [f"{number} {name}" for number, name in enumerate(short, start=1)]
    places = [str(number) for number in range(1, len(names) + 1)]
    payload = cells.cells(
        taus,
        numbered,
        places,
        quantity="Kendall’s τ",
        down="method",
        across="method, by its number",
        end=1.0,
        file="which-word-agreement",
    )
    show(payload, "cause_taus")
    st.caption(
        "Attention that disagrees with gradients and occlusion (Jain & Wallace 2019) need not be useless: whether it "
        "explains depends on what you ask of an explanation (Wiegreffe & Pinter 2019). See which passes this test."
    )


def _many(scene: Scene) -> None:
    """The same on the built-in sentences."""
    if scene.reads not in ("mask", "next token"):
        return
    with st.expander(f"On {N_SENTENCES} built-in sentences", icon=":material/library_books:"):
        job = desk().current(Explaining)
        if job is None or job.model != scene.model or job.measure != MEASURE.value:
            st.markdown(
                f"One sentence proves little. Here all methods take the same test on {N_SENTENCES} sentences written "
                "for this app, with the longest word of each masked. It takes about a minute with the bundled "
                "models."
            )
            start_button(
                f"Run on {N_SENTENCES} sentences",
                lambda: Explaining(engine(), built_in(scene.model, causal=scene.info.lm), MEASURE.value),
            )
            return
        watch(job)
        table = job.table()
        if not table:
            return
        st.dataframe(_areas(table), hide_index=True)
        if not job.running and not job.stopping:
            arguments = as_python.arguments(scene.model, causal=scene.info.lm)
            as_python.put(
                f"questions = built_in({arguments})\n"
                f"job = Explaining(engine, questions, {as_python.literal(job.measure)})\n"
                "for _ in job.steps():  # about a minute with the bundled models\n"
                "    pass\n"
                "numbers = np.array([area.mean.value for area in job.table()])  # of each method and way",
                lambda: np.array([area.mean.value for area in table]),
                part=f"On {N_SENTENCES} built-in sentences",
            )
        st.caption(
            f"Area under the curves over {job.n_done} sentences. Deletion: less is better. Insertion: more is better. "
            f"P of the target in the whole sentence is {percent(float(np.median(job.probabilities)))} in the median; "
            "where hiding words raises it, an area can exceed 1, and a few such sentences move the mean: see the "
            "median, too. “Against nearness”: the mean difference from nearness alone in the same sentence; “better "
            "than nearness in”: the share of sentences, equal ones counted as half. Where the interval includes 0, or "
            "50%, there is no evidence of a difference from nearness. Intervals: 95%, bootstrap over sentences."
        )
        save.table("Mean areas", lambda: _area_table(table), "which-word-areas")


def _areas(table: Sequence[Area]) -> pd.DataFrame:
    columns: dict[str, list[str]] = {"method": [_TITLES[area.method] for area in table if area.way == "deletion"]}
    for way in WAYS:
        of_way = [area for area in table if area.way == way]
        columns |= {
            f"{way}, mean": [f"{area.mean:.3f}" for area in of_way],
            f"{way}, median": [f"{area.median:.3f}" for area in of_way],
            f"{way}, exceeds 1 in": [f"{area.exceeds_one:.0%}" for area in of_way],
            f"{way}, against nearness": [_or_dash(area.above, "+.3f") for area in of_way],
            f"{way}, better than nearness in": [_or_dash(area.better, ".0%") for area in of_way],
        }
    return pd.DataFrame(columns)


def _or_dash(mean: Mean | None, how: str) -> str:
    return "–" if mean is None else format(mean, how)


def _area_table(table: Sequence[Area]) -> pd.DataFrame:
    return pd.json_normalize([asdict(area) for area in table], sep="_")


def _score_table(scene: Scene, explained: Explained) -> pd.DataFrame:
    return scene.table(
        [
            {
                "answer": explained.untouched.answer.token,
                "measure": MEASURE.labels[MEASURE.value],
                "method": name,
                "word": unit.label,
                "first_token": unit.start + 1,
                "last_token": unit.stop,
                "score": float(score) * explained.scale(name),
            }
            for name in _methods_computed(explained)
            for unit, score in zip(explained.units, explained.scores[name], strict=True)
        ]
    )


def _curve_table(scene: Scene, explained: Explained) -> pd.DataFrame:
    return scene.table(
        [
            {"method": name, "way": way, "words": k, "share_of_p": float(share), "area": explained.area(name, way)}
            for (name, way), curve in explained.curves.items()
            for k, share in enumerate(curve)
        ]
    )


VIEW = View(
    "words",
    "Which word drives it?",
    draw,
    "Up to ten methods say which words the prediction depends on. Do they agree, and which is faithful?",
    more="Each method gives every word a score. To see which one to believe, words are hidden in each method’s "
    "order, and P of the target is tracked (Samek et al. 2017; Petsiuk et al. 2018); punctuation stays. Hiding "
    "words makes unnatural (out-of-distribution) texts, so the curves measure how a method does in this test. A "
    "method that does not beat nearness says no more than where the prediction is made. The first row is what "
    "**Why this word?** on the page Masked words shows.",
    caution="Hiding words makes unnatural (out-of-distribution) texts. So a curve shows how well a ranking does in "
    "this test, on this sentence; it does not show how the model reaches its prediction.",
    fields=(MEASURE, WAY),
    tab=30,
    terms=("feature attribution", "gradient × input", "integrated gradients", "DecompX", "faithfulness"),
)
