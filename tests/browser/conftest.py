"""A real Chromium and the real app for it: ``browser``, ``app_url``, and ``visit`` to open a watched page."""

import base64
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin, urlparse

import pytest
from on_screen import IDLE, PATIENCE_MS, PREPARED, wait_for
from patience import PATIENCE
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    TimeoutError,
    expect,
    sync_playwright,
)
from programs import program

from benchmarks.positions import PageView, page_views
from benchmarks.server import end, wait_until_healthy
from pages import PAGES
from viz.component import pack
from viz.standalone import standalone_html

ROOT = Path(__file__).parents[2]
expect.set_options(timeout=PATIENCE_MS)
A_TRY_MS = 10_000  # what comes to nothing meanwhile is tried again
# A page knows that a run has begun when the server says so, which a busy one does late: here it is noted when something
# was asked, and when the server said something last.
WATCH_THE_SERVER = """(() => {
    window.asked = window.answered = 0;
    const send = WebSocket.prototype.send;
    const watched = new WeakSet();
    WebSocket.prototype.send = function (data) {
        if (!watched.has(this)) this.addEventListener("message", () => (window.answered = performance.now()));
        watched.add(this);
        window.asked = performance.now();
        return send.call(this, data);
    };
})()"""
LOST_CONNECTION_MESSAGES = (
    "net::ERR_",
    "WebSocket",
    "when disconnected from server",
    "Failed to fetch",
    "No response received",
    "server is not responding",
    "DoInitPings",
    "Connection timed out",
)
ONE_FONT = "<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>"
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium; without one the tests skip and say so, and in CI they fail. On Linux it has one font,
    which comes with the app: what is measured in it does not depend on the fonts of a machine.
    """
    path = os.environ.get("BROWSER_PATH") or program(
        "chromium", "google-chrome", needs="install chromium, or set BROWSER_PATH"
    )
    with sync_playwright() as playwright:
        fonts = tmp_path_factory.mktemp("fonts") / "fonts.conf"
        fonts.write_text(ONE_FONT.format(fonts=files("fontpkg_arimo") / "files", cache=fonts.parent), "utf-8")
        environment = {**os.environ, "FONTCONFIG_FILE": str(fonts)}
        chromium = playwright.chromium.launch(
            executable_path=path, args=CHROMIUM_ARGUMENTS, env=environment, timeout=PATIENCE_MS
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app, started by the README's own command on a free port; ends with the session."""
    app = App(tmp_path_factory.mktemp("app") / "log")
    app.start()
    try:
        yield app.url
    finally:
        end(app.process)


class App:
    """The app as a process of its own, which can be killed and started again at the same address."""

    process: subprocess.Popen[bytes]

    def __init__(self, log: Path, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._log, self._environment = log, environment

    def start(self) -> None:
        command = re.search(r"&& (streamlit run app\.py)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
        assert command, "the README names no command that runs the app"
        with self._log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command[1].split(), "--server.headless=true", f"--server.port={self._port}",
                 "--server.address=127.0.0.1"],
                cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **self._environment},
            )  # fmt: skip
        wait_until_healthy(f"{self.url}/_stcore/health", self.process, self._log)

    def kill(self) -> None:
        """End it at once, with no time for a last word."""
        self.process.kill()
        self.process.wait(PATIENCE)


