"""View "Find a head": a question about where heads look, and all heads ranked by the answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from analysis.findings import Ranking, rank_by_share, rank_for_words, sees_later
from analysis.head_measures import special_names
from analysis.heads import head_table
from analysis.words import Unit, word_units
from model_zoo.types import counted
from pages.attention import two_words
from pages.attention.heads import follow_opened_head, open_head
from pages.attention.scene import Scene
from ui import Field, View, as_python, as_text, ask_for, caption, figures, one_of, save, widgets
from viz.bars import ranking
from viz.layout import percent, token_text
from viz.matrix import head_map

_WORDS = "words"
# What a head may be asked to look at, and what to say where a text has nothing to measure it on.
_PLACES = {
    "previous": ("the token before", "The first token of a text has no token before it."),
    "next": (
        "the token after",
        "No token can see a later one here: the model only looks back, or the text is too short.",
    ),
    "itself": ("the token itself", "In cross-attention tokens attend to another text, so none can attend to itself."),
    "same_word": ("the same word elsewhere", "No visible word is repeated here. Type a text that repeats a word."),
    "first": ("{first}", "No token stands for the whole text here."),
    "separator": ("{separator}", "There are no special tokens here but the one that stands for the whole text."),
    "other_sentence": ("the other text", "This needs two texts, which the model reads as one. Type a second text."),
}

QUESTION: Field[str] = Field("ask", _WORDS, one_of("the question", (_WORDS, *_PLACES)), of="attention")

_SHOWN = 10  # heads as bars
_SHORT = 14  # characters of a word below the bars, which a phone has room for
_STRONG = 0.2  # of a token's attention; half of it in texts so short that an even spread comes near
_ALIKE = 0.99  # of the largest share: from here on a difference says nothing


@dataclass(frozen=True, slots=True)
class _Answer:
    """``question`` as it is asked, ``looks`` what the best head does, ``of`` what its share is a share of, and
    ``measured`` what was measured, for the axis of a figure.
    """

    ranked: Ranking
    question: str
    looks: str
    of: str
    measured: str
    more: str = ""


def draw(scene: Scene) -> None:
    follow_opened_head()
    names = {"first": "the first token", "separator": "special tokens"} | special_names(scene.run.key_encoding)
    place_names = {share: place_name.format(**names) for share, (place_name, _) in _PLACES.items()}
    questions = {_WORDS: "Who looks from one word to another?"}
    questions |= {share: f"Which head looks at {place_name}?" for share, place_name in place_names.items()}
    controls = widgets.controls()
    with controls:
        question = st.selectbox("Question", **QUESTION.offering(questions), width=560)
    picture, aside = st.columns([6, 5], gap="large")
    if question == _WORDS:
        query, key = two_words.chosen(scene)
        with picture:
            answer = _between_words(scene, query, key)
        with aside:
            two_words.draw(scene, query, key)
    else:
        with picture:
            answer = _at_place(scene, question, place_names[question], questions[question])
    if answer is None:
        return
    with picture:
        _bars(answer)
        _say(answer)
    with aside:
        figures.show(
            partial(head_map, answer.ranked.by_layer(), "share of attention"), "who looks where", "who-looks-map"
        )
        st.caption("All heads: how much each looks there.")
    save.table("All heads", lambda: _table(answer), "who-looks")


def _between_words(scene: Scene, query: Unit, key: Unit) -> _Answer | None:
    run = scene.run
    queries, keys = word_units(run.encoding), word_units(run.key_encoding)
    looks, looked_at = two_words.named(query, queries), two_words.named(key, keys)
    ranked = rank_for_words(run, query, key)
    if ranked.defined:
        scene.put_python(
            "rank_for_words(run, query, key).to_frame()",
            ranked.to_frame,
            *(rank_for_words, word_units),
            before=f"query = word_units(run.encoding)[{queries.index(query)}]  # {as_python.literal(query.label)}\n"
            f"key = word_units(run.key_encoding)[{keys.index(key)}]  # {as_python.literal(key.label)}\n",
        )
        return _Answer(
            ranked,
            f"Who looks from {looks} to {looked_at}?",
            f"looks from {looks} at {looked_at} most",
            f"of the attention of {looks} goes there",
            f"attention from {two_words.quoted(query, _SHORT)} to {two_words.quoted(key, _SHORT)}",
        )
    later = run.stack != "cross" and key.start >= query.stop and not sees_later(run, query)
    why = "a token sees only itself and what comes before it here" if later else "in no layer does it see that far"
    ask_for(f"No head attends from {looks} to {looked_at}: {why}. Choose other words.")
    if later:
        places = keys.index(key), queries.index(query)
        st.button("Swap the two words", on_click=two_words.choose, args=places, icon=":material/swap_horiz:")
    return None


def _at_place(scene: Scene, share: str, place_name: str, question: str) -> _Answer | None:
    ranked = rank_by_share(scene.all_heads, share)
    if not ranked.defined:
        ask_for(_PLACES[share][1])
        return None
    scene.put_python(
        f'rank_by_share(head_table([run]), "{share}").to_frame()', ranked.to_frame, rank_by_share, head_table
    )
    return _Answer(
        ranked,
        question,
        f"looks at {place_name} most",
        "of a token’s attention goes there on average",
        f"mean attention on {place_name}",
        f"Averaged over the tokens that can see {place_name}; special tokens do not count as queries. ",
    )


def _bars(answer: _Answer) -> None:
    ranked = answer.ranked
    best = ranked.best(_SHOWN)
    heads = [(int(ranked.layer[place]), int(ranked.head[place])) for place in best]

    axis_title = token_text(answer.measured)
    figure = partial(ranking, heads, ranked.share[best].tolist(), ranked.even[best].tolist(), axis_title)
    figures.show(figure, "heads that look there most", "who-looks", lambda head: open_head(*map(int, head)))


def _say(answer: _Answer) -> None:
    ranked = answer.ranked
    best = int(ranked.best(1)[0])
    layer, head, share, even = int(ranked.layer[best]), int(ranked.head[best]), ranked.share[best], ranked.even[best]
    strong = _STRONG if even <= _STRONG / 2 else 0.5
    n_strong = ranked.above(strong)
    gives = f"{n_strong or 'none'} {'give' if n_strong > 1 else 'gives'} more than {strong:.0%}"
    name = f"layer {layer + 1}, head {head + 1}"
    first = f"**{name.capitalize()}** {as_text(answer.looks)}: **{percent(share)}** {as_text(answer.of)}."
    if len(ranked) > 1 and np.nanmin(ranked.share) > _ALIKE * share:
        first = f"All {len(ranked)} heads do the same: {percent(share)} {as_text(answer.of)}."
    st.markdown(f"{first} Uniform attention would give {percent(even)}. Of {counted(len(ranked), 'head')}, {gives}.")
    st.button(
        f"Open {name}", on_click=open_head, args=(layer, head), icon=":material/open_in_full:", key="open-the-best-head"
    )
    caption(f"{answer.more}Click a bar to open its head.")


def _table(answer: _Answer) -> pd.DataFrame:
    """All heads, best first; layer and head from 1, as on screen."""
    frame = answer.ranked.to_frame()
    frame[["layer", "head"]] += 1
    frame.insert(0, "question", answer.question)
    return frame


VIEW = View(
    "who",
    "Find a head",
    draw,
    "Which head attends from one word to another? Click both: all heads are ranked by it. Or ask another question.",
    "For what each head does in general, see Kinds of heads. For a word in several pieces, attention is "
    "averaged over its pieces as queries and summed over its pieces as keys. Uniform attention is divided evenly "
    "among all tokens that are visible in the layer.",
    fields=(QUESTION, two_words.FROM, two_words.TO),
    needs=("attention",),
    tab=20,
    terms=("attention weight",),
)
