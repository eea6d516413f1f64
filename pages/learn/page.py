"""The page "Learn": follow one sentence through the whole of a model, in lessons."""

from model_zoo.types import counted
from pages.learn import course, fields, loop
from pages.learn.lessons import LESSONS
from ui import HEAD, LAYER, MODEL, PAIR, TEXT, Page, run

PAGE: Page = Page(
    name="learn",
    title="Learn",
    icon=":material/school:",
    question="How does a model read a sentence?",
    how=f"Follow your own sentence through the whole model, in {counted(len(LESSONS), 'short lesson')}.",
    about="Look, predict, then check: the model computes the numbers, most of them from your sentence.",
    fields=(TEXT, PAIR, MODEL, LAYER, HEAD, *fields.FIELDS),
    body=loop.draw,
    explains=course.mentions,
)

if __name__ == "__main__":
    run(PAGE)
