"""What figures share: tokens as text that a reader can see and Plotly takes as typed, and large type."""

import html

import plotly.graph_objects as go

from viz import layout
from viz.layout import base_layout, token_text, visible_text


def test_markup_in_a_token_is_shown_as_typed_and_what_cannot_be_seen_is_named() -> None:
    markup = ("<script>", "<b>", "&", "&lt;", "%{x}", "$x$", "a<br>b")
    for token in (*markup, "🙂", "שלום", "##ing", "Ġthe", "▁the", "a\u200db"):
        text = token_text(token)
        assert html.unescape(text) == token
        assert not set("<>$%{}") & set(text)
    visible = {
        "\x00": "⟨U+0000⟩", "a\nb": "a⟨U+000A⟩b", "\ud800": "⟨U+D800⟩", "\u202eabc": "⟨U+202E⟩abc",
        "\u200b": "⟨U+200B⟩", "\u200d": "⟨U+200D⟩", " ": "␣", " a": "␣a", "\u00a0": "␣", "": "(empty)",
    }  # fmt: skip
    for token, text in visible.items():
        assert visible_text(token) == token_text(token) == text
    # A label is cut between letters and not below an accent.
    cafe = "cafe\u0301"
    assert token_text(cafe, 4) == cafe  # four letters
    assert token_text(cafe + "s or tea", 5) == cafe + "…"
    assert token_text("👨\u200d👩\u200d👧 family", 2) == "👨\u200d👩\u200d👧…"
    assert token_text("abcdef", 4) == "abc…"


def test_an_enlarged_figure_has_larger_type_and_the_height_for_it() -> None:
    made = go.Figure(
        data=[go.Bar(x=[1, 2], y=[3, 4], textfont={"size": 12})],
        layout=base_layout(False, height=100, margin={"t": 10}, xaxis={"tickfont": {"size": 12}}),
    )
    layout.enlarge(made, 1)
    assert (made.layout.font.size, made.layout.height) == (13, 100)
    layout.enlarge(made, 1.5)
    assert (made.data[0].textfont.size, made.layout.font.size, made.layout.xaxis.tickfont.size) == (18, 19.5, 18)
    assert (made.layout.height, made.layout.margin.t) == (150, 15)
