"""Generated inputs: whatever is typed, uploaded or linked ends in a result or in a sentence of the project's own.

The suite tries the same two thousand each time. ``HYPOTHESIS_PROFILE=fuzz pytest tests/fuzz`` tries fifty times as
many, others each time.
"""

import os
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

IN_THE_SUITE = os.environ.get("HYPOTHESIS_PROFILE") != "fuzz"
_TIMES = 1 if IN_THE_SUITE else 50

# Inputs for each reader, question and page in the suite: 2,000 and more in all, which test_pages.py holds.
A_READER, A_QUESTION, A_LINK, A_PAGE = 140, 26, 70, 10

MARKUP = st.sampled_from(
    ["<script>alert(1)</script>", "<b><i>", "</div>", "$x^2$", "**", "[a](javascript:0)", ":red[x]", "`", "&amp;",
     "{{}}", "[MASK]", "[SEP]", "<mask>", "\u202e", "\u200b", "\ufeff", "\x00", "\ud800", "\u2028", "🙂",
     "\U0001f468\u200d\U0001f469", "ﷺ", "=1+1", "'", '"', "\t", "\r", "\n", " ", "9" * 5000, "a" * 600]
)  # fmt: skip
_RARE = st.characters(categories=["Cc", "Cf", "Cs", "Co", "Mn", "So"])
TEXTS = st.lists(st.text(max_size=12) | MARKUP | _RARE, max_size=8).map("".join)
"""All of Unicode, halves of surrogate pairs and control characters among it, and markup inside of markup."""


T = TypeVar("T")


def tries(count: int, strategy: st.SearchStrategy[T], check: Callable[[T], None], *, few: bool = False) -> None:
    """``check`` so many generated values, in the large profile fifty times as many; fails where they were fewer, unless
    there are ``few`` different ones.
    """
    done = 0

    @given(strategy)
    @settings(
        max_examples=count * _TIMES, derandomize=IN_THE_SUITE, database=None, suppress_health_check=list(HealthCheck)
    )
    def run_with(value: T) -> None:
        nonlocal done
        done += 1
        check(value)

    run_with()
    assert done >= (2 if few else count * _TIMES), f"{done} inputs were tried"


def one_sentence(message: str) -> None:
    """A message is for the screen: something, of a length that can be read, which ends as a sentence does."""
    assert message.strip()
    assert len(message) < 1000, message
    assert message.rstrip()[-1] in ".)…”", message
    assert message.isprintable() or "\n" not in message, message
