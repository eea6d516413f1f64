"""The page "Layers": what can be read off each layer, by probes."""

from pages.layers import fields, running, scene
from ui import MODEL, Page, read_lesson_links, run, views_of

PAGE = Page(
    name="layers",
    title="Layers",
    icon=":material/layers:",
    question="What can be read off each layer?",
    how="Probe every layer for length, tense, number and more, or for your own labels.",
    about="A **probe** is a small classifier that reads a label off a layer's vectors. Train one on every layer to "
    "see where length, words, grammar or meaning can be read.",
    fields=(MODEL, *fields.ASKED, *fields.OWN_DATA, *fields.LOOKED_AT),
    view=fields.SHOWN_VIEW,
    views=views_of("layers"),
    scene=scene.make,
    footer=scene.how,
    left_out=lambda on_screen: running.left_out_of_link(on_screen.choice),
    lesson_links=read_lesson_links("layers", (MODEL, *fields.ASKED, *fields.LOOKED_AT, fields.SHOWN_VIEW)),
    shows=lambda spec: "yes, the encoder's" if spec.cross_attention else "yes",
)

if __name__ == "__main__":
    run(PAGE)
