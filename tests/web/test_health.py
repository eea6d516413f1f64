"""The answer to "can you answer a question?"."""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import pytest
from patience import PATIENCE
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.questions.probe_health import ProbeHealth
from web.health import Health


class Asked:
    """An engine that only counts what it is asked, and answers as it is told."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self.questions: list[Any] = []
        self._answer = answer

    def ask(self, question: Any) -> object:
        self.questions.append(question)
        return self._answer()


@contextmanager
def health(engine: Asked, **times: float) -> Iterator[TestClient]:
    checked = Health(lambda: cast(Engine, engine), **{"patience": PATIENCE, "fresh": PATIENCE} | times)
    with TestClient(Starlette(routes=[Route("/healthz", checked)])) as client:  # one event loop for all requests
        yield client


def test_it_asks_the_default_model_is_good_for_a_while_and_only_reading_is_allowed() -> None:
    engine = Asked(lambda: "an answer")
    with health(engine) as client:
        answers = [client.get("/healthz") for _ in range(3)]
        assert client.post("/healthz").status_code == 405
        assert client.head("/healthz").status_code == 200
    assert {answer.status_code for answer in answers} == {200}
    assert answers[0].json()["healthy"] is True
    assert answers[0].headers["cache-control"] == "no-store"
    assert [(type(question), question.model) for question in engine.questions] == [(ProbeHealth, DEFAULT_MODEL)]
    with health(engine, fresh=0.0) as client:
        client.get("/healthz")
        client.get("/healthz")
    assert len(engine.questions) == 3


def test_a_failure_is_told_in_a_sentence_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    def fails() -> None:
        raise ValueError("/home/somebody/model.safetensors")

    with health(Asked(fails)) as client, caplog.at_level(logging.ERROR):
        answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["healthy"] is False
    assert answer.json()["why"] == f"{DEFAULT_MODEL} could not answer: ValueError."
    assert len([record for record in caplog.records if record.name == "look_inside_bert.web.health"]) == 1


def test_all_who_ask_at_once_wait_for_one_check() -> None:
    go = threading.Event()
    engine = Asked(lambda: go.wait(PATIENCE))
    with health(engine) as client, ThreadPoolExecutor(4) as visitors:
        answers = [visitors.submit(client.get, "/healthz") for _ in range(4)]
        while not engine.questions:
            threading.Event().wait(0.001)
        go.set()
        assert {answer.result(PATIENCE).status_code for answer in answers} == {200}
    assert len(engine.questions) == 1


def test_it_waits_no_longer_than_it_may_and_asks_no_second_time_meanwhile() -> None:
    go = threading.Event()
    engine = Asked(lambda: go.wait(PATIENCE))
    with health(engine, patience=0.02) as client:
        late = [client.get("/healthz") for _ in range(2)]
        assert [answer.status_code for answer in late] == [503, 503]
        assert late[0].json()["why"] == f"{DEFAULT_MODEL} has not answered within 0.02 seconds."
        assert len(engine.questions) == 1
        go.set()
        while client.get("/healthz").status_code != 200:  # the same check, done at last
            threading.Event().wait(0.001)
    assert len(engine.questions) == 1


def test_the_model_runs_for_every_check(engine: Engine) -> None:
    """A remembered answer would say nothing of the model."""
    engine._results.clear()
    assert engine.ask(ProbeHealth.example(DEFAULT_MODEL))
    assert engine._results.values() == []
