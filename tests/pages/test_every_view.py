"""What holds for every view of every page: it opens, its link restores it, whatever is typed is text."""

import json
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from architectures import FUNNEL, HYBRID, LED, build
from on_screen import Open, controls, drawn, prose
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Slider
from tried_texts import MARKDOWN, NASTY

from pages import PAGES
from ui.page import Page, View

ROOT = Path(__file__).parents[2]


TEXTS = {"text": "She opened the window.", "pair": "Cold air came into the room."}
OTHERS = {"masked_words": {"masks": "3", "replacement": "door"}}  # without which most views show an example
VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]
WITH_VIEWS, NAME = [page for page in PAGES if page.views], attrgetter("name")
OF_A_MODEL = [page for page in WITH_VIEWS if any(field.name == "model" for field in page.all_fields)]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_opens_and_its_link_restores_it(page: Page[Any], view: View[Any], open_page: Open) -> None:
    names = {field.name for field in page.all_fields}
    texts = {name: text for name, text in TEXTS.items() if name in names}
    app = open_page(page.path, view=view.name, **texts, **OTHERS.get(page.name, {}))
    assert not app.error
    assert not app.warning or page.name == "cause"  # where a pair is another question than a sum of logits
    assert app.session_state[page.view.key] == view.name
    if view.about:
        assert any(element.value.endswith(view.about) for element in app.main.get("markdown"))  # after its terms
    assert view.caution in prose(app)
    again = open_page(page.path, **app.query_params)
    assert again.session_state[page.view.key] == view.name
    assert drawn(again) == drawn(app)
    assert again.query_params == app.query_params
    has_the_limits_of_its_fields(app, page)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in WITH_VIEWS if page.name not in OTHERS], ids=NAME)
def test_views_open_on_a_result(page: Page[Any], open_page: Open) -> None:
    """With one's own text, which lacks a mask or a second text: a picture or a table, under the call to act. Masked
    words is about a word that one masks oneself: there are the words to click.
    """
    app = open_page(page.path, text="My sister found the key. She opened the old door.")
    for view in page.views:
        app.query_params["view"] = view.name
        app.run()
        assert not app.error, view.name
        assert drawn(app) or app.table, view.name


def has_the_limits_of_its_fields(app: AppTest, page: Page[Any]) -> set[str]:
    """Every control of a number reaches as far as its field, unless its view knows a nearer end. Returns the names of
    those fields.
    """
    fields, numbers = {field.name: field for field in page.all_fields}, set()
    for name, control in controls(app).items():
        if name not in fields:
            continue
        codec = fields[name].codec
        if isinstance(control, NumberInput | Slider):
            numbers.add(name)
            assert control.min == codec.limits["min_value"]
            assert control.step == codec.limits.get("step", 1)
            highest = codec.limits.get("max_value")
            nearer = name in ("head_first", "vector_layer") or highest is None
            assert nearer or control.max == highest
            assert highest is None or control.max <= highest
    return numbers


@pytest.mark.parametrize(
    ("name", "query", "drawn_too"),
    [
        ("train", {"learns": "top"}, {"layers", "head_first", "rate", "patience", "warmup", "decay", "examples"}),
        ("train", {"learns": "lora", "rank": "64"}, {"rank"}),
        ("train", {"view": "race", "budget": "seconds", "warmup": "0", "decay": "0"}, {"seconds", "warmup", "decay"}),
        ("train", {"view": "distillation", "alpha": "0", "temperature": "0.1"}, {"alpha", "temperature"}),
        ("layers", {"format": "conllu", "target": "trees"}, {"rank", "sentences", "seeds"}),
    ],
)
def test_controls_have_limits_of_fields(name: str, query: dict[str, str], drawn_too: set[str], open_page: Open) -> None:
    """Those that are drawn for some settings only, and some at the ends of what an address can say."""
    (page,) = [page for page in PAGES if page.name == name]
    app = open_page(page.path, **query)
    assert not app.warning
    assert drawn_too <= has_the_limits_of_its_fields(app, page)


@pytest.mark.slow
def test_tabs_and_menu_have_the_order_of_views_and_pages(open_page: Open) -> None:
    """No two at one place, and the page opens with the first."""
    for page in (page for page in PAGES if page.view is not None):
        tabs = {view.tab: view.title for view in page.views}
        assert len(tabs) == len({view.name for view in page.views}) == len({view.title for view in page.views})
        assert page.view.default == page.views[0].name
        (control,) = [control for control in open_page(page.path).segmented_control if control.key == page.view.key]
        assert control.options == [tabs[tab] for tab in sorted(tabs)]

    files = {path.parent.name for path in (ROOT / "pages").glob("*/page.py")}
    assert files == {page.name for page in PAGES}
    assert all((ROOT / page.path).is_file() for page in PAGES)


def test_two_quick_clicks_are_no_double_click(open_page: Open) -> None:
    """Plotly's double click clears the choice, and the page fell back to what was chosen before the last one."""
    app = open_page("pages/masked_words/page.py", text="She [MASK].", masks="")
    charts = [chart.proto for chart in app.get("plotly_chart") if chart.proto.selection_mode]
    assert charts
    assert all(json.loads(chart.config)["doubleClickDelay"] == 1 for chart in charts)


MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Lfm2": ("ForCausalLM", HYBRID),
    "Funnel": ("ForMaskedLM", FUNNEL),
    "LED": ("ForConditionalGeneration", LED),
    "ConvBert": ("ForMaskedLM", {"embedding_size": 32}),
    "SqueezeBert": ("ForMaskedLM", {"embedding_size": 32, "vocab_size": 400}),  # 200 more than tokens
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: build(name, head, tmp_path_factory.mktemp(name), **settings) for name, (head, settings) in MODELS.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("page", OF_A_MODEL, ids=NAME)
def test_views_of_other_architectures(name: str, page: Page[Any], folders: dict[str, Path], open_page: Open) -> None:
    """Of models that no family here names: with attention in some layers only, with none that is a map, a causal one,
    one that predicts what is no token.
    """
    app = open_page(page.path, model=str(folders[name]), text="The old [MASK] sat on the mat.", layer="2")
    for view in page.views:
        app.query_params["view"] = view.name
        app.run()
        assert not any("went wrong" in error.value for error in app.error), view.name


TEXT = " ".join(text for text in NASTY if "\n" not in text)
TYPED = ("text", "pair", "targets", "replacement", "data", "lines", "query", "own_text")


def formatted(app: AppTest) -> Iterator[tuple[str, str]]:
    """Every text that Streamlit takes for Markdown, with the kind of its element."""
    for node in app:
        proto: Any = getattr(node, "proto", None)
        if node.type not in ("text_area", "text_input", "html"):  # which take no Markdown; labels of others are checked
            for name in ("body", "label", "help", "text"):
                value = getattr(proto, name, "")
                if isinstance(value, str) and value:
                    yield node.type, value
        if node.type == "button_group":
            yield from ((node.type, option.content) for option in proto.options)


def nothing_raw(app: AppTest) -> None:
    seen = list(formatted(app))
    assert len(seen) > 3  # the page was drawn
    raw = [(kind, text) for kind, text in seen if MARKDOWN.search(text)]
    assert not raw


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_typed_or_linked_is_shown_as_text(page: Page[Any], open_page: Open) -> None:
    names = {field.name for field in page.all_fields}
    app = open_page(page.path, **{name: TEXT for name in TYPED if name in names})
    nothing_raw(app)
    for view in page.views:
        app.query_params["view"] = view.name
        nothing_raw(app.run())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nonsense_in_every_field_is_shown_as_text(page: Page[Any], open_page: Open) -> None:
    """Names of models and tasks among them; and what could not be used is told."""
    short = "<img src=x> $x$ [a](javascript:0) :red[x] &amp; <script>alert('ñ')</script>"
    app = open_page(page.path, unknown="1", **{field.name: short for field in page.all_fields})
    assert any("link" in warning.value for warning in app.warning) or not page.all_fields
    nothing_raw(app)


UPLOADS = {
    "pair files": ("pages/masked_words/page.py", "pairs", b"good,bad,phenomenon\n%s,b,%s\n"),
    "pairs file": ("pages/next_sentence/page.py", "many pairs", b"a,b,label\n%s,b,\n"),
    "probing upload": ("pages/layers/page.py", "", b""),
    "training upload": ("pages/train/page.py", "", b""),
}
TABLES = ("probing upload", "training upload")  # those that are read whole: some rows, and two labels
OWN = {"training upload": {"set": "own"}}  # where a control stands behind a choice


@pytest.mark.parametrize("good", [True, False])
@pytest.mark.parametrize("key", UPLOADS)
def test_names_and_contents_of_files_are_shown_as_text(key: str, good: bool, open_page: Open) -> None:
    path, view, pattern = UPLOADS[key]
    quoted = '"' + TEXT.replace('"', '""') + '"'
    if not good:
        data = f'x{quoted},{quoted}\n"'.encode()
    elif key in TABLES:
        data = "".join(
            ["text,label\n", *(f'{i},"{TEXT[:150].replace(chr(34), "")}{i % 2}"\n' for i in range(24))]
        ).encode()
    else:
        data = pattern.replace(b"%s", quoted.encode())
    app = open_page(path, **({"view": view} if view else {}), **OWN.get(key, {}))
    app.file_uploader(key=key).set_value((f"{NASTY[0]}$x$:red[x].csv", data, "text/csv")).run()
    nothing_raw(app)


def test_every_table_is_saved_by_the_one_function_that_marks_formulas() -> None:
    """``analysis.export`` is the only place that makes CSV, and ``ui.save`` the only one that hands it out."""
    root = Path(__file__).parents[2]
    for path in root.glob("[cumpjv]*/**/*.py"):
        if any(path.is_relative_to(root / room) for room in ("ui", "pages", "classroom", "web", "viz")):
            source = path.read_text("utf-8")
            assert "to_csv(" not in source.replace("table_to_csv(", "").replace("to_csv(view, origin)", ""), path
            assert "csv.writer" not in source, path
            assert path.name == "save.py" or "st.download_button" not in source, path
