"""What visitors type is plain text in the real browser: Streamlit's page looks for links, icons and arrows in what
Markdown has already made text.
"""

from pathlib import Path

from on_screen import StartVisit
from playwright.sync_api import expect

from benchmarks.server import ROOT, app
from ui.messages import as_text

TYPED = (
    "see https://example.org/a_b?c=d, HTTP://EXAMPLE.ORG and www.example.org x:https://a.bc:80/:x:y",
    "mail me@example.org, a.b+c@d-e.co.uk, xmpp:foo@bar.baz or @me",
    ":material/home: :material_home: :material/home:material/home: :streamlit: :smile: :a:b: 12:30:45 ::https://x.yz",
    "a -> b <- c <-> d -- e >= f <= g ~= h - i > j",
    ":color[x] :red[x] **b** `c` $x$ [a](b)",
)
SCRIPT = f"""
import streamlit as st
for text in {[as_text(text) for text in TYPED]!r}:
    st.markdown(text)
    st.caption(text)
    st.error(text)
    st.button(text)
    st.checkbox(text)
    st.progress(0.5, text)
st.markdown("The end")
"""


def test_what_is_typed_is_shown_and_copied_as_it_is(visit: StartVisit, tmp_path: Path) -> None:
    script = tmp_path / "typed.py"
    script.write_text(SCRIPT, encoding="utf-8")
    page = visit().page  # type: ignore[attr-defined]
    with app(script, environment={"PYTHONPATH": str(ROOT)}) as (url, _):
        page.goto(url)
        expect(page.get_by_text("The end")).to_be_visible()
        main = page.get_by_test_id("stMain")
        for text in TYPED:
            expect(main.locator("p").get_by_text(text, exact=True)).to_have_count(6)
        expect(main.locator("a, img, [role=img][aria-label$=' icon']")).to_have_count(0)
        copied = main.locator("p").first.evaluate(
            "(p) => { getSelection().selectAllChildren(p); return getSelection().toString(); }"
        )
        assert copied == TYPED[0]
        page.goto("about:blank")
