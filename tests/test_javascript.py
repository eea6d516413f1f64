"""The tests of the scripts (``*.test.js``), each module alone."""

import pytest
from in_deno import deno


@pytest.mark.slow
def test_modules_pass_their_own_tests() -> None:
    # Types are checked apart from the tests (.ci/run), against a browser's library.
    assert "0 failed" in deno("test", "--no-check", "--no-remote", "--no-npm")
