"""A plain server that answers for an engine, on a thread."""

import threading

import uvicorn
from patience import PATIENCE
from starlette.types import ASGIApp

from benchmarks.server import free_port


class PlainServer:
    """``Service`` behind uvicorn, on a thread. It can be stopped, and started again at the same address."""

    def __init__(self, service: ASGIApp) -> None:
        self._service, self.port = service, free_port()
        self.start()

    def start(self) -> None:
        config = uvicorn.Config(self._service, host="127.0.0.1", port=self.port, log_config=None, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
            assert self._thread.is_alive()

    def stop(self) -> None:
        """End at once, whoever is being answered."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"
