"""What the page Status says of the figures, and its guard against guessing."""

from dataclasses import replace
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from figures_of_a_process import FIGURES, held

from pages.status import emptying, words
from web import monitoring
from web.monitoring import Cluster, Figures, Turns

CODE = "sesame 12"
CLUSTER = Cluster(reachable=True, n_replicas=2, n_sent=1200, n_sent_twice=3, n_unanswered=1, n_refused=0)


def busy(*, visitors: int = 30, pages: int = 0, questions: int = 0, **others: Any) -> Figures:
    """So many visitors, and so many of what waits."""
    engine = replace(FIGURES.engine, waiting=questions)
    figures: dict[str, Any] = {"memory": 100, "memory_limit": 1000} | others
    return replace(FIGURES, visitors=visitors, pages=Turns(2, pages), engine=engine, **figures)


@pytest.mark.parametrize(
    ("figures", "level", "text"),
    [
        (busy(visitors=12), "well", ": 12 visitors, none waiting."),
        (busy(visitors=1), "well", ": 1 visitor, none waiting."),
        (busy(visitors=0), "well", ": 0 visitors, none waiting."),
        (busy(pages=1), "busy", "1 of 30 visitors waits for a turn."),
        (busy(pages=6, questions=2), "busy", "8 of 30 visitors wait"),
        (busy(pages=15), "busy", "15 of 30 visitors wait"),
        (busy(pages=16), "trouble", "16 of 30 visitors wait"),
        (busy(visitors=2, questions=9), "trouble", "2 of 2 visitors wait"),  # those of a job, say: no more can wait
        (busy(device=None), "busy", "The app is starting"),
        (busy(memory=899), "well", "All is well: 30 visitors"),
        (busy(memory=900), "busy", "Memory is nearly full. 30 visitors"),
        (busy(memory=1000, pages=2), "trouble", "Memory is full. 2 of 30 visitors wait"),
        (replace(FIGURES, engine=replace(FIGURES.engine, moved=("a",))), "busy", "1 model runs on the CPU"),
        (replace(FIGURES, engine=replace(FIGURES.engine, moved=("a", "/home"))), "busy", "2 models run on the CPU"),
        (replace(FIGURES, cluster=replace(CLUSTER, reachable=False, n_replicas=0)), "trouble", "not responding"),
    ],
)
def test_one_sentence_says_whether_all_is_well(figures: Figures, level: str, text: str) -> None:
    verdict = words.verdict(figures)
    assert (verdict.level, text in verdict.text, "/home" in verdict.text) == (level, True, False)


def test_processors_at_work_are_those_since_the_look_before() -> None:
    later = replace(FIGURES, at=FIGURES.at + 2, cpu_seconds=FIGURES.cpu_seconds + 3.4)
    assert words.processors(FIGURES, later) == "1.7 of 2"
    assert words.processors(FIGURES, replace(later, cpu_seconds=FIGURES.cpu_seconds + 99)) == "2.0 of 2"
    assert words.processors(None, later) == words.processors(FIGURES, FIGURES) == "–"


def test_who_waits_what_memory_holds_and_since_when() -> None:
    rows = [row.split("|")[1:-1] for row in words.turns(FIGURES).splitlines()[2:]]
    assert [[cell.strip() for cell in row[1:]] for row in rows] == [["2", "5"], ["1", "3"], ["1", "4"]]
    assert words.memory(FIGURES) == "612 MB of 3,400 MB (18%)"
    assert words.kept(FIGURES) == (
        "1 model in memory: 87 MB of at most 1,600 MB. 120 answers cached: 40 MB of at most 128 MB."
    )
    assert words.kept(replace(FIGURES, models=())).startswith("No model is in memory. 120 answers")
    history = words.history(FIGURES, UTC)
    for part in ("1 March 2026 at 23:30, 2 h 5 min ago", "1,500 questions", "900 runs"):
        assert part in history
    assert "2 March 2026 at 01:30" in words.history(FIGURES, timezone(timedelta(hours=2)))  # in the time of who asks


def test_a_model_that_is_not_listed_stays_unnamed() -> None:
    table = words.models(replace(FIGURES, models=(held("embedded/bert"), held("/home/ann/secret", in_use=True))))
    assert table.splitlines()[2:] == [
        "| Small BERT (bundled) | CPU, float32 | 87 MB | 12 s ago |",
        "| another model | CPU, float32 | 87 MB | now |",
    ]


def test_ago() -> None:
    seconds = (-1, 0, 59, 60, 3599, 7500, 86_400, 180_000)
    texts = ["0 s", "0 s", "59 s", "1 min", "59 min", "2 h 5 min", "1 day 0 h", "2 days 2 h"]
    assert list(map(words.ago, seconds)) == texts


def test_what_was_freed() -> None:
    empty = replace(FIGURES.engine, n_remembered=0, result_bytes=0, model_bytes=0)
    after = replace(FIGURES, models=(), engine=empty)
    assert words.freed(FIGURES, after) == "Freed 127 MB: 1 model and 120 answers."
    stayed = replace(FIGURES, engine=replace(empty, model_bytes=FIGURES.engine.model_bytes))
    assert words.freed(FIGURES, stayed) == "Freed 40 MB: 120 answers. 1 model in use stayed."
    assert "nothing" in words.freed(after, after)


def test_a_look_costs_no_model_and_no_torch() -> None:
    figures = monitoring.look(Turns(2, 5), Turns(1, 4))
    assert (figures.pages, figures.jobs) == (Turns(2, 5), Turns(1, 4))
    assert 0 < figures.memory < 2**45
    assert figures.since < figures.at
    assert figures.cpu_seconds > 0


def test_guessing_is_slowed_down() -> None:
    now = 100.0
    guard = emptying.Guard(lambda: now)
    assert guard.refusal("wrong", CODE) == "Wrong code. Try again in 2 s."
    # Nobody is told whether the code is right while the pause lasts, not even who knows it.
    assert guard.refusal(CODE, CODE) == guard.refusal("x", CODE) == "A wrong code was typed. Try again in 2 s."
    now += 2.1
    assert "4 s" in str(guard.refusal("sesamé 12", CODE))
    for _ in range(9):
        now += 61
        refusal = guard.refusal("", CODE)
    assert "60 s" in str(refusal)
    now += 61
    assert guard.refusal(CODE, CODE) is None
    assert "2 s" in str(guard.refusal("wrong", CODE))


def test_a_cluster_is_told_of() -> None:
    assert words.cluster(FIGURES) == ""
    sentence = words.cluster(replace(FIGURES, cluster=CLUSTER))
    for part in ("2 replicas", "1,200 questions sent", "3 of them twice", "1 without an answer"):
        assert part in sentence
    gone = replace(FIGURES, cluster=replace(CLUSTER, reachable=False, n_replicas=0))
    assert "no replica answered" in words.cluster(gone)
