"""Which replica a request goes to: one that has its model, and of those, for one text always the same one.

What is asked of a run of attention comes in several requests, and a replica that has the run need not make it again.
Serve's own routers know either of models or of sessions; this one is put together from Serve's parts and knows both.
"""

from __future__ import annotations

import random
import zlib
from typing import Any

from ray.serve.request_router import MultiplexMixin, PendingRequest, ReplicaID, RequestRouter, RunningReplica

_NEXT_BEST = 2
"""Replicas that are tried after the one that is meant, where that takes no more in."""


class ByModelAndText(MultiplexMixin, RequestRouter):
    """A request with a session id (the text's) goes by rendezvous hashing (Thaler & Ravishankar 1998), so that a
    replica that comes or goes moves no more texts than it must. Others go to the less busy of two.
    """

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        if pending_request is None:
            return [candidate_replicas]
        metadata = pending_request.metadata
        pending_request.routing_context.should_backoff = True
        if metadata.multiplexed_model_id:
            meant = self.apply_multiplex_routing(pending_request=pending_request)
        else:
            meant = {replica.replica_id for replica in candidate_replicas}
        running = [replica_id for replica_id in meant if replica_id in self._replicas]
        if metadata.session_id:
            running.sort(key=lambda replica_id: _weight(metadata.session_id, replica_id), reverse=True)
            return [[self._replicas[replica_id]] for replica_id in running[: 1 + _NEXT_BEST]]
        return (
            [[self._replicas[replica_id] for replica_id in random.sample(running, min(2, len(running)))]]
            if running
            else []
        )


def _weight(text: str, replica: ReplicaID) -> Any:
    """What a replica weighs for a text: the heaviest of all gets it."""
    return zlib.crc32(f"{text} {replica.unique_id}".encode())
