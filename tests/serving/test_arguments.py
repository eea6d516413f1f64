"""What ``python -m serving`` is told of its settings: bounds, and a sentence for one that cannot be used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.server import ROOT

pytestmark = pytest.mark.slow  # Ray is imported

_NUMBERS = """
import warnings
warnings.simplefilter("ignore")
from model_zoo.engine_settings import allowed
from serving.app import Arguments
for name, field in Arguments.model_fields.items():
    if field.annotation in (int, float, int | None):
        assert " number from " in allowed(field), name
        print(name)
"""


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, env=os.environ | environment
    )


def test_every_number_has_bounds_which_are_said() -> None:
    done = python("-c", _NUMBERS)
    assert {"runs", "cpus", "queue"} < set(done.stdout.split()), done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cpus=inf", "queue"], "“inf” in the command, and should be a number from 0.01 to 1_000."),
        (["replicas=2"], "replicas is not a setting. There are: any_model, "),
    ],
)
def test_one_that_cannot_be_used_is_one_sentence(arguments: list[str], message: str) -> None:
    done = python("-m", "serving", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert message in done.stderr.splitlines()[-1]


def test_a_folder_for_tuned_models_that_another_user_may_have_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / f"look-inside-bert-cluster-{os.getuid()}").symlink_to("/")
    done = python("-m", "serving", TMPDIR=str(tmp_path))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "no folder of this user alone" in done.stderr.splitlines()[-1]