class Pages:
    """The browser's pages, each in a context of its own, lent to one test after the other. A new one is a new process,
    which compiles Streamlit's scripts for longer than most tests take: what one test gives back the next ones have,
    without what that left behind. After a failure it is closed.
    """

    def __init__(self, browser: Browser, session: pytest.Session) -> None:
        self._browser, self._session = browser, session
        self._free: list[Page] = []

    @contextmanager
    def lend(
        self,
        listeners: dict[Any, Callable[[Any], object]],
        width: int,
        height: int,
        color_scheme: Literal["light", "dark"] = "light",
    ) -> Iterator[Page]:
        """A page of this size and theme, and who listens to which of its events."""
        page = self._free.pop() if self._free else self._new()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=color_scheme, reduced_motion="null")
        for event, listener in listeners.items():
            page.on(event, listener)
        failed = self._session.testsfailed
        yield page
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if self._session.testsfailed > failed:
            page.context.close()
        else:
            self._clean(page)
            self._free.append(page)

    def _new(self) -> Page:
        context = self._browser.new_context(accept_downloads=True)
        context.add_init_script(WATCH_THE_SERVER)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    @staticmethod
    def _clean(page: Page) -> None:
        if page.url.startswith("http"):
            # From an empty page of the same origin, asked of nobody: the app's own may write again when it was cleared.
            empty = urljoin(page.url, "/left")
            page.route(empty, lambda route: route.fulfill(body=""))
            page.goto(empty)
            page.unroute(empty)
            page.evaluate("[localStorage, sessionStorage].forEach((storage) => storage.clear())")
        page.mouse.move(0, 0)
        page.goto("about:blank")
        page.context.clear_cookies()
        page.context.clear_permissions()


@pytest.fixture(scope="session")
def app_pages(browser: Browser, request: pytest.FixtureRequest) -> Pages:
    """Pages for the app."""
    return Pages(browser, request.session)


@pytest.fixture(scope="session")
def file_pages(browser: Browser, request: pytest.FixtureRequest) -> Pages:
    """Pages for whatever else a browser opens: one that goes from the app to a file becomes another process."""
    return Pages(browser, request.session)


