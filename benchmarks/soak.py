"""``python -m benchmarks.soak [--minutes 30] [--visitors 20] [--hosted] [--memory 1500m]``: a crowd that stays.

Visitors without a browser come to the app over websockets, each through a network of his own. They look at pages and
views, train, probe, measure, lose their connection and come back within seconds, leave for good, upload nonsense, send
messages that no browser sends, ask for ``/healthz``. When the time is over all of them leave, and the app has
``--rest`` seconds to forget them.

Before anything is counted every page is drawn once in each of its views, and the crowd is there for ``--first`` minutes
and leaves: Python and the system's allocator keep a part of what a first crowd took, and use it for the next.

One JSON object a line: the machine, then every half minute how it stands, the last one the verdict. ``errors`` are
those that are not a visitor's own fault: errors on pages, connections that the app closed, no answer within
``PATIENCE`` seconds, work that is not done within ``PATIENCE_WITH_WORK``, errors in the log. ``lost`` is work that was
gone although the visit was alive: a training, or a model that was trained and cannot be opened. Ends with 1 where one
of them is not 0, or memory or disk are not back where they were (within ``--allowance`` MB, and 1 MB).

``--memory 1500m`` rebuilds the container of docs/hosting.md: a control group of that much memory, and a tmpfs (of
``--tmp`` bytes, if told) as folder for temporary files, which counts in it, in a mount namespace of its own where the
group is seen as a container sees it. That takes root on Linux; with systemd, ``systemd-run --user --scope -p
MemoryMax=1500M python -m benchmarks.soak`` limits the visitors, too, and the app does not see the limit.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.crowd import WORDS
from benchmarks.cutting_proxy import CuttingProxy, proxies
from benchmarks.measure import arguments, emit, emit_machine, percentile95
from benchmarks.positions import page_views
from benchmarks.server import app
from benchmarks.streamlit_client import Answer, Visitor, visiting
from model_zoo import DEFAULT_MODEL, tuned
from model_zoo.machine import CGROUPS
from model_zoo.types import MB

Figures = Mapping[str, float | None]

PATIENCE = 120.0
PATIENCE_WITH_WORK = 1200.0
"""Many who train at once share what pages leave of the processor, and each looks at his bar meanwhile."""
_BETWEEN_REPORTS = 30.0
_PAUSE = 0.5, 4.0
_AWAY = 1.0, 6.0  # seconds without a connection

TINY = {"view": "train", "model": "embedded/tinybert", "set": "sentiment", "examples": "60", "epochs": "3"}
_GONE = "trained in a visit that is over"
# Refusals that say what to do: there is no memory for it now, or the visitor has chosen a model that cannot do this.
_EXPECTED = ("leave no room for it", "has no attention")

# Work that is started by a button: the page, its address, and a pattern for the button's label.
WORK: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "cost": ("compare", {"view": "cost", "models": "embedded/tinybert,embedded/bilstm"}, "Measure .*"),
    "probing": ("layers", {"model": "embedded/tinybert", "tasks": "tense", "sentences": "40"}, "Run .*"),
    "race": (
        "train",
        {**TINY, "view": "race", "racers": "embedded/tinybert,embedded/bilstm", "budget": "seconds", "seconds": "2"},
        "Race",
    ),
    "distillation": ("train", {**TINY, "view": "distillation"}, "Train teacher.*"),
    "heads": (
        "cause",
        {"view": "heads", "model": "embedded/tinybert", "text": "The cat sat on the [MASK]."},
        "Run the search.*",
    ),
}

NONSENSE: Mapping[str, bytes] = {
    "nothing.csv": b"",
    "zeros.csv": bytes(4096),
    "picture.png": b"\x89PNG\r\n\x1a\n" + os.urandom(2000),
    "utf16.csv": "text,label\nSchön,ja\nSchlecht,nein\n".encode("utf-16"),
    "bom.tsv": b"\xef\xbb\xbftext\tlabel\ngood\tyes\n",
    "quotes.csv": b'"' * 10_000,
    "deep.json": b"[" * 50_000,
    "one.jsonl": b'{"text": NaN, "label": 1e999}\n' * 50,
    "cycle.conllu": b"1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n\n",
}


def sent_by_no_browser(rng: random.Random) -> BackMsg:
    """A message of the protocol that no page sends."""
    message = BackMsg()
    kind = rng.choice(("clear", "unknown", "not a number", "heartbeat", "stop", "fragment"))
    if kind == "clear":
        message.clear_cache = True
    elif kind == "heartbeat":
        message.app_heartbeat = True
    elif kind == "stop":
        message.stop_script = True
    else:
        message.rerun_script.page_name = "train"
        state = message.rerun_script.widget_states.widgets.add(id="$$ID-0123456789abcdef0123456789abcdef-train_epochs")
        if kind == "not a number":
            state.double_value = float("nan")
        elif kind == "unknown":
            state.json_value = "{" * 100
        else:
            message.rerun_script.fragment_id = "no fragment has this id"
    return message


@dataclass(slots=True)
class Tally:
    """What the visitors did, and what went wrong: ``errors`` and ``lost`` are sentences."""

    actions: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    complaints: Counter[str] = field(default_factory=Counter)
    """Why something could not be done, in the app's own words: not an error."""
    warnings: Counter[str] = field(default_factory=Counter)
    """Of the log."""
    seconds: list[float] = field(default_factory=list)
    """Of looking at a page, while all others are there."""

    def p95(self) -> float | None:
        return percentile95(self.seconds)

    def counts(self) -> dict[str, Any]:
        """How many actions there were, errors and losses, and how long a page took."""
        errors, lost = len(self.errors), len(self.lost)
        return {"actions": self.actions.total(), "errors": errors, "lost": lost, "p95_s": self.p95()}


