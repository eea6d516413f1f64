"""``python -m serving``: the engine on Ray Serve on this machine alone, every port on the loopback."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

# Read when Ray is imported. With the first, Ray's own ports are on the loopback, too: by default they listen on every
# network this machine is in.
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
# Ray reads pickles from who knows its token: without one, from everybody.
os.environ.setdefault("RAY_AUTH_MODE", "token")
# Serve ends a proxy that has not begun within five seconds: too few where other work keeps a machine busy.
os.environ.setdefault("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "60")

LOOPBACK = "127.0.0.1"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m look_inside_bert.serving", description="Run the models here, for the app."
    )
    parser.add_argument("--host", default=LOOPBACK, help="address that takes questions (default: this machine alone)")
    parser.add_argument("--port", type=int, default=8000, help="the port (default: 8000)")
    parser.add_argument("--cpus", type=int, default=None, help="processors that Ray may use (default: all)")
    parser.add_argument("--object-store-mb", type=int, default=100, help="memory of Ray's object store, MB")
    parser.add_argument("--metrics-port", type=int, default=None, help="port of the replicas' metrics for Prometheus")
    parser.add_argument("--update", action="store_true", help="change the settings, or the code, of a running cluster")
    parser.add_argument("--dashboard", action="store_true", help="show Ray's dashboard, on this machine alone")
    parser.add_argument(
        "settings", nargs="*", metavar="name=value", help="a setting of serving.app.Arguments, such as max_replicas=2"
    )
    options = parser.parse_args(arguments)

    import ray
    from pydantic import ValidationError
    from ray import serve

    from model_zoo import tuned
    from model_zoo.engine_settings import sentences
    from model_zoo.errors import ModelZooError
    from model_zoo.types import MB
    from serving.app import TOKEN, Arguments, app

    settings = {name: value for name, _, value in (setting.partition("=") for setting in options.settings)}
    for name in settings.keys() - Arguments.model_fields.keys():
        parser.error(f"{name} is not a setting. There are: {', '.join(Arguments.model_fields)}.")
    try:
        chosen = Arguments(**settings)
        tuned.share(chosen.folder)
    except ValidationError as error:
        parser.error(sentences(error, Arguments.model_fields, lambda _name: "the command"))
    except (ModelZooError, OSError) as error:
        parser.error(f"Tuned models cannot be kept: {error}")
    if options.update:
        ray.init(address="auto", namespace="serve", log_to_driver=False, logging_level="ERROR")
        _patiently(lambda: serve.run(app(chosen), name="models"))
        return
    if not os.environ.get(TOKEN, "").strip():
        os.environ[TOKEN] = secrets.token_urlsafe(24)
        print(f"The app needs to know this token: export {TOKEN}={os.environ[TOKEN]}")
    metrics = {} if options.metrics_port is None else {"_metrics_export_port": options.metrics_port}
    node = {
        "address": "local",
        "namespace": "serve",
        "num_cpus": options.cpus,
        "object_store_memory": options.object_store_mb * MB,
        "include_dashboard": options.dashboard,
        "dashboard_host": LOOPBACK,
        "log_to_driver": False,
        "logging_level": "ERROR",
        "_node_ip_address": LOOPBACK,
        **metrics,
    }
    _patiently(lambda: _start_node(node))
    http = {"host": options.host, "port": options.port}
    _patiently(lambda: serve.start(proxy_location="HeadOnly", http_options=http))
    _patiently(lambda: serve.run(app(chosen), name="models"))
    print(f"Ready. The app finds it by INSIDE_BERT_ENGINE=http://{options.host}:{options.port}", flush=True)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with suppress(KeyboardInterrupt):
        stopped.wait()
    serve.shutdown()
    ray.shutdown()


def _start_node(settings: Mapping[str, Any]) -> None:
    """Raises TimeoutError where it did not start in Ray's half a minute; nothing of it is left then."""
    import psutil
    import ray

    try:
        ray.init(**settings)
    except Exception as error:  # Ray raises no other kind here
        if "timed out during startup" not in str(error):
            raise
        ray.shutdown()
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        raise TimeoutError(str(error)) from error


def _patiently(act: Callable[[], object], times: int = 8) -> None:
    """Acts again where a busy machine takes longer than Ray waits: half a minute for a node, one for a proxy.

    Serve ends a proxy that has not begun in time, and begins another; who waits for the first then gets its death.
    """
    from ray.exceptions import RayActorError

    for _ in range(times - 1):
        with suppress(TimeoutError, RayActorError):
            act()
            return
    act()


if __name__ == "__main__":
    main()
