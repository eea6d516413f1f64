"""``python -m benchmarks.contributions [--repeats N] [--only spearman|speed]``: measures of how layers mix tokens.

- "spearman": how far the ranking of a sentence's words by a measure agrees with true occlusion, as the measures' own
  papers test them: every word is hidden by itself, and ln P of the answer loses so much. Spearman's ρ over the words of
  each of the 100 built-in sentences, its mean with a 95% interval (bootstrap over sentences). ``--markdown`` prints the
  README's table. No times: these numbers are the same on every machine.
- "speed": contributions of all layers as a share of one forward pass of the same text, and value zeroing as a share of
  one a token. Both sides in the same process and in turns, medians after a warm-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import torch

from analysis import explanations
from analysis.explanations import Mean, mean
from analysis.probing.structural import spearman
from benchmarks.attention import text_of
from benchmarks.measure import arguments, at_most, emit, medians
from jobs.explaining import NEARNESS, built_in, explainable
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.contributions import contribute
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.intervene import Intervene
from model_zoo.types import CONTRIBUTION_MEASURES, METHODS, DoubleArray, rolled_out

MODELS: Final = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")
OCCLUSION: Final = "occlusion"
CONTRIBUTIONS = {128: 1.5}
VALUE_ZEROING = {16: 0.25, 64: 0.25, 128: 0.25}


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
    row = len(untouched.encoding) - 1 if untouched.position is None else untouched.position
    for name, reached in _rolled_out(engine, fixed).items():
        found[name] = np.array([reached[row, word.start : word.stop].sum() for word in words])
    found[NEARNESS] = explanations.nearness(words, row + (untouched.position is None))
    return found


def _rolled_out(engine: Engine, question: Intervene) -> dict[str, DoubleArray]:
    """What is no method of attribution of its own, (n, n) each: rollout over other contributions; over value zeroing
    with half for the residual stream, as in rollout over attention; and the mean of value zeroing.
    """
    text, pair = question.text, question.text_pair
    norm, globenc, zeroed = (
        engine.contributions(question.model, text, pair, measure=measure).maps
        for measure in ("norm", "GlobEnc", "value zeroing")
    )
    return {
        "contributions: norm": rolled_out(norm, residual=False),
        "contributions: GlobEnc": rolled_out(globenc, residual=False),
        "value zeroing, half residual": rolled_out(zeroed),
        "value zeroing, mean of layers": zeroed.mean(axis=0, dtype=np.float64),
    }


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


def of_speed(loaded: LoadedModel, repeats: int) -> None:
    for n_tokens in sorted({*CONTRIBUTIONS, *VALUE_ZEROING}):
        encoding = loaded.encode(text_of(n_tokens))
        inputs = loaded.inputs([encoding])

        def forward(inputs: dict[str, torch.Tensor] = inputs) -> None:
            with torch.inference_mode():
                loaded.model.base_model(**inputs)

        tasks: dict[str, Callable[[], object]] = {"forward_ms": forward}
        tasks |= {f"{measure}_ms": partial(contribute, loaded, encoding, measure) for measure in CONTRIBUTION_MEASURES}
        took = medians(tasks, repeats)
        emit(benchmark="speed", model=loaded.info.id, tokens=len(encoding), **took)
        for measure in CONTRIBUTION_MEASURES:
            zeroing = measure == "value zeroing"
            passes = len(encoding) if zeroing else 1
            target = (VALUE_ZEROING if zeroing else CONTRIBUTIONS).get(n_tokens)
            if target is not None:
                share = took[f"{measure}_ms"] / (took["forward_ms"] * passes)
                at_most(f"{measure}, {n_tokens} tokens, of {passes} forward passes", share, target)


def main() -> None:
    parser = arguments(__doc__, 15, DEFAULT_MODEL)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--only", choices=("spearman", "speed"))
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    engine = Engine("cpu")
    if chosen.only in (None, "speed"):
        with engine._memory.lease(chosen.model) as loaded:
            of_speed(loaded, chosen.repeats)
    if chosen.only in (None, "spearman"):
        of_spearman(engine, chosen.sentences, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
