"""The visitors of ``benchmarks.load`` and ``benchmarks.soak``, at one app: two at once get what they asked for; one who
trains loses the connection, comes back, uploads nonsense and sends messages that no browser sends. And by what both go:
what is a mix-up, an error and lost work, the log, control groups.
"""

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path

import in_a_loop
import psutil
import pytest
from patience import PATIENCE
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import crowd, soak
from benchmarks.crowd import KINDS, WORDS, Action, Crowd, Owner, Side
from benchmarks.cutting_proxy import proxies
from benchmarks.server import app
from benchmarks.soak import Guest, Tally, read_log, verdict
from benchmarks.streamlit_client import Answer, visiting

OWNERS = [Owner(("otter", "violin")), Owner(("marble", "lantern"))]


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    """This app in a process of its own, with two visitors to come."""
    with app("app.py", log=tmp_path_factory.mktemp("app") / "log") as (url, process):
        yield Side("app", url, process, OWNERS)


def alert(text: str, kind: int) -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.alert.body, message.delta.new_element.alert.format = text, kind
    return message


def answer_of(*messages: ForwardMsg) -> Answer:
    return Answer(1.0, [message.SerializeToString() for message in messages])


@pytest.mark.slow
def test_two_visitors_at_once_each_see_their_own_text(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "PATIENCE", PATIENCE)

    async def visit(place: int) -> Action:
        async with visiting(side.url) as visitor:
            return side.checked(await side.act(visitor, place, "masked words"))

    async def both() -> list[Action]:
        return await asyncio.gather(visit(0), visit(1))

    for seen in in_a_loop.run(both()):
        assert seen.faults == ()
        assert not seen.mixed_up
        assert seen.seconds > 0


def drawn(*texts: str) -> list[bytes]:
    """Messages that draw texts."""
    messages = []
    for text in texts:
        message = ForwardMsg()
        message.delta.new_element.markdown.body = text
        messages.append(message.SerializeToString())
    return messages


def checked(messages: list[bytes]) -> Action:
    """What the first visitor's answer comes to."""

    class Process:
        pid = psutil.Process().pid

    side = Side("fake", "", Process(), OWNERS)
    return side.checked(Action(0, "layers", 0.0, 1.0, Answer(1.0, messages)))


def test_the_words_of_another_visitor_are_a_mix_up_and_an_answer_about_another_text_is_a_fault() -> None:
    own = checked(drawn("The otter near the violin.", "A word that a model guessed: marble"))
    assert (own.mixed_up, own.faults) == (False, ())
    assert checked(drawn("The otter near the violin.", "marble", "lantern")).mixed_up
    assert checked(drawn("The otter near the harp.")).faults == ("the answer is about another text",)


def test_what_the_app_complains_of_is_a_fault() -> None:
    raised = ForwardMsg()
    raised.delta.new_element.exception.type = "ValueError"
    raised.delta.new_element.exception.message = "no"
    others = raised, alert("Type a text.", Alert.WARNING), alert("That is well.", Alert.INFO)
    messages = [message.SerializeToString() for message in others]
    assert checked([*drawn("The otter near the violin."), *messages]).faults == ("ValueError: no", "Type a text.")


def test_the_worst_action_is_told_beside_the_median_of_its_own_kind() -> None:
    slow, fast = list(KINDS)[:2]
    visitors = Crowd(seconds=10.0)
    for kind, seconds in ((slow, 4.0), (slow, 4.0), (slow, 4.0), (fast, 0.1), (fast, 0.1), (fast, 0.3)):
        visitors.actions.append(Action(0, kind, 0.0, seconds, None))
    assert visitors.worst() == pytest.approx(3.0)
    assert visitors.throughput == pytest.approx(0.6)
    assert visitors.kinds() == {slow: 4.0, fast: 0.1}


def test_no_text_is_asked_for_twice() -> None:
    texts = [
        tuple(owner.query().values())
        for owner in map(Owner, zip(WORDS[::2], WORDS[1::2], strict=True))
        for _ in range(300)
    ]
    assert len(set(texts)) == len(texts)


def button(label: str, id_: str, *, disabled: bool = False) -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.button.id, message.delta.new_element.button.label = id_, label
    message.delta.new_element.button.disabled = disabled
    return message


def test_a_button_is_found_as_it_was_drawn_last_and_where_it_can_be_pressed() -> None:
    answer = answer_of(
        button("Run 2 tasks", "a"), button("Run 3 tasks", "b"), button("Run 4 tasks", "c", disabled=True)
    )
    assert answer.button("Run .*") == "b"
    assert answer.button("Run") is None


def test_warnings_are_no_errors() -> None:
    warned, failed = alert("Type a text.", Alert.WARNING), alert("It broke.", Alert.ERROR)
    assert list(answer_of(warned, failed).errors()) == ["It broke."]


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
def test_all_is_well_where_nothing_is_lost_and_memory_and_disk_are_back(tally, after, well, capsys) -> None:
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


@pytest.mark.slow
def test_a_visitor_loses_no_work(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "_AWAY", (0.2, 0.3))
    tally = Tally()

    class Losing(random.Random):
        """Always unlucky: what happens now and then happens."""

        def random(self) -> float:
            return 0.0

    async def visit() -> None:
        with proxies(side.url) as (network,):
            guest = Guest(network, tally, Losing(0))
            await guest.come()
            for act in (guest.train, guest.upload_nonsense, guest.talk_nonsense, guest.lose_and_find, guest.work):
                await act()
            await guest.go()

    in_a_loop.run(visit())
    assert tally.errors == []
    assert tally.lost == []
    assert not tally.complaints
