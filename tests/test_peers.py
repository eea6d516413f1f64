"""docs/peers.md: what its tables name of this project is there, and its side of every task runs. So do the other sides
whose packages are installed, and come to the same numbers.
"""

import re

import numpy as np
import pytest

from benchmarks.peers import OURS, PAGE, ROOT, SIDES, STATES, run
from model_zoo import DEFAULT_MODEL, Engine

TABLES = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").removesuffix(PAGE)


def test_the_tables_name_all_places_and_no_others(engine: Engine) -> None:
    named = set(re.findall(r"`(embeddings|final|layer\.L\.[\w.]+)`", TABLES))
    places = engine.record(DEFAULT_MODEL, "It sat.", at=("embeddings", "layer.0.*", "final")).activations
    assert named == {name.replace("layer.0", "layer.L") for name in places}
    assert [name for name in re.findall(r"engine\.(\w+)\(", TABLES) if not hasattr(engine, name)] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # BertViz leaves files open
@pytest.mark.parametrize("task", dict.fromkeys(side.task for side in SIDES))
def test_the_sides_of_a_task_come_to_the_same(task: str, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    results = {side.tool: run(side, STATES[:1])["result"] for side in SIDES if side.task == task and not side.missing}
    for result in results.values():
        shared = min(len(result), len(results[OURS]))  # of some vectors, ours alone are patched
        if shared > 1:  # not a page
            np.testing.assert_allclose(result[:shared], results[OURS][:shared], atol=1e-4)
