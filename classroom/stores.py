"""Stores of rooms: the memory of this process, a file that outlasts it, or Redis, which every process reaches."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from classroom.rooms import AWAY, FORGOTTEN, PRESENT_FOR, Room, Rooms, RoomsUnreachable, Store, is_over
from web.process import process_cache
from web.settings import WrongSetting, settings

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from redis import Redis

Result = TypeVar("Result")

_log = logging.getLogger(__name__)
_ROOM: Final = TypeAdapter(Room)
_ROOMS: Final = TypeAdapter(dict[str, Room])
_BEGAN: Final = time.time() - time.monotonic()


@process_cache()
def rooms() -> Rooms:
    """The rooms of this server, in the store that its settings name. Raises WrongSetting if it cannot be used."""
    return Rooms(_store(), settings().longest_text)


def _store() -> Store:
    chosen = settings()
    if chosen.rooms_redis and chosen.rooms_file:
        raise WrongSetting("The settings rooms_file and rooms_redis exclude each other. Leave one of them out.")
    if chosen.rooms_redis:
        return RedisStore(chosen.rooms_redis)
    return FileStore(Path(chosen.rooms_file)) if chosen.rooms_file else MemoryStore()


def _steady() -> float:
    """Seconds since 1970 by a clock that goes on evenly, whatever is done to the computer's."""
    return _BEGAN + time.monotonic()


class MemoryStore:
    """In this process; ``clock`` gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = _steady) -> None:
        self.now = clock
        self._lock = threading.RLock()
        self._rooms: dict[str, Room] = {}
        self._seen: dict[str, dict[str, float]] = {}

    def read(self, code: str) -> Room | None:
        with self._lock:
            return self._rooms.get(code)

    def change(self, code: str, change: Callable[[Room | None], Room | None]) -> None:
        with self._lock:
            before = self._rooms.get(code)
            after = change(before)
            if after is before:
                return
            if after is None:
                del self._rooms[code]
                self._seen.pop(code, None)
            else:
                self._rooms[code] = after
            self._changed()

    def _changed(self) -> None:
        """Called after a change, with the lock."""

    def last_signs(self) -> Mapping[str, float]:
        with self._lock:
            now = self.now()
            for code in [code for code, room in self._rooms.items() if is_over(room, now)]:
                self.change(code, lambda _: None)
            return {code: max([room.used, *self._seen.get(code, {}).values()]) for code, room in self._rooms.items()}

    def note(self, code: str, who: str, at: float | None) -> None:
        with self._lock:
            if code not in self._rooms:
                return
            seen = self._seen.setdefault(code, {})
            if at is None:
                seen.pop(who, None)
                return
            if who not in seen:
                self._seen[code] = seen = {other: then for other, then in seen.items() if at - then < AWAY}
            seen[who] = at

    def last_seen(self, code: str) -> Mapping[str, float]:
        with self._lock:
            return dict(self._seen.get(code, ()))


_FILE_OF_ROOMS: Final = re.compile(rb'{"[A-Z0-9]+":')


class FileStore(MemoryStore):
    """In this process, and in a file that the next one starts from, written ``wait`` seconds after the first of several
    changes. If the file cannot be read or written, the log says so, and rooms live in memory alone. Raises WrongSetting
    for what is no regular file or holds no rooms, and for one that another process uses.
    """

    def __init__(self, path: Path, wait: float = 0.5, clock: Callable[[], float] = _steady) -> None:
        super().__init__(clock)
        self._path, self._wait = _regular_file(path), wait
        _lock_file(self._path)
        self._writer: threading.Thread | None = None
        self._rooms = self._read_file()

    def _read_file(self) -> dict[str, Room]:
        data = b""
        try:
            data = self._path.read_bytes()
            stored = _ROOMS.validate_json(data)
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            if data.strip(b"\0") and not _FILE_OF_ROOMS.match(data):  # ours are whole, even after a power failure
                raise _wrong_file(self._path, "is not a file of rooms. Name another one, or remove it") from error
            _log.warning("the rooms in %s cannot be read, and are forgotten: %s", self._path, type(error).__name__)
            return {}
        now = self.now()  # of a clock that may have gone back since
        rooms = {code: replace(room, used=min(room.used, now)) for code, room in stored.items()}
        return {code: room for code, room in rooms.items() if not is_over(room, now)}

    def _changed(self) -> None:
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_later, name="rooms", daemon=True)
            self._writer.start()

    def _write_later(self) -> None:
        time.sleep(self._wait)
        with self._lock:
            self._writer = None
            rooms = dict(self._rooms)
        self._write(rooms)

    def _write(self, rooms: Mapping[str, Room]) -> None:
        """All of it or nothing, and for this user alone: keys are in it."""
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}.{threading.get_ident()}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(_ROOMS.dump_json(dict(rooms), by_alias=True))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
        except OSError as error:
            _log.warning("the rooms cannot be written to %s: %s", self._path, error.strerror)
            with suppress(OSError):
                new.unlink()


def _regular_file(path: Path) -> Path:
    """The file that a path leads to, whether it exists or not."""
    with suppress(RuntimeError, ValueError):  # no such user's folder; a NUL
        target = Path(os.path.realpath(path.expanduser()))
        if os.path.isfile(target) or not os.path.lexists(target):
            return target
    raise _wrong_file(path, "is no regular file. Name another one")


def _wrong_file(path: Path, why: str) -> WrongSetting:
    return WrongSetting(f"The setting rooms_file is “{str(path)[:200]}”, which {why}.")


def _lock_file(path: Path) -> None:
    """Lock a file of rooms for as long as this process lives, if the system has such locks. The lock is a file beside
    it, since the file itself is replaced.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError):  # nor can the rooms be written there, or its system has no locks
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise WrongSetting(
                f"Another process keeps its rooms in {path}. Set rooms_file to another file for this one."
            ) from error


