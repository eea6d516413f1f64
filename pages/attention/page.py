"""The page "Attention": what every head of every layer attends to, in the text of the visitor."""

from model_zoo.types import ModelSpec
from pages.attention import scene
from pages.attention.examples import EXAMPLES
from pages.attention.fields import FILTERS, MODEL_PART, SHOWN_VIEW
from ui import HEAD, LAYER, MODEL, PAIR, TEXT, Page, read_lesson_links, run, views_of
from ui.show import SHOW


def shows(spec: ModelSpec) -> str:
    if not spec.attention:
        return "no attention"
    if spec.cross_attention:
        return "encoder, decoder, cross"
    return "yes, causal" if spec.causal else "yes"


PAGE = Page(
    name="attention",
    title="Attention",
    icon=":material/visibility:",
    question="What does each head of each layer attend to?",
    how="Type a sentence, or two, and open any head.",
    about="In every layer, each **head** lets every token attend to all tokens visible to it (in BERT, all of them): "
    "it divides 100% of its attention among them. Open a head and read it row by row.",
    fields=(TEXT, PAIR, MODEL, MODEL_PART, LAYER, HEAD, SHOW, *FILTERS),
    view=SHOWN_VIEW,
    views=views_of("attention"),
    scene=scene.make,
    apart=True,
    footer=scene.about_model,
    lesson_links=read_lesson_links("attention", EXAMPLES.decides),
    shows=shows,
)

if __name__ == "__main__":
    run(PAGE)
