"""How many failures visitors have seen that nobody foresaw."""

from __future__ import annotations

from web.process import process_cache


class Counter:
    """Counts since the app was started."""

    def __init__(self) -> None:
        self.n = 0


@process_cache()
def unforeseen() -> Counter:
    return Counter()
