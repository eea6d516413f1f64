"""Everything that can go wrong on the way from text to numbers, as a few exceptions.

Every message says what happened and what to do about it: pages show it word for word. All can be pickled.
"""

from __future__ import annotations


class ModelZooError(Exception):
    """Base of all failures a user can cause or meet; ``str(error)`` is fit for the screen."""


class InvalidInput(ModelZooError):
    """The text, a layer, a head or another argument cannot be used as it is.

    ``which`` is the place, from 0, of the one it is about where several were asked about together.
    """

    def __init__(self, message: str = "", which: int | None = None) -> None:
        super().__init__(message)
        self.which = which


class UnknownModel(ModelZooError):
    """No model goes by this name: not in the registry, not on the hub, not a folder."""


class HubUnreachable(ModelZooError):
    """The model would have to be downloaded and the hub does not answer, or will not give it."""


class NotDownloaded(ModelZooError):
    """The model is on the hub only, and this engine asks before it downloads: ``n_bytes`` of ``model``."""

    def __init__(self, message: str, model: str, n_bytes: int) -> None:
        super().__init__(message)
        self.model = model
        self.n_bytes = n_bytes

    def __reduce__(self) -> tuple[type[NotDownloaded], tuple[str, str, int]]:
        return type(self), (str(self), self.model, self.n_bytes)


class DiskFull(ModelZooError):
    """The download does not fit on the disk that holds the hub's local cache."""


class BadCheckpoint(ModelZooError):
    """The files are there but are no checkpoint this app loads (pickles, missing weights, remote code)."""


class OutOfMemory(ModelZooError):
    """The model does not fit into the memory this process may use for models."""


class NoRoomNow(OutOfMemory):
    """It would fit, and what others are doing takes the memory at the moment."""


class NotSupported(ModelZooError):
    """The model works, but cannot give what was asked for (no masked-word head, no attention ...)."""


class Unreachable(ModelZooError):
    """The models stand on a cluster that does not answer now, or has broken off an answer."""


class Busy(ModelZooError):
    """More questions wait than the cluster takes in; this one was not taken."""


class OtherVersion(ModelZooError):
    """The cluster runs another version of this app, or does not know its token."""
