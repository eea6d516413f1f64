"""Programs that some tests need: without one they are skipped and say so; in CI, which has them all, they fail."""

import os
import shutil

import pytest


def program(*names: str, needs: str) -> str:
    """The path of the first of these programs that is on the machine; ``needs`` says how one gets it."""
    for name in names:
        if path := shutil.which(name):
            return path
    reason = f"no {names[0]} on this machine ({needs})"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
