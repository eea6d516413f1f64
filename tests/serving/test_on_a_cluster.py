"""What only a real cluster can show: replicas that die, an update while questions come, ports, figures, logs.

(Its name has to have "cluster" in it: all tests that ask one run in one process, see tests/conftest.py.)
"""

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
import urllib3
from patience import PATIENCE, until

from benchmarks.server import ROOT, SECONDS_TO_START, TOKEN, Cluster
from model_zoo import DEFAULT_MODEL, tracing
from model_zoo.errors import Unreachable
from model_zoo.questions.measure_cost import MeasureCost
from model_zoo.questions.probe_health import ProbeHealth
from model_zoo.types import CostSample
from serving.remote import RemoteEngine
from training.finetuning.finetune import Finetune
from training.finetuning.results import Started
from training.finetuning.sets import SETS

pytestmark = pytest.mark.usefixtures("one_thread")

HEALTH = ProbeHealth.example(DEFAULT_MODEL)


def texts(n: int, noun: str) -> list[str]:
    return [f"The {noun} number {number} sat on the [MASK]." for number in range(n)]


@contextmanager
def asking(engine: RemoteEngine, texts: list[str]) -> Iterator[dict[str, Any]]:
    """Eight threads ask all of these while the block runs; the answers as they come."""
    answers: dict[str, Any] = {}

    def ask(text: str) -> None:
        answers[text] = engine.fill_mask(DEFAULT_MODEL, text, 3)

    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(ask, text) for text in texts]
        yield answers
        for thread in waiting:
            thread.result(PATIENCE)


def logs_of_replicas() -> str:
    logs = Path(tempfile.gettempdir(), "ray/session_latest/logs/serve").glob("replica_models_*.log")
    return "".join(log.read_text(encoding="utf-8") for log in logs)


def test_a_question_goes_where_its_model_is(clustered: RemoteEngine) -> None:
    """Other models than the default are in one replica, and that one is asked; where it is too busy to say for a second
    that it can be, so is another, which then has the model as well: hence more models than one.
    """

    def answered_by(question: ProbeHealth) -> str:
        clustered.ask(question)
        with clustered._lock:
            return max(clustered._states.values(), key=lambda state: state[1])[0].name

    def stays(model: str) -> bool:
        question = ProbeHealth.example(model)
        first = answered_by(question)
        others: set[str] = set()

        def both_answer() -> bool:
            others.update(answered_by(HEALTH) for _ in range(150))  # a second or two: Serve hears of models by and by
            return len(others) == 2

        until(both_answer)
        return {answered_by(question) for _ in range(12)} == {first}

    assert any(map(stays, ("embedded/bilstm", "embedded/tinybert", "embedded/modernbert")))


def test_an_update_loses_no_question(cluster: Cluster, clustered: RemoteEngine) -> None:
    before = until(lambda: running if len(running := cluster.replicas()) == 2 else None)
    environment = cluster.process.environ()
    settings = [argument for argument in cluster.process.cmdline() if "=" in argument]
    command = [sys.executable, "-m", "serving", "--update", *settings, "batch=4"]
    n_lost, stop = clustered.counts.unreachable, threading.Event()
    answered: list[Any] = []

    def ask(thread: int) -> None:
        number = 0
        while not stop.wait(0.05):  # a busy machine starts the new replicas late
            number += 1
            answered.append(clustered.fill_mask(DEFAULT_MODEL, f"Thread {thread} asks {number} times: [MASK].", 1))

    with ThreadPoolExecutor(4) as threads:
        asking_ = [threads.submit(ask, thread) for thread in range(4)]
        try:
            patience = 2 * SECONDS_TO_START  # one new replica is started after the other
            updated = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=patience
            )
            assert updated.returncode == 0, updated.stderr[-2000:]
            until(lambda: not {replica.pid for replica in before} & {replica.pid for replica in cluster.replicas()})
        finally:
            stop.set()
        for replica in asking_:
            replica.result(PATIENCE)
    assert len(answered) > 20
    assert clustered.counts.unreachable == n_lost


