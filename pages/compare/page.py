"""The page "Compare": two to four models on the same text."""

from model_zoo.types import ModelSpec
from pages.compare import scene
from pages.compare.choice import EXAMPLES
from pages.compare.fields import COMPARED, SHOWN_VIEW
from ui import PAIR, TEXT, Page, read_lesson_links, run, views_of


def shows(spec: ModelSpec) -> str:
    if not spec.attention:
        return "all but attention"
    return "yes" if spec.mlm else "all but predictions"


PAGE = Page(
    name="compare",
    title="Compare",
    icon=":material/compare_arrows:",
    question="What do two models do differently?",
    how="Give two to four models the same text: tokens, heads, predictions, layers, cost.",
    about="Give two to four models the same text, and see how they split it, where their heads look, what they "
    "predict, how similar their layers are, and what they cost. When two are compared, A is the reference and "
    "B is compared with it; B may be A itself, as a check: all differences are then 0. Choose models from the "
    "list or, if the app allows it, type a Hugging Face id or a folder.",
    fields=(TEXT, PAIR, COMPARED),
    view=SHOWN_VIEW,
    views=views_of("compare"),
    scene=scene.make,
    apart=True,
    footer=scene.about_models,
    lesson_links=read_lesson_links("compare", EXAMPLES.decides),
    shows=shows,
)

if __name__ == "__main__":
    run(PAGE)
