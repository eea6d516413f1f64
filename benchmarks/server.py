"""A Streamlit app, or a cluster that holds the models, served for a benchmark in processes of their own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]

TOKEN = "a token for this machine"
SECONDS_TO_START = 600.0  # nothing is measured by it: what takes longer never starts


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def app(
    script: str | Path,
    streamlit: str = "streamlit",
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    within: Sequence[str] = (),
) -> AbstractContextManager[tuple[str, subprocess.Popen[bytes]]]:
    """``streamlit run script`` on a free port, healthy; ends with the block.

    ``streamlit`` is the module whose command line serves, ``environment`` what is added to this process' own, ``log``
    the file that what it says goes to, and ``within`` a command that becomes the one that follows it.
    """
    return started([*within, sys.executable, "-m", streamlit, "run", str(script)], environment, log)


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str] | None = None, log: Path | None = None, folder: Path = ROOT
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A command that starts an app, on a free port and in a folder; see ``app``."""
    port, path = free_port(), (environment or {}).get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    url = f"http://127.0.0.1:{port}/{path}".rstrip("/")
    log = log or Path(os.devnull)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_healthy(f"{url}/_stcore/health", process, log)
        yield url, process
    finally:
        end(process)


def wait_until_healthy(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until a server answers at its ``address``. Raises RuntimeError where its process ends before, or never does."""
    pause, latest = threading.Event(), time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < latest:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            pause.wait(0.05)
    raise RuntimeError(f"{process.args!r} does not answer at {address}: {log.read_text('utf-8', 'replace')[-2000:]}")


def end(process: subprocess.Popen[Any], seconds: float = 60) -> None:
    """End a server, by force where it is still answering somebody after so long."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster: where it is asked, where it tells its figures, and the process whose children it all is."""

    address: str
    metrics: str
    process: psutil.Process

    def replicas(self) -> list[psutil.Process]:
        """The processes that answer. They call themselves what they do, once they do it."""
        replicas = []
        for child in self.process.children(recursive=True):
            try:
                if "".join(child.cmdline()[:1]).startswith("ray::ServeReplica:models"):
                    replicas.append(child)
            except psutil.NoSuchProcess:
                continue
        return replicas

    def ports(self) -> dict[int, str]:
        """Every port that one of its processes listens at, and on which address."""
        addresses: dict[int, str] = {}
        for process in [self.process, *self.process.children(recursive=True)]:
            try:
                addresses |= {
                    connection.laddr.port: connection.laddr.ip
                    for connection in process.net_connections("tcp")
                    if connection.status == "LISTEN"
                }
            except psutil.NoSuchProcess:
                continue
        return addresses

    @property
    def environment(self) -> dict[str, str]:
        """What an app has to be told to ask it."""
        return {"INSIDE_BERT_ENGINE": self.address, "INSIDE_BERT_ENGINE_TOKEN": TOKEN}


@contextmanager
def cluster(*settings: str) -> Iterator[Cluster]:
    """``python -m serving`` with these settings, ready; ends with the block. Its home is a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="inside-bert-cluster-"))
    port, metrics = free_port(), free_port()
    command = [sys.executable, "-m", "serving", "--port", str(port), "--metrics-port", str(metrics), "--cpus", "4"]
    environment = {"HOME": str(home), "HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "INSIDE_BERT_ENGINE_TOKEN": TOKEN}
    environment["RAY_worker_niceness"] = "0"  # Ray's 15 lets replicas starve where others keep a small machine busy
    started = subprocess.Popen(
        [*command, f"tuned_folder={home / 'tuned'}", *settings],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(SECONDS_TO_START, started.kill)
    watchdog.start()
    assert started.stdout is not None
    lines = []
    for line in started.stdout:
        lines.append(line)
        if line.startswith("Ready"):
            break
    watchdog.cancel()
    if not lines or not lines[-1].startswith("Ready"):
        raise RuntimeError(f"the cluster did not start: {''.join(lines)}")
    reader = threading.Thread(target=started.stdout.read, daemon=True)  # so that it never waits for one
    reader.start()
    process = psutil.Process(started.pid)
    try:
        yield Cluster(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics}", process)
    finally:
        children = process.children(recursive=True) if process.is_running() else []
        end(started)
        for child in psutil.wait_procs(children, timeout=10)[1]:
            child.kill()
        reader.join(10)
        started.stdout.close()
        shutil.rmtree(home, ignore_errors=True)
