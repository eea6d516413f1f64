"""The kinds of data that people bring, one file each."""

from __future__ import annotations

from typing import Final

from reading.kinds import labelled, minimal_pairs, pairs, pronouns, questions, scored, sentences, tagged, trees
from reading.kinds.base import Kind

KINDS: Final[dict[str, Kind]] = {
    module.KIND.name: module.KIND
    for module in (labelled, scored, tagged, questions, minimal_pairs, pairs, sentences, trees, pronouns)
}
