"""A tokenizer that came from anywhere is tried in a process of its own first: what aborts or hangs there harms nobody.

A tokenizer is a small program: rules that replace text, regular expressions, tables. The library that runs it ends the
whole process where memory runs out, and panics where an expression backtracks for too long.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cachetools import LRUCache

from model_zoo.errors import BadCheckpoint, ModelZooError

# The largest vocabularies there are (256,000 tokens) load in a second or two and take 400 MB.
_SECONDS = 20
_CPU_SECONDS = 10
_BYTES = 2**30

# What runs there: limits first, then the tokenizer, read from standard input, on words, on runs of every letter of a
# keyboard (on which expressions backtrack) and, for rules that replace, on every character of Unicode's first plane and
# on what they look for. It imports tokenizers alone, by the path that this process has it from.
_CHILD = r"""
import sys
where, n_bytes, n_seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
try:
    import resource
except ImportError:
    resource = None
if resource is not None:
    for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, n_seconds), (resource.RLIMIT_AS, n_bytes)):
        try:
            resource.setrlimit(limit, (most, most))
        except (OSError, ValueError):
            pass
try:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
except OSError:
    pass
sys.path.insert(0, where)
from tokenizers import Tokenizer
import json

tokenizer = Tokenizer.from_buffer(sys.stdin.buffer.read())

def strings(rule):
    if isinstance(rule, dict):
        for name, value in rule.items():
            if name == "String" and isinstance(value, str):
                yield value
            else:
                yield from strings(value)
    elif isinstance(rule, list):
        for value in rule:
            yield from strings(value)

if tokenizer.normalizer is not None:
    searched = list(strings(json.loads(tokenizer.normalizer.__getstate__())))
    for text in ("", "a", *searched, "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000))))):
        assert len(tokenizer.normalizer.normalize_str(text)) <= 100 * len(text) + 1000
runs = " ".join(chr(code) * 64 + "!" for code in range(32, 127))
for text in ("The cat sat.", "\u00dcn\u00ef \u4e2d\u6587 \u0645\u0631 \u0939\u093f \U0001f469\u200d\U0001f52c\n", runs):
    found = tokenizer.encode(text, text)
    assert len(found.ids) <= 40 * len(text) + 16
    tokenizer.decode(found.ids)
assert len(tokenizer.encode("").ids) <= 16
"""

_trying = threading.Lock()
_passed: LRUCache[bytes, bool] = LRUCache(256)


def refuse_dangerous(rules: bytes, model: str) -> None:
    """Raises BadCheckpoint where a tokenizer, as ``tokenizer.json`` holds it, dies or hangs on a few words, or needs
    more memory than any does. What has passed is not tried again.
    """
    fingerprint = hashlib.sha256(rules).digest()
    with _trying:  # one process at a time, however many ask
        if fingerprint in _passed:
            return
        if not _survives(rules):
            raise BadCheckpoint(
                f"The tokenizer of “{model}” failed when it was tried on a few words: it stopped with an error, took "
                f"more than {_CPU_SECONDS} seconds, or more than {_BYTES // 2**30} GB of memory. Choose another "
                "checkpoint, or save its tokenizer again."
            )
        _passed[fingerprint] = True


def _survives(rules: bytes) -> bool:
    package = importlib.util.find_spec("tokenizers")
    assert package is not None
    assert package.origin is not None
    where = str(Path(package.origin).parents[1])
    try:
        tried = subprocess.run(
            [sys.executable, "-I", "-c", _CHILD, where, str(_BYTES), str(_CPU_SECONDS)],
            input=rules,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            env=os.environ | {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # OSError: no process can be started
        return False
    return tried.returncode == 0


@contextmanager
def failures_told(model: str) -> Iterator[None]:
    """Whatever a tokenizer fails with inside the block becomes BadCheckpoint; its library's panics are no Exception."""
    try:
        yield
    except ModelZooError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise BadCheckpoint(
            f"The tokenizer of “{model}” failed on this text. Change the text, or choose another model."
        ) from error


def is_panic(error: BaseException) -> bool:
    """Whether this is the way in which a library written in Rust fails; its class cannot be imported."""
    return type(error).__name__ == "PanicException"
