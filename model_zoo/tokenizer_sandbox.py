"""A tokenizer that came from anywhere is tried in a process of its own first: what aborts or hangs there harms nobody.

A tokenizer is a small program: rules that replace text, regular expressions, tables. The library that runs it ends the
whole process where memory runs out, and panics where an expression backtracks for too long. One that transformers has
written in Python runs here, where its time is bounded; of its files, sentencepiece's are read by a library that is not.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from cachetools import LRUCache

from model_zoo import confined
from model_zoo.errors import BadCheckpoint

# The largest vocabularies there are (256,000 tokens) load in a second or two and take 400 MB.
_SECONDS = 10
_BYTES = 2**30
# CANINE's table of a million characters takes four.
_PYTHON_SECONDS = 30

_trying = threading.Lock()
_passed: LRUCache[bytes, bool] = LRUCache(256)


def refuse_dangerous(rules: bytes, model: str, package: str = "tokenizers") -> None:
    """Raises BadCheckpoint where a tokenizer, as ``tokenizer.json`` holds it, or a file of the ``package``
    sentencepiece, dies or hangs on a few words, or needs more memory than any does. What has passed is not tried again.
    """
    fingerprint = hashlib.sha256(package.encode() + rules).digest()
    with _trying:  # one process at a time, however many ask
        if fingerprint in _passed:
            return
        outcome = _tried(rules, package)
        if outcome.failure is not None:
            raise BadCheckpoint(
                f"The tokenizer of “{model}” {_what_happened(outcome)}. Choose another checkpoint, or save its "
                "tokenizer again."
            )
        _passed[fingerprint] = True


def _tried(rules: bytes, package: str = "tokenizers") -> confined.Outcome:
    return confined.run("try_tokenizer", package, package=package, seconds=_SECONDS, n_bytes=_BYTES, stdin=rules)


def _what_happened(outcome: confined.Outcome) -> str:
    if outcome.failure == "start":
        return f"could not be tried: no process can be started ({outcome.message})"
    ends = {
        "time": f"was not done after {_SECONDS} seconds",
        "memory": f"needed more than {_BYTES / 2**30:g} GB of memory",
    }
    return f"was tried on a few words and {ends.get(str(outcome.failure), 'stopped with an error')}"


@contextmanager
def time_bounded() -> Iterator[None]:
    """Raises RuntimeError where what a tokenizer written in Python computes inside the block takes too long: merges and
    added tokens can be made to take the square of a text's length.
    """
    end, before, calls = time.thread_time() + _PYTHON_SECONDS, sys.getprofile(), count()

    def check(*_: object) -> None:  # at every call, in this thread only
        if next(calls) % 256 == 0 and time.thread_time() > end:
            raise RuntimeError(f"Its tokenizer was not done after {_PYTHON_SECONDS} seconds.")

    sys.setprofile(check)
    try:
        yield
    finally:
        sys.setprofile(before)
