"""The visitors of ``benchmarks.load``: two at once get what they asked for, and what goes wrong is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import in_a_loop
import psutil
import pytest
from patience import PATIENCE
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import crowd
from benchmarks.crowd import KINDS, WORDS, Action, Checked, Crowd, Owner, Side
from benchmarks.server import app
from benchmarks.streamlit_client import Answer, visiting

OWNERS = [Owner(("otter", "violin")), Owner(("marble", "lantern"))]


@pytest.fixture(scope="module")
def side() -> Iterator[Side]:
    """This app in a process of its own, with two visitors to come."""
    with app("app.py") as (url, process):
        yield Side("app", url, process, OWNERS)


@pytest.mark.slow
def test_two_visitors_at_once_each_see_their_own_text(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "PATIENCE", PATIENCE)

    async def visit(place: int) -> Checked:
        async with visiting(side.url) as visitor:
            return side.checked(await side.act(visitor, place, "masked words"))

    async def both() -> list[Checked]:
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


def checked(messages: list[bytes]) -> Checked:
    """What the first visitor's answer comes to."""

    class Process:
        pid = psutil.Process().pid

    side = Side("fake", "", Process(), OWNERS)  # type: ignore[arg-type]
    return side.checked(Action(0, "layers", 0.0, 1.0, Answer(1.0, messages)))


def test_the_words_of_another_visitor_are_a_mix_up() -> None:
    assert not checked(drawn("The otter near the violin.", "A word that a model guessed: marble")).mixed_up
    assert checked(drawn("The otter near the violin.", "marble", "lantern")).mixed_up


def test_an_answer_about_another_text_is_a_fault() -> None:
    assert checked(drawn("The otter near the violin.")).faults == ()
    assert checked(drawn("The otter near the harp.")).faults == ("the answer is about another text",)


def test_what_the_app_complains_of_is_a_fault() -> None:
    raised, warned, notice = ForwardMsg(), ForwardMsg(), ForwardMsg()
    raised.delta.new_element.exception.type = "ValueError"
    raised.delta.new_element.exception.message = "no"
    warned.delta.new_element.alert.body = "Type a text."
    warned.delta.new_element.alert.format = Alert.WARNING
    notice.delta.new_element.alert.body = "That is well."
    notice.delta.new_element.alert.format = Alert.INFO
    messages = [message.SerializeToString() for message in (raised, warned, notice)]
    assert checked([*drawn("The otter near the violin."), *messages]).faults == ("ValueError: no", "Type a text.")


def test_the_worst_action_is_told_beside_the_median_of_its_own_kind() -> None:
    slow, fast = list(KINDS)[:2]
    visitors = Crowd(seconds=10.0)
    for kind, seconds in ((slow, 4.0), (slow, 4.0), (slow, 4.0), (fast, 0.1), (fast, 0.1), (fast, 0.3)):
        visitors.actions.append(Checked(0, kind, 0.0, seconds, (), mixed_up=False))
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
