"""View "What BERT sees": the three rows of BERT's input."""

from __future__ import annotations

from model_zoo.questions.encode import Encode
from pages.next_sentence.scene import Scene
from ui import View, as_python, notes, token_line
from viz.sentence_input import sentence_input
from viz.token_line import Line
from web.engine import engine


def draw(scene: Scene) -> None:
    run = engine().attend(scene.model, scene.a, scene.b)
    notes.warn_of_reading(run.encoding, scene.model, "The pair")
    notes.warn_beyond_training({scene.model: run.n_tokens})

    lines = f"encoding = {as_python.call(Encode(scene.model, scene.a, scene.b))}\n"
    as_python.put(lines + "numbers = encoding.to_frame()  # segment 0 is A, 1 is B", run.encoding.to_frame)

    def rows(*, dark: bool) -> list[Line]:
        return [sentence_input(run.encoding, dark=dark)]

    token_line.show(rows, "sentence input", "input")
    token_line.file(rows, "Input", "Token, sentence and position of every token.", [run.model], "input")


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
