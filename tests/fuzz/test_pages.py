"""Anything typed into every page: what it shows holds no error but the project's own sentences."""

import pytest
from fuzzing import A_PAGE, TEXTS, tries
from hypothesis import strategies as st
from strategies import TYPED
from walks.walk import trouble

from pages import PAGES

# The fields into which a visitor types; a browser sends no halves of surrogate pairs.
_TYPED = (TEXTS | TYPED).map(lambda text: text.encode("utf-8", "replace").decode())


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anything_can_be_typed_into_every_page(page, visitor, checkpoint) -> None:
    view = {"view": page.views[-1].name} if page.views else {}
    here = visitor(page.path, model=str(checkpoint("bert")), **view)

    def check(typed: tuple[int, str]) -> None:
        place, text = typed
        fields = [widget for widget in here.widgets() if widget.type in ("text_area", "text_input")]
        if fields:
            here.use(fields[place % len(fields)], text)
        else:  # a page where nothing is typed still has an address
            here.go(page.path, {"text": text, "model": text})
        assert trouble(here) is None

    tries(A_PAGE, st.tuples(st.integers(0, 5), _TYPED), check)
