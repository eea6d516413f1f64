"""``python -m pages.corpus [--check]``: measure anew what comes with the app, or tell what has changed since.

Everything runs on the CPU in float32. ``--check`` writes nothing, and its exit status is 1 where a measure differs by
more than 0.001, or how often a best head is right by more than 0.02.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.corpus.reading import built_in
from analysis.corpus.results import Results
from analysis.corpus.survey import NAMES, NUMBERS
from jobs.surveying import Surveying
from model_zoo import Engine
from ui.precomputed import heads


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


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 1 where ``--check`` found a difference, else 0."""
    parser = argparse.ArgumentParser(prog="python -m pages.corpus", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; tell what a fresh run has otherwise")
    check: bool = parser.parse_args(arguments).check
    engine, status = Engine("cpu"), 0
    for model in heads.MODELS:
        results, file = measured(engine, model), heads.file_of(model)
        if not check:
            file.write_bytes(heads.packed(engine.revision(model), results))
            sys.stdout.write(f"{model}: {file.stat().st_size / 1000:,.0f} kB written to {file}\n")
            continue
        found = list(differences(heads.unpacked(file.read_bytes())[2], results))
        sys.stdout.write("".join(f"{model}: {line}\n" for line in found) or f"{model}: as stored\n")
        status = 1 if found else status
    engine.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
