"""Rooms: what their teacher shows, who is there, what is counted, what is forgotten; in each place that keeps them."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from patience import PATIENCE, until
from programs import program

from benchmarks.server import free_port
from classroom import stores
from classroom.rooms import ALPHABET, AWAY, FORGOTTEN, LED_FOR, PRESENT_FOR, Display, Rooms, RoomsUnreachable, Store
from classroom.session import ROOM
from classroom.stores import FileStore, MemoryStore, RedisStore
from classroom.teachers import Teachers
from classroom.widgets import SECONDS_BETWEEN_LOOKS
from model_zoo.errors import InvalidInput
from web.settings import WrongSetting

ONE, TWO = "pieces.1", "pieces.2"
ROOT = Path(__file__).parents[2]
CAT = Display("learn", {"text": "The cat sat."}, ONE)
DOG = replace(CAT, about={"text": "The dog sat."})


class Clock:
    now = 1e9

    def __call__(self) -> float:
        return self.now


class MovedRedis(RedisStore):
    """Redis by a clock that the tests move."""

    def __init__(self, address: str, clock: Clock) -> None:
        super().__init__(address, pause=0.0)
        self._clock = clock

    def now(self) -> float:
        return self._clock()


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RedisStore, "_PATIENCE", PATIENCE)


class RedisServer:
    """A real one, which can be stopped and started again at the same address with what it had."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, free_port()
        self.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        import redis

        self._process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)],
            stdout=subprocess.DEVNULL,
        )

        def answers() -> bool:
            with suppress(redis.RedisError):
                return bool(client.ping())
            return False

        with redis.Redis(port=self.port) as client:
            until(answers)

    def empty(self) -> None:
        import redis

        with redis.Redis(port=self.port) as client:
            client.flushall()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    program("redis-server", needs="apt-get install redis-server")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "file", "redis"])
