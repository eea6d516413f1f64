"""Which head should I look at? Every head measured, compared with a uniform head, and labelled by stated rules.

A rule is a line of ``heads.tsv``. Labels describe where attention goes; they do not say what a head is for. On a
short text a head without any preference fits a rule now and then, so a rule also has to be unlikely by chance:
see ``FALSE_ALARMS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.head_measures import (
    MEASURE_NAMES,
    SHARES,
    Marks,
    Measured,
    Measures,
    Totals,
    counted_keys,
    mean_measures,
    rarest_tokens,
)
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, IntArray, Shows
from model_zoo.types import counted as counted_noun

MIXED = "mixed"

# The largest probability with which a head that has no preference gets any label. No preference about places: each
# query's weights are shuffled among the keys that it may see, whatever they are. No preference for an even spread
# either: scores of random queries and keys, which have variance 1 (Vaswani et al. 2017), or weights drawn evenly from
# all that sum to 1. Queries count as independent: a head in which all of them look at one place, whatever it is, meets
# a special token by chance as often as these are among the keys, and is then called "delimiter", which it is on
# this text.
FALSE_ALARMS = 0.05


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of head: its name, one sentence that explains it, where it comes from, and how it is recognized.

    The rule holds where the heads' score is at least ``threshold`` and the measure ``tested`` is larger than chance
    makes it. ``score_by`` takes the measures of the heads and those of a uniform head on the same texts; without one,
    the score is how far what is tested is above the uniform head's.
    """

    name: str
    explanation: str
    source: str
    tested: str
    threshold: float
    score_by: Callable[[Measures, Measures], Measured] | None

    def score(self, measured: Measures, uniform: Measures) -> Measured:
        """One number per head, (heads,): 1 for a perfect example of its kind."""
        if self.score_by is not None:
            return self.score_by(measured, uniform)
        return _above_uniform(self.tested, measured, uniform)


def _above_uniform(share: str, measured: Measures, uniform: Measures) -> Measured:
    """(share - u) / (1 - u), u what a uniform head gives: 0 for the uniform head, 1 if all goes there.

    Without this a text of four tokens would make every head a "delimiter" head.
    """
    base = getattr(uniform, share)
    left = 1 - base
    return np.divide(getattr(measured, share) - base, left, out=np.full_like(base, np.nan), where=left > 1e-9)


def _spread_score(measured: Measures, _uniform: Measures) -> Measured:
    return measured.spread


def _block_score(measured: Measures, uniform: Measures) -> Measured:
    """Attention stays within its own sentence and is spread evenly there, not held by one near token."""
    return _above_uniform("own_sentence", measured, uniform) * measured.own_evenness


_SCORES = {"spread": _spread_score, "own_sentence": _block_score}
"""How the rules are scored that do not ask how far what is tested is above the uniform head's."""


def _read_rules() -> tuple[Rule, ...]:
    rows = (line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()[1:])
    return tuple(
        Rule(name, explanation, source, tested, float(threshold), _SCORES.get(tested))
        for name, tested, threshold, source, explanation in rows
    )


RULES = _read_rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTable(Shows):
    """All heads of a model, one entry per head in every array: where it looks and what to call that.

    ``layer`` and ``head`` count from 0. ``measures`` are those of the heads, ``uniform`` those of a head that spreads
    its attention evenly over the same texts (in the same layer). ``rule_scores`` is float64 (rules, heads) in the order
    of ``RULES``, and ``p_values`` (rules, heads) bound from above how often a head without preference would reach what
    the rule tests. A rule holds from its threshold upwards where its p is at most ``FALSE_ALARMS`` divided by the
    number of rules (Bonferroni). ``labels`` holds the rule that is exceeded by most, as a share of the way from its
    threshold to 1, and ``scores`` its score; "mixed" and nan where no rule holds. ``n_queries`` query tokens of
    ``n_texts`` texts were measured.
    """

    layer: IntArray = field(repr=False)
    head: IntArray = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    scores: Measured
    rule_scores: Measured
    p_values: Measured
    measures: Measures
    uniform: Measures
    n_queries: int
    n_texts: int

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<HeadTable {counted_noun(len(self), 'head')}, {counted_noun(self.n_queries, 'token')}>"

    def lift(self, share: str) -> Measured:
        """How many times the share a uniform head gives, (heads,); ``share`` is one of ``SHARES``."""
        lift: Measured = getattr(self.measures, share) / getattr(self.uniform, share)
        return lift

    def to_frame(self) -> pd.DataFrame:
        """One row per head: layer, head (from 0), label, score, the measures, ``<share>_lift`` of shares.

        Without the columns of "rare" and "rare_listed" where it is not known how rare tokens are.
        """
        columns: dict[str, object] = {
            "layer": self.layer,
            "head": self.head,
            "label": self.labels,
            "score": self.scores,
        }
        columns |= {measure.name: getattr(self.measures, measure.name) for measure in fields(Measures)}
        columns |= {f"{share}_lift": self.lift(share) for share in SHARES}
        for share in ("rare", "rare_listed"):
            if np.isnan(getattr(self.measures, share)).all():
                del columns[share], columns[f"{share}_lift"]
        return pd.DataFrame(columns)


