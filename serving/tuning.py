"""Fine-tuning on the cluster: for each an actor with processors or GPUs of its own, for as long as it lasts.

Ray calls work that keeps a state an actor. A task would not do: it can be cut off, but not asked to stop between two
steps, and then a training that was stopped could not go on from its state.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from model_zoo.errors import ModelZooError, Unreachable
from serving import wire
from training.finetuning.finetune import Finetune
from training.finetuning.results import Event, Heartbeat

_SECONDS_BETWEEN_HEARTBEATS = 1.0
_SECONDS_TO_STOP = 60.0


@ray.remote
class Trainer:
    """Takes the steps of one fine-tuning, one a call."""

    def __init__(self, folder: str, question: bytes) -> None:
        from model_zoo import Engine, tuned

        tuned.share(Path(folder))
        self._parts = Engine(result_bytes=2**20).stream(wire.unpack(question))

    def next(self) -> bytes:
        """The next event, None after the last, or what went wrong, as bytes."""
        try:
            return wire.pack(next(self._parts, None))
        except ModelZooError as error:
            return wire.pack(error)

    def close(self) -> None:
        """Stop; the state is kept, and the same question goes on from there."""
        self._parts.close()


def trained_by_an_actor(folder: Path, cpus: float, gpus: float) -> Callable[[Finetune], Generator[Event, None, None]]:
    """What streams the events of a fine-tuning from an actor. While it waits for its resources there is nothing new."""

    def train(question: Finetune) -> Generator[Event, None, None]:
        options: Any = Trainer.options(num_cpus=cpus, num_gpus=gpus)  # type: ignore[attr-defined]
        trainer = options.remote(str(folder), wire.pack(question))
        over = False
        try:
            while True:
                coming = trainer.next.remote()
                while True:
                    try:
                        event = wire.unpack(ray.get(coming, timeout=_SECONDS_BETWEEN_HEARTBEATS))
                        break
                    except GetTimeoutError:
                        yield Heartbeat()
                if isinstance(event, ModelZooError):
                    raise event
                if event is None:
                    over = True
                    return
                yield event
        except RayError as error:
            over = True
            raise Unreachable("The training stopped because its process was lost. Start it again.") from error
        finally:
            if not over:
                with suppress(RayError):
                    ray.get(trainer.close.remote(), timeout=_SECONDS_TO_STOP)
            ray.kill(trainer)

    return train
