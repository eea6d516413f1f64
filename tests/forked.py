"""Confined processes as forks of one that has torch already: to import it takes longer than all that they do with it.

``PROCESSES`` stands for what ``model_zoo.confined`` needs of ``subprocess``; the fork runs the same file, with the same
arguments, environment and limits. tests/model_zoo/test_pickles.py starts real ones.
"""

import functools
import multiprocessing
import os
import runpy
import subprocess
import sys
from multiprocessing import reduction
from multiprocessing.context import ForkServerContext
from types import ModuleType, SimpleNamespace
from typing import IO, Any


@functools.cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "safetensors.torch", "tokenizers"])
    return context


class _Handed:
    """A file that the fork has open, too."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (reduction.DupFd(self._file.fileno()),)


def _opened(handed: Any) -> int:
    number: int = handed.detach()
    return number


def _confined(script: str, arguments: list[str], environment: dict[str, str], reading: int, writing: int) -> None:
    sys.stdin = os.fdopen(reading)
    for number in (1, 2):
        os.dup2(writing, number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


class _Process:
    """What is used of ``subprocess.Popen``."""

    def __init__(
        self, command: list[str], *, stdin: IO[bytes], stdout: IO[bytes], env: dict[str, str], **_: Any
    ) -> None:
        self._command = command
        script, *arguments = command[2:]  # after the interpreter and -I
        self._fork = _context().Process(
            target=_confined, args=(script, arguments, env, _Handed(stdin), _Handed(stdout)), daemon=True
        )
        main = sys.modules["__main__"]  # what runs in a fork, too, before anything else: after a page has run, the page
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            self._fork.start()
        finally:
            sys.modules["__main__"] = main

    def poll(self) -> int | None:
        return self._fork.exitcode

    def wait(self, seconds: float | None = None) -> int:
        self._fork.join(seconds)
        if self._fork.exitcode is None:
            raise subprocess.TimeoutExpired(self._command, seconds or 0)
        return self._fork.exitcode

    def kill(self) -> None:
        self._fork.kill()


PROCESSES = SimpleNamespace(Popen=_Process, TimeoutExpired=subprocess.TimeoutExpired)
