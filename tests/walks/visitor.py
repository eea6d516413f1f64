"""A visitor of the app without a browser, who does what a browser does.

AppTest reruns the whole script whatever was clicked; a browser reruns a fragment alone, sends only the sidebar's
widgets when the page changes, and keeps a history. The errors that visitors met lay in that difference.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock
from urllib.parse import parse_qsl, urlencode

from patience import PATIENCE
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime
from streamlit.runtime.caching.storage.dummy_cache_storage import MemoryCacheStorageManager
from streamlit.runtime.dataframe_source_manager import DataframeSourceManager
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1.app_test import TESTING_KEY
from streamlit.testing.v1.element_tree import Block, Element, ElementTree, Widget, parse_tree_from_messages
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.testing.v1.util import patch_config_options

from ui.messages import on_script_error

APP = Path(__file__).parents[2] / "app.py"
_SCRIPTS = ScriptCache()
_CACHES = MemoryCacheStorageManager()


@dataclass(frozen=True, slots=True)
class Address:
    """A page's file, such as "pages/attention/page.py", and the parameters behind it."""

    page: str
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{Path(self.page).parent.name}?{urlencode(self.query)}" if self.query else Path(self.page).parent.name


class Visitor:
    """One session. ``steps`` are the parameters whose change is a step of history, as the app tells the browser."""

    def __init__(self, steps: Sequence[str]) -> None:
        self._steps = tuple(steps)
        state = SessionState()
        state[TESTING_KEY] = {}
        self._state = SafeSessionState(state, lambda: None)
        self._session_state, self._cleared_form_ids = self._state, set[str]()  # what an ElementTree asks of its runner
        self._fragments = MemoryFragmentStorage()
        self._components = BidiComponentManager()
        self._pages = PagesManager(str(APP), _SCRIPTS, setup_watcher=False)  # one a session: fragments know its pages
        self._messages: list[Any] = []
        self._chosen: dict[str, WidgetState] = {}  # selections in charts, tables and components
        self._hashes: dict[str, str] = {}
        self._hash = ""
        self._history: list[Address] = []
        self._place = -1
        self.n_runs = 0
        self.tree = ElementTree()

    # What a visitor does

    def open(self, address: Address) -> None:
        """Type an address into a new browser."""
        self._push(address)
        self._run(WidgetStates(), dict(address.query), name=Path(address.page).parent.name)

    def go(self, page: str, query: Mapping[str, str] | None = None) -> None:
        """Choose a page, or follow a link on a page."""
        self._go(Address(page, tuple((query or {}).items())))

    def follow(self, link: Element) -> None:
        """Click a link to a page."""
        page = next(page for page, hash_ in self._hashes.items() if hash_ == link.proto.page_script_hash)
        self.go(page, dict(parse_qsl(link.proto.query_string, keep_blank_values=True)))

    def detour(self, page: str) -> None:
        """Look at another page and come back, by the menu. It leaves no trace in the history, so that Back still leads
        where it led before.
        """
        here, history, place = self.address.page, list(self._history), self._place
        self.go(page)
        self.go(here)
        history[place] = self.address
        self._history, self._place = history, place

    def back(self) -> None:
        """The browser's Back, where there is something to go back to."""
        if self._place > 0:
            self._place -= 1
            self._travel()

    def forward(self) -> None:
        """The browser's Forward."""
        if self._place < len(self._history) - 1:
            self._place += 1
            self._travel()

    def use(self, widget: Widget, value: object) -> None:
        """Give a widget a value, as the browser sends it: of a list of options what is read on them."""
        state = WidgetState(id=widget.id)
        match widget.type:
            case "text_area" | "text_input" | "selectbox":
                state.string_value = str(value)
            case "number_input" if value is not None:
                state.double_value = float(str(value))
            case "slider":
                state.double_array_value.data[:] = [float(str(value))]
            case "select_slider":
                state.string_array_value.data[:] = [str(value)]
            case "checkbox" | "toggle":
                state.bool_value = bool(value)
            case "menu_button":
                state.string_trigger_value.data = str(value)
            case "button":
                state.trigger_value = True
            case "button_group" | "multiselect":
                state.string_array_value.data[:] = list(value) if isinstance(value, tuple | list) else [str(value)]
        self._act(state)

    def choose(self, element: Element, selection: Mapping[str, object]) -> None:
        """Select in a chart, in a table, or in a component of the app's own. The grid of heads and example
        sentences tell of what is opened; the others hold what is selected.
        """
        if element.type == "bidi_component" and element.proto.component_name in ("grid", "example_sentences"):
            event = [{"event": name, "value": value} for name, value in selection.items()]
            trigger = WidgetState(id=_make_trigger_id(element.proto.id, "events"), json_trigger_value=json.dumps(event))
            self._act(trigger)
            return
        state = WidgetState(id=element.proto.id)
        if element.type == "bidi_component":
            state.json_value = json.dumps(selection)
        else:
            state.string_value = json.dumps({"selection": selection})
        self._chosen[state.id] = state
        self._act(state)

    # What he sees

    @property
    def address(self) -> Address:
        return self._history[self._place]

    @property
    def history(self) -> tuple[Address, ...]:
        """Where Back leads, oldest first."""
        return tuple(self._history[: self._place])

    def elements(self) -> Iterator[Element]:
        return (node for node in self.tree if not isinstance(node, Block))

    def widgets(self) -> list[Widget]:
        """Everything on the page that can be changed, without what is set for all pages behind "More"."""
        nodes = [node for node in self.tree.main if isinstance(node, Widget) and node.key != "present"]
        return [node for node in nodes if not getattr(node, "disabled", False)]

    def widget(self, key: str) -> Widget:
        """The widget of this key, or of the page's own field of this name."""
        keys = (key, f"{Path(self.address.page).parent.name}_{key}")
        return next(widget for widget in self.widgets() if widget.key in keys)

    def value(self, name: str, default: object) -> object:
        """A value of the session's, by its key, or by the name of the page's own field."""
        for key in (f"{Path(self.address.page).parent.name}_{name}", name):
            with suppress(KeyError):
                return self._state[key]
        return default

    # How a browser does it

    def _go(self, address: Address) -> None:
        if self.address.page != address.page:
            self._push(address)
        self._chosen.clear()
        self._run(self._widget_states(self.tree.sidebar), dict(address.query), self._hashes[address.page])

    def _travel(self) -> None:
        address = self.address
        self._run(self._widget_states(self.tree.sidebar), dict(address.query), self._hashes[address.page], back=True)

    def _act(self, changed: WidgetState) -> None:
        """Send what has changed, and run the fragment it stands in, or all."""
        metadata = self._state._state.get_widget_metadata(changed.id)
        fragment = metadata.fragment_id if metadata is not None else None
        states = self._widget_states(self.tree)
        others = [state for state in states.widgets if state.id != changed.id]
        states = WidgetStates(widgets=[*others, changed])
        self._run(states, dict(self.address.query), self._hash, fragment=fragment)

    def _push(self, address: Address) -> None:
        self._place += 1
        self._history[self._place :] = [address]

    def _arrived(self, query: dict[str, str], *, replace: bool) -> None:
        """The app has written an address: another step, or the same one by another name."""
        address = Address(self.address.page, tuple(query.items()))
        before = dict(self.address.query)
        if replace or all(before.get(name) == query.get(name) for name in self._steps):
            self._history[self._place] = address
        else:
            self._push(address)

    def _widget_states(self, part: Block) -> WidgetStates:
        states = WidgetStates()
        present = {element.proto.id for element in self.elements() if getattr(element.proto, "id", "")}
        inside = {node.id for node in part if isinstance(node, Widget)}
        states.widgets.extend(state for state in self.tree.get_widget_states().widgets if state.id in inside)
        if part is self.tree:
            states.widgets.extend(state for id_, state in self._chosen.items() if id_ in present)
        return states

    def _run(
        self,
        states: WidgetStates,
        query: Mapping[str, str],
        page: str = "",
        *,
        name: str = "",
        fragment: str | None = None,
        back: bool = False,
    ) -> None:
        """One run of the script, or of one fragment, as Streamlit's server does it."""
        runtime = MagicMock(spec=Runtime)
        runtime.media_file_mgr = MediaFileManager(MemoryMediaFileStorage("/mock/media"))
        runtime.dataframe_source_mgr = DataframeSourceManager()
        runtime.bidi_component_registry = self._components
        runtime.cache_storage_manager = _CACHES
        before = Runtime._instance
        Runtime._instance = runtime
        PagesManager.uses_pages_directory = False  # the app has a router, which the server knows after its first run
        pages = self._pages
        pages.set_current_page_script_hash(self._hash)
        runner = LocalScriptRunner(str(APP), self._state, pages, fragment_storage=self._fragments)
        runner.forward_msg_queue._queue = self._messages
        runner._on_script_error = on_script_error
        entering = page != self._hash
        try:
            runner._requests = ScriptRequests()  # the one it is made with would turn a fragment's run into a whole one
            runner.request_rerun(
                RerunData(
                    query_string=urlencode(query),
                    widget_states=states,
                    page_script_hash=page,
                    page_name=name,
                    fragment_id=fragment,
                    is_history_navigation=back,
                )
            )
            with patch_config_options({"global.appTest": True}):
                runner.start()
                assert runner._script_thread is not None
                runner._script_thread.join(PATIENCE)
                assert not runner._script_thread.is_alive(), f"a run took longer than {PATIENCE:.0f} s"
        finally:
            Runtime._instance = before
        self.n_runs += 1
        self._hash = pages.current_page_script_hash
        self._messages = runner.forward_msgs()
        self.tree = parse_tree_from_messages(self._messages)
        self.tree._runner = self
        root = str(APP.parent)
        self._hashes |= {
            str(Path(str(info["script_path"])).relative_to(root)): hash_ for hash_, info in pages.get_pages().items()
        }
        written = dict(parse_qsl(runner.event_data[-1]["client_state"].query_string, keep_blank_values=True))
        if written != dict(self.address.query):
            self._arrived(written, replace=back or entering)


OpenVisitor = Callable[..., Visitor]
"""What the fixture ``visitor`` is: a visitor who has opened an address."""
