"""How many files the process may have open, connections among them: as many as the system lets it have."""

from __future__ import annotations

import logging
import sys

_log = logging.getLogger(__name__)

_WANTED = 8_192
_FEW = 512
_OWN, _OF_A_VISITOR = 24, 8  # four browsers that opened pages took 52 together


def allow_more() -> None:
    """Raise the limit as far as that needs no rights; where it stays low, the log says for how many visitors it is."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
    if 0 <= soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if 0 <= soft < _FEW:
        _log.warning(
            "this process can open %s files and connections at a time, enough for about %s visitors: raise the limit "
            "(ulimit -n 1024)",
            soft,
            max(0, (soft - _OWN) // _OF_A_VISITOR),
        )