class RedisStore:
    """In Redis, at an address such as redis://127.0.0.1:6379/0: a room is a text, those present are a sorted set of
    times, and Redis itself forgets both; the times when rooms were used are a sorted set, too. Anything else under one
    of these names is removed, and the log says so. For ``pause`` seconds after it did not answer nothing is tried, so
    that pages do not wait for it again and again.
    """

    _NAME: Final = "inside-bert:room:"
    _SEEN: Final = "inside-bert:seen:"
    _USED: Final = "inside-bert:rooms"
    _PATIENCE: Final = 1.0  # seconds

    def __init__(self, address: str, pause: float = 3.0) -> None:
        try:
            import redis
        except ImportError as error:
            raise WrongSetting(
                "The setting rooms_redis needs a package: pip install -r requirements-redis.txt, or leave it out."
            ) from error
        self._errors, self._refused = redis.RedisError, redis.ResponseError
        self._pause, self._down_until = pause, 0.0
        self._conflict = redis.WatchError
        self._lock = threading.Lock()  # threads of this process would only undo each other's changes
        try:
            self._client: Redis = redis.Redis.from_url(
                address,
                socket_timeout=self._PATIENCE,
                socket_connect_timeout=self._PATIENCE,
                decode_responses=True,
                encoding_errors="surrogateescape",  # what is not UTF-8 is read, and removed by its name
            )
        except ValueError as error:
            raise WrongSetting(f"The setting rooms_redis cannot be used: {error}.") from error

    def _request(self, ask: Callable[[], Result], code: str = "") -> Result:
        """What ``ask`` returns, about the room of this code. Raises RoomsUnreachable if Redis does not answer."""
        if time.monotonic() >= self._down_until:
            try:
                try:
                    answer = ask()
                except self._refused as error:
                    if "WRONGTYPE" not in str(error):
                        raise
                    self._remove_other_types(code)
                    answer = ask()
            except self._errors as error:
                if not self._down_until:
                    _log.warning("Redis, which keeps the rooms, does not answer: %s", type(error).__name__)
                self._down_until = time.monotonic() + self._pause
            else:
                if self._down_until:
                    _log.warning("Redis, which keeps the rooms, answers again")
                self._down_until = 0.0
                return answer
        raise RoomsUnreachable("The server that keeps the rooms does not answer. The app tries again by itself.")

    def _remove_other_types(self, code: str) -> None:
        """Remove entries under a room's names whose type is another one than a room's."""
        for name, kind in ((self._NAME + code, "string"), (self._SEEN + code, "zset"), (self._USED, "zset")):
            if self._client.type(name) not in (kind, "none"):
                self._remove(name)

    def _remove(self, name: str) -> None:
        _log.warning("an entry of the rooms in Redis cannot be read, and is forgotten")
        self._client.delete(name)

    def now(self) -> float:
        seconds, microseconds = self._request(self._client.time)
        return float(seconds) + float(microseconds) / 1e6

    def read(self, code: str) -> Room | None:
        return self._request(lambda: self._room(code, self._client.get(self._NAME + code)), code)

    def _room(self, code: str, text: Any) -> Room | None:
        """None for what is not a room of this version."""
        try:
            return None if text is None else _ROOM.validate_json(text)
        except ValidationError:
            self._remove(self._NAME + code)
            return None

    def change(self, code: str, change: Callable[[Room | None], Room | None]) -> None:
        with self._lock:
            while not self._request(lambda: self._try(code, change), code):
                pass

    def _try(self, code: str, change: Callable[[Room | None], Room | None]) -> bool:
        """True if the change took place: nobody else changed the room in between."""
        name = self._NAME + code
        with self._client.pipeline() as pipe:
            pipe.watch(name)
            before = self._room(code, pipe.get(name))
            after = change(before)
            if after is before and after is not None:
                return True
            pipe.multi()
            if after is None:
                pipe.delete(name, self._SEEN + code)
                pipe.zrem(self._USED, code)
            else:
                pipe.set(name, _ROOM.dump_json(after, by_alias=True), ex=FORGOTTEN)
                pipe.zadd(self._USED, {code: after.used})
            try:
                pipe.execute()
            except self._conflict:
                return False
            return True

    def last_signs(self) -> Mapping[str, float]:
        now = self.now()
        return self._request(lambda: self._signs(now))

    def _signs(self, now: float) -> dict[str, float]:
        """In the same number of messages, however many rooms there are."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zremrangebyscore(self._USED, "-inf", now - FORGOTTEN)
            pipe.zremrangebyscore(self._USED, now + FORGOTTEN, "+inf")
            pipe.zrange(self._USED, 0, -1, withscores=True)
            used: dict[str, float] = dict(pipe.execute()[-1])
            for code in used:
                pipe.type(self._NAME + code)
                pipe.zrevrangebyscore(self._SEEN + code, now + PRESENT_FOR, "-inf", 0, 1, withscores=True)
            answers = pipe.execute(raise_on_error=False)
            signs, stale = {}, []
            for (code, at), kind, seen in zip(used.items(), answers[::2], answers[1::2], strict=True):
                if kind != "string":
                    stale.append(code)
                    continue
                if isinstance(seen, self._errors):
                    self._remove(self._SEEN + code)
                    seen = ()
                # A sign from the future was left by a clock that has gone back since.
                times = (then for then in (at, *dict(seen).values()) if then < now + PRESENT_FOR)
                signs[code] = max(times, default=0.0)
            if stale:
                pipe.zrem(self._USED, *stale)
                pipe.execute()
        return signs

    def note(self, code: str, who: str, at: float | None) -> None:
        name = self._SEEN + code

        def ask() -> None:
            with self._client.pipeline() as pipe:
                if at is None:
                    pipe.zrem(name, who)
                else:
                    pipe.zadd(name, {who: at})
                    pipe.zremrangebyscore(name, "-inf", at - AWAY)
                    pipe.zremrangebyscore(name, at + AWAY, "+inf")  # Redis' clock has gone back
                    pipe.expire(name, int(AWAY))
                pipe.execute()

        self._request(ask, code)

    def last_seen(self, code: str) -> Mapping[str, float]:
        pairs: Any = self._request(lambda: self._client.zrange(self._SEEN + code, 0, -1, withscores=True), code)
        return dict(pairs)
