"""The limit of open files: raised as far as it goes, and said where that is not far."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
from web import open_files
open_files.allow_more()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("soft", "hard", "after", "visitors"),
    [(64, 64, 64, 5), (64, 200, 200, 22), (20, 20, 20, 0), (64, 1024, 1024, None), (1024, 1024, 1024, None)],
)
def test_it_is_raised_as_far_as_it_goes_and_said_where_it_is_low(soft, hard, after, visitors) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(soft), str(hard)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(after), str(hard)]
    if visitors is None:
        assert not done.stderr
    else:
        assert f"can open {after} files and connections" in done.stderr
        assert f"about {visitors} visitors" in done.stderr
        assert done.stderr.count("\n") == 1
