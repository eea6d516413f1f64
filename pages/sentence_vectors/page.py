"""The page "Sentence vectors": sentences as vectors of a model, and how similar they are."""

from pages.sentence_vectors import scene
from ui import MODEL, Page, run, views_of

PAGE = Page(
    name="sentence_vectors",
    title="Sentence vectors",
    icon=":material/scatter_plot:",
    question="Which sentences are similar to a model?",
    how="Type sentences: compare all pairs, search by meaning, and check the vectors against scored pairs.",
    about="A model makes a vector of every sentence. See which vectors are similar, which match a search, and whether "
    "that agrees with scored pairs.",
    fields=(MODEL,),
    view=scene.SHOWN_VIEW,
    views=views_of("sentence_vectors"),
    scene=scene.make,
)

if __name__ == "__main__":
    run(PAGE)
