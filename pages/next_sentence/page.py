"""The page "Next sentence": whether one sentence follows another, in a model's opinion."""

from pages.next_sentence import (
    attention_between,
    lesson_links,
    many_pairs,
    probability,
    scene,
    what_bert_sees,
    whole_text,
)
from ui.page import Page, run
from ui.widgets import MODEL, PAIR, TEXT

PAGE = Page(
    name="next_sentence",
    title="Next sentence",
    icon=":material/low_priority:",
    question="Does one sentence follow another?",
    how="Type two sentences, compare with controls, or judge a whole list.",
    about="BERT was also trained to say whether a second sentence follows the first in a text or was drawn at random "
    "(next-sentence prediction, **NSP**).",
    fields=(TEXT, PAIR, MODEL),
    view=scene.VIEW,
    views=(probability.VIEW, attention_between.VIEW, what_bert_sees.VIEW, many_pairs.VIEW, whole_text.VIEW),
    scene=scene.make,
    lesson_links=lesson_links.LINKS,
    shows=lambda spec: {"NSP": "yes", "SOP": "yes, as SOP", None: "no NSP head"}[spec.nsp],
)

if __name__ == "__main__":
    run(PAGE)
