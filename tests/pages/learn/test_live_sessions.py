"""Rooms: what their teacher shows, who is there, what is counted, what is forgotten; by a clock that the tests move."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from model_zoo.errors import InvalidInput
from pages.learn.fields import ROOM
from pages.learn.live_sessions import ALPHABET, AWAY, FORGOTTEN, PRESENT_FOR, Rooms, Shown

CAT = Shown("pieces", 1, {"text": "The cat sat."})
DOG = Shown("pieces", 1, {"text": "The dog sat."})


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(longest=40, most=3, clock=clock)


def test_a_code_can_be_read_out_and_stands_in_an_address() -> None:
    codes = [Rooms().open()[0] for _ in range(50)]
    assert len(set(codes)) == 50
    assert all(ROOM.codec.read(code) == code and len(code) == 5 for code in codes)
    assert not set("01OILBSZU") & set(ALPHABET)


def test_another_thing_shown_is_another_version(rooms: Rooms) -> None:
    code, key = rooms.open()
    assert rooms.state(code) == (0, None)
    assert rooms.look(code, "one") == 0
    rooms.show(code, key, CAT)
    assert rooms.state(code) == (1, CAT)
    rooms.show(code, key, replace(CAT, about=dict(CAT.about)))  # a run of the page that changed nothing
    assert rooms.look(code, "one") == 1
    rooms.show(code, key, replace(CAT, revealed=True))
    assert rooms.look(code, "one") == 2


def test_only_the_key_changes_a_room(rooms: Rooms) -> None:
    (code, key), (_, other) = rooms.open(), rooms.open()
    rooms.show(code, key, CAT)
    for wrong in (other, "", "ü"):
        with pytest.raises(InvalidInput, match="Only the person who started"):
            rooms.show(code, wrong, DOG)
        with pytest.raises(InvalidInput, match="Only the person who started"):
            rooms.end(code, wrong)
    assert rooms.state(code) == (1, CAT)
    rooms.end(code, key)
    with pytest.raises(InvalidInput, match=f"no room “{code}”"):
        rooms.look(code, "one")


def test_each_visitors_last_answer_counts(rooms: Rooms) -> None:
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    for visitor, answer in (("one", "1"), ("two", "1"), ("three", "2"), ("one", "2")):
        rooms.answer(code, visitor, "pieces", 1, answer)
    assert rooms.counts(code, "pieces", 1) == {"1": 1, "2": 2}
    assert rooms.given(code, "one", "pieces", 1) == "2"
    assert rooms.given(code, "four", "pieces", 1) is None
    rooms.answer(code, "one", "head", 1, "1")  # which was not shown
    rooms.answer(code, "four", "pieces", 1, "d" * 101)
    rooms.show(code, key, replace(CAT, revealed=True))
    rooms.answer(code, "four", "pieces", 1, "1")  # who has seen it
    assert rooms.counts(code, "pieces", 1) == {"1": 1, "2": 2}
    assert rooms.counts(code, "head", 1) == {}


def test_answers_are_those_to_the_question_that_is_shown(rooms: Rooms) -> None:
    code, key = rooms.open()
    seen = replace(CAT, revealed=True)
    for shown, kept in ((CAT, 0), (Shown("pieces", 2, CAT.about), 1), (CAT, 1), (seen, 1), (CAT, 0), (DOG, 0)):
        rooms.show(code, key, shown)
        if shown.step == 1:
            assert sum(rooms.counts(code, "pieces", 1).values()) == kept, shown
            rooms.answer(code, "one", "pieces", 1, "1")


def test_a_step_has_place_for_so_many(rooms: Rooms) -> None:
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    for number in range(500):
        rooms.look(code, str(number))
        rooms.answer(code, str(number), "pieces", 1, "1")
    with pytest.raises(InvalidInput, match="cannot take more"):
        rooms.answer(code, "one more", "pieces", 1, "1")
    rooms.answer(code, "7", "pieces", 1, "2")
    assert rooms.counts(code, "pieces", 1) == {"1": 499, "2": 1}


def test_answers_of_those_who_left_refuse_nobody(rooms: Rooms, clock: Clock) -> None:
    """Five hundred sessions can be made by one script; none of them stays to look."""
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    rooms.look(code, "here")
    rooms.answer(code, "here", "pieces", 1, "2")
    for number in range(600):
        rooms.look(code, f"fake {number}")
        clock.now += PRESENT_FOR / 400
        rooms.answer(code, f"fake {number}", "pieces", 1, "1")
        rooms.look(code, "here")
    rooms.look(code, "late")
    rooms.answer(code, "late", "pieces", 1, "2")
    assert rooms.given(code, "here", "pieces", 1) == rooms.given(code, "late", "pieces", 1) == "2"
    assert rooms.counts(code, "pieces", 1) == {"1": 498, "2": 2}


def test_who_has_not_looked_for_a_while_is_gone(rooms: Rooms, clock: Clock) -> None:
    code, key = rooms.open()
    rooms.look(code, "one")
    clock.now += PRESENT_FOR / 2
    rooms.look(code, "two")
    assert rooms.n_present(code, key) == 2
    clock.now += PRESENT_FOR / 2
    assert rooms.n_present(code, key) == 1
    rooms.look(code, "one")
    assert rooms.n_present(code, key) == 2


def test_a_room_is_forgotten_a_day_after_it_was_used(rooms: Rooms, clock: Clock) -> None:
    code, key = rooms.open()
    clock.now += FORGOTTEN - 1
    rooms.show(code, key, CAT)
    clock.now += FORGOTTEN - 1
    rooms.answer(code, "one", "pieces", 1, "1")
    clock.now += FORGOTTEN - 1
    rooms.look(code, "one")  # a tab that was left open
    clock.now += 1
    with pytest.raises(InvalidInput, match="or it has ended"):
        rooms.state(code)
    assert rooms._rooms == {}


def test_a_room_that_everybody_has_left_makes_way(rooms: Rooms, clock: Clock) -> None:
    (empty, _), (full, _), (taught, key) = rooms.open(), rooms.open(), rooms.open()
    with pytest.raises(InvalidInput, match="All 3 rooms"):
        rooms.open()
    clock.now += AWAY
    rooms.look(full, "a student")
    rooms.n_present(taught, key)  # the teacher's page asks for it
    new, _ = rooms.open()
    assert {full, taught, new} == set(rooms._rooms)
    with pytest.raises(InvalidInput, match=f"no room “{empty}”"):
        rooms.state(empty)
    with pytest.raises(InvalidInput, match="All 3 rooms"):
        rooms.open()


def test_of_several_that_make_way_the_first_is_the_one_left_first(rooms: Rooms, clock: Clock) -> None:
    opened = []
    for _ in range(3):
        opened.append(rooms.open())
        clock.now += 1
    rooms.show(*opened[0], CAT)
    clock.now += AWAY
    rooms.open()
    assert opened[1][0] not in rooms._rooms
    assert opened[0][0] in rooms._rooms


def test_what_is_shown_has_a_bound(rooms: Rooms) -> None:
    code, key = rooms.open()
    with pytest.raises(InvalidInput, match="41 characters"):
        rooms.show(code, key, Shown("pieces", 1, {"text": "a" * 41}))
    assert rooms.state(code) == (0, None)


def test_thirty_students_and_their_teacher_at_once() -> None:
    rooms = Rooms()
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    begin = threading.Barrier(31)
    versions: list[list[int]] = []

    def student(number: int) -> None:
        begin.wait()
        mine = []
        for turn in range(200):
            mine.append(rooms.look(code, str(number)))
            rooms.answer(code, str(number), "pieces", 1, str((number + turn) % 3))
        rooms.answer(code, str(number), "pieces", 1, str(number % 3))
        versions.append(mine)

    def teacher() -> None:
        begin.wait()
        for step in range(2, 102):
            rooms.show(code, key, Shown("pieces", step, CAT.about))
            rooms.n_present(code, key)
            rooms.counts(code, "pieces", 1)

    threads = [threading.Thread(target=student, args=(number,)) for number in range(30)]
    threads.append(threading.Thread(target=teacher))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == sorted(mine) for mine in versions)
    assert len(versions) == 30
    assert rooms.look(code, "0") == 101
    assert rooms.n_present(code, key) == 30
    assert rooms.counts(code, "pieces", 1) == {"0": 10, "1": 10, "2": 10}
