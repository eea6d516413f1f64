"""The home page: a sentence's walk through a model, ways in, what each page answers, and links for a lesson."""

from pages.home import overview
from ui import TEXT, Page, run


def body() -> None:
    from pages import PAGES  # this page is one of them

    overview.draw({page.name: page for page in PAGES if page.name != PAGE.name})


PAGE: Page = Page(
    name="home",
    title="Home",
    heading="Look inside BERT",
    icon=":material/home:",
    question="What is this?",
    how="Watch a sentence run through a model, choose a way in, or open a page for a lesson.",
    about="Type a sentence and watch it run through a language model, from characters to a prediction.",
    fields=(TEXT,),
    body=body,
)

if __name__ == "__main__":
    run(PAGE)