def head_table(runs: Iterable[AttentionRun], rarity: Sequence[float] | None = None) -> HeadTable:
    """Measure and label all heads of one model over one or more texts, every query token counting equally.

    ``rarity`` gives a number for every id of the vocabulary, higher for rarer tokens, such as minus their counts in
    a corpus. Without it nothing is said of rare tokens: ids follow frequency too loosely to stand for it.

    A key to which no head of a layer gives any weight counts as hidden (causal and sliding-window attention), so that
    shares and the uniform head cover only what a query may see. Runs are read one at a time and a layer at a time, so
    ``runs`` may be a generator. Raises InvalidInput if there is no run, the runs are of different models or of
    different parts of one, or no text holds anything but special tokens.
    """
    totals: list[Totals] = []
    model: tuple[str, str, str] | None = None
    n_texts = n_queries = 0
    for run in runs:
        if model is None:
            model = run.model.id, run.model.revision, run.stack
            totals = [Totals.zeros(layer.n_heads) for layer in run.layers]
        elif model[:2] != (run.model.id, run.model.revision):
            raise InvalidInput(f"The texts were read by two models, {model[0]} and {run.model.id}. Use one for all.")
        elif model[2] != run.stack:
            raise InvalidInput(f"The texts were read by two parts, {model[2]} and {run.stack}. Use one for all.")
        n_typed = sum(not special for special in run.encoding.special)
        n_texts += 1
        n_queries += n_typed
        if n_typed:
            numbers: dict[str, int] = {}
            queries, keys = (
                Marks.build([encoding], [rarest_tokens(encoding, rarity)], [None], numbers)
                for encoding in (run.encoding, run.key_encoding)
            )
            counted = counted_keys(queries, keys if run.stack == "cross" else queries)
            for layer, total in enumerate(totals):
                total.add(counted.sums(run.layer(layer)[None]))
    if not n_queries:
        raise InvalidInput("There are no words to measure the heads on. Give at least one sentence.")
    return table_of(totals, n_queries, n_texts)


def table_of(totals: Sequence[Totals], n_queries: int, n_texts: int) -> HeadTable:
    """The table of what was measured layer by layer."""
    sums = np.concatenate([total.sums[:-1] for total in totals])
    counts = np.concatenate([np.repeat(total.counts[None], len(total.sums) - 1, axis=0) for total in totals])
    base = np.concatenate([np.repeat(total.sums[-1:], len(total.sums) - 1, axis=0) for total in totals])
    measures, uniform = mean_measures(sums, counts), mean_measures(base, counts)
    scores = np.array([rule.score(measures, uniform) for rule in RULES])
    thresholds = np.array([rule.threshold for rule in RULES])[:, None]
    p_values = _p_values(measures, uniform, dict(zip(MEASURE_NAMES, counts.T, strict=True)), _spreads_by_chance(totals))
    passed_by = np.nan_to_num((scores - thresholds) / (1 - thresholds), nan=-np.inf)
    passed_by[p_values > FALSE_ALARMS / len(RULES)] = -np.inf
    best = passed_by.argmax(axis=0)
    heads = np.arange(len(best))
    holds = passed_by[best, heads] >= 0
    return HeadTable(
        layer=np.concatenate([np.full(len(total.sums) - 1, layer) for layer, total in enumerate(totals)]),
        head=np.concatenate([np.arange(len(total.sums) - 1) for total in totals]),
        labels=tuple(RULES[rule].name if held else MIXED for rule, held in zip(best, holds, strict=True)),
        scores=np.where(holds, scores[best, heads], np.nan),
        rule_scores=scores,
        p_values=p_values,
        measures=measures,
        uniform=uniform,
        n_queries=n_queries,
        n_texts=n_texts,
    )


def _spreads_by_chance(totals: Sequence[Totals]) -> tuple[Measured, Measured]:
    """Mean and variance, each (heads of all layers,), that a head's mean spread has by chance; nan without a choice."""
    n_heads = [len(total.sums) - 1 for total in totals]
    n = np.repeat([total.counts[MEASURE_NAMES.index("spread")] for total in totals], n_heads)
    mean, variance = np.repeat([total.chance for total in totals], n_heads, axis=0).T
    n = np.where(n > 0, n, np.nan)
    return mean / n, variance / n**2


def _p_values(
    measures: Measures, uniform: Measures, counts: dict[str, Measured], spread: tuple[Measured, Measured]
) -> Measured:
    """How often at most a head without preference reaches what a rule tests: (rules, heads); nan where undefined."""
    return np.array(
        [
            _spread_chance(measures.spread, *spread)
            if rule.tested == "spread"
            else _share_chance(getattr(measures, rule.tested), getattr(uniform, rule.tested), counts[rule.tested])
            for rule in RULES
        ]
    )


def _share_chance(share: Measured, expected: Measured, n: Measured) -> Measured:
    """Bound on the probability that n independent shares, ``expected`` on average, reach ``share``: e^(-n KL), with KL
    from a coin of the one to a coin of the other (Hoeffding 1963, theorem 1).

    Shuffled among the keys, the weights that fall on a rule's keys are independent from query to query, between 0 and
    1, and on average what a uniform head gives; the bound asks nothing else of them.
    """
    from scipy.special import xlogy  # 13 MB, which a page that measures no heads does not need

    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = xlogy(share, share / expected) + xlogy(1 - share, (1 - share) / (1 - expected))
        bound: Measured = np.exp(-n * divergence)
    return np.where(share > expected, bound, np.where(np.isnan(share), np.nan, 1.0))


def _spread_chance(spread: Measured, mean: Measured, variance: Measured) -> Measured:
    """The probability that a mean spread reaches ``spread``, by the beta distribution of this mean and variance."""
    from scipy.special import betainc

    size = mean * (1 - mean) / variance - 1
    # The far side of the distribution is the near side of the mirrored one.
    return np.asarray(betainc((1 - mean) * size, mean * size, 1 - np.clip(spread, 0, 1)), dtype=np.float64)
