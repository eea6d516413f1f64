"""Engines to ask over HTTP: behind a plain server in this process, and on a real Ray cluster of one machine."""

from collections.abc import Iterator

import pytest
from over_http import PlainServer
from programs import program

from benchmarks.server import TOKEN, Cluster
from benchmarks.server import cluster as started_cluster
from model_zoo import Engine
from serving.remote import RemoteEngine
from serving.service import Service


@pytest.fixture(scope="session")
def service(engine: Engine) -> Service:
    return Service(engine, TOKEN)


@pytest.fixture
def plain_server(service: Service) -> Iterator[PlainServer]:
    server = PlainServer(service)
    yield server
    server.stop()


@pytest.fixture
def plain(plain_server: PlainServer) -> RemoteEngine:
    """What asks the session's engine by way of a plain server."""
    return RemoteEngine(plain_server.address, TOKEN)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Two replicas of half a core each, as ``python -m serving`` starts them."""
    program("bash", needs="Ray starts its workers by it")
    with started_cluster("cpus=0.5", "min_replicas=2", "training_cpus=0.5", "any_model=true") as started:
        yield started


@pytest.fixture(scope="session")
def clustered(cluster: Cluster) -> RemoteEngine:
    """What asks the cluster."""
    return RemoteEngine(cluster.address, TOKEN)
