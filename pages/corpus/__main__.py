"""``python -m pages.corpus [--check | --table]``: measure anew what comes with the app, tell what has changed since, or
print the README's table of relations from what is stored.

Everything runs on the CPU in float32. ``--check`` writes nothing, and its exit status is 1 where a measure differs by
more than 0.001, or how often a best head is right by more than 0.02.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.corpus.head_statistics import NAMES, NUMBERS
from analysis.corpus.reading import built_in
from analysis.corpus.relation_names import short
from analysis.corpus.relations import Share
from analysis.corpus.results import Results
from evidence import survey
from model_zoo import DEFAULT_MODEL, Engine
from ui.precomputed import command
from ui.precomputed.heads import HEADS


def measured(engine: Engine, model: str) -> Results:
    """All that comes with the app of a model's heads."""
    corpus = built_in()
    corpus.find_rare()
    return survey(corpus, model, engine=engine).results


def differences(stored: Results, fresh: Results) -> Iterator[str]:
    """Where two results differ by more than processors do; a line each."""
    for name in NAMES:
        if name in NUMBERS:
            continue
        moved = np.nanmax(np.abs(stored.statistics.measure(name) - fresh.statistics.measure(name)), initial=0)
        if moved > 0.001:
            yield f"{name} differs by {moved:.4f}"
    for relation in fresh.findings.relations:
        before = stored.findings.get(relation.relation)
        if before is None or abs(before.accuracy.share - relation.accuracy.share) > 0.02:
            yield f"{'.'.join(relation.relation)} is found in {relation.accuracy.share:.3f}, and was in " + (
                "none" if before is None else f"{before.accuracy.share:.3f}"
            )


def table(results: Results) -> str:
    """The relations of a model as a table in Markdown: the best head of one half of the sentences, judged on the
    other.
    """
    rows = [
        "| relation | words | best head | right, % | splits, % | best offset, % | random weights, % | uniform, % | p |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for finding in results.findings.relations:
        layer, head = results.statistics.head(finding.head)
        right, spread = _percent(finding.accuracy), finding.spread
        lowest, highest = (f"{100 * share:.0f}" for share in (spread.lowest, spread.highest))
        random = None if results.at_random is None else results.at_random.get(finding.relation)
        rows.append(
            f"| {short(finding.relation)} | {finding.n_judged:,} | {layer + 1}.{head + 1} | {right} "
            f"| {lowest}–{highest}, {spread.n_same} of {spread.n} "
            f"| {finding.offset:+d}: {_percent(finding.by_offset)} ".replace("-", "−")
            + f"| {'–' if random is None else f'{100 * random.accuracy.share:.0f}'} | {100 * finding.chance:.0f} "
            f"| {'< 0.001' if finding.p < 0.001 else f'{finding.p:.3f}'} |"
        )
    return "\n".join(rows)


def _percent(share: Share) -> str:
    return f"{100 * share.share:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return command.run(
        "look_inside_bert.pages.corpus",
        __doc__,
        arguments,
        HEADS.models,
        file_of=HEADS.file_of,
        make=measured,
        content=lambda engine, model, results: HEADS.pack(engine.revision(model), results),
        changed=lambda model, results: (f": {line}" for line in differences(HEADS.load(model), results)),
        table=lambda: table(HEADS.load(DEFAULT_MODEL)),
    )


if __name__ == "__main__":
    sys.exit(main())
