"""The page "Cause": switch a part of the model off, and see."""

from pages.cause import cut_an_edge, heads_that_matter, lesson_links, scene, sum_of_parts, where_it_travels, which_word
from pages.cause.fields import ANSWER, FOIL, MASK, MASKS, VIEW
from ui.page import Page, run
from ui.widgets import MODEL, PAIR, TEXT

PAGE = Page(
    name="cause",
    title="Cause",
    icon=":material/electrical_services:",
    question="Does this head matter, and which word did it?",
    how="Switch heads off, cut edges, hide words, or put one sentence’s vectors into another.",
    about="Attention shows where a head looks, not what that does. Here parts of the model are changed, and its "
    "answer is asked for again: an **intervention**.",
    fields=(TEXT, PAIR, MODEL, MASKS, MASK, ANSWER, FOIL),
    view=VIEW,
    views=(
        heads_that_matter.VIEW,
        cut_an_edge.VIEW,
        which_word.VIEW,
        where_it_travels.VIEW,
        sum_of_parts.VIEW,
    ),
    scene=scene.make,
    apart=True,
    footer=scene.footer,
    lesson_links=lesson_links.LINKS,
    shows=scene.shows,
)

if __name__ == "__main__":
    run(PAGE)
