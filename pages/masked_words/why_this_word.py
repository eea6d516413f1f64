"""View "Why this word?": each other word hidden in turn, and what that does to the prediction for one mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from analysis.agreement import readable
from analysis.erasure import UNNOTICED, Erasure, each_hidden, erasable, erasures, ranked, table
from analysis.words import Unit, token_units, word_units
from model_zoo.errors import InvalidInput
from model_zoo.questions.intervene import Intervene
from model_zoo.types import MaskPrediction, Prediction, TargetAnswer, counted
from pages.masked_words.fields import LONG, WORDS
from pages.masked_words.scene import Scene
from ui import MASK, Field, View, as_text, figures, long_text, one_of, save, say, token_line, widgets
from ui.mask_strip import choose_mask
from viz.bars import erasure_bars
from viz.direction import isolated
from viz.erasure import LEGEND, erased_sentence
from viz.layout import percent
from viz.token_line import Line
from web.engine import engine

_FOLLOWED = {"guess": "Prediction", "original": "Original word"}
FOLLOWED: Field[str] = Field("followed", "guess", one_of("what is followed", _FOLLOWED), of="masked_words")
_MOST_BARS = 10


def draw(scene: Scene) -> None:
    controls = scene.row()
    if controls is None:
        return
    with controls:
        place = choose_mask(MASK, scene.names)
    answer = engine().fill_mask(scene.model, scene.text, masked=scene.masked)[place]
    best, original = answer.best[0], answer.original
    two = original is not None and original.id != best.id
    followed = original if two and original is not None and FOLLOWED.value == "original" else best
    others = erasable(scene.units, scene.masks)
    if not others:
        raise InvalidInput("There is no other word to mask. Type a longer text, or unmask a word.")
    n = len(scene.encoding)
    if not long_text.may_run(LONG, n, f"Mask each word of this long text: {counted(len(others), 'run')} of the model"):
        return
    effects = _measured(scene, others, answer, followed)
    _put_python(scene, place, followed, best, effects)
    largest, name = ranked(effects), readable(followed.token)
    sentence, bars = st.columns([1, 1], gap="large")
    with sentence:
        under = {answer.position: f"{isolated(name)} {percent(followed.probability)}"}

        def lines(*, dark: bool) -> list[Line]:
            return [erased_sentence(scene.units, effects, scene.masks, under, dark=dark)]

        token_line.show(lines, "why", "why-this-word")
        say(_describe_largest(largest, followed, best))
        if two:
            widgets.choice("Follow", FOLLOWED)
        st.caption(
            f"Below each word: P({as_text(name)}) when that word is masked, too; a lost bit halves it. {LEGEND}. "
            "Masking a word also breaks "
            "the sentence, and if two words say the same, either can go without effect: this measures what the "
            "prediction depends on; it is not a full explanation."
        )
    with bars:
        figures.show(partial(erasure_bars, largest[:_MOST_BARS], f"P({name})"), "erasures", "why")
        if len(largest) > _MOST_BARS:
            st.caption(f"The {_MOST_BARS} largest effects of {len(largest):,}.")
        save.table("All effects", lambda: _table(scene, answer.position, followed, effects), "why")


def _measured(
    scene: Scene, others: Sequence[Unit], answer: MaskPrediction, followed: Prediction
) -> tuple[Erasure, ...]:
    best, original = answer.best[0], answer.original
    other = None if original is None or original.id == best.id else original.id  # either can be followed next
    aim = TargetAnswer("mask", answer.position, best.id, other)
    n = len(scene.encoding)
    question = Intervene(scene.model, scene.text, masked=scene.masked, aim=aim, top_k=1)
    changes = each_hidden(others)
    questions = [
        replace(question, changes=changes[part.start : part.stop]) for part in long_text.portions(n, len(others))
    ]
    answers = dict(long_text.collect_parts(LONG, n, engine().stream_all(questions), len(questions)))
    return erasures(others, [answers[place] for place in range(len(questions))], followed)


def _put_python(scene: Scene, place: int, followed: Prediction, best: Prediction, effects: Sequence[Erasure]) -> None:
    units = word_units if WORDS.value else token_units
    scene.put_python(
        "answers = engine.fill_mask(model, text{hidden})\n"
        f"answer = answers[{place}]\n"
        f"followed = answer.{'best[0]' if followed.id == best.id else 'original'}\n"
        f"words = erasable({units.__name__}(engine.encode(model, text)), [mask.position for mask in answers])\n"
        'aim = TargetAnswer("mask", answer.position, followed.id)\n'
        "effects = engine.intervene(model, text, each_hidden(words){hidden}, aim=aim)\n"
        "numbers = table(erasures(words, [effects], followed))",
        lambda: table(effects),
        units,
    )


def _describe_largest(largest: Sequence[Erasure], followed: Prediction, best: Prediction) -> str:
    """The largest effect in a sentence, as plain text; ``best`` is the prediction while nothing else is hidden."""
    first = largest[0]
    target = "the prediction" if followed.id == best.id else f"“{readable(followed.token)}”"
    if abs(first.bits) < UNNOTICED:
        return f"No single word matters much for {target}: it stays near {percent(followed.probability)}."
    effect = "costs" if first.bits > 0 else "helps"
    sentence = (
        f"Masking “{first.word.label}” {effect} {target} most: from {percent(first.before)} to {percent(first.after)}."
    )
    return (
        f"{sentence} The top prediction is then “{readable(first.guess.token)}”."
        if first.guess.id != best.id
        else sentence
    )


def _table(scene: Scene, position: int, followed: Prediction, effects: Sequence[Erasure]) -> pd.DataFrame:
    rows = table(effects)
    rows[["first_token", "last_token"]] += 1
    return scene.table({"mask": position + 1, "token": followed.token, **rows})


VIEW = View(
    "why",
    "Why this word?",
    draw,
    "Which words does the prediction depend on? Each other word is masked in turn (occlusion), and the model predicts "
    "again.",
    more="A masked word is replaced by masks, one for each of its tokens, while the chosen masks stay. The effect is "
    "how much log₂ P of the prediction drops (before − after; erasure, Li et al. 2016), in bits: +1 if P is "
    "halved, −1 if it doubles. The first row of **Which word drives it?** on the page Cause shows the same.",
    fields=(FOLLOWED,),
    needs=("mlm",),
    tab=20,
    terms=("occlusion",),
)
