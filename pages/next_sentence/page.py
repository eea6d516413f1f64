"""The page "Next sentence": whether one sentence follows another, in a model's opinion."""

from pages.next_sentence import scene
from pages.next_sentence.scene import EXAMPLES
from ui import MODEL, PAIR, TEXT, Page, read_lesson_links, run, views_of

PAGE = Page(
    name="next_sentence",
    title="Next sentence",
    icon=":material/low_priority:",
    question="Does one sentence follow another?",
    how="Type two sentences, compare with controls, or test a whole list.",
    about="BERT was also trained to predict whether a second sentence follows the first in a text or was picked at "
    "random (next sentence prediction, **NSP**).",
    fields=(TEXT, PAIR, MODEL),
    view=scene.SHOWN_VIEW,
    views=views_of("next_sentence"),
    scene=scene.make,
    lesson_links=read_lesson_links("next_sentence", EXAMPLES.decides),
    shows=lambda spec: {"NSP": "yes", "SOP": "yes, as SOP", None: "no NSP head"}[spec.nsp],
)

if __name__ == "__main__":
    run(PAGE)
