"""The home page: a model at work, three ways in, what each page answers, and links for a lesson."""

from pages.home import at_work, overview
from ui import Page, run


def body() -> None:
    from pages import PAGES  # this page is one of them

    overview.draw({page.name: page for page in PAGES if page.name != PAGE.name})


PAGE: Page = Page(
    name="home",
    title="Home",
    heading="Look inside BERT",
    icon=":material/home:",
    question="What is this?",
    how="A model at work, three ways in, and links for a lesson.",
    about="Type a sentence and see what a language model does with it, layer by layer and head by head.",
    fields=(at_work.AT_WORK,),
    body=body,
)

if __name__ == "__main__":
    run(PAGE)
