"""Home, first sight and glossary in a real browser: a sentence runs and leads on, nothing jumps."""

from urllib.parse import parse_qs, urlparse

from journeys import enter
from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect

from benchmarks.firstsight import PHONE, REST, WIDE, watch
from benchmarks.positions import PageView
from model_zoo import registry
from pages import PAGES
from ui.glossary import TERMS
from ui.widgets import in_the_box

TEXT = "The dogs near the house [MASK] hungry."
RUNS = ".anatomy.runs[data-still='false']"
STANDS = ".anatomy.runs[data-still='true']"


def parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def test_a_sentence_runs_and_a_place_leads_to_its_lesson_with_it(visit: StartVisit, app_url: str) -> None:
    here = visit(height=720)
    page: Page = here.open(app_url)
    page.locator(RUNS).wait_for()
    canvas = page.locator(".anatomy canvas")
    assert canvas.bounding_box()["y"] + canvas.bounding_box()["height"] < 720
    enter(page, "Text", TEXT)
    status = page.locator(".anatomy .status")
    expect(status).to_have_text("The tokenizer cuts it into pieces of its vocabulary: 10 tokens.")
    page.get_by_role("button", name="Pause", exact=True).press("Enter")
    page.locator(STANDS).wait_for()
    for caption in ("Every token becomes a vector, 384 numbers looked up in a table.", "Vectors for its place"):
        page.get_by_role("button", name="Next part").click()
        expect(status).to_contain_text(caption)

    canvas.focus()  # what is not on the screen is reached by keys, too
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(status).to_contain_text("Enter opens “Lesson 2.1: One token, many numbers”.")
    page.keyboard.press("Enter")
    wait_for(page, "location.pathname.endsWith('/learn')")
    expect(page.get_by_role("heading", name="1. One token, many numbers")).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)
    here.wait_until_idle()
    assert parameters(page) | {"lesson": "embeddings", "text": TEXT, "token": "7"} == parameters(page)
    page.go_back()
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)
    page.locator(".anatomy.runs").wait_for()

    here.until(  # the words on the right, of the mask
        lambda: canvas.click(position={"x": canvas.bounding_box()["width"] - 60, "y": 60}),
        lambda patience: page.wait_for_url("**/masked_words**", timeout=patience),
    )
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)


def test_a_card_is_a_link_as_a_whole(visit: StartVisit, app_url: str) -> None:
    here = visit()
    page: Page = here.open(app_url)
    cards = [card.bounding_box() for card in page.locator("[class*='st-key-card-I-']").all()]
    assert len({(round(card["y"]), round(card["height"])) for card in cards}) == 1
    card = page.locator(".st-key-card-I-teach")
    here.until(
        lambda: card.click(position={"x": 15, "y": card.bounding_box()["height"] - 8}),
        lambda patience: page.wait_for_url("**/learn**", timeout=patience),
    )
    expect(page.get_by_text("Worksheets use")).to_be_visible()


LARGEST_SHIFT = 0.05
# Whether the app, a component in it and a figure are all drawn for the dark, or for the light.
DRAWN = """(dark) => {
    const bright = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) > 380;
    const component = [...document.querySelectorAll('*')].find((one) => one.shadowRoot?.querySelector('.themed'));
    const figure = document.querySelector('.js-plotly-plot text');
    return component && figure && getComputedStyle(document.documentElement).colorScheme === (dark ? 'dark' : 'light')
        && bright(getComputedStyle(document.querySelector('.stApp')).backgroundColor) !== dark
        && bright(getComputedStyle(component.shadowRoot.querySelector('.themed')).color) === dark
        && bright(getComputedStyle(figure).fill) === dark;
}"""


def test_no_page_jumps_when_it_is_opened(visit: StartVisit, app_url: str) -> None:
    page: Page = visit().open(app_url)  # a server that has just started loads its model for longer than a page waits
    watch(page)
    jumped = []
    for size in (WIDE, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for name in PAGES:
            for _ in range(2):  # a machine that is busy with other tests draws a page in pieces, but not each time
                page.goto(f"{app_url}/{PageView(name.name, '').route}")
                seen = page.evaluate(REST, 60_000)
                if seen["shift"] < LARGEST_SHIFT:
                    break
            else:
                jumped.append(f"{name.name} at {size[0]}x{size[1]}: {seen['shift']:.3f}, {seen['moved']}")
    assert not jumped, "\n".join(jumped)


def test_light_or_dark_is_chosen_for_all_pages_and_outlives_a_reload(visit: StartVisit, app_url: str) -> None:
    here = visit(color_scheme="light")
    page = here.open(f"{app_url}/masked_words")
    wait_for(page, DRAWN, False)
    page.locator(".st-key-more button").click()
    page.get_by_role("radio", name="Dark").check()
    wait_for(page, DRAWN, True)
    page = here.open(f"{app_url}/layers")
    wait_for(page, DRAWN, True)
    page.locator(".st-key-more button").click()
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    page.get_by_role("radio", name="As your system").check()
    wait_for(page, DRAWN, False)
    page.emulate_media(color_scheme="dark")
    wait_for(page, DRAWN, True)


def test_on_a_phone_the_menu_closes_after_a_choice_and_the_next_visit_opens_without_it(
    visit: StartVisit, app_url: str
) -> None:
    here = visit(*PHONE)
    page = here.open(f"{app_url}/attention")
    menu = page.locator("[data-testid=stSidebarNav]")
    show = page.locator("[data-testid=stExpandSidebarButton]")
    show.click()
    expect(menu).to_be_in_viewport()
    page.reload()
    here.wait_until_idle()
    expect(menu).not_to_be_in_viewport()
    show.click()
    page.locator("[data-testid=stSidebarNavLink]").filter(has_text="Glossary").click()
    wait_for(page, "location.pathname === '/glossary'")
    expect(menu).not_to_be_in_viewport()


def test_a_dotted_word_says_what_it_means_and_opens_the_glossary(visit: StartVisit, app_url: str) -> None:
    here = visit()
    page: Page = here.open(f"{app_url}/learn?lesson=head")
    word = page.locator(".term", has_text="query").first
    meaning = word.locator(".said")
    expect(meaning).to_be_hidden()
    word.focus()
    expect(meaning).to_be_visible()
    expect(meaning).to_contain_text(TERMS["query"].meaning)
    with page.expect_popup() as opened:
        meaning.get_by_role("link", name="Glossary").click()
    glossary = opened.value
    expect(glossary.locator(".glossary dt").first).to_have_text("Query")
    expect(glossary.get_by_label("Find a term")).to_have_value("query")
    glossary.close()


def test_the_model_box_shows_its_choice_whole(visit: StartVisit, app_url: str) -> None:
    longest = max(registry.MODELS, key=lambda model: len(in_the_box(model)) * (registry.MODELS[model].hub_id is None))
    here = visit()
    page: Page = here.open(f"{app_url}/attention?model={longest}")
    box = page.locator(".st-key-model [data-baseweb='select'] input, .st-key-model input").first
    expect(box).to_have_value(in_the_box(longest))
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 1000})
        here.wait_until_idle()
        visible, needed = box.evaluate("(box) => [box.clientWidth, box.scrollWidth]")
        assert needed <= visible, width
    box.click()
    item = page.get_by_role("option", name=in_the_box(longest))
    size = item.locator("[data-item-hl]").evaluate("(item) => getComputedStyle(item, '::after').content")
    assert size == '"6 layers × 4 heads, 5 million weights, bundled"'
