"""The page "Corpus": what a head does over many sentences, and whether it matters."""

from pages.corpus import scene
from pages.corpus.fields import RELATION, SHOWN_VIEW, SOURCE
from ui import HEAD, LAYER, MODEL, Page, run, views_of

PAGE = Page(
    name="corpus",
    title="Corpus",
    icon=":material/library_books:",
    question="What does a head do over a thousand sentences?",
    how="Measure every head on a treebank or on your own sentences, find the heads of a relation, and test them.",
    about="One sentence is an anecdote. Here every head is measured on many: where it looks, which **relations** "
    "between words it finds, and whether the model needs it.",
    fields=(MODEL, LAYER, HEAD, *SOURCE, RELATION),
    view=SHOWN_VIEW,
    views=views_of("corpus"),
    scene=scene.make,
    left_out=scene.left_out,
    shows=scene.shows,
)

if __name__ == "__main__":
    run(PAGE)
