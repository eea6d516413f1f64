"""``python -m benchmarks.faithfulness [--only areas|spearman]``: which explanation is faithful.

Both tests take the built-in sentences, whose longest word is masked, and print README's tables, the same everywhere.

- "areas": area under the deletion and insertion curves of every method, on the default model: mean and median, the
  share of sentences in which it exceeds 1, how far its mean is from that of words in the order of their nearness to
  the mask, sentence by sentence, and in which share of the sentences it is better; with 95% intervals (bootstrap over
  sentences).
- "spearman": how far a measure's ranking of a sentence's words agrees with true occlusion, as the measures' own papers
  test them: every word is hidden by itself, and ln P of the answer loses so much. Mean of Spearman's ρ over sentences,
  with a 95% interval, for each bundled model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from analysis import explanations
from analysis.explanations import Area, mean
from analysis.probing.structural import ordering
from benchmarks.measure import arguments, markdown_table
from jobs.explaining import NEARNESS, Explaining, built_in, explainable
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.errors import NotSupported
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.intervene import Intervene
from model_zoo.types import METHODS, DoubleArray, rolled_out

MODELS: Final = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")
OCCLUSION: Final = "occlusion"


def areas_as_markdown(engine: Engine, n_sentences: int) -> str:
    """The areas of every method, a table a direction, after the probabilities of the targets."""
    job = Explaining(engine, built_in(DEFAULT_MODEL, causal=engine.info(DEFAULT_MODEL).lm)[:n_sentences])
    while job.running:
        job.advance()
    if job.failure is not None:
        raise RuntimeError(job.failure)
    low, median, high = np.quantile(job.probabilities, (0.25, 0.5, 0.75))
    parts = [f"P of the target in the whole sentence: median {median:.3f}, quartiles {low:.3f} and {high:.3f}."]
    for way, better in (("deletion", "less"), ("insertion", "more")):
        measured = f"{way}, {better} is better", "median", "exceeds 1 in", "against nearness", "better than nearness in"
        parts.append(markdown_table(("method", *measured), (_cells(area) for area in job.table() if area.way == way)))
    return "\n\n".join(parts)


def _cells(area: Area) -> list[str]:
    against = (
        "–" if mean is None else format(mean, spec) for mean, spec in ((area.above, "+.3f"), (area.better, ".0%"))
    )
    return [area.method, f"{area.mean:.3f}", f"{area.median:.3f}", f"{area.exceeds_one:.0%}", *against]


def agreements(engine: Engine, model: str, n_sentences: int) -> dict[str, str]:
    """Spearman's ρ of every measure with occlusion, mean and interval over sentences, the highest first; it is 0 in a
    sentence whose words a measure ranks alike.
    """
    correlations: dict[str, list[float]] = {}
    for question in built_in(model, causal=engine.info(model).lm)[:n_sentences]:
        by_measure = word_scores(engine, question)
        truth = by_measure.pop(OCCLUSION)
        for measure, scores in by_measure.items():
            (rho,) = ordering(scores[None], truth[None])
            if np.isfinite(rho):
                correlations.setdefault(measure, []).append(float(rho))
    means = {measure: mean(values) for measure, values in correlations.items()}
    return {measure: f"{means[measure]:.2f}" for measure in sorted(means, key=lambda name: -means[name].value)}


def word_scores(engine: Engine, question: Intervene) -> dict[str, DoubleArray]:
    """For every measure one number for each ranked word of a sentence."""
    untouched = engine.ask(question)
    fixed = replace(question, aim=replace(question.aim, answer=untouched.answer.id, position=untouched.position))
    units = explainable(untouched.encoding, untouched.position)
    words = [units[place] for place in explanations.ranked_words(units)]
    scores: dict[str, DoubleArray] = {}
    for method in METHODS:
        attribute = Attribute(fixed.model, fixed.text, fixed.text_pair, fixed.masked, fixed.aim, method)
        try:
            scores[method] = explanations.by_word(engine.ask(attribute), words)
        except NotSupported:
            continue
    row = len(untouched.encoding) - 1 if untouched.position is None else untouched.position
    for name, reached in _rolled_out(engine, fixed).items():
        scores[name] = np.array([reached[row, word.start : word.stop].sum() for word in words])
    scores[NEARNESS] = explanations.nearness(words, row + (untouched.position is None))
    return scores


def _rolled_out(engine: Engine, question: Intervene) -> dict[str, DoubleArray]:
    """Measures that are no method of attribution, (n, n) each: rollout over other contributions; over value zeroing
    with half for the residual stream, as in rollout over attention; and the mean of value zeroing.
    """
    norm, globenc, zeroed = (
        engine.contributions(question.model, question.text, question.text_pair, measure=measure).maps
        for measure in ("norm", "GlobEnc", "value zeroing")
    )
    return {
        "contributions: norm": rolled_out(norm, residual=False),
        "contributions: GlobEnc": rolled_out(globenc, residual=False),
        "value zeroing, half residual": rolled_out(zeroed),
        "value zeroing, mean of layers": zeroed.mean(axis=0, dtype=np.float64),
    }


def agreements_as_markdown(engine: Engine, n_sentences: int) -> str:
    """The agreement of every measure in every bundled model, in the order of the first."""
    by_model = [agreements(engine, model, n_sentences) for model in MODELS]
    rows = ([name, *(rhos.get(name, "–") for rhos in by_model)] for name in by_model[0])
    return markdown_table(("measure", *(f"`{model}`" for model in MODELS)), rows)


TESTS: Final = {"areas": areas_as_markdown, "spearman": agreements_as_markdown}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--only", choices=TESTS)
    options = parser.parse_args()
    engine = Engine("cpu")
    for name in [options.only] if options.only else TESTS:
        print(TESTS[name](engine, options.sentences), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
