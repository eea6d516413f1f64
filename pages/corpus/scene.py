"""What every view of the page "Corpus" is given: the sentences, the model, and what was found of its heads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from analysis.corpus.relations import Relation, RelationResult
from analysis.corpus.results import Results
from analysis.corpus.sentences import Corpus
from evidence.corpus import measure_heads
from model_zoo.types import ModelInfo, ModelSpec, counted
from pages.corpus import measuring, source
from pages.corpus.fields import RELATION, SHOWN_VIEW
from pages.corpus.source import Source
from ui import HEAD, LAYER, Need, View, as_python, notes, widgets
from ui.as_python import Lines
from web.engine import engine


@dataclass(frozen=True, slots=True)
class Scene:
    """``results`` are those of the chosen model on the chosen sentences, None where nothing was measured yet."""

    source: Source
    info: ModelInfo
    results: Results | None

    @property
    def corpus(self) -> Corpus:
        return self.source.corpus

    @property
    def units(self) -> str:
        """What the intervals of measures are over, for the small print; and those of relations where that differs."""
        return f"sentences (of relations: over {self.halved})" if self.corpus.unit == "document" else self.halved

    @property
    def halved(self) -> str:
        """What of the sentences is halved to choose heads and to judge them."""
        n = self.corpus.n_units
        return {
            "frame": f"the {n:,} frames that templates made the sentences from",
            "document": f"the {n:,} documents",
            "sentence": "the sentences",
        }[self.corpus.unit]

    @property
    def model(self) -> str:
        return self.info.id

    @property
    def measured(self) -> Results:
        """The results, in a view that needs them."""
        assert self.results is not None
        return self.results

    @property
    def layer(self) -> int:
        """The chosen layer, from 0."""
        return min(LAYER.value, self.info.n_layers) - 1

    @property
    def head(self) -> int:
        """The chosen head, from 0."""
        return min(HEAD.value, self.info.n_heads) - 1

    @property
    def place(self) -> int:
        """The chosen head's place among all heads."""
        return self.measured.statistics.place(self.layer, self.head)

    def relation(self) -> RelationResult | None:
        """The chosen relation as it was found; the first one where none is chosen, None where there is none."""
        findings = self.measured.findings
        deprel, _, direction = RELATION.value.partition(".")
        chosen = next((finding for finding in findings.relations if finding.relation == (deprel, direction)), None)
        return chosen or (findings.relations[0] if findings.relations else None)

    def statistics_python(self, names: Collection[str] = ()) -> Lines:
        """Lines that bind ``statistics`` to the measures of all heads, with the rarest words noted where measures of
        these ``names`` need them.
        """
        lines = self.source.lines + (self.source.rare if any("rare" in name for name in names) else "")
        line = f"*_, statistics = measure_heads(engine, {as_python.literal(self.model)}, corpus)\n"
        return lines + Lines(line, (measure_heads,))

    def lacks(self, need: Need) -> str | None:
        if need == "attention":
            return self.info.attention_refusal or None
        assert need == "results", need
        if self.results is not None:
            return None
        return (
            f"Nothing was measured yet with this model on these sentences. Press “Measure "
            f"{counted(len(self.corpus), 'sentence')}” above."
        )


def relation_key(relation: Relation) -> str:
    """A relation as the field holds it."""
    return ".".join(relation)


def relation_python(relation: Relation) -> str:
    return f"Relation({as_python.arguments(*relation)})"


def open_head(layer: int, head: int) -> None:
    """Open a head, layer and head from 0; a callback of a widget."""
    widgets.select_head(layer, head)
    SHOWN_VIEW.value = "head"


def make(_view: View[Scene]) -> Scene:
    """Ask for model and sentences, measure or show how far that is, and gather what was found."""
    with widgets.input_line():
        model = widgets.model()
        chosen = source.draw()
        measuring.button(model, chosen)
    source.draw_notes(chosen)
    source.draw_cautions(model, chosen)
    measuring.draw(model, chosen)
    info = engine().info(model)
    return Scene(chosen, info, measuring.results(info, chosen))


def shows(spec: ModelSpec) -> str:
    """What the page shows of a model."""
    if not spec.heads:
        return "no attention"
    if not spec.mlm:
        return "all but switching off"
    return "yes, the encoder's" if spec.cross_attention else "yes"


def left_out(_scene: Scene) -> str:
    """What is on the screen and not in the address."""
    return notes.not_in_link(source.uploaded())
