"""``python -m benchmarks.steps``: whether the question and the way on are on the screen, at every step of every lesson.

Starts the app, goes through the whole course once by “Show the answer” and “Next”, and looks at each step before and
after the answer in windows of three sizes, scrolled to the top. One JSON line a step and size at which something is not
whole on the screen, and at the end one a size: of how many steps it is, before and after the answer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Literal

from playwright.sync_api import Page

from benchmarks.browser import AT_REST, IDLE, chromium
from benchmarks.measure import arguments, emit
from benchmarks.server import app
from pages.learn.lessons import LESSONS

SIZES = ((1280, 720), (1024, 768), (390, 844))

# Resolves when nothing has moved for a while. The bar covers what lies below its top.
_MEASURE = f"""async (revealed) => {{
    {AT_REST}{IDLE}
    const drawn = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    const look = () => {{
        const main = document.querySelector('[data-testid="stMain"]');
        if (!idle()) return null;
        const [bar] = drawn('.st-key-way');
        const [on] = drawn('.st-key-step-on button'), [me] = drawn('.st-key-show-me button');
        const [question] = drawn('.st-key-step-ask [data-testid="stMarkdown"]');
        const answers = drawn('.st-key-step-ask :is([class*="st-key-option"], [data-testid^="stBidiComponent"])');
        if (!main || !bar || !on || !me || !question || !answers.length || me.disabled !== revealed) return null;
        main.scrollTo(0, 0);
        const box = (element) => element.getBoundingClientRect();
        const within = (element, end) => box(element).top >= 0 && box(element).height > 0 && box(element).bottom <= end;
        return {{
            question: within(question, box(bar).top),
            answers: answers.every((one) => within(one, box(bar).top)),
            way: [on, me].every((one) => within(one, innerHeight) && box(one).right <= innerWidth),
            place: [on, me].flatMap((one) => [box(one).x, box(one).y]).map(Math.round),
        }};
    }};
    return atRest(look, 3, 180_000);
}}"""


@dataclass(frozen=True, slots=True)
class OnScreen:
    """What of a step is whole on the screen without scrolling: its question, all answers to choose from (or where one
    draws), and the buttons that show the answer and go on; ``place`` is where these two begin, in CSS px.
    """

    question: bool
    answers: bool
    way: bool
    place: tuple[int, ...]


def measure(page: Page, *, revealed: bool) -> OnScreen:
    """Looks at the step that is open, as soon as it is at rest. Raises playwright's Error where it never is."""
    seen = page.evaluate(_MEASURE, revealed)
    return OnScreen(**seen | {"place": tuple(seen["place"])})


def _press(page: Page, key: Literal["show-me", "step-on"]) -> None:
    page.locator(f".st-key-{key} button").evaluate("(button) => button.click()")  # wherever it is on the screen


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--slides", action="store_true", help="in slides, whose type is larger")
    slides = "&present=1" if parser.parse_args().slides else ""
    steps = [(name, step) for name, lesson in LESSONS.items() for step in range(1, len(lesson.steps) + 1)]
    good: Counter[tuple[int, str]] = Counter()
    with app("app.py") as (url, _), chromium() as browser:
        page = browser.new_page(color_scheme="light")
        page.goto(f"{url}/learn?lesson={steps[0][0]}{slides}")
        for lesson, step in steps:
            page.wait_for_function(
                "([lesson, step]) => { const at = new URLSearchParams(location.search);"
                " return at.get('lesson') === lesson && (at.get('step') ?? '1') === step; }",
                arg=[lesson, str(step)],
            )
            places: dict[int, tuple[int, ...]] = {}
            for revealed in (False, True):
                for width, height in SIZES:
                    page.set_viewport_size({"width": width, "height": height})
                    seen = measure(page, revealed=revealed)
                    stays = places.setdefault(width, seen.place) == seen.place
                    good[width, "answers"] += seen.answers
                    if seen.question and seen.way and stays:
                        good[width, "after" if revealed else "before"] += 1
                    if not (seen.question and seen.way and stays and seen.answers):
                        emit(lesson=lesson, step=step, revealed=revealed, window=[width, height], **asdict(seen))
                _press(page, "step-on" if revealed else "show-me")
    for width, height in SIZES:
        emit(
            window=[width, height],
            steps=len(steps),
            before=good[width, "before"],
            after=good[width, "after"],
            with_all_answers=good[width, "answers"] / 2,
        )


if __name__ == "__main__":
    main()
