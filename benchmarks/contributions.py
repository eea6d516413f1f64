"""``python -m benchmarks.contributions [--only spearman]``: what measures of context mixing say, and what they cost.

- "spearman": how far the ranking of a sentence's words by a measure agrees with true occlusion, as the measures' own
  papers test them: every word is hidden by itself, and ln P of the answer loses so much. Spearman's ρ over the words of
  each of the 100 built-in sentences, its mean with a 95% interval (bootstrap over sentences). ``--markdown`` prints the
  README's table. No times: these numbers are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np

from analysis import explanations
from analysis.explanations import Mean, mean
from analysis.probing.structural import spearman
from benchmarks.measure import arguments, emit
from jobs.explaining import NEARNESS, built_in, explainable
from model_zoo import Engine
from model_zoo.errors import NotSupported
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.intervene import Intervene
from model_zoo.types import METHODS, DoubleArray

MODELS: Final = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")
OCCLUSION: Final = "occlusion"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Spearman's ρ of a measure with occlusion, over ``n`` sentences; those whose words it ranks all the same have
    none.
    """

    measure: str
    rho: Mean
    n: int


def agreements(engine: Engine, model: str, n_sentences: int) -> list[Agreement]:
    """Of every measure, the highest first."""
    found: dict[str, list[float]] = {}
    for question in built_in(model, causal=engine.info(model).lm)[:n_sentences]:
        by_measure = ranked(engine, question)
        truth = by_measure.pop(OCCLUSION)
        for measure, scores in by_measure.items():
            (rho,) = spearman(scores[None], truth[None])
            if np.isfinite(rho):
                found.setdefault(measure, []).append(float(rho))
    table = [Agreement(measure, mean(each), len(each)) for measure, each in found.items()]
    return sorted(table, key=lambda one: -one.rho.value)


def ranked(engine: Engine, question: Intervene) -> dict[str, DoubleArray]:
    """What every measure says of the words of a sentence, a number a word."""
    untouched = engine.ask(question)
    fixed = replace(question, aim=replace(question.aim, answer=untouched.answer.id, position=untouched.position))
    units = explainable(untouched.encoding, untouched.position)
    words = [units[place] for place in explanations.ranked_words(units)]
    found: dict[str, DoubleArray] = {}
    for method in METHODS:
        asked = (fixed.model, fixed.text, fixed.text_pair, fixed.masked, fixed.aim, method)
        try:
            found[method] = explanations.by_word(engine.ask(Attribute(*asked)), words)
        except NotSupported:
            continue
    place = len(untouched.encoding) if untouched.position is None else untouched.position
    found[NEARNESS] = explanations.nearness(words, place)
    return found


def as_markdown(tables: Sequence[Sequence[Agreement]]) -> str:
    """README's table: a row a measure in the order of the first model, a column a model."""
    by_model = [{one.measure: one.rho for one in table} for table in tables]
    rows = [
        f"| {measure} | {' | '.join(f'{each[measure]:.2f}' if measure in each else '–' for each in by_model)} |"
        for measure in by_model[0]
    ]
    head = f"| measure | {' | '.join(f'`{model}`' for model in MODELS)} |"
    return "\n".join([head, f"|---|{'---|' * len(MODELS)}", *rows])


def of_spearman(engine: Engine, n_sentences: int, *, markdown: bool) -> None:
    tables = [agreements(engine, model, n_sentences) for model in MODELS]
    if markdown:
        print(as_markdown(tables))
        return
    for model, table in zip(MODELS, tables, strict=True):
        for one in table:
            emit(benchmark="spearman", model=model, measure=one.measure, n=one.n, **asdict(one.rho))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--only", choices=("spearman",))
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    engine = Engine("cpu")
    if chosen.only in (None, "spearman"):
        of_spearman(engine, chosen.sentences, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