def test_a_replica_killed_among_two_hundred_questions_costs_none(cluster, clustered, engine) -> None:
    replicas = until(lambda: replicas_now if len(replicas_now := cluster.replicas()) == 2 else None)
    sentences, lost = texts(200, "cat"), clustered.counts.unreachable
    with asking(clustered, sentences) as replicas_now:
        until(lambda: len(replicas_now) > 40)
        assert len(replicas_now) < 200
        replicas[0].kill()
    assert clustered.counts.unreachable == lost
    for text in sentences:  # in batches put together as they came, so that the last bits may differ
        (mask,), (expected,) = replicas_now[text], engine.fill_mask(DEFAULT_MODEL, text, 3)
        assert [prediction.token for prediction in mask.best] == [prediction.token for prediction in expected.best]
        assert [prediction.probability for prediction in mask.best] == pytest.approx(
            [prediction.probability for prediction in expected.best], 1e-4
        )


def test_a_stream_whose_replica_dies_says_so_and_questions_go_on(cluster: Cluster, clustered: RemoteEngine) -> None:
    events = clustered.stream(MeasureCost((DEFAULT_MODEL,), (16,), 2000))
    for event in events:
        if isinstance(event, CostSample):
            break
    for replica in cluster.replicas():
        with suppress(psutil.NoSuchProcess):
            replica.kill()
    with pytest.raises(Unreachable, match=r"stopped after \d[\d,]* of its parts"):
        for _ in events:
            pass
    until(lambda: clustered.look(), patience=SECONDS_TO_START)
    assert clustered.ask(HEALTH)  # waits for the replica that takes the place of those


def test_a_training_whose_process_dies_says_so(cluster: Cluster, clustered: RemoteEngine) -> None:
    settings = replace(Finetune.example(DEFAULT_MODEL).settings, epochs=20)
    question = Finetune(DEFAULT_MODEL, SETS["sentiment"].build(), settings, Finetune.example("m").id, keep=False)
    events = clustered.stream(question)
    for event in events:
        if isinstance(event, Started):
            break
    trainers = [
        process for process in cluster.process.children(recursive=True) if process.name().startswith("ray::Trainer")
    ]
    assert trainers
    for trainer in trainers:
        trainer.kill()
    with pytest.raises(Unreachable, match="The training stopped"):
        for _ in events:
            pass


def test_ports_are_for_this_machine(cluster: Cluster) -> None:
    """All but one kind, and that one wants Ray's token before it reads anything."""
    open_ = [port for port, ip in cluster.ports().items() if ip not in ("127.0.0.1", "::1", "::ffff:127.0.0.1")]
    assert len(open_) <= len(cluster.replicas())
    for port in open_:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            ask = channel.unary_unary("/ray.serve.ASGIService/HandleRequest")
            harmful = pickle.dumps(_Runs())
            with pytest.raises(grpc.RpcError) as refused:
                # Its first field, which Serve unpickles.
                ask(b"\x0a" + bytes([len(harmful)]) + harmful, timeout=PATIENCE)
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


class _Runs:
    """What a pickle would do where it is read: end the process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


def test_nothing_is_sent_home_and_no_dashboard_is_shown(cluster: Cluster) -> None:
    assert cluster.process.environ().get("RAY_USAGE_STATS_ENABLED", "0") == "0"
    assert 8265 not in cluster.ports()


def test_figures_of_every_replica(cluster: Cluster, clustered: RemoteEngine) -> None:
    clustered.ask(HEALTH)

    def lines_of_replicas() -> list[str]:
        page = urllib3.request("GET", f"{cluster.metrics}/metrics", retries=False, timeout=PATIENCE).data.decode()
        return [line for line in page.splitlines() if line.startswith("ray_inside_bert_answer_seconds_count")]

    lines = until(lines_of_replicas)
    assert all('replica="' in line and 'kind="' in line for line in lines)


def test_one_id_from_the_web_process_to_the_replicas_log(clustered: RemoteEngine) -> None:
    token = tracing.question_id.set("cafecafecafecafe")
    clustered.ask(HEALTH)
    tracing.question_id.reset(token)

    def logged() -> list[str]:
        text = "question cafecafecafecafe answered by the model: ProbeHealth"
        return [line for line in logs_of_replicas().splitlines() if text in line]

    (line,) = until(logged)
    assert HEALTH.text not in line


def test_without_the_token_a_cluster_answers_nothing(cluster: Cluster) -> None:
    from model_zoo.errors import OtherVersion

    with pytest.raises(OtherVersion):
        RemoteEngine(cluster.address, f"not {TOKEN}").ask(HEALTH)
    assert urllib3.request("POST", f"{cluster.address}/ask", retries=False, timeout=PATIENCE).status == 401

    until(lambda: "did not know the token were refused" in logs_of_replicas())
    assert f"not {TOKEN}" not in logs_of_replicas()
