"""The page "Masked words": what the model believes stands behind a mask."""

from pages.masked_words import (
    how_bert_was_trained,
    how_surprising,
    layer_by_layer,
    lesson_links,
    minimal_pairs,
    predictions,
    scene,
    what_if,
    what_the_mask_looks_at,
    why_this_word,
)
from pages.masked_words.fields import LONG, MASKS, VIEW, WORDS
from ui.page import Page, run
from ui.widgets import MODEL, TEXT

PAGE = Page(
    name="masked_words",
    title="Masked words",
    icon=":material/password:",
    question="What would the model put there?",
    how="Click words to mask them, read its guesses, follow them through the layers.",
    about="BERT was trained to guess hidden words (masked language modelling, **MLM**). Click words to hide them, and "
    "see what a model would put there.",
    fields=(TEXT, MODEL, MASKS, WORDS, LONG),
    view=VIEW,
    views=(
        predictions.VIEW,
        why_this_word.VIEW,
        layer_by_layer.VIEW,
        how_surprising.VIEW,
        how_bert_was_trained.VIEW,
        what_the_mask_looks_at.VIEW,
        what_if.VIEW,
        minimal_pairs.VIEW,
    ),
    scene=scene.make,
    footer=scene.about_model,
    lesson_links=lesson_links.LINKS,
    shows=lambda spec: "yes" if spec.mlm else "no MLM head",
)

if __name__ == "__main__":
    run(PAGE)