@dataclass(slots=True)
class Guest:
    """A visitor with a network of his own, who leaves and comes again as somebody else."""

    proxy: CuttingProxy
    tally: Tally
    rng: random.Random
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _visitor: Visitor | None = None
    _trained: str | None = None  # the last model of this visit
    _page: str = ""  # that was asked for last

    @property
    def visitor(self) -> Visitor:
        assert self._visitor is not None
        return self._visitor

    async def come(self, session: str = "") -> None:
        self._visitor = await self._stack.enter_async_context(visiting(self.proxy.url, session, PATIENCE))

    async def go(self) -> None:
        await self._stack.aclose()
        self._visitor = None

    async def live(self, end: float) -> None:
        """Act until the clock says so, then leave."""
        kinds: Sequence[tuple[int, Callable[[], Awaitable[None]]]] = (
            (12, self.look),
            (4, self.train),
            (2, self.work),
            (2, self.lose_and_find),
            (2, self.upload_nonsense),
            (2, self.talk_nonsense),
            (1, self.leave),
            (1, self.ask_for_health),
        )
        weights, acts = zip(*kinds, strict=True)
        await self.come()
        while time.monotonic() < end:
            (act,) = self.rng.choices(acts, weights)
            self.tally.actions[act.__name__] += 1
            try:
                async with asyncio.timeout(PATIENCE_WITH_WORK) as deadline:
                    await act()
            except TimeoutError:
                fault, limit = ("not done", PATIENCE_WITH_WORK) if deadline.expired() else ("no answer", PATIENCE)
                self.tally.errors.append(f"{act.__name__} ({self._page}): {fault} within {limit:.0f} s")
                await self._anew()
            except OSError as error:
                self.tally.errors.append(f"{act.__name__}: {error}")
                await self._anew()
            await asyncio.sleep(self.rng.uniform(*_PAUSE))
        await self.go()

    async def _anew(self) -> None:
        await self.go()
        self._trained = None
        await self.come()

    def _sound(self, answer: Answer, action: str) -> Answer:
        for error in answer.errors():
            message = next((pattern for pattern in _EXPECTED if pattern in error), None)
            if message is None:
                self.tally.errors.append(f"{action}: {error}")
            else:
                self.tally.complaints[message] += 1
        return answer

    async def look(self) -> None:
        page_view = self.rng.choice(tuple(page_views()))
        text = f"The {self.rng.choice(WORDS)} saw a {self.rng.choice(WORDS)} near the [MASK]."
        query = {
            "text": text,
            "model": DEFAULT_MODEL,
            **page_view.choice,
        }  # not the one that was trained, which has no words to put
        self._page = f"{page_view.route} {page_view.choice}"
        answer = self._sound(await self.visitor.open(page_view.route, query), self._page)
        self.tally.seconds.append(answer.seconds)

    async def train(self) -> None:
        query = {**TINY, "seed": str(self.rng.randrange(10**6))}
        answer = self._sound(await self.visitor.open("train", query), "train")
        button = answer.button("Train")
        if button is None:
            self.tally.errors.append("train: there is no button")
            return
        answer = await self.visitor.press(button)
        if self.rng.random() < 0.4:
            answer = await self._lose_and_find("train", query)
        while answer.button("Stop") is not None:
            await asyncio.sleep(1)
            answer = self._sound(await self.visitor.set(), "training")
        tuned_id = tuned_in(answer)
        if tuned_id is not None and tuned_id != self._trained:
            self._trained = tuned_id
            await self._open_trained()
        elif complaints := list(answer.complaints()):
            self.tally.complaints.update(complaints)
        else:
            self.tally.lost.append("a training is gone")

    async def _open_trained(self) -> None:
        if self._trained is None:
            return
        answer = self._sound(await self.visitor.open("attention", {"model": self._trained}), "a tuned model")
        if answer.holds(_GONE):
            self.tally.lost.append(f"{self._trained} cannot be opened")
            self._trained = None

    async def work(self) -> None:
        """Start a job, look at it, and stop it or wait for its end."""
        name = self.rng.choice(list(WORK))
        page, query, label = WORK[name]
        answer = self._sound(await self.visitor.open(page, {**query, "seed": str(self.rng.randrange(10**6))}), name)
        button = answer.button(label)
        if button is not None:
            answer = self._sound(await self.visitor.press(button), name)
        for left in range(self.rng.randint(2, 6), -1, -1):
            stop = answer.button("Stop")
            if stop is None:
                break
            await asyncio.sleep(1)
            answer = self._sound(await (self.visitor.set() if left else self.visitor.press(stop)), name)

    async def lose_and_find(self) -> None:
        """A connection lost for some seconds: what was trained before can still be opened."""
        await self._lose_and_find("", {})
        await self._open_trained()

    async def _lose_and_find(self, page: str, query: Mapping[str, str]) -> Answer:
        """The page that is asked for after a connection was lost for some seconds, in the same session."""
        session = self.visitor.session
        self.proxy.lose()
        await self.go()
        await asyncio.sleep(self.rng.uniform(*_AWAY))
        self.proxy.find()
        await self.come(session)
        answer = self._sound(await self.visitor.open(page, query), "coming back")
        if session and self.visitor.session != session:
            self.tally.lost.append("the session was not resumed")
            self._trained = None
        return answer

    async def upload_nonsense(self) -> None:
        answer = await self.visitor.open("train", {**TINY, "set": "own"})
        uploader = answer.uploader()
        if uploader is None:
            self.tally.errors.append("upload: there is no control")
            return
        name = self.rng.choice(list(NONSENSE))
        self._sound(await self.visitor.upload(uploader, name, NONSENSE[name]), f"upload of {name}")

    async def talk_nonsense(self) -> None:
        """Messages of the protocol, or none: the app may hang up on the latter, and goes on."""
        if self.rng.random() < 0.3:
            await self.visitor.send(self.rng.randbytes(200))
            session = self.visitor.session
            await self.go()
            await self.come(session)
        else:
            sent = sent_by_no_browser(self.rng)
            await self.visitor.send(sent)
            if sent.WhichOneof("type") == "rerun_script" and not sent.rerun_script.fragment_id:
                await self.visitor.drawn()  # else its end would be taken for that of the next question
        await self.visitor.open("", {})

    async def leave(self) -> None:
        await self._anew()

    async def ask_for_health(self) -> None:
        await asyncio.to_thread(self._health)

    def _health(self) -> None:
        with urllib.request.urlopen(f"{self.proxy.url}/healthz", timeout=PATIENCE) as answer:
            answer.read()


