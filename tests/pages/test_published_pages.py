"""Every listed model in the layout that the hub has for it, in tiny, from the button "Download" to each page that the
table of models promises for it.
"""

from collections.abc import Callable, Iterator

import pytest
from checkpoints import TEXT, TEXT_PAIR
from loopback_hub import Hub
from on_screen import Open
from published import Publication
from streamlit.testing.v1 import AppTest

from model_zoo import Engine, registry, sources
from model_zoo.types import ModelSpec
from pages import PAGES
from pages.__main__ import claims

SHOWN = ("plotly_chart", "dataframe", "table", "metric", "download_button")  # the last beside a picture of its own
LISTED = {model.hub_id: model for model in registry.MODELS.values() if model.hub_id is not None}


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine that asks, as the app's own does."""
    engine = Engine("cpu", ask_before_download=True)
    yield engine
    engine.close()


def promised(spec: ModelSpec) -> list[str]:
    """The pages of which the table says that they show something of a model."""
    paths = [page.path for page in PAGES if page.shows is not None]
    return [path for path, claim in zip(paths, claims(spec), strict=True) if not claim.startswith("no ")]


@pytest.mark.slow
@pytest.mark.usefixtures("converted_once")
@pytest.mark.parametrize("hub_id", LISTED)
def test_every_promised_page_opens_after_the_download(
    hub_id: str,
    hub: Hub,
    publication: Callable[[str], Publication],
    engine: Engine,
    open_page: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "packaged", lambda _model: None)
    publication(hub_id).put_on(hub)
    spec = LISTED[hub_id]
    first, *others = promised(spec)
    app = open_page(first, model=hub_id, text=TEXT)
    app.button(key=f"download {hub_id}").click().run()
    download = engine.downloading(hub_id)
    if download is not None:
        download.wait()
    sound(app.run(), first)
    assert hub_id in {held.info.id for held in engine.held()}
    for path in others:
        chosen = {"models": f"embedded/tinybert,{hub_id}"} if path == "pages/compare/page.py" else {"model": hub_id}
        if path == "pages/next_sentence/page.py":
            chosen["pair"] = TEXT_PAIR
        masked = spec.mlm and path in ("pages/cause/page.py", "pages/masked_words/page.py")
        text = TEXT.replace("mat", "[MASK]") if masked else TEXT
        sound(open_page(path, text=text, **chosen), path)


def sound(app: AppTest, path: str) -> None:
    """Nothing went wrong, nothing is refused or asked for, and there is a picture, a table or a number."""
    assert [error.value for error in (*app.error, *app.exception)] == [], path
    assert not [info.value for info in (*app.info, *app.warning) if "hoose " in info.value], path
    assert [part for kind in SHOWN for part in app.get(kind)], path
