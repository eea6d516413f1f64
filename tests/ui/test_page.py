"""The loop that runs every page, on a page made for this: what it shows, in which order, and why it cannot."""

from typing import Any

import pytest
from patience import PATIENCE
from streamlit.testing.v1 import AppTest


def script(**query: str) -> AppTest:
    """A page with a view that can be shown, one that lacks something and one that fails."""

    def page() -> None:
        from dataclasses import dataclass

        import streamlit as st

        from model_zoo.errors import InvalidInput
        from ui.field import Field, within
        from ui.page import Need, Page, View, run, view_field

        size = Field("size", 3, within("the size", 1, 9), of="made_up")
        text = Field("text", "as it was", of="made_up")

        @dataclass
        class Scene:
            typed: str

            def lacks(self, need: Need) -> str | None:
                return "Type a second text." if need == "pair" else None

        def make(view: View[Scene]) -> Scene:
            typed = st.text_input("Text", **text.bound)
            st.caption(f"above {view.name}")
            if typed == "refused":
                raise InvalidInput("That text cannot be read. Type another.")
            return Scene(typed)

        def fails(_scene: Scene) -> None:
            raise KeyError("secret")

        def sized(scene: Scene) -> None:
            st.number_input("Size", **size.bound)
            st.caption(f"drawn {scene.typed}")

        run(
            Page(
                name="made_up",
                title="Made up",
                icon="",
                question="",
                how="",
                about="What it is about.",
                fields=(text,),
                view=view_field("made_up", "plain"),
                views=(
                    View("plain", "Plain", sized, "How to read it.", fields=(size,), left_out=lambda _: "Not in it."),
                    View("two", "Two texts", sized, needs=("mlm", "pair")),
                    View("broken", "Broken", fails),
                ),
                scene=make,
                footer=lambda _scene: st.caption("foot"),
            )
        )

    app = AppTest.from_function(page, default_timeout=PATIENCE)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def captions(app: AppTest) -> list[str]:
    """Those of the page, without those of the boxes As Python and Cite."""
    return [caption.value for caption in app.caption if not caption.value.startswith(("No lines: ", "BibTeX"))]


def test_title_about_scene_views_footer_link() -> None:
    app = script()
    assert [title.value for title in app.title] == ["Made up"]
    *sentences, glossary = (sentences.value for sentences in app.markdown)
    assert sentences == ["How to read it.", "How to read it.", "What it is about."]
    assert 'href="glossary"' in glossary
    assert app.segmented_control(key="made_up_view").options == ["Plain", "Two texts", "Broken"]
    assert captions(app) == [
        "above plain",
        "drawn as it was",
        "foot",
        "This page's link restores what is chosen. Not in it.",
    ]
    assert app.query_params == {}


def test_what_was_changed_stands_in_the_address_and_comes_back() -> None:
    app = script()
    app.number_input(key="made_up_size").set_value(5).run()
    app.text_input(key="made_up_text").set_value("another").run()
    assert app.query_params == {"size": "5", "text": "another"}
    again = script(**app.query_params)
    assert again.number_input(key="made_up_size").value == 5
    assert "drawn another" in captions(again)


def test_a_view_that_lacks_something_says_so_in_one_sentence() -> None:
    app = script(view="two")
    assert [info.value for info in app.info] == [r"Type a second text\."]
    assert not [caption for caption in captions(app) if caption.startswith("drawn")]
    assert captions(app)[-1] == "This page's link restores what you see."


def test_a_view_that_fails_leaves_the_rest() -> None:
    app = script(view="broken")
    assert "Something went wrong inside the app" in app.error[0].value
    assert captions(app)[-2:] == ["foot", "This page's link restores what you see."]


def test_a_scene_that_cannot_be_made_has_an_address_too() -> None:
    app = script(text="refused")
    assert [warning.value for warning in app.warning] == [r"That text cannot be read\. Type another\."]
    assert "made_up_view" not in [control.key for control in app.segmented_control]
    assert app.query_params == {"text": "refused"}


@pytest.mark.parametrize(("name", "text"), [("view", "none"), ("size", "10"), ("size", "x")])
def test_nonsense_in_the_address_is_told_and_ignored(name: str, text: str) -> None:
    app = script(**{name: text})
    assert "Part of the link could not be used" in app.warning[0].value
    assert app.number_input(key="made_up_size").value == 3
    assert app.query_params == {}


def test_an_unknown_page_or_field_of_a_link_is_a_mistake() -> None:
    from ui import address

    address.declare("linked", ())
    for wanted in ({"page": "nowhere"}, {"page": "linked", "size": 1}):
        with pytest.raises(KeyError):
            address.link(**wanted)
    values: dict[str, Any] = address.link("linked")
    assert values == {}