class Visit:
    """One page, with everything it logged and asked for."""

    page: Page

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.foreign_requests: list[str] = []
        self.loses_its_connection = False  # then what Chromium and Streamlit say of that is no error
        self.listeners = {
            "console": self._note_message,
            "pageerror": lambda error: self._note_error(str(error)),
            "request": lambda request: self._note(request.url),
        }

    def _note_message(self, message: ConsoleMessage) -> None:
        # Streamlit looks for its server under the page's own path first and takes the 404 for an answer.
        looking = re.search(r"/\w+/_stcore/(health|host-config)$", message.location["url"])
        if message.type == "error" and not looking:
            self._note_error(f"{message.text} {message.location['url']}")

    def _note_error(self, message: str) -> None:
        if not self.loses_its_connection or not any(lost in message for lost in LOST_CONNECTION_MESSAGES):
            self.errors.append(message)

    def _note(self, url: str) -> None:
        address = urlparse(url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1":
            self.foreign_requests.append(url)

    def open(self, url: str) -> Page:
        self.page.goto(url)
        wait_for(self.page, PREPARED)
        self.wait_until_idle()
        return self.page

    def wait_until_idle(self) -> None:
        """Wait until the script has run and nothing is being redrawn."""
        wait_for(self.page, IDLE)

    def until(self, act: Callable[[], object], seen: Callable[[float], object]) -> None:
        """Act, and again, until ``seen(patience in ms)`` holds: a click into a picture that is just being drawn anew
        meets nothing, and no attribute of the page tells when it is over.
        """
        for _ in range(5):
            self.wait_until_idle()
            act()
            with suppress(AssertionError, TimeoutError):
                seen(A_TRY_MS)
                return
        act()
        seen(PATIENCE_MS)

    def toggle(self, name: str, pressed: bool, seen: Locator) -> None:
        """Click a button that stays pressed, again if that click met nothing, until ``seen`` is."""
        button = self.page.get_by_role("button", name=name, exact=True)
        self.until(
            lambda: button.get_attribute("aria-pressed") == str(pressed).lower() or button.click(),
            lambda patience: expect(seen).to_be_visible(timeout=patience),
        )


@pytest.fixture
def visit(app_pages: Pages) -> Iterator[Callable[..., Visit]]:
    """``visit(width=400, color_scheme="dark")`` is a browser that nobody has used; afterwards nothing may have gone
    wrong in it: no error in the console, no request to any other host.
    """
    visits: list[Visit] = []
    with ExitStack() as lent:

        def start(width: int = 1280, height: int = 1000, color_scheme: Literal["light", "dark"] = "light") -> Visit:
            visits.append(Visit())
            page = app_pages.lend(visits[-1].listeners, width, height, color_scheme)
            visits[-1].page = lent.enter_context(page)
            return visits[-1]

        yield start
    for visit in visits:
        assert visit.errors == []
        assert visit.foreign_requests == []


@pytest.fixture
def start_app(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """``start_app(INSIDE_BERT_ROOMS_FILE="…")`` is the app with these settings in a process of its own."""
    started: list[App] = []

    def start(**environment: str) -> App:
        started.append(App(tmp_path / "log", **environment))
        started[-1].start()
        return started[-1]

    yield start
    for app in started:
        app.kill()


@pytest.fixture
def views(visit: Callable[..., Visit], app_url: str) -> Callable[..., Iterator[tuple[Page, PageView]]]:
    """``views("attention", layer="3")``: the page at the size of a projector, in each of its views by a click on the
    tab, with what is seen; at rest each time.
    """

    def walk(name: str, color_scheme: str = "light", **parameters: str) -> Iterator[tuple[Page, PageView]]:
        titles = {view.name: view.title for page in PAGES if page.name == name for view in page.views}
        first, *others = (page_view for page_view in page_views() if page_view.page == name)
        here = visit(1280, 720, color_scheme)
        page = here.open(app_url + first.address(**parameters))
        yield page, first
        for page_view in others:
            tab = page.locator(".st-key-views").get_by_role("radio", name=titles[page_view.view], exact=True)
            tab.click()
            expect(tab).to_be_checked()
            here.wait_until_idle()
            yield page, page_view

    return walk


@pytest.fixture
def open_file(file_pages: Pages, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a component's standalone file; the test fails if the page logs, throws or asks the network."""
    noise: list[str] = []
    file = tmp_path / "view.html"
    listeners = {
        "console": lambda message: noise.append(message.text),
        "pageerror": lambda error: noise.append(str(error)),
        "request": lambda request: request.url == file.as_uri() or noise.append(request.url),
    }
    with ExitStack() as lent:

        def open_(source: dict[str, str], payload: Any, *, width: int = 1000, dark: bool = False) -> Page:
            html = standalone_html(source, payload, title="A view", caption="A test", meta={})
            file.write_text(html, encoding="utf-8")
            page = lent.enter_context(file_pages.lend(listeners, width, 700, "dark" if dark else "light"))
            page.goto(file.as_uri())
            return page

        yield open_
    assert noise == []


@pytest.fixture
def mounted(file_pages: Pages) -> Iterator[Callable[..., tuple[Page, Callable[[Any], None]]]]:
    """A component on a page as Streamlit mounts it, and what runs it on a payload: packed bytes, called again on every
    run. What it reports is in the page's ``reports``, what ends each run in ``ends``.
    """

    def mount(source: dict[str, str]) -> tuple[Page, Callable[[Any], None]]:
        page.set_content(
            f"<style>{source['css']}</style><main>{source['html']}</main>"
            f"<script type=module>{source['js']}\nwindow.render = render;</script>"
        )
        page.wait_for_function("typeof window.render === 'function'")
        page.evaluate("[window.reports, window.ends] = [[], []]")
        return page, run

    def run(payload: Any) -> None:
        page.evaluate(
            """(data) => void ends.push(render({
                data: Uint8Array.from(atob(data), (byte) => byte.charCodeAt(0)),
                parentElement: document.querySelector("main"),
                setStateValue: (name, value) => reports.push([name, value]),
                setTriggerValue: (name, value) => reports.push([name, value]),
            }))""",
            base64.b64encode(pack(payload)).decode(),
        )

    with file_pages.lend({}, 1280, 720) as page:
        yield mount
