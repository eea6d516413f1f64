"""The numbers of every head under the names that links have, and what one can look for among heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.corpus.head_statistics import BY_VALUE
from analysis.corpus.relation_names import looks, short
from analysis.corpus.results import Results
from analysis.heads import RULES
from model_zoo.types import DoubleArray, counted
from pages.corpus.scene import relation_key, relation_python
from viz.head_measure import SHARE, HeadMeasure

_KEYS: Final = {
    "previous": "the token before",
    "next": "the token after",
    "itself": "itself",
    "delimiter": "special tokens",
    "first": "{first}",
    "separator": "{separator}",
    "same_word": "the same word elsewhere",
    "pieces": "the other pieces of the word",
    "rare": "the rarest word",
    "rare_listed": "the rarest word by the list",
}
"""Where a share of attention goes."""

_NUMBERS: Final = {
    "entropy": ("entropy", "bits"),
    "relative_entropy": ("relative entropy", "share of the largest possible"),
    "spread": ("spread", "share of the tokens"),
    "distance": ("distance", "tokens"),
}
_BY_VALUE: Final = "share of value-weighted attention"
_RIGHT: Final = "share of held-out words"


_OF_RULES: Final = {
    "previous": "looks at the token before",
    "next": "looks at the token after",
    "delimiter": "looks at special tokens",
    "itself": "looks at the token itself",
    "spread": "spreads its attention",
    "own_sentence": "stays within its sentence",
    "same_word": "looks at the same word elsewhere",
    "rare": "looks at the rarest word",
}
"""What a head does that a rule of ``analysis.heads.RULES`` fits, by what the rule tests."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a finder looks for: ``says`` completes "a head that …"; heads are ranked by ``scores`` (heads,), and what is
    said of them is a measure, by its name in links. ``condition`` says on what they were ranked, where that is not it.
    """

    says: str
    scores: DoubleArray
    measure: str
    condition: str = ""

    def best(self, most: int = 5) -> list[int]:
        """The places of the heads that do it most, best first."""
        order = np.argsort(-np.nan_to_num(self.scores, nan=-np.inf), kind="stable")
        return [int(place) for place in order[:most] if np.isfinite(self.scores[place])]


class Numbers:
    """What results say of every head. ``special`` is what the model calls its special tokens
    (``analysis.head_measures.special_names``).
    """

    def __init__(self, results: Results, special: Mapping[str, str]) -> None:
        self._statistics, self._special = results.statistics, special
        self._findings = {relation_key(finding.relation): finding for finding in results.findings.relations}
        self.measures = self._measures()

    def _measures(self) -> dict[str, HeadMeasure]:
        """The measures that any head has, by their names in links."""
        called = {"first": "the first token", "separator": "special tokens at the end"} | dict(self._special)
        places = {key: place.format(**called) for key, place in _KEYS.items()}
        titles = {key: (f"on {place}", SHARE) for key, place in places.items()}
        titles |= _NUMBERS
        titles |= {f"{BY_VALUE}{key}": (f"carried by {place}", _BY_VALUE) for key, place in places.items()}
        known = set(self._statistics.defined())
        return {
            key: HeadMeasure(title, self._statistics.measure(key), *self._statistics.interval(key), unit)
            for key, (title, unit) in titles.items()
            if key in known
        }

    @property
    def titles(self) -> dict[str, str]:
        """All numbers that heads have, by their names in links: measures, then how often they find a relation."""
        titles = {name: measure.name for name, measure in self.measures.items()}
        return titles | {name: short(measure.relation) for name, measure in self._findings.items()}

    def of(self, name: str) -> HeadMeasure:
        """A number of every head by its name in links; of a relation that of the half of the sentences that judges."""
        if name in self.measures:
            return self.measures[name]
        relation = self._findings[name].relation
        return HeadMeasure(short(relation), *self._statistics.right(relation), _RIGHT)

    def python_code(self, name: str) -> str:
        """A number of every head in ``statistics``, as an expression."""
        if name in self.measures:
            return f'statistics.measure("{name}")'
        return f"statistics.right({relation_python(self._findings[name].relation)})[0]"

    def sought(self) -> dict[str, Sought]:
        """All that a finder can look for, by its name in links: what the rules of kinds of heads test, the model's
        special tokens, and every relation in both directions.
        """
        statistics = self._statistics
        criteria = {
            rule.tested: Sought(_OF_RULES[rule.tested], scores, rule.tested)
            for rule, scores in zip(RULES, statistics.table().rule_scores, strict=True)
        }
        criteria |= {
            share: Sought(f"looks at {name}", statistics.measure(share), share)
            for share, name in self._special.items()
            if share in self.measures
        }
        criteria = {name: finding for name, finding in criteria.items() if np.isfinite(finding.scores).any()}
        return criteria | {
            name: Sought(
                f"{looks(finding.relation)} ({finding.relation.deprel})",
                finding.choosing,
                name,
                f"Heads are ranked by {finding.n_choosing:,} words of one half of the sentences; the shares are of the "
                f"{finding.n_judged:,} of the other half, where the word {_offset(finding.offset)} is right in "
                f"{finding.by_offset.share:.2f}.",
            )
            for name, finding in self._findings.items()
        }

    def frame(self) -> pd.DataFrame:
        """A row a head: layer and head from 1, its kind, and each measure with the ends of its interval."""
        frame = self._statistics.to_frame()
        frame[["layer", "head"]] += 1
        return frame[
            ["layer", "head", "label", *(name + end for name in self.measures for end in ("", "_low", "_high"))]
        ]


def _offset(words: int) -> str:
    """Where a fixed offset leads."""
    return f"{counted(abs(words), 'place')} {'before' if words < 0 else 'after'}"
