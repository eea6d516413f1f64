"""``python -m benchmarks.peers [--repeats N]``: one task of each peer, done by it and by this project.

The code is that of docs/peers.md, whose table this prints; lines are counted there, imports among them. Each side runs
in processes of its own, in turn, on one thread. Times are medians, in seconds of the processor: "first" from a started
Python to the result (imports, the model, the task), "again" for the task, the lines after the last empty one, with
other texts. Last comes the size of a page, or the largest difference from this project's numbers.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, check_output
from types import CodeType
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks.imports import ROOT
from benchmarks.measure import arguments, markdown_table

PAGE: Final = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").partition("\n## Side by side\n")[2]
OURS: Final = "this project"
STATES: Final = ("hungry", "tired", "quiet", "ready", "old", "cold")  # what texts are about, in turn


class Side(NamedTuple):
    """A task as one tool does it. The last name that it binds is the result: a page, or numbers."""

    task: str
    tool: str
    code: str

    @property
    def missing(self) -> str | None:
        """A package that it imports and that is not installed."""
        modules = re.findall(r"^(?:from|import) (\w+)", self.code, re.MULTILINE)
        return next((module for module in modules if find_spec(module) is None), None)


SIDES: Final = [
    Side(task, tool, code)
    for task, text in re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    for tool, code in re.findall(r"^\*\*(.+?)\*\*\n\n```python\n(.*?)```", text, re.MULTILINE | re.DOTALL)
]


def run(side: Side, states: Sequence[str] = STATES) -> dict[str, list[float]]:
    """The last result of a side (of a page its kilobytes), and the seconds of every time."""
    names: dict[str, Any] = {}
    codes: list[CodeType] = []
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:  # nnsight reads the source of what it runs
        for number, part in enumerate(side.code.rsplit("\n\n", 1)):
            file = Path(folder, f"part{number}.py")
            file.write_text(part, encoding="utf-8")
            codes.append(compile(part, str(file), "exec"))
        for state in states:
            exec(PAGE.split("```python\n")[1].split("```")[0].replace(STATES[0], state), names)
            begin = time.process_time()
            for code in codes[bool(seconds) :]:
                exec(code, names)
            seconds.append(time.process_time() - begin)
    result: Any = names[re.findall(r"^ *(\w+) = ", side.code, re.MULTILINE)[-1]]
    return {"result": np.ravel(len(result) / 1000 if isinstance(result, str) else result).tolist(), "seconds": seconds}


def main() -> None:
    repeats = arguments(__doc__, repeats=3).parse_args().repeats
    measured: dict[Side, list[dict[str, Any]]] = {side: [] for side in SIDES if not side.missing}
    for side in list(measured) * repeats:
        code = f"import json, benchmarks.peers as peers; print(json.dumps(peers.run(peers.SIDES[{SIDES.index(side)}])))"
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        printed = check_output((sys.executable, "-c", code), cwd=ROOT, env=environment, stderr=DEVNULL)
        measured[side].append(json.loads(printed.splitlines()[-1]))
    ours = {side.task: processes[0]["result"] for side, processes in measured.items() if side.tool == OURS}
    rows = []
    for side, processes in measured.items():
        result, lines = processes[0]["result"], [line for line in side.code.splitlines() if line.strip()]
        first = median(process["seconds"][0] for process in processes)
        again = median(second for process in processes for second in process["seconds"][1:])
        difference = max(abs(a - b) for a, b in zip(ours[side.task], result, strict=False))
        compared = f"{result[0]:.0f} kB" if len(result) == 1 else "" if side.tool == OURS else f"{difference:.0e}"
        rows.append((side.task, side.tool, str(len(lines)), f"{first:.1f}", f"{again:.2f}", compared))
    print(markdown_table(("task", "by", "lines", "first, s", "again, s", "size, or difference"), rows))
    print(*(f"{side.tool} was not run: there is no module {side.missing}." for side in SIDES if side.missing), sep="\n")


if __name__ == "__main__":
    main()
