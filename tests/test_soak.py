"""What ``benchmarks.soak`` goes by: what is an error and what is lost, the log, control groups; and a visitor of its
kind, who trains, loses the connection, comes back, uploads nonsense and sends messages that no browser sends.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import in_a_loop
import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import soak
from benchmarks.cutting_proxy import CuttingProxy, proxies
from benchmarks.server import app
from benchmarks.soak import Guest, Tally, read_log, verdict
from benchmarks.streamlit_client import Answer


def drawn(*messages: ForwardMsg) -> Answer:
    return Answer(1.0, [message.SerializeToString() for message in messages])


def button(label: str, id_: str, *, disabled: bool = False) -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.button.id, message.delta.new_element.button.label = id_, label
    message.delta.new_element.button.disabled = disabled
    return message


def test_a_button_is_found_as_it_was_drawn_last_and_where_it_can_be_pressed() -> None:
    answer = drawn(button("Run 2 tasks", "a"), button("Run 3 tasks", "b"), button("Run 4 tasks", "c", disabled=True))
    assert answer.button("Run .*") == "b"
    assert answer.button("Run") is None


def test_warnings_are_no_errors() -> None:
    warned, failed = ForwardMsg(), ForwardMsg()
    warned.delta.new_element.alert.body, warned.delta.new_element.alert.format = "Type a text.", Alert.WARNING
    failed.delta.new_element.alert.body, failed.delta.new_element.alert.format = "It broke.", Alert.ERROR
    assert list(drawn(warned, failed).errors()) == ["It broke."]


def test_a_log_tells_of_errors_and_of_warnings() -> None:
    records = [
        {"level": "WARNING", "message": "Error deserializing back message"},
        {"level": "ERROR", "message": "unexpected failure while training", "frames": ["jobs/job.py:1 in advance"]},
    ]
    lines = ["  You can now view your app", *map(json.dumps, records), "Traceback (most recent call last):"]
    tally = Tally()
    read_log(lines, tally)
    assert tally.errors == ["log: unexpected failure while training jobs/job.py:1 in advance", "log: a traceback"]
    assert tally.warnings == {"Error deserializing back message": 1}


@pytest.mark.parametrize(
    ("tally", "after", "well"),
    [
        (Tally(), {"rss_mb": 1050.0, "files_mb": 0.5}, True),
        (Tally(errors=["train: no answer"]), {"rss_mb": 1000.0, "files_mb": 0.0}, False),
        (Tally(lost=["a training is gone"]), {"rss_mb": 1000.0, "files_mb": 0.0}, False),
        (Tally(), {"rss_mb": 1150.0, "files_mb": 0.0}, False),
        (Tally(), {"rss_mb": 1000.0, "files_mb": 20.0}, False),
    ],
)
def test_all_is_well_where_nothing_is_lost_and_memory_and_disk_are_back(
    tally: Tally, after: dict[str, float], well: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    others = {"group_mb": None, "threads": 12, "open_files": 20}
    before = {"rss_mb": 1000.0, "files_mb": 0.0, **others}
    assert verdict(tally, {"before": before, "most": before, "after": {**after, **others}}, 100) is well
    assert json.loads(capsys.readouterr().out)["verdict"] == ("well" if well else "not well")


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_has_the_limit_that_is_asked_for(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel makes a group's files with its folder; here they are made by hand."""
    name = {1: "memory.limit_in_bytes", 2: "memory.max"}[version]
    monkeypatch.setattr(soak, "own_group", lambda: tmp_path)
    make = Path.mkdir

    def mkdir(folder: Path) -> None:
        make(folder)
        (folder / name).write_text("max", "ascii")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", lambda folder: ((folder / name).unlink(), folder.joinpath().exists()))
    with soak.limited("1500m") as group:
        assert (group / name).read_text("ascii") == str(1500 * 2**20)
        command = soak.within(group, tmp_path / "tmp", "600m")
    assert command[:2] == ["unshare", "--mount"]
    assert f"mount -t tmpfs -o size=600m tmpfs {tmp_path / 'tmp'}" in command[4]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CuttingProxy]:
    with app("app.py", log=tmp_path_factory.mktemp("app") / "log") as (url, _process), proxies(url) as (proxy,):
        yield proxy


@pytest.mark.slow
def test_a_visitor_loses_no_work(network: CuttingProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "_AWAY", (0.2, 0.3))
    tally = Tally()

    class Losing(random.Random):
        """Always unlucky: what happens now and then happens."""

        def random(self) -> float:
            return 0.0

    async def visit() -> None:
        guest = Guest(network, tally, Losing(0))
        await guest.come()
        for act in (guest.train, guest.upload_nonsense, guest.talk_nonsense, guest.lose_and_find, guest.work):
            await act()
        await guest.go()

    in_a_loop.run(visit())
    assert tally.errors == []
    assert tally.lost == []
    assert not tally.complaints
