"""A walk of a fixed seed in a real browser: what ``tests/walks`` does by the thousand without one."""

import random
from typing import Any
from urllib.parse import parse_qs, urlsplit

from on_screen import IDLE, StartVisit, wait_for
from patience import until
from playwright.sync_api import Page
from walks.walk import STEPS

N_STEPS = 40

# What can be done on the page, by kind; the elements themselves are kept in the page.
_POSSIBLE = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    const refuses = '[aria-disabled="true"], [disabled], [inert]';
    const seen = (element) => element.checkVisibility() && !element.closest(refuses);
    const all = (what, selector, root = main) =>
        [...root.querySelectorAll(selector)].filter(seen).map((element) => ({ what, element }));
    window.possible = [
        ...all('choose', '[role="radio"][aria-checked="false"]'),
        ...all('more', '[data-testid="stNumberInputStepUp"]:not([disabled])'),
        ...all('less', '[data-testid="stNumberInputStepDown"]:not([disabled])'),
        ...all('switch', '[data-testid="stCheckbox"] label'),
        ...all('type', '.st-key-text textarea, .st-key-pair textarea'),
        ...all('page', '[data-testid="stTopNavLink"]', document),
    ];
    return window.possible.map(({ what }) => what);
}"""
_STATE = """() => {
    const found = {page: document.querySelector('h1')?.innerText};
    for (const field of document.querySelectorAll('[data-testid="stMain"] [class*="st-key-"]')) {
        const key = [...field.classList].find((name) => name.startsWith('st-key-')).slice(7);
        const inputs = [...field.querySelectorAll('textarea, input:not([type="file"])')];
        const values = inputs.map((input) => (input.type === 'checkbox' ? input.checked : input.value));
        const chosen = [...field.querySelectorAll('[aria-checked="true"], [aria-pressed="true"], [data-tag]')];
        const texts = chosen.map((element) => element.innerText.trim());
        if (values.length + texts.length) found[key] = [...values, ...texts].join(' | ');
    }
    return found;
}"""
_QUIET = f"""() => {{
    if (!({IDLE})) window.lastBusy = performance.now();
    return performance.now() - (window.lastBusy ??= performance.now()) > 60;
}}"""
_TEXTS = ("The dog chased the cat.", "He drank a cup of [MASK].", "Unbelievably, it rained.", "One. Two! 🙂")

State = dict[str, str]


class Walker:
    """A visitor in the browser, what he did, and what every step of the history looked like."""

    def __init__(self, visit: Any, app_url: str, seed: int) -> None:
        self._here, self._chance, self.way = visit, random.Random(seed), [f"seed {seed}"]
        self.page: Page = visit.open(app_url)
        self._seen: list[tuple[tuple[str, ...], State]] = [(self._step(), self._state())]
        self._place = 0

    def take(self) -> None:
        self._seen[self._place] = self._step(), self._state_at_rest(self._seen[self._place][1])
        kind = self._chance.random()
        if kind < 0.15 and self._place > 0:
            self._travel(-1)
        elif kind < 0.25 and self._place < len(self._seen) - 1:
            self._travel(1)
        elif kind < 0.35:
            self._again()
        else:
            self._act()
        assert self.page.locator('[data-testid="stException"]').count() == 0, self.way
        assert self.page.get_by_text("Something went wrong").count() == 0, self.way

    def _act(self) -> None:
        place, action = self._chance.choice(list(enumerate(self.page.evaluate(_POSSIBLE))))
        text = self._chance.choice(_TEXTS)
        element = self.page.evaluate_handle("place => window.possible[place].element", place).as_element()
        assert element is not None, self.way
        self.way.append(f"{action} {element.get_attribute('aria-label') or element.inner_text() or place}")
        element.scroll_into_view_if_needed()
        if action == "type":
            element.fill(text)
            element.press("Enter")
        else:
            element.click()
        if action == "page":  # a link waits for a text that has just lost the focus
            path = urlsplit(str(element.get_property("href").json_value())).path
            self.page.wait_for_url(lambda url: urlsplit(url).path == path)
        self._note()

    def _note(self) -> None:
        """Another step of history, or the same one with other numbers."""
        step = self._state_at_rest(), self._step()
        if step[1] != self._seen[self._place][0]:
            self._place += 1
            self._seen[self._place :] = []
        self._seen[self._place : self._place + 1] = [(step[1], step[0])]

    def _travel(self, steps: int) -> None:
        """Back and Forward give what was there."""
        self._place += steps
        self.way.append("back" if steps < 0 else "forward")
        (self.page.go_back if steps < 0 else self.page.go_forward)()
        self._shows(self._seen[self._place][1])

    def _again(self) -> None:
        """The address gives a new session the same state."""
        self.way.append("reload")
        self.page.reload()
        self._shows(self._seen[self._place][1])

    def _shows(self, wanted: State) -> None:
        """Wait until the page shows a state; a page that shows another one for good fails with both."""
        seen = "\n".join([self.page.url, *self.way])
        until(lambda: self._state_at_rest() == wanted, why=lambda: f"{seen}\n{self._state()} is not {wanted}")

    def _state_at_rest(self, before: State | None = None) -> State:
        """What the page shows when it shows the same twice in a row, be it what was seen before."""
        while True:
            self.page.evaluate("() => (window.lastBusy = performance.now())")
            wait_for(self.page, _QUIET)
            now = self._state()
            if now == before:
                return now
            before = now

    def _state(self) -> State:
        state: State = self.page.evaluate(_STATE)
        return state

    def _step(self) -> tuple[str, ...]:
        address = urlsplit(self.page.url)
        query = parse_qs(address.query)
        return (address.path, *(query.get(name, [""])[0] for name in STEPS))


def test_nothing_goes_wrong_on_the_way(visit: StartVisit, app_url: str) -> None:
    walker = Walker(visit(height=1600), app_url, seed=1)
    for _ in range(N_STEPS):
        walker.take()
