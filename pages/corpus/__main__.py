"""``python -m pages.corpus [--check | --table]``: measure anew what comes with the app, tell what has changed since, or
print the README's table of relations from what is stored.

Everything runs on the CPU in float32. ``--check`` writes nothing, and its exit status is 1 where a measure differs by
more than 0.001, or how often a best head is right by more than 0.02.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.corpus.reading import built_in
from analysis.corpus.relation_names import short
from analysis.corpus.relations import Share
from analysis.corpus.results import Results
from analysis.corpus.survey import NAMES, NUMBERS
from jobs.surveying import Surveying
from model_zoo import DEFAULT_MODEL, Engine
from ui.precomputed.heads import HEADS


def measured(engine: Engine, model: str) -> Results:
    """All that comes with the app of a model's heads."""
    corpus = built_in()
    corpus.find_rare()
    job = Surveying(engine, model, corpus)
    for _ in job.steps():
        pass
    assert job.results is not None
    return job.results


def differences(stored: Results, fresh: Results) -> Iterator[str]:
    """Where two results differ by more than processors do; a line each."""
    for name in NAMES:
        if name in NUMBERS:
            continue
        moved = np.nanmax(np.abs(stored.survey.measure(name) - fresh.survey.measure(name)), initial=0)
        if moved > 0.001:
            yield f"{name} differs by {moved:.4f}"
    for one in fresh.findings.found:
        before = stored.findings.of(one.relation)
        if before is None or abs(before.accuracy.share - one.accuracy.share) > 0.02:
            yield f"{'.'.join(one.relation)} is found in {one.accuracy.share:.3f}, and was in " + (
                "none" if before is None else f"{before.accuracy.share:.3f}"
            )


def table(results: Results) -> str:
    """The relations of a model as a table in Markdown: the best head of one half of the sentences, judged on the
    other.
    """
    rows = [
        "| relation | words | best head | right, % | best offset, % | random weights, % | uniform, % | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in results.findings.found:
        layer, head = results.survey.head(one.head)
        random = None if results.at_random is None else results.at_random.of(one.relation)
        rows.append(
            f"| {short(one.relation)} | {one.n_judged:,} | {layer + 1}.{head + 1} | {_percent(one.accuracy)} "
            f"| {one.offset:+d}: {_percent(one.by_offset)} ".replace("-", "−")
            + f"| {'–' if random is None else f'{100 * random.accuracy.share:.0f}'} | {100 * one.chance:.0f} "
            f"| {'< 0.001' if one.p < 0.001 else f'{one.p:.3f}'} |"
        )
    return "\n".join(rows)


def _percent(share: Share) -> str:
    return f"{100 * share.share:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 1 where ``--check`` found a difference, else 0."""
    parser = argparse.ArgumentParser(prog="python -m pages.corpus", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; tell what a fresh run has otherwise")
    parser.add_argument("--table", action="store_true", help="print the relations of the bundled BERT")
    chosen = parser.parse_args(arguments)
    if chosen.table:
        sys.stdout.write(table(HEADS.stored(DEFAULT_MODEL)) + "\n")
        return 0
    check: bool = chosen.check
    engine, status = Engine("cpu"), 0
    for model in HEADS.models:
        results, file = measured(engine, model), HEADS.file_of(model)
        if not check:
            file.write_bytes(HEADS.packed(engine.revision(model), results))
            sys.stdout.write(f"{model}: {file.stat().st_size / 1000:,.0f} kB written to {file}\n")
            continue
        found = list(differences(HEADS.stored(model), results))
        sys.stdout.write("".join(f"{model}: {line}\n" for line in found) or f"{model}: as stored\n")
        status = 1 if found else status
    engine.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
