"""What was found of a relation in one sentence, with what it is compared with."""

from __future__ import annotations

from typing import Final

from analysis.corpus.relation_names import ends
from analysis.corpus.relations import ALL, RelationResult
from model_zoo.types import counted
from pages.corpus.scene import Scene
from viz.layout import percent

OFFSET: Final = "best offset"
"""What the best fixed offset is called in figures."""


def baselines(scene: Scene, finding: RelationResult) -> dict[str, float]:
    """What a relation's best head is compared with, by name, on the same held-out words."""
    random = None if scene.measured.at_random is None else scene.measured.at_random.get(finding.relation)
    shares = {OFFSET: finding.by_offset.share, "uniform": finding.chance}
    return shares if random is None else shares | {"random weights": random.accuracy.share}


def evidence(scene: Scene, finding: RelationResult, place: int) -> str:
    """How often a head finds a relation's partner on the half that judges; ``place`` is the head's among all."""
    statistics = scene.measured.statistics
    layer, head = statistics.head(place)
    if place == finding.head:
        share, low, high = finding.accuracy.share, finding.accuracy.low, finding.accuracy.high
    else:
        share, low, high = (float(bound[place]) for bound in statistics.right(finding.relation))
    start, end = ends(finding.relation)
    where = "the head of its phrase is" if finding.relation == ALL else f"the {end} is"
    looks = "a word" if finding.relation == ALL else f"its {start}" if start != end else "the other"
    return (
        f"**Layer {layer + 1}, head {head + 1}**: in **{percent(share)}** ({percent(low)} to {percent(high)}) of "
        f"{finding.n_judged:,} held-out words, {where} where {looks} looks most."
    )


def describe_baselines(scene: Scene, finding: RelationResult, place: int) -> str:
    """What a head is compared with, on the same words; of the best one whether it is more than the offset."""
    others = [
        f"the best fixed offset ({_offset(finding.offset)}) {percent(finding.by_offset.share)}",
        f"uniform attention {percent(finding.chance)}",
    ]
    random = None if scene.measured.at_random is None else scene.measured.at_random.get(finding.relation)
    if random is not None:
        others.append(f"the best head with random weights {percent(random.accuracy.share)}")
    several = scene.measured.ensemble(finding.relation)
    more = ""
    if several is not None and len(several.heads) > 1:
        more = f" {counted(len(several.heads), 'head')} together: {percent(several.accuracy.share)}."
    verdict = ""
    if place == finding.head:
        verdict = (
            f" That is more than the offset ({_p(finding.p)})."
            if finding.p <= 0.05
            else f" It is not clearly better than the offset ({_p(finding.p)})."
        )
    return f"{others[0][0].upper()}{'; '.join(others)[1:]}.{verdict}{more}"


def _p(p: float) -> str:
    """A p, corrected for the number of relations."""
    return "p below 0.001, Holm" if p < 0.001 else f"p = {p:.{2 if p >= 0.1 else 3}f}, Holm"


def _offset(words: int) -> str:
    return f"{counted(abs(words), 'word')} {'before' if words < 0 else 'after'}"
