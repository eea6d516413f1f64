"""The document of every page before Streamlit has drawn anything."""

import re

import pytest

from pages import PAGES
from ui import shell
from viz.component import source_of
from web.headers import policy
from web.shell import INDEX

DOCUMENTS = shell.documents(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_document_has_the_pages_headline_and_all_of_streamlits_own(page: shell.Page[object]) -> None:
    document = DOCUMENTS["" if page is PAGES[0] else page.name]
    assert f"<h1>{page.heading or page.title}</h1>" in document
    assert ('class="views"' in document) == bool(page.views)
    for script in re.findall(r"<script[^>]*src=[^>]*>", INDEX):
        assert script in document
    assert document.index(".stMainBlockContainer") < document.index('id="shell"') < document.index('id="root"')


def test_every_script_in_it_may_run() -> None:
    named = policy("", DOCUMENTS.values())["script-src"].split()
    for document in DOCUMENTS.values():
        inline = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
        assert len(inline) == 2
        assert {source_of(script) for script in inline} <= set(named)


def test_nothing_is_fetched_elsewhere_and_scripts_that_are_fetched_early_are_streamlits() -> None:
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", DOCUMENTS[""].replace(INDEX, ""))
    for name in shell.SOON + shell.SOON_WITH_VIEWS:
        assert name in shell.preloads([name]), f"Streamlit has no script {name} any more"
    assert shell.preloads(["no such script"]) == ""
