"""What the app asks of the browser itself: steps of history, texts that Enter applies, a link that is copied."""

from typing import Any

from browser.test_attention_page import type_text
from on_screen import StartVisit, wait_for
from playwright.sync_api import Locator, Page, expect

from benchmarks.messages import most_typed


def view(page: Page, name: str) -> None:
    chosen(page, name).click()


def chosen(page: Page, name: str) -> Locator:
    """The button of a view of Attention."""
    return page.locator(".st-key-attention_view").get_by_role("radio", name=name, exact=True)


def layer_of(page: Page) -> Locator:
    """The stepper of layers, whatever the view calls it."""
    return page.locator(".st-key-layer input")


def test_each_view_and_each_page_is_one_step_back(visit: StartVisit, app_url: str) -> None:
    """At 9656c9f four presses of Back changed nothing and the fifth was Home."""
    here = visit()
    page = here.open(app_url)
    page.get_by_test_id("stTopNavLink").filter(has_text="Attention").click()
    expect(layer_of(page)).to_have_value("2")  # the first example's
    for name, parameter in (("Lines", "view=lines"), ("Rollout", "view=rollout")):
        here.wait_until_idle()
        view(page, name)
        wait_for(page, f"location.search.includes('{parameter}')")
        for layer in (2, 3):
            layer_of(page).fill(str(layer))
            layer_of(page).press("Enter")
            wait_for(page, f"location.search.includes('layer={layer}')")
    page.get_by_test_id("stTopNavLink").filter(has_text="Layers").click()
    expect(page.get_by_role("heading", name="Layers", exact=True)).to_be_visible()

    def back(name: str, layer: str) -> None:
        here.wait_until_idle()
        page.go_back()
        expect(chosen(page, name)).to_be_checked()
        here.wait_until_idle()
        expect(layer_of(page)).to_have_value(layer)

    back("Rollout", "3")
    back("Lines", "3")
    back("All heads", "2")
    here.wait_until_idle()
    page.go_back()
    expect(page.get_by_role("heading", name="Look inside BERT")).to_be_visible()


def test_enter_applies_what_fits_one_message_and_what_was_not_applied_goes_along_to_another_page(
    visit: StartVisit, app_url: str
) -> None:
    """A text that is too long for one message is refused where it is pasted: sent, it would end the connection, again
    and again.
    """
    here = visit()
    page = here.open(f"{app_url}/attention")
    area = page.get_by_label("Text", exact=True)
    area.fill("The sun")
    area.press("Shift+Enter")
    page.keyboard.type("is out.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("7 tokens of at most 512")).to_be_visible()
    expect(area).to_have_value("The sun\nis out.")
    wait_for(page, "new URLSearchParams(location.search).get('text') === 'The sun\\nis out.'")
    here.wait_until_idle()

    area.fill("")
    for pasted in ("x" * most_typed(), "yz"):
        page.keyboard.insert_text(pasted)
        assert len(area.input_value()) == most_typed()
    message = area.evaluate("(area) => area.validationMessage")
    assert message.startswith("This is too long: up to 300,000 characters can be put here.")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("The page goes on.")
    assert area.evaluate("(area) => area.validationMessage") == ""
    area.press("Enter")
    here.wait_until_idle()
    assert area.input_value() == "The page goes on."
    page.get_by_test_id("stAlert").first.wait_for(state="detached")

    def type_and_leave() -> None:
        area.fill("The sun is out.")
        page.get_by_test_id("stTopNavLink").filter(has_text="Masked words").click()

    heading = page.get_by_role("heading", name="Masked words")
    here.until(type_and_leave, lambda patience: expect(heading).to_be_visible(timeout=patience))
    expect(page.get_by_label("Text", exact=True)).to_have_value("The sun is out.")
    wait_for(page, "new URLSearchParams(location.search).get('text') === 'The sun is out.'")


def test_the_link_is_copied(visit: StartVisit, app_url: str) -> None:
    here = visit()
    here.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = here.open(f"{app_url}/attention?layer=3&view=lines")
    type_text(page, "Text", "a & b = ç?")
    wait_for(page, "location.search.includes('text=a+')")
    here.wait_until_idle()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = visit().open(link)
    expect(other.get_by_label("Text", exact=True)).to_have_value("a & b = ç?")
    expect(layer_of(other)).to_have_value("3")
    expect(chosen(other, "Lines")).to_be_checked()


def test_markup_that_gets_into_a_page_neither_runs_nor_asks_another_host(visit: StartVisit, app_url: str) -> None:
    here = visit()
    page = here.open(app_url)
    assert not page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            const markup = document.createElement("div");
            markup.innerHTML = "<img src='data:,' onerror='window.ran = true'>";
            document.body.append(markup);
            const asked = await fetch("https://example.org/").then(() => true, () => false);
            return window.ran || asked;
        }"""
    )
    assert len(here.errors) >= 3
    assert all("Content Security Policy" in error for error in here.errors), here.errors
    here.errors.clear()
    here.foreign_requests.clear()  # one was tried, and stopped by the browser


def test_what_a_lent_page_writes_last_is_gone_for_the_next(app_pages: Any, app_url: str) -> None:
    """The app keeps answers in the browser, and may still do so while a test gives its page back."""
    health = f"{app_url}/_stcore/health"
    with app_pages.lend({}, 800, 600) as page:
        page.goto(health)
        page.evaluate("void setInterval(() => localStorage.setItem('late', '1'), 0)")
    with app_pages.lend({}, 800, 600) as page:
        page.goto(health)
        assert page.evaluate("localStorage.length") == 0
