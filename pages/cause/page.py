"""The page "Cause": switch a part of the model off, and see."""

from pages.cause import scene
from pages.cause.examples import EXAMPLES
from pages.cause.fields import ANSWER, FIND, FOIL, SHOWN_VIEW
from ui import MASK, MASKS, MODEL, PAIR, TEXT, Page, read_lesson_links, run, views_of

PAGE = Page(
    name="cause",
    title="Cause",
    icon=":material/electrical_services:",
    question="Does this head matter, and which word drives the prediction?",
    how="Switch heads off, cut edges, hide words, or patch one sentence’s vectors into another.",
    about="Attention shows where a head looks, not what effect that has. Here you change parts of the model and see "
    "how its prediction changes: an **intervention**.",
    fields=(TEXT, PAIR, MODEL, MASKS, MASK, ANSWER, FOIL, FIND),
    view=SHOWN_VIEW,
    views=views_of("cause"),
    scene=scene.make,
    apart=True,
    footer=scene.Scene.say_model,
    lesson_links=read_lesson_links("cause", EXAMPLES.decides),
    shows=scene.shows,
)

if __name__ == "__main__":
    run(PAGE)
