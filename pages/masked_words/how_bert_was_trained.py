"""View "How BERT was trained": what its training hides of this text, what the model answers, and what that costs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st

from analysis import corruption, scoring
from model_zoo.types import MaskPrediction
from pages.masked_words.scene import Scene
from ui import Field, View, as_python, place, save, say, token_line, widgets, within
from viz.corruption import corrupted, legend
from viz.token_line import Line
from web.engine import engine

_PAGE = "masked_words"
RATE: Field[int] = Field("rate", 15, within("the share of tokens", 1, 100), of=_PAGE)
RATE_MASKED: Field[int] = Field("rate_masked", 80, within("the share of masks", 0, 100), of=_PAGE)
RATE_RANDOM: Field[int] = Field("rate_random", 10, within("the share of random tokens", 0, 100), of=_PAGE)
SEED: Field[int] = Field("seed", 0, within("the seed", 0, 999_999), of=_PAGE)
WORKED_TOKEN: Field[int] = Field("worked_token", 0, place("the worked token"), of=_PAGE)  # among those chosen


def draw(scene: Scene) -> None:
    recipe = _ask()
    drawn = corruption.corrupt(scene.encoding, scene.vocabulary, recipe)
    answers = engine().restore(scene.model, scene.text, drawn.ids, drawn.positions, 10)

    scene.put_python(
        f"recipe = {as_python.literal(recipe)}\n"
        "drawn = corrupt(engine.encode(model, text), engine.vocabulary(model), recipe)\n"
        "answers = engine.restore(model, text, drawn.ids, drawn.positions)\n"
        "numbers = -np.array([answer.log_probability for answer in answers])  # the loss of each, in nats",
        lambda: -np.array([answer.log_probability for answer in answers]),
        corruption.Recipe,
        corruption.corrupt,
    )

    def lines(*, dark: bool) -> list[Line]:
        sentence = corrupted(scene.encoding, drawn, scene.vocabulary, answers, dark=dark)
        return [legend(drawn, dark=dark), sentence]

    token_line.show(lines, "training", "training")
    st.caption(
        "Below each selected token: the original, the prediction (✓ right, ✗ wrong), and the loss in nats, −ln P of "
        "the original token. Words clicked in other views have no effect; typed masks are not drawn."
    )
    right = sum(a.original is not None and a.best[0].id == a.original.id for a in answers)
    columns = st.columns(3)
    columns[0].metric("Loss (cross-entropy)", f"{scoring.cross_entropy(answers):.3f} nats")
    columns[1].metric("Top-1 accuracy", f"{right} of {len(answers)}")
    columns[2].metric("Kept unchanged", drawn.kinds.count("kept"))
    _by_hand(scene, answers)


def _ask() -> corruption.Recipe:
    with widgets.controls():
        widgets.draw_again("Draw again", SEED)
        with widgets.popover("Percentages", ":material/tune:"):
            rate = st.number_input("Selected (%)", **RATE.bound)
            masked = st.number_input("of these, masked (%)", **RATE_MASKED.bound)
            random = st.number_input("random (%)", **RATE_RANDOM.bound)
            seed = st.number_input("Seed", **SEED.bound)
        st.caption(f"{rate}% selected; of these {masked}% masked, {random}% random.")
    return corruption.Recipe(rate=rate / 100, masked=masked / 100, random=random / 100, seed=int(seed))


def _by_hand(scene: Scene, answers: tuple[MaskPrediction, ...]) -> None:
    st.markdown("**Softmax and cross-entropy by hand**")
    if WORKED_TOKEN.value not in range(len(answers)):
        WORKED_TOKEN.value = 0
    tokens = [f"{scene.encoding.tokens[answer.position]} (token {answer.position + 1})" for answer in answers]
    worked = st.selectbox("For the token", **WORKED_TOKEN.offering(dict(enumerate(tokens))))
    answer = answers[worked]
    rows = scoring.softmax_by_hand(answer, scene.vocabulary.size)
    st.dataframe(
        pd.DataFrame(
            {
                "token": [f"{row.label} ({row.n:,} tokens)" if row.n > 1 else row.label for row in rows],
                "logit z": ["–" if math.isnan(row.logit) else f"{row.logit:.3f}" for row in rows],
                "exp(z − largest z)": [row.exponential for row in rows],
                "probability": [row.probability for row in rows],
                "": ["← the right token" if row.is_original else "" for row in rows],
            }
        ),
        hide_index=True,
        column_config={
            "logit z": st.column_config.TextColumn(alignment="right"),
            "exp(z − largest z)": st.column_config.NumberColumn(format="%.4f"),
            "probability": st.column_config.NumberColumn(format="%.5f"),
        },
    )
    save.table("Softmax by hand", lambda: pd.DataFrame(rows).assign(position=answer.position + 1), "softmax")
    total = sum(row.exponential for row in rows)
    original = next(row for row in rows if row.is_original)
    ln_p = answer.log_probability or 0
    say(
        f"The middle column sums to {total:.4f}. P({original.label}) = {original.exponential:.4f} / {total:.4f} = "
        f"{original.probability:.5f}, so the loss for this token is −ln {original.probability:.5f} = {-ln_p:.3f} nats "
        f"= {scoring.bits(ln_p):.2f} bits."
    )


VIEW = View(
    "training",
    "How BERT was trained",
    draw,
    "Some tokens are selected at random, as in BERT's training, and the model has to predict the originals.",
    more="In BERT's training, 15% of the tokens are **selected**. Of these, 80% are replaced by the mask, 10% by a "
    "random token and 10% stay the same, and the model has to predict the original of each. The loss is −ln P "
    "of the original token, averaged over the selected ones (cross-entropy).",
    fields=(RATE, RATE_MASKED, RATE_RANDOM, SEED, WORKED_TOKEN),
    tab=50,
    terms=("masked language modelling", "cross-entropy"),
)
