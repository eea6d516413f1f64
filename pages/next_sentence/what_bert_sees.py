"""View "What BERT sees": the three rows of BERT's input."""

from __future__ import annotations

from pages.next_sentence.scene import Scene
from ui import View, is_dark, notes, token_line
from viz.sentence_input import sentence_input
from web.engine import engine


def draw(scene: Scene) -> None:
    """The three rows of BERT's input."""
    run = engine().attend(scene.model, scene.a, scene.b)
    notes.beyond_training({scene.model: run.n_tokens})
    lines = [sentence_input(run.encoding, dark=is_dark())]
    token_line.draw(lines, key="sentence input")
    token_line.download(lines, "Input", "Token, sentence and position of every token.", [run.model], "input")


VIEW = View(
    "input",
    "What BERT sees",
    draw,
    "Below every token: its sentence, A or B, and its position. BERT has a vector for each of the three and adds them.",
    "Other models may have fewer: RoBERTa, DistilBERT and ModernBERT have no sentence vectors; XLNet, T5 and "
    "ModernBERT have no absolute position vectors.",
    needs=("pair",),
    tab=30,
    terms=("segment", "position"),
)
