"""View "Search": sentences in which a head looks from some words to others, and words whose vectors are nearest."""

from __future__ import annotations

from pages.corpus import search_attention, search_vectors
from pages.corpus.scene import Scene
from ui import Field, View, one_of, widgets

_MODES = {"looks": ("A looks at B", search_attention.draw), "nearest": ("Nearest words", search_vectors.draw)}
MODE: Field[str] = Field(
    "search", "looks", one_of("the search", {name: title for name, (title, _) in _MODES.items()}), of="corpus"
)


def draw(scene: Scene) -> None:
    controls = widgets.controls("search")
    with controls:
        mode = widgets.choice("Search", MODE, label_visibility="collapsed")
    _, draw_mode = _MODES[mode]
    draw_mode(scene, controls)


VIEW = View(
    "search",
    "Search",
    draw,
    "Find sentences in which a head looks from A to B, or the words whose vectors are nearest to one you click.",
    "Words are compared ignoring case; a token is written as the tokenizer writes it, such as “##ing”. Several of them "
    "stand with commas between them. Parts of speech and relations are those of the sentences’ trees. "
    "Vectors are those after a layer; 0 is after the embeddings.",
    fields=(MODE, *search_attention.FIELDS, *search_vectors.FIELDS),
    terms=("attention head", "hidden state", "cosine"),
    tab=40,
)
