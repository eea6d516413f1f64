"""A study in the background, on an encoder made for it: progress, stopping, failures, turns."""

from collections.abc import Iterator, Sequence

import pytest
from gated import INFO, SETTINGS, Gate, study
from layers_page import conllu
from own_files import trees
from patience import PATIENCE

from analysis.probing import TASKS, Progress, StructuralTask, TaskResult
from jobs import WORKER, Desk
from jobs.study import Finished, Key, Study
from model_zoo.types import HiddenStates


def test_progress_goes_from_waiting_to_done_and_never_back() -> None:
    gate, results = Gate(), {}
    mine = study(gate, "tense", "clause_depth", results=results)
    assert mine.standing("tense").words == "waiting"
    WORKER.start(mine)
    assert gate.reached.wait(PATIENCE)
    assert mine.standing("tense").words == "encoding, 0 of 40 sentences"
    assert mine.standing("clause_depth").share == 0
    gate.open.set()
    assert mine.wait(PATIENCE)
    assert [mine.standing(name).words for name in mine.tasks] == ["done", "done"]
    assert [mine.standing(name).share for name in mine.tasks] == [1, 1]
    assert len(mine.standing("tense").layers) == 3
    assert mine.n_ended == 2
    assert all(isinstance(finished.result, TaskResult) for finished in results.values())


def test_stop_leaves_the_encoder_and_keeps_what_is_finished() -> None:
    gate, results = Gate(), {}
    first = study(gate, "tense", results=results)
    gate.open.set()
    WORKER.start(first)
    assert first.wait(PATIENCE)
    gate.open.clear()
    gate.reached.clear()
    second = study(gate, "clause_depth", "negation", results=results)
    WORKER.start(second)
    assert gate.reached.wait(PATIENCE)
    second.stop()
    assert second.stopping
    gate.open.set()
    assert second.wait(PATIENCE)
    assert [second.standing(name).words for name in second.tasks] == ["stopped", "stopped"]
    assert [key.task for key in results] == ["tense"]
    assert not second.failed


def test_a_model_unloaded_in_the_middle_loses_nothing_computed() -> None:
    results: dict[Key, Finished] = {}
    text = TASKS["clause_depth"].build(40, 0).texts[5]
    gate = Gate(fails_at=text)
    gate.open.set()
    mine = study(gate, "tense", "clause_depth", "negation", results=results)
    WORKER.start(mine)
    assert mine.wait(PATIENCE)
    assert [key.task for key in results] == ["tense", "negation"]
    assert mine.failed == {"clause_depth": "The model was unloaded. Choose it again."}
    assert mine.standing("clause_depth").words == "could not be done"


def test_a_visit_keeps_its_newest_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.study.MOST_RESULTS", 2)
    gate, results = Gate(), {}
    gate.open.set()
    for task in ("tense", "negation", "word_content"):
        mine = study(gate, task, results=results)
        WORKER.start(mine)
        assert mine.wait(PATIENCE)
    assert [key.task for key in results] == ["negation", "word_content"]


def test_an_unforeseen_failure_ends_the_run_with_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        raise ZeroDivisionError
        yield

    mine = study(broken, "tense")
    WORKER.start(mine)
    assert mine.wait(PATIENCE)
    assert "something went wrong inside the app" in mine.failed["tense"]
    assert "unexpected failure" in caplog.text


@pytest.mark.slow
def test_two_runs_take_turns() -> None:
    """A short run is not kept waiting until a long one that began before it is over."""
    gate = Gate()
    long, short = study(gate, "tense", "clause_depth", "negation", "bigram_shift"), study(gate, "word_content")
    ended: list[str] = []
    for name, run in (("long", long), ("short", short)):
        over = run._over.set
        run._over.set = lambda name=name, over=over: (ended.append(name), over())
        WORKER.start(run)
    assert WORKER.shared(long)
    gate.open.set()
    assert long.wait(PATIENCE)
    assert short.wait(PATIENCE)
    assert ended == ["short", "long"]


def test_a_run_ends_with_its_visit() -> None:
    gate, mine = Gate(), Desk()
    running_ = study(gate, "tense")
    mine.start(running_)
    assert gate.reached.wait(PATIENCE)
    mine.leave()
    assert running_.stopping
    gate.open.set()
    assert running_.wait(PATIENCE)
    assert running_.standing("tense").words == "stopped"


def test_a_structural_probe_can_be_stopped_while_it_is_trained() -> None:
    """Each epoch is a step, after which a run looks whether it is to stop."""
    gate, results = Gate(), {}
    gate.open.set()
    task = StructuralTask(trees(conllu(40).encode(), "own"))
    mine = Study(INFO, gate, gate, {Key("m", "own", SETTINGS): task}, {"own": "Own"}, SETTINGS, results)
    note = mine._note

    def stop_in_the_first_layer(event: object) -> None:
        note(event)
        if isinstance(event, Progress) and event.stage == "probing":
            assert mine.standing("own").words == "probing, 0%"
            mine.stop()

    mine._note = stop_in_the_first_layer
    WORKER.start(mine)
    assert mine.wait(PATIENCE)
    assert not results
    assert not mine.failed
    assert mine.standing("own").words == "stopped"
    assert mine.standing("own").layers == ()
