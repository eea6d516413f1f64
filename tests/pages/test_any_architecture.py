"""Every view on models that no family here names: attention in some layers only, none that is a map, a causal one, one
that predicts what is no token.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from architectures import FUNNEL, HYBRID, LED, build
from streamlit.testing.v1 import AppTest

from pages import PAGES
from ui.page import Page, View

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Lfm2": ("ForCausalLM", HYBRID),
    "Funnel": ("ForMaskedLM", FUNNEL),
    "LED": ("ForConditionalGeneration", LED),
    "ConvBert": ("ForMaskedLM", {"embedding_size": 32}),
    "SqueezeBert": ("ForMaskedLM", {"embedding_size": 32, "vocab_size": 400}),  # 200 more than tokens
}
VIEWS = [
    pytest.param(page, view, id=f"{page.name}-{view.name}")
    for page in PAGES
    if any(field.name == "model" for field in page.all_fields)
    for view in page.views
]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: build(name, head, tmp_path_factory.mktemp(name), **settings) for name, (head, settings) in MODELS.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_shows_what_there_is_or_says_why_not(
    name: str, page: Page[Any], view: View[Any], folders: dict[str, Path], open_page: Callable[..., AppTest]
) -> None:
    app = open_page(
        page.path, view=view.name, model=str(folders[name]), text="The old [MASK] sat on the mat.", layer="2"
    )
    assert not any("went wrong" in error.value for error in app.error)
