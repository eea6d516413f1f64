"""View "Which word did it?": every method's answer on one sentence, and which of them holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from analysis import explanations
from analysis.explanations import Area, Way
from jobs.explaining import N_SENTENCES, RANDOM, Explained, Explaining, built_in, explain
from model_zoo.types import METHODS, Measure
from ui import figures, save, widgets
from ui.background import desk, watch
from ui.cause import scene as scenes
from ui.cause.scene import Scene
from ui.cells import show
from ui.engine import engine
from ui.field import Field, one_of
from ui.messages import as_text
from ui.page import View, lacking
from viz import cells
from viz.curves import curves

MEASURE: Field[Measure] = Field("of", "log P", one_of("the measure", ("log P", "P", "logit difference")), of="cause")
WAY: Field[Way] = Field("way", "deletion", one_of("the curve", ("deletion", "insertion")), of="cause")

_MEASURES: dict[Measure, str] = {"log P": "ln P", "P": "P", "logit difference": "Logit difference"}
_WAYS: dict[Way, str] = {"deletion": "Hide the highest first", "insertion": "Show the highest first"}
_TITLES = {
    "occlusion": "Occlusion: hide the word",
    "gradient x input": "Gradient × input",
    "integrated gradients": "Integrated gradients",
    "attention": "Attention, mean",
    "rollout": "Attention rollout",
    "value-weighted attention": "Attention × value",
    "gradient-weighted attention": "Attention × gradient",
    RANDOM: "Random order (mean of 5)",
}
_MOST = 40  # words for which all methods are worked out
_METHODS = """
- **Occlusion** (Zeiler & Fergus 2014; Li et al. 2016): each word hidden by itself; what the measure loses.
- **Gradient × input** (Denil et al. 2014; Shrikumar et al. 2017): how fast the measure grows along each token’s
  embedding. Where a norm follows straight behind the embeddings, as in ModernBERT, it is close to 0 for every token.
- **Integrated gradients** (Sundararajan et al. 2017): gradients added up on the way from the sentence with every word
  hidden to the sentence, in 32 steps. They must add up to what the measure differs between the two.
- **Attention, mean**: what the vector that the answer is read from looks at, mean over all heads of all layers.
- **Attention rollout** (Abnar & Zuidema 2020): the same followed through all layers.
- **Attention × value** (Kobayashi et al. 2020): weights times the length of what is taken.
- **Attention × gradient** (Chefer et al. 2021): weights that count by their effect on the measure, followed through all
  layers.

