"""Where rooms are kept: in the memory of this process, in a file that outlasts it, or in Redis, where every process
finds them.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from web.process import kept
from web.rooms import AWAY, FORGOTTEN, Room, Rooms, RoomsUnreachable, Store
from web.settings import WrongSetting, settings

if TYPE_CHECKING:
    from redis import Redis

Result = TypeVar("Result")

_log = logging.getLogger(__name__)
_ROOM: Final = TypeAdapter(Room)
_ROOMS: Final = TypeAdapter(dict[str, Room])


@kept()
def rooms() -> Rooms:
    """The rooms of this server, kept where its settings say. Raises WrongSetting for a package that is missing."""
    return Rooms(_store(), settings().longest_text)


def _store() -> Store:
    chosen = settings()
    if chosen.rooms_redis:
        return RedisStore(chosen.rooms_redis)
    return FileStore(Path(chosen.rooms_file).expanduser()) if chosen.rooms_file else MemoryStore()


class MemoryStore:
    """In this process; ``clock`` gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
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
        """Called with the lock."""

    def codes(self) -> Collection[str]:
        with self._lock:
            return list(self._rooms)

    def note(self, code: str, who: str, at: float | None) -> None:
        with self._lock:
            if code not in self._rooms:
                return
            seen = self._seen.setdefault(code, {})
            if at is None:
                seen.pop(who, None)
                return
            if who not in seen:
                self._seen[code] = seen = {each: then for each, then in seen.items() if at - then < AWAY}
            seen[who] = at

    def last_seen(self, code: str) -> Mapping[str, float]:
        with self._lock:
            return dict(self._seen.get(code, ()))


class FileStore(MemoryStore):
    """In this process, and in a file that the next one begins with, written ``wait`` seconds after the first of several
    changes. A file that cannot be read or written is a line of the log, and rooms live in memory alone.
    """

    def __init__(self, path: Path, wait: float = 0.5, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self._path, self._wait = path, wait
        self._writer: threading.Thread | None = None
        self._rooms = self._read_file()

    def _read_file(self) -> dict[str, Room]:
        try:
            found = _ROOMS.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            _log.warning("the rooms in %s cannot be read, and are forgotten: %s", self._path, type(error).__name__)
            return {}
        return {code: room for code, room in found.items() if self.now() - room.used < FORGOTTEN}

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
                file.write(_ROOMS.dump_json(dict(rooms)))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
        except OSError as error:
            _log.warning("the rooms cannot be written to %s: %s", self._path, error.strerror)
            with suppress(OSError):
                new.unlink()


class RedisStore:
    """In Redis, at an address such as redis://127.0.0.1:6379/0: a room is a text, who is there a sorted set of times,
    and both are forgotten by Redis itself. ``pause`` is how many seconds nothing is tried after it did not answer, so
    that pages do not wait for it again and again.
    """

    _NAME: Final = "inside-bert:room:"
    _SEEN: Final = "inside-bert:seen:"
    _CODES: Final = "inside-bert:rooms"
    _PATIENCE: Final = 1.0  # seconds

    def __init__(self, address: str, pause: float = 3.0) -> None:
        try:
            import redis
        except ImportError as error:
            said = "The setting rooms_redis needs a package: pip install -r requirements-redis.txt, or leave it out."
            raise WrongSetting(said) from error
        self._errors = redis.RedisError
        self._pause, self._down_until = pause, 0.0
        self._conflict = redis.WatchError
        self._lock = threading.Lock()  # threads of this process would only undo each other's changes
        try:
            self._client: Redis = redis.Redis.from_url(
                address, socket_timeout=self._PATIENCE, socket_connect_timeout=self._PATIENCE, decode_responses=True
            )
        except ValueError as error:
            raise WrongSetting(f"The setting rooms_redis cannot be used: {error}.") from error

    def _asked(self, ask: Callable[[], Result]) -> Result:
        if time.monotonic() >= self._down_until:
            try:
                found = ask()
            except self._errors as error:
                if not self._down_until:
                    _log.warning("Redis, which keeps the rooms, does not answer: %s", type(error).__name__)
                self._down_until = time.monotonic() + self._pause
            else:
                if self._down_until:
                    _log.warning("Redis, which keeps the rooms, answers again")
                self._down_until = 0.0
                return found
        raise RoomsUnreachable("The server that keeps the rooms does not answer. The app tries again by itself.")

    def now(self) -> float:
        seconds, microseconds = self._asked(self._client.time)
        return float(seconds) + float(microseconds) / 1e6

    def read(self, code: str) -> Room | None:
        return _room(self._asked(lambda: self._client.get(self._NAME + code)))

    def change(self, code: str, change: Callable[[Room | None], Room | None]) -> None:
        with self._lock:
            while not self._asked(lambda: self._try(code, change)):
                pass

    def _try(self, code: str, change: Callable[[Room | None], Room | None]) -> bool:
        """Whether nobody came in between."""
        name = self._NAME + code
        with self._client.pipeline() as pipe:
            pipe.watch(name)
            before = _room(pipe.get(name))
            after = change(before)
            if after is before and after is not None:
                return True
            pipe.multi()
            if after is None:
                pipe.delete(name, self._SEEN + code)
                pipe.srem(self._CODES, code)
            else:
                pipe.set(name, _ROOM.dump_json(after), ex=FORGOTTEN)
                pipe.sadd(self._CODES, code)
            try:
                pipe.execute()
            except self._conflict:
                return False
            return True

    def codes(self) -> Collection[str]:
        found: Any = self._asked(lambda: self._client.smembers(self._CODES))
        return list(found)

    def note(self, code: str, who: str, at: float | None) -> None:
        name = self._SEEN + code

        def ask() -> None:
            with self._client.pipeline() as pipe:
                if at is None:
                    pipe.zrem(name, who)
                else:
                    pipe.zadd(name, {who: at})
                    pipe.zremrangebyscore(name, "-inf", at - AWAY)
                    pipe.expire(name, int(AWAY))
                pipe.execute()

        self._asked(ask)

    def last_seen(self, code: str) -> Mapping[str, float]:
        found: Any = self._asked(lambda: self._client.zrange(self._SEEN + code, 0, -1, withscores=True))
        return dict(found)


def _room(text: Any) -> Room | None:
    """What is not a room of this version is none."""
    try:
        return None if text is None else _ROOM.validate_json(text)
    except ValidationError:
        _log.warning("a room in Redis cannot be read, and is forgotten")
        return None
