"""Scripts run outside a browser: in Deno, which the development requirements install."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def deno(*arguments: str | Path) -> str:
    """What Deno writes. Where it fails, so does the test, with all that it wrote; it asks the network for nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "deno", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
