"""How many failures visitors have seen that nobody foresaw."""

from __future__ import annotations

from web.process import kept


class Counter:
    """Counts since the app was started."""

    def __init__(self) -> None:
        self.n = 0


@kept()
def unforeseen() -> Counter:
    return Counter()