_TUNED = re.compile(rf"{tuned.PREFIX.removesuffix('/')}(?:/|%2F)([0-9a-f]{{16}})".encode())


def tuned_in(answer: Answer) -> str | None:
    """The model that the page shows first."""
    matches = (_TUNED.search(message) for message in answer.messages)
    match = next(filter(None, matches), None)
    return None if match is None else f"{tuned.PREFIX}{match[1].decode()}"


def read_log(lines: Iterable[str], tally: Tally) -> None:
    """What a log (``INSIDE_BERT_LOG_FORMAT=json``) tells of errors and warnings; of lines that are no records only
    where a traceback begins.
    """
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            if line.startswith("Traceback"):
                tally.errors.append("log: a traceback")
            continue
        if not isinstance(record, dict):
            continue
        summary = f"{record.get('message')} {' < '.join(record.get('frames', [])[-3:])}".strip()
        if record.get("level") in ("ERROR", "CRITICAL"):
            tally.errors.append(f"log: {summary}")
        else:
            tally.warnings[re.sub(r"[0-9a-f-]{36}", "…", summary)] += 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where the app runs: its process, and its folder for temporary files, seen from here."""

    process: psutil.Process
    folder: Path
    group: Path | None

    def now(self) -> Figures:
        """Memory and disk in MB, threads, files that are open."""
        files = [status.stat() for status in self.folder.rglob("*") if status.is_file()]
        return {
            "rss_mb": self.process.memory_info().rss / MB,
            "group_mb": None if self.group is None else int(_first(self.group, _USED).read_text()) / MB,
            "files_mb": sum(status.st_size for status in files) / MB,
            "threads": self.process.num_threads(),
            "open_files": self.process.num_fds(),
        }


# In a control group of memory, version 2 and 1.
_LIMIT = ("memory.max", "memory.limit_in_bytes")
_USED = ("memory.current", "memory.usage_in_bytes")


def _first(group: Path, names: Iterable[str]) -> Path:
    return next(group / name for name in names if (group / name).exists())


def own_group() -> Path:
    """The control group of memory that this process is in. Raises OSError where there is none."""
    lines = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines())
    for controller, root in (("memory", CGROUPS[1].parent), ("", CGROUPS[0].parent)):
        group = root / lines.get(controller, "/").lstrip("/")
        if controller in lines and any((group / name).exists() for name in _USED):
            return group
    raise OSError("this process is in no control group of memory")


@contextmanager
def limited(memory: str) -> Iterator[Path]:
    """A control group of so much memory (as in 1500m). Raises OSError where none can be made."""
    group = own_group() / f"soak-{os.getpid()}"
    group.mkdir()
    try:
        n = int(memory.lower().rstrip("kmg")) * {"k": 2**10, "m": 2**20, "g": 2**30}.get(memory.lower()[-1], 1)
        _first(group, _LIMIT).write_text(str(n))
        yield group
    finally:
        group.rmdir()


def within(group: Path, folder: Path, tmp: str) -> list[str]:
    """A command that becomes the one after it, in the group, with a tmpfs as its folder for temporary files."""
    seen = next(root.parent for root in CGROUPS if root.name == _first(group, _LIMIT).name)
    size = f"-o size={tmp} " if tmp else ""
    script = (
        f"echo $$ > {group}/cgroup.procs && mount -t tmpfs {size}tmpfs {folder} && mount --bind {group} {seen} "
        '&& exec "$@"'
    )
    return ["unshare", "--mount", "sh", "-c", script, "sh"]


async def warm_up(url: str) -> None:
    """Every page in each of its views, and a training: what is loaded once is loaded."""
    with proxies(url) as (proxy,):
        tally = Tally()
        guest = Guest(proxy, tally, random.Random(0))
        await guest.come()
        for page_view in page_views():
            guest._sound(await guest.visitor.open(page_view.route, page_view.choice), page_view.page)
        await guest.train()
        await guest.go()
        if tally.errors or tally.lost:
            raise RuntimeError(f"before anything began: {[*tally.errors, *tally.lost]}")


async def crowd(url: str, n_visitors: int, seconds: float, tally: Tally, seed: int = 0) -> None:
    """So many visitors for some time; then all of them leave."""
    end = time.monotonic() + seconds
    with proxies(url, n_visitors) as networks:
        guests = [Guest(proxy, tally, random.Random(seed + number)) for number, proxy in enumerate(networks)]
        await asyncio.gather(*(guest.live(end) for guest in guests))


async def soak(
    url: str, place: Place, n_visitors: int, first: float, seconds: float, rest: float
) -> tuple[Tally, dict[str, Figures]]:
    """The tally, and the figures before, at the most, and after."""
    await warm_up(url)
    await crowd(url, n_visitors, first, Tally(), n_visitors)
    await asyncio.sleep(rest)
    before = most = place.now()
    emit(stage="warm", **before)
    tally, begun, stage = Tally(), time.monotonic(), "soak"

    async def watch() -> None:
        nonlocal most
        while True:
            await asyncio.sleep(_BETWEEN_REPORTS)
            now = place.now()
            most = {name: max(filter(None, (now[name], most[name])), default=None) for name in now}
            last = [*tally.errors[-1:], *tally.lost[-1:]]
            emit(stage=stage, minutes=(time.monotonic() - begun) / 60, **tally.counts(), last=last, **now)

    watching = asyncio.create_task(watch())
    await crowd(url, n_visitors, seconds, tally)
    stage = "all have left"
    await asyncio.sleep(rest)
    watching.cancel()
    return tally, {"before": before, "most": most, "after": place.now()}


def verdict(tally: Tally, figures: Mapping[str, Figures], allowance: float) -> bool:
    """Prints the results; returns whether all is well."""
    before, after = figures["before"], figures["after"]
    grown = {name: (after[name] or 0) - (before[name] or 0) for name in before}
    well = not tally.errors and not tally.lost and grown["rss_mb"] <= allowance and grown["files_mb"] <= 1
    first = {"first_errors": Counter(tally.errors), "first_lost": Counter(tally.lost)}
    emit(
        verdict="well" if well else "not well",
        **tally.counts() | {"actions": dict(tally.actions)},
        **{name: counts.most_common(10) for name, counts in first.items()},
        complaints=tally.complaints.most_common(5),
        warnings=tally.warnings.most_common(5),
        **{name: [figures[at][name] for at in figures] for name in before},
    )
    return well


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--first", type=float, default=2, help="minutes of the crowd before anything is counted")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--rest", type=float, default=300, help="seconds until visits that ended are forgotten")
    parser.add_argument("--hosted", action="store_true", help="the profile for strangers")
    parser.add_argument("--memory", help="memory of the container, such as 1500m")
    parser.add_argument("--tmp", default="", help="bytes of the container's tmpfs, such as 600m")
    parser.add_argument(
        "--allowance", type=float, default=100, help="MB of memory that may be left over: remembered answers"
    )
    chosen = parser.parse_args()
    emit_machine(machine=os.uname().machine, **vars(chosen))
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        folder, log = home / "tmp", home / "log"
        folder.mkdir()
        environment = {"TMPDIR": str(folder), "INSIDE_BERT_LOG_FORMAT": "json"}
        if chosen.hosted:
            environment["INSIDE_BERT_HOSTED"] = "1"
        group = stack.enter_context(limited(chosen.memory)) if chosen.memory else None
        before = within(group, folder, chosen.tmp) if group else []
        url, process = stack.enter_context(app("app.py", environment=environment, log=log, within=before))
        place = Place(
            psutil.Process(process.pid), Path(f"/proc/{process.pid}/root{folder}") if group else folder, group
        )
        try:
            tally, figures = asyncio.run(
                soak(url, place, chosen.visitors, 60 * chosen.first, 60 * chosen.minutes, chosen.rest)
            )
        except BaseException:
            print(log.read_text("utf-8")[-3000:], file=sys.stderr)
            raise
        read_log(log.read_text("utf-8", errors="replace").splitlines(), tally)
        if process.poll() is not None:
            tally.errors.append(f"the app ended with {process.returncode}")
    sys.exit(0 if verdict(tally, figures, chosen.allowance) else 1)


if __name__ == "__main__":
    main()