def store(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> Store:
    if request.param == "memory":
        return MemoryStore(clock)
    if request.param == "file":
        return FileStore(tmp_path / "rooms.json", clock=clock)
    server: RedisServer = request.getfixturevalue("redis_server")
    server.empty()
    return MovedRedis(server.address, clock)


@pytest.fixture
def rooms(store: Store) -> Rooms:
    return Rooms(store, longest=40, most=3)


def counts(rooms: Rooms, code: str) -> dict[str, int]:
    return dict(rooms.see(code).counts)


def test_a_code_can_be_read_out_and_stands_in_an_address() -> None:
    rooms = Rooms(MemoryStore())
    codes = [rooms.open()[0] for _ in range(50)]
    assert len(set(codes)) == 50
    assert all(ROOM.codec.read(code) == code and len(code) == 5 for code in codes)
    assert not set("01OILBSZU") & set(ALPHABET)


def test_another_thing_shown_is_another_version(rooms: Rooms) -> None:
    code, key = rooms.open()
    assert (rooms.see(code).version, rooms.see(code).display) == (0, None)
    assert rooms.show(code, key, CAT) == 1
    assert (rooms.see(code).version, rooms.see(code).display) == (1, CAT)
    assert rooms.show(code, key, replace(CAT, about=dict(CAT.about))) == 1  # a run of the page that changed nothing
    assert rooms.show(code, key, replace(CAT, revealed=True)) == 2
    assert list(rooms.see(code).revealed) == [ONE]


def test_only_the_key_changes_a_room(rooms: Rooms) -> None:
    (code, key), (_, other) = rooms.open(), rooms.open()
    rooms.show(code, key, CAT)
    assert rooms.holds(code, key)
    for wrong in (other, "", "ü", "\ud800"):
        assert not rooms.holds(code, wrong)
        with pytest.raises(InvalidInput, match="Only the person who started"):
            rooms.show(code, wrong, DOG)
        with pytest.raises(InvalidInput, match="Only the person who started"):
            rooms.end(code, wrong)
    assert rooms.see(code).display == CAT
    rooms.end(code, key)
    assert not rooms.holds(code, key)
    with pytest.raises(InvalidInput, match=f"no room “{code}”"):
        rooms.see(code)


def test_each_visitors_last_answer_counts(rooms: Rooms) -> None:
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    for visitor, answer in (("one", "1"), ("two", "1"), ("three", "2"), ("one", "2")):
        rooms.answer(code, visitor, ONE, answer)
    assert counts(rooms, code) == {"1": 1, "2": 2}
    assert rooms.find_answer(code, "one", ONE) == "2"
    assert rooms.find_answer(code, "four", ONE) is None
    rooms.answer(code, "one", TWO, "1")  # which was not shown
    rooms.answer(code, "four", ONE, "d" * 101)
    rooms.show(code, key, replace(CAT, votes=True))
    assert counts(rooms, code) == {"1": 1, "2": 2}
    rooms.show(code, key, replace(CAT, revealed=True))
    rooms.answer(code, "four", ONE, "1")  # who has seen it
    assert counts(rooms, code) == {"1": 1, "2": 2}
    rooms.show(code, key, replace(CAT, question=TWO))
    assert counts(rooms, code) == {}


def test_answers_are_those_to_the_question_that_is_shown(rooms: Rooms) -> None:
    code, key = rooms.open()
    seen = replace(CAT, revealed=True)
    for display, kept in ((CAT, 0), (replace(CAT, question=TWO), 0), (CAT, 1), (seen, 1), (CAT, 0), (DOG, 0)):
        rooms.show(code, key, display)
        if display.question == ONE:
            assert sum(counts(rooms, code).values()) == kept, display
            rooms.answer(code, "one", ONE, "1")


def test_who_is_forgotten_has_answered_nothing(rooms: Rooms) -> None:
    code, key = rooms.open()
    for question in (ONE, TWO):
        rooms.show(code, key, replace(CAT, question=question))
        for visitor in ("one", "two"):
            rooms.note_present(code, visitor)
            rooms.answer(code, visitor, question, "1")
    rooms.forget(code, "one")
    assert rooms.see(code).n_present == 1
    for question in (ONE, TWO):
        assert [rooms.find_answer(code, visitor, question) for visitor in ("one", "two")] == [None, "1"]


def test_a_step_has_place_for_so_many() -> None:
    rooms = Rooms(MemoryStore())
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    for number in range(500):
        rooms.note_present(code, str(number))
        rooms.answer(code, str(number), ONE, "1")
    with pytest.raises(InvalidInput, match="cannot take more"):
        rooms.answer(code, "one more", ONE, "1")
    rooms.answer(code, "7", ONE, "2")
    assert counts(rooms, code) == {"1": 499, "2": 1}


def test_answers_of_those_who_left_refuse_nobody(clock: Clock) -> None:
    """Five hundred sessions can be made by one script; none of them stays to look."""
    rooms = Rooms(MemoryStore(clock))
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    rooms.note_present(code, "here")
    rooms.answer(code, "here", ONE, "2")
    for number in range(600):
        rooms.note_present(code, f"fake {number}")
        clock.now += PRESENT_FOR / 400
        rooms.answer(code, f"fake {number}", ONE, "1")
        rooms.note_present(code, "here")
    rooms.note_present(code, "late")
    rooms.answer(code, "late", ONE, "2")
    assert rooms.find_answer(code, "here", ONE) == rooms.find_answer(code, "late", ONE) == "2"
    assert counts(rooms, code) == {"1": 498, "2": 2}


def test_who_has_not_looked_for_a_while_is_gone(rooms: Rooms, clock: Clock) -> None:
    code, _ = rooms.open()
    rooms.note_present(code, "one")
    clock.now += PRESENT_FOR / 2
    rooms.note_present(code, "two")
    assert rooms.see(code).n_present == 2
    clock.now += PRESENT_FOR / 2
    assert rooms.see(code).n_present == 1
    rooms.note_present(code, "one")
    assert rooms.see(code).n_present == 2
    rooms.note_left(code, "one")
    assert rooms.see(code).n_present == 1


def test_a_room_is_led_while_one_of_its_teachers_is_there(rooms: Rooms, clock: Clock) -> None:
    code, _ = rooms.open()
    assert LED_FOR + SECONDS_BETWEEN_LOOKS < 5, "seconds within which students are told"
    assert not rooms.see(code).led
    rooms.note_present(code, "at the desk", teaches=True)
    rooms.note_present(code, "on the phone", teaches=True)
    assert rooms.see(code).led
    assert rooms.see(code).n_present == 0
    clock.now += LED_FOR * 0.6
    rooms.note_present(code, "on the phone", teaches=True)
    clock.now += LED_FOR * 0.6
    assert rooms.see(code).led
    rooms.note_left(code, "on the phone", teaches=True)
    assert not rooms.see(code).led


def test_a_room_is_forgotten_a_day_after_it_was_used(rooms: Rooms, store: Store, clock: Clock) -> None:
    code, key = rooms.open()
    clock.now += FORGOTTEN - 1
    rooms.show(code, key, CAT)
    clock.now += FORGOTTEN - 1
    rooms.answer(code, "one", ONE, "1")
    clock.now += FORGOTTEN - 1
    rooms.note_present(code, "one")  # a tab that was left open
    clock.now += 1
    with pytest.raises(InvalidInput, match="or it has ended"):
        rooms.see(code)
    rooms.open()
    assert code not in store.last_signs()


def test_a_room_that_everybody_has_left_makes_way(rooms: Rooms, store: Store, clock: Clock) -> None:
    (empty, _), (full, _), (taught, _) = rooms.open(), rooms.open(), rooms.open()
    with pytest.raises(InvalidInput, match="All 3 rooms"):
        rooms.open()
    clock.now += AWAY
    rooms.note_present(full, "a student")
    rooms.note_present(taught, "its teacher", teaches=True)
    new, _ = rooms.open()
    assert {full, taught, new} == set(store.last_signs())
    with pytest.raises(InvalidInput, match=f"no room “{empty}”"):
        rooms.see(empty)
    with pytest.raises(InvalidInput, match="All 3 rooms"):
        rooms.open()


def test_of_those_that_were_left_the_one_makes_way_that_was_left_first(rooms, store, clock) -> None:
    """Soon: who opens a room from one connection after the other fills no server. To show something is to use it."""
    (first, key), (second, _), (third, _) = rooms.open(), rooms.open(), rooms.open()
    clock.now += 1
    rooms.show(first, key, CAT)
    clock.now += PRESENT_FOR
    rooms.note_present(third, "a student")
    rooms.open()
    assert second not in store.last_signs()
    rooms.open()
    assert first not in store.last_signs()
    assert third in store.last_signs()
    with pytest.raises(InvalidInput, match="All 3 rooms"):
        rooms.open()


@pytest.mark.parametrize("jump", [-3 * 3600, 3 * 3600])
def test_a_clock_that_jumps_costs_no_room_and_keeps_nobody_there(rooms: Rooms, clock: Clock, jump: float) -> None:
    """That of Redis, for all who use it; those of a process do not jump."""
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    rooms.note_present(code, "one")
    rooms.note_present(code, "two")
    rooms.note_present(code, "its teacher", teaches=True)
    clock.now += jump
    rooms.note_present(code, "one")
    seen = rooms.see(code)
    assert (seen.display, seen.n_present, seen.led) == (CAT, 1, False)
    rooms.note_present(code, "its teacher", teaches=True)
    assert rooms.see(code).led
    clock.now += 2 * FORGOTTEN
    with pytest.raises(InvalidInput, match="or it has ended"):
        rooms.see(code)


def test_what_is_shown_has_a_bound_and_halves_of_characters_are_shown_as_what_can_be_written(rooms: Rooms) -> None:
    code, key = rooms.open()
    with pytest.raises(InvalidInput, match="41 characters"):
        rooms.show(code, key, replace(CAT, about={"text": "a" * 41}))
    assert rooms.see(code).display is None
    rooms.show(code, key, replace(CAT, about={"text": "a \ud83d\ude00 \udc00 \ud83d"}))
    rooms.answer(code, "one", ONE, "\ud800")
    display = rooms.see(code).display
    assert display is not None
    assert display.about == {"text": "a \U0001f600 \ufffd \ufffd"}
    assert counts(rooms, code) == {"\ufffd": 1}


@pytest.mark.parametrize("processes", [1, 3])
def test_a_class_and_its_teacher_at_once(processes: int, clock: Clock, request: pytest.FixtureRequest) -> None:
    """Nobody's change is lost, be it in one process or in several."""
    if processes == 1:
        stores: list[Store] = [MemoryStore(clock)]
    else:
        server: RedisServer = request.getfixturevalue("redis_server")
        server.empty()
        stores = [MovedRedis(server.address, clock) for _ in range(processes)]
    doors = [Rooms(store) for store in stores]
    code, key = doors[0].open()
    doors[0].show(code, key, CAT)
    n, turns = (30, 100) if processes == 1 else (12, 10)
    begin = threading.Barrier(n + 1)
    versions: list[list[int]] = []

    def student(number: int) -> None:
        rooms, mine = doors[number % processes], []
        begin.wait()
        for turn in range(turns):
            rooms.note_present(code, str(number))
            mine.append(rooms.see(code).version)
            rooms.answer(code, str(number), ONE, str((number + turn) % 3))
        rooms.answer(code, str(number), ONE, str(number % 3))
        versions.append(mine)

    def teacher() -> None:
        begin.wait()
        for step in range(2, turns + 2):
            doors[-1].show(code, key, replace(CAT, question=f"pieces.{step}"))

    threads = [threading.Thread(target=student, args=(number,)) for number in range(n)]
    threads.append(threading.Thread(target=teacher))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == sorted(mine) for mine in versions)
    assert len(versions) == n
    doors[0].show(code, key, CAT)
    for rooms in doors:
        assert rooms.see(code).version == turns + 2
        assert rooms.see(code).n_present == n
        assert counts(rooms, code) == {"0": n // 3, "1": n // 3, "2": n // 3}


# ---- where rooms are kept -----------------------------------------------------------------------------------------


def test_rooms_in_a_file_outlast_the_process(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "new" / "rooms.json"
    rooms = Rooms(FileStore(path, wait=0.01, clock=clock))
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    rooms.answer(code, "one", ONE, "2")
    again = Rooms(MemoryStore(clock))

    def is_written() -> bool:
        nonlocal again
        again = Rooms(FileStore(path, clock=clock))
        return again.holds(code, key) and dict(again.see(code).counts) == {"2": 1}

    until(is_written)
    assert again.see(code).display == CAT
    assert again.show(code, key, DOG) == 2
    assert path.stat().st_mode & 0o077 == 0, "there are keys in it"
    assert len(path.read_bytes()) < 2000
    assert {file.name for file in path.parent.iterdir()} == {"rooms.json", "rooms.json.lock"}
    clock.now += FORGOTTEN
    assert FileStore(path, clock=clock).last_signs() == {}


@pytest.mark.parametrize("text", ["", '{"AAAAA":', '{"AAAAA": {"key": 1}}', "\x00"])
def test_a_file_that_is_broken_is_an_empty_start(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "rooms.json"
    path.write_text(text, encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        store = FileStore(path, wait=0.0)
    assert store.last_signs() == {}
    assert "are forgotten" in caplog.text
    code, _ = Rooms(store).open()
    until(lambda: code in path.read_text(encoding="utf-8"))
    assert code in json.loads(path.read_text(encoding="utf-8"))


def test_a_file_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "rooms.json"
    for text in ("My notes", "[]", '{"theme": "dark"}', "\x00PNG"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(WrongSetting, match="not a file of rooms"):
            FileStore(path)
        assert path.read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_written_costs_no_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        rooms = Rooms(FileStore(tmp_path / "file" / "rooms.json", wait=0.0))
        code, key = rooms.open()
        until(lambda: "cannot be written" in caplog.text)
    assert rooms.holds(code, key)


def test_a_file_goes_on_being_written_whatever_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "rooms.json"
    rooms = Rooms(FileStore(path, wait=0.0))
    code, key = rooms.open()
    rooms.show(code, key, replace(CAT, about={"text": "\ud800"}))
    until(lambda: path.exists() and "\ufffd" in path.read_text("utf-8"))
    other, _ = rooms.open()
    until(lambda: other in path.read_text("utf-8"))


@pytest.mark.parametrize("kind", ["device", "folder", "link to a device", "link to itself", "NUL", "no user's"])
def test_what_is_no_regular_file_ends_the_start(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "rooms.json"
    if kind == "device":
        path = Path("/dev/null")
    elif kind == "folder":
        path.mkdir()
    elif kind.startswith("link"):
        path.symlink_to("/dev/null" if kind == "link to a device" else path)
    else:
        path = tmp_path / "a\0b" if kind == "NUL" else Path("~nobody of this name/rooms.json")
    with pytest.raises(WrongSetting, match="no regular file"):
        FileStore(path)
    assert not os.path.isfile("/dev/null")


def test_rooms_are_written_where_a_link_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, link = tmp_path / "there" / "rooms.json", tmp_path / "rooms.json"
    link.symlink_to(there)
    code, _ = Rooms(FileStore(link, wait=0.0)).open()
    until(lambda: there.exists() and code in there.read_text("utf-8"))
    assert link.readlink() == there
    monkeypatch.setenv("HOME", str(tmp_path))
    assert code in FileStore(Path("~/rooms.json")).last_signs()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such locks")
def test_a_file_of_rooms_is_one_process_own_until_that_ends(tmp_path: Path) -> None:
    path, link = tmp_path / "rooms.json", tmp_path / "link.json"
    link.symlink_to(path)
    holds = (
        "import sys\nfrom classroom.stores import *\nFileStore(Path(sys.argv[1]))\nprint(flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holds, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        for name in (path, link):
            with pytest.raises(WrongSetting, match="Another process"):
                FileStore(name)
        other.kill()
    assert FileStore(path).last_signs() == {}


@pytest.mark.slow
def test_a_wrong_place_for_rooms_ends_the_start_with_a_sentence_alone(tmp_path: Path) -> None:
    environment = os.environ | {"INSIDE_BERT_ROOMS_FILE": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", "import app"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "which is no regular file" in ended.stderr


def test_one_place_keeps_the_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    both = SimpleNamespace(rooms_file="rooms.json", rooms_redis="redis://127.0.0.1:6379/0")
    monkeypatch.setattr(stores, "settings", lambda: both)
    with pytest.raises(WrongSetting, match="rooms_file and rooms_redis"):
        stores._store()
    with pytest.raises(WrongSetting, match="rooms_redis"):
        RedisStore("redis://127.0.0.1:port")


def test_rooms_of_this_process_know_no_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = MemoryStore(), FileStore(tmp_path / "rooms.json")
    before = [store.now() for store in kept]
    assert all(abs(seconds - time.time()) < FORGOTTEN for seconds in before)
    later = time.monotonic() + 100
    monkeypatch.setattr(time, "monotonic", lambda: later)
    after = [store.now() for store in kept]
    assert all(99 < now - then < FORGOTTEN for then, now in zip(before, after, strict=True))
    assert after == [store.now() for store in kept]


def test_a_room_of_a_file_from_later_is_kept_for_a_day(tmp_path: Path, clock: Clock) -> None:
    """The clock has gone back since the process before, or was years ahead."""
    path = tmp_path / "rooms.json"
    at = {
        "AAAAA": clock.now + 3 * 3600,
        "CCCCC": clock.now + 1e8,
        "DDDDD": clock.now - FORGOTTEN,
        "EEEEE": float("nan"),
    }
    path.write_text(json.dumps({code: {"key": "k", "used": used} for code, used in at.items()}), encoding="utf-8")
    store = FileStore(path, clock=clock)
    assert dict(store.last_signs()) == {"AAAAA": clock.now, "CCCCC": clock.now}
    clock.now += FORGOTTEN
    assert dict(store.last_signs()) == {}


def test_a_redis_that_is_gone_is_a_sentence_until_it_is_back(redis_server, caplog) -> None:
    redis_server.empty()
    rooms = Rooms(RedisStore(redis_server.address, pause=0.2))
    code, key = rooms.open()
    rooms.show(code, key, CAT)
    redis_server.stop()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with pytest.raises(RoomsUnreachable, match="does not answer"):
                rooms.see(code)
    assert caplog.text.count("does not answer") == 1, "one line, not one for each who asks"
    assert "does not answer" in rooms.problem()
    redis_server.start()
    until(lambda: rooms.problem() == "")
    assert rooms.holds(code, key), "redis-server writes what it has when it is told to end"


WRONG = {  # what somebody else may have put where a room is kept, in the words of redis-cli
    "no JSON": ("SET", "inside-bert:room:AAAAA", "{"),
    "no UTF-8": ("SET", "inside-bert:room:AAAAA", b"\xff\xfe"),
    "no UTF-8 in it": ("SET", "inside-bert:room:AAAAA", b'{"key": "\xff", "used": 1}'),
    "a list": ("RPUSH", "inside-bert:room:AAAAA", "SECRET"),
    "a list of who is there": ("RPUSH", "inside-bert:seen:AAAAA", "SECRET"),
    "somebody's name": ("ZADD", "inside-bert:seen:AAAAA", 1e12, b"\xff"),
    "a set of codes": ("SADD", "inside-bert:rooms", "AAAAA", "SECRET"),
    "a code": ("ZADD", "inside-bert:rooms", 1e9, b"\xff"),
    "a code for ever": ("ZADD", "inside-bert:rooms", "+inf", "SECRET"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_entry_in_redis_is_forgotten_and_all_else_goes_on(
    wrong, redis_server, clock, caplog, monkeypatch
) -> None:
    import redis

    redis_server.empty()
    store = MovedRedis(redis_server.address, clock)
    rooms = Rooms(store, most=2)
    code, key = rooms.open()
    monkeypatch.setattr("classroom.rooms.secrets.choice", lambda _: "A")  # the next code
    command: tuple[Any, ...] = WRONG[wrong]
    with redis.Redis(port=redis_server.port) as client:
        if command[0] != "ZADD":
            client.delete(command[1])
        client.execute_command(*command)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            if "room:" in command[1]:
                with pytest.raises(InvalidInput, match="no room “AAAAA”"):
                    rooms.see("AAAAA")
            store.note("AAAAA", "one", clock.now)
            rooms.show(code, key, CAT)
            store.last_signs()
        assert "AAAAA" not in store.last_signs()
        new, _ = rooms.open()
    assert new == "AAAAA"
    assert rooms.see(code).display == CAT
    rooms.note_present(new, "one")
    assert rooms.see(new).n_present == 1
    assert rooms.problem() == ""
    assert set(store.last_signs()) == {code, new}
    lines = [record.getMessage() for record in caplog.records]
    quiet = command[0] == "ZADD"  # which is removed with what is too old, too new, or of no room
    assert lines == [] if quiet else len(lines) == 1 and "is forgotten" in lines[0]
    assert "SECRET" not in caplog.text


@pytest.mark.slow
def test_twenty_thousand_stale_codes_are_as_many_questions_as_none(redis_server, clock, monkeypatch) -> None:
    import redis

    sent: list[int] = []
    send = redis.Connection.send_packed_command
    monkeypatch.setattr(
        redis.Connection, "send_packed_command", lambda *args, **named: (sent.append(1), send(*args, **named))[1]
    )
    counted = []
    for stale in ({}, dict.fromkeys(map(str, range(20_000)), clock.now - 1), {"AAAAA": clock.now - FORGOTTEN}):
        redis_server.empty()
        store = MovedRedis(redis_server.address, clock)
        rooms = Rooms(store)
        code, _ = rooms.open()
        if stale:
            store._client.zadd("inside-bert:rooms", stale)
        sent.clear()
        new, _ = rooms.open()
        counted.append(len(sent))
        assert set(store.last_signs()) == {code, new}
    assert max(counted) <= counted[0] + 1
    assert counted[0] < 10


def test_rooms_in_redis_are_forgotten_by_it(redis_server: RedisServer) -> None:
    import redis

    redis_server.empty()
    code, _ = Rooms(RedisStore(redis_server.address)).open()
    with redis.Redis(port=redis_server.port) as client:
        assert 0 < client.ttl(f"inside-bert:room:{code}") <= FORGOTTEN


def test_teachers_are_told_of_while_they_are_connected() -> None:
    connected, noted = {"here"}, []
    teachers = Teachers(connected.__contains__, lambda code, visitor: noted.append((code, visitor)))
    assert not teachers.note_connected()
    teachers.add("here", "AAAAA", "one")
    teachers.add("away", "CCCCC", "two")
    noted.clear()
    assert teachers.note_connected()
    assert ("AAAAA", "one") in noted
    assert ("CCCCC", "two") not in noted
    connected.add("away")  # whose connection was lost for a moment
    teachers.note_connected()
    assert ("CCCCC", "two") in noted
    teachers.remove("here")
    teachers.remove("away")
    assert not teachers.note_connected()
