"""/metrics: a program that reads Prometheus' text form finds every figure there, and nobody's text or path."""

from dataclasses import replace

import pytest
from figures_of_a_process import FIGURES, MB, held
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request

from web.metrics import PREFIX, metrics, text
from web.monitoring import Cluster, Figures

REQUEST = Request({"type": "http", "method": "GET", "path": "/metrics", "headers": []})


def read(figures: Figures) -> dict[str, float]:
    """Every sample by its name, and the model's id behind it where there is one."""
    return {
        " ".join([sample.name.removeprefix(PREFIX), *filter(None, [sample.labels.get("model")])]): sample.value
        for family in text_string_to_metric_families(text(figures).decode())
        for sample in family.samples
    }


def test_every_figure_is_there() -> None:
    families = read(FIGURES)
    assert families.pop("build_info") == 1
    assert families == {
        "visitors": 30,
        "page_runs_in_progress": 2,
        "page_runs_waiting": 5,
        "model_runs_in_progress": 1,
        "questions_waiting": 3,
        "answers_remembered": 120,
        "answers_bytes": 40 * MB,
        "answers_limit_bytes": 128 * MB,
        "models_bytes": 87 * MB,
        "models_limit_bytes": 1600 * MB,
        "models_moved": 0,
        "jobs_in_progress": 1,
        "jobs_waiting": 4,
        "resident_memory_bytes": 612 * MB,
        "memory_limit_bytes": 3400 * MB,
        "uptime_seconds": 7505,
        "processors": 2,
        "questions_answered_total": 1500,
        "model_runs_total": 900,
        "unforeseen_errors_total": 6,
        "cpu_seconds_total": 100,
        "model_bytes embedded/bert": 87 * MB,
        "model_idle_seconds embedded/bert": pytest.approx(12.3),
    }


def test_models_that_are_not_listed_are_one_line_without_their_names() -> None:
    private = (held("/home/ann/secret", n_bytes=5, idle_seconds=9.0), held("ann/secret", n_bytes=7, idle_seconds=4.0))
    figures = replace(FIGURES, models=(held("embedded/bert"), *private))
    assert b"secret" not in text(figures)
    families = read(figures)
    assert families["model_bytes other"] == 12
    assert families["model_idle_seconds other"] == 4
    assert families["model_bytes embedded/bert"] == 87 * MB


def test_every_metric_is_explained_and_named_by_the_rules() -> None:
    """https://prometheus.io/docs/practices/naming/: a prefix, base units, and _total for what only grows."""
    families = list(text_string_to_metric_families(text(FIGURES).decode()))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        assert family.name.startswith(PREFIX)
        assert family.documentation.endswith(".")
        for sample in family.samples:
            assert sample.name.endswith("_total") == (family.type == "counter")


def test_the_answer_to_a_request_is_what_prometheus_expects() -> None:
    answer = metrics(REQUEST)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(bytes(answer.body).decode())}
    assert families[f"{PREFIX}resident_memory_bytes"].samples[0].value > 1e6
    labels = families[f"{PREFIX}build_info"].samples[0].labels
    assert set(labels) == {"version", "python", "streamlit", "torch", "transformers"}
    assert all(labels.values())


def test_the_way_to_a_cluster_is_counted_where_there_is_one() -> None:
    assert not any("cluster" in name for name in read(FIGURES))
    cluster = Cluster(reachable=True, n_replicas=2, n_sent=1200, n_sent_twice=3, n_unanswered=1, n_refused=4)
    families = read(replace(FIGURES, cluster=cluster))
    assert (families["cluster_reachable"], families["replicas"]) == (1, 2)
    kinds = ("", "_again", "_unanswered", "_refused")
    assert [families[f"cluster_questions{kind}_total"] for kind in kinds] == [1200, 3, 1, 4]
