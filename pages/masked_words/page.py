"""The page "Masked words": what the model believes stands behind a mask."""

from pages.masked_words import scene
from pages.masked_words.fields import EXAMPLES, LONG, SHOWN_VIEW, WORDS
from ui import MASKS, MODEL, TEXT, Page, read_lesson_links, run, views_of

PAGE = Page(
    name="masked_words",
    title="Masked words",
    icon=":material/password:",
    question="Which word does the model predict?",
    how="Click words to mask them, read its predictions, follow them through the layers.",
    about="BERT was trained to predict masked words (masked language modelling, **MLM**). Click words to mask them, "
    "and see what a model predicts.",
    fields=(TEXT, MODEL, MASKS, WORDS, LONG),
    view=SHOWN_VIEW,
    views=views_of("masked_words"),
    scene=scene.make,
    footer=scene.Scene.say_model,
    lesson_links=read_lesson_links("masked_words", EXAMPLES.decides),
    shows=lambda spec: "yes" if spec.mlm else "no MLM head",
)

if __name__ == "__main__":
    run(PAGE)
