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
        asked = pending_request.metadata
        pending_request.routing_context.should_backoff = True
        if asked.multiplexed_model_id:
            meant = self.apply_multiplex_routing(pending_request=pending_request)
        else:
            meant = {replica.replica_id for replica in candidate_replicas}
        found = [each for each in meant if each in self._replicas]
        if asked.session_id:
            found.sort(key=lambda each: _weight(asked.session_id, each), reverse=True)
            return [[self._replicas[each]] for each in found[: 1 + _NEXT_BEST]]
        return [[self._replicas[each] for each in random.sample(found, min(2, len(found)))]] if found else []


def _weight(text: str, replica: ReplicaID) -> Any:
    """What a replica weighs for a text: the heaviest of all gets it."""
    return zlib.crc32(f"{text} {replica.unique_id}".encode())