The numbers of a word are the sum of its tokens’. A hidden word is read as the mask; where a model has none, as the
token for unknown words.
"""


def draw(scene: Scene) -> None:
    controls = scenes.row(scene)
    if lacking(scene, ("mask",)):
        return
    if len(scene.words) > _MOST:
        st.info(
            f"The text has {len(scene.words)} words. Every method takes many runs of the model, so at most {_MOST} "
            "words are compared. Shorten the text.",
            icon=":material/edit:",
        )
        return
    with controls:
        scenes.answers(scene)
        measure = widgets.choice("Of", _MEASURES, MEASURE, label_visibility="collapsed")
        with widgets.popover("The methods", ":material/menu_book:"):
            st.markdown(_METHODS)
    found = _explained(scene, measure)
    if not found.curves:
        st.info("There is no other word to ask about. Type a longer text.", icon=":material/edit:")
        return
    _scores(scene, found)
    _holds(scene, found)
    _many(scene)


def _explained(scene: Scene, measure: Measure) -> Explained:
    question = scene.settled

    def compute() -> Explained:
        *_, last = explain(engine(), question, measure)
        return last

    with st.spinner("Asking every method …", show_time=True):
        return engine().derived(("explained", question, scene.info.revision, measure), compute)


def _shown(found: Explained) -> list[str]:
    return [name for name in METHODS if name in found.scores]


def _scores(scene: Scene, found: Explained) -> None:
    names = _shown(found)
    values = np.stack([found.scores[name] for name in names])
    payload = cells.cells(
        values,
        [_TITLES[name] for name in names],
        [unit.label for unit in found.units],
        what="score",
        each_row=True,
        file="which-word",
    )
    show(payload, "cause_scores")
    said = (
        f"{scene.in_words(found.untouched)}. Each row has a colour scale of its own, blue for what speaks for the "
        "answer and orange for what speaks against it; attention has no sign."
    )
    if found.error is not None and found.difference is not None:
        said += (
            f" Integrated gradients should add up to {found.difference:.3f} and miss it by {abs(found.error):.4f}."
        ).replace("-", "−")
    st.caption(as_text(said))
    for why in dict.fromkeys(found.failures.values()):
        st.caption(as_text(why))
    save.table("All scores", lambda: _score_table(scene, found), "which-word")


def _holds(scene: Scene, found: Explained) -> None:
    """Which explanation holds on this sentence: curves, areas, and how far the methods agree."""
    left, right = st.columns([3, 2], gap="medium")
    names = [*_shown(found), RANDOM]
    with left:
        st.markdown("**Which of them holds?** Words go in the order of each method, and the answer is watched.")
        way = widgets.choice("Curve", _WAYS, WAY, label_visibility="collapsed")
        ranked = sorted(names, key=lambda name: found.area(name, way), reverse=way == "insertion")
        n = len(found.units)
        series = [(f"{_TITLES[name]}: area {found.area(name, way):.2f}", found.curves[name, way]) for name in ranked]
        high = max(float(curve.max()) for _, curve in series)
        figure = curves(
            [str(k) for k in range(n + 1)],
            [(name, curve.tolist()) for name, curve in series],
            what="P of the answer, of the whole text’s",
            across="words hidden" if way == "deletion" else "words shown",
            span=(0.0, min(high, 1.0)),
            share=True,
            dark=scene.dark,
        )
        figures.show(figure, f"curves {way}", f"which-word-{way}")
        st.caption(
            "Best on top. "
            + (
                "A method that names the right words brings the answer down fast: a small area is good."
                if way == "deletion"
                else "A method that names the right words brings the answer back fast: a large area is good."
            )
            + " Occlusion is made of the same kind of runs, so it has a head start."
        )
        save.table("The curves", lambda: _curve_table(scene, found), "which-word-curves")
    if len(found.scores) > 1:
        with right:
            _agreement(found)


def _agreement(found: Explained) -> None:
    names = _shown(found)
    taus = explanations.kendall([found.scores[name] for name in names])
    st.markdown("**Do they agree?** Kendall’s τ between the orders: 1 the same, 0 unrelated, −1 reversed.")
    short = [_TITLES[name].partition(":")[0] for name in names]
    numbered = [f"{number} {name}" for number, name in enumerate(short, start=1)]
    places = [str(number) for number in range(1, len(names) + 1)]
    show(cells.cells(taus, numbered, places, what="τ", end=1.0, file="which-word-agreement"), "cause_taus")
    st.caption(
        "Attention that disagrees with gradients and hiding (Jain & Wallace 2019) need not be useless: whether it is "
        "an explanation depends on what is asked of one (Wiegreffe & Pinter 2019). Look which one holds."
    )


def _many(scene: Scene) -> None:
    """The same on the built-in sentences."""
    if scene.reads not in ("mask", "next token"):
        return
    with st.expander(f"On {N_SENTENCES} built-in sentences", icon=":material/library_books:"):
        job = desk().current(Explaining)
        if job is None or job.model != scene.model or job.measure != MEASURE.value:
            st.markdown(
                f"One sentence is one sentence. Here all methods are put to the same test on {N_SENTENCES} that were "
                "written for this app, with the longest word of each hidden. It takes about a minute with the small "
                "models."
            )
            st.button(
                f"Run on {N_SENTENCES} sentences",
                on_click=lambda: desk().start(
                    Explaining(engine(), built_in(scene.model, causal=scene.info.lm), MEASURE.value)
                ),
                icon=":material/play_arrow:",
            )
            return
        if job.running:
            watch(job)
        if job.failure is not None:
            st.warning(as_text(job.failure), icon=":material/error:")
        table = job.table()
        if not table:
            return
        st.dataframe(_areas(table), hide_index=True)
        st.caption(
            f"Mean area under the curves of {job.n_done} sentences, with the 95% interval of the mean (bootstrap over "
            "sentences). Deletion: less is better. Insertion: more is better."
        )
        save.table("Mean areas", lambda: pd.DataFrame(table), "which-word-areas")


def _areas(table: Sequence[Area]) -> pd.DataFrame:
    by_name = {(one.method, one.way): one for one in table}
    names = [name for name in (*METHODS, RANDOM) if (name, "deletion") in by_name]
    names.sort(key=lambda name: by_name[name, "deletion"].mean)

    def written(one: Area) -> str:
        return f"{one.mean:.3f}  ({one.low:.3f} – {one.high:.3f})"

    return pd.DataFrame(
        {
            "method": [_TITLES[name] for name in names],
            "deletion": [written(by_name[name, "deletion"]) for name in names],
            "insertion": [written(by_name[name, "insertion"]) for name in names],
        }
    )


def _score_table(scene: Scene, found: Explained) -> pd.DataFrame:
    rows = [
        {
            "model": scene.model,
            "revision": scene.info.revision,
            "text": scene.text,
            "answer": found.untouched.answer.token,
            "measure": MEASURE.value,
            "method": name,
            "word": unit.label,
            "first_token": unit.start + 1,
            "last_token": unit.stop,
            "score": float(score),
        }
        for name in _shown(found)
        for unit, score in zip(found.units, found.scores[name], strict=True)
    ]
    return pd.DataFrame(rows)


def _curve_table(scene: Scene, found: Explained) -> pd.DataFrame:
    rows = [
        {
            "model": scene.model,
            "revision": scene.info.revision,
            "text": scene.text,
            "method": name,
            "way": way,
            "words": k,
            "share_of_p": float(share),
            "area": found.area(name, way),
        }
        for (name, way), curve in found.curves.items()
        for k, share in enumerate(curve)
    ]
    return pd.DataFrame(rows)


VIEW = View(
    "words",
    "Which word did it?",
    draw,
    "Up to seven methods say which words the answer rests on. Do they agree, and which of them holds?",
    more="Each method gives every word a number. To see which one to believe, words are hidden in each method’s "
    "order, and P of the answer is followed (Samek et al. 2017; Petsiuk et al. 2018). Hiding words makes sentences "
    "that nobody wrote, so the curves measure how a method fits this test.",
    fields=(MEASURE, WAY),
)
