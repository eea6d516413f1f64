"""``python -m benchmarks.contributions [--repeats N] [--only spearman|speed|show]``: measures of how layers mix tokens.

- "spearman": how far the ranking of a sentence's words by a measure agrees with true occlusion, as the measures' own
  papers test them: every word is hidden by itself, and ln P of the answer loses so much. Spearman's ρ over the words of
  each of the 100 built-in sentences, its mean with a 95% interval (bootstrap over sentences). ``--markdown`` prints the
  README's table. No times: these numbers are the same on every machine.
- "speed": contributions of all layers as a share of one forward pass of the same text, and value zeroing as a share of
  one a token. Both sides in the same process and in turns, medians after a warm-up.
- "show": from a click on another measure in the switch "Show" of All heads until the words and the heatmap are of it,
  with a text that is new, and again when its numbers are remembered; beside it, in turns, a click on a bare Streamlit
  page that only changes a number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Final
from urllib.parse import urlencode

import numpy as np
import torch
from playwright.sync_api import Page

from analysis import explanations
from analysis.explanations import Mean, mean
from analysis.probing.structural import spearman
from analysis.views import Measure
from benchmarks.attention import text_of
from benchmarks.latency import TARGET, beside_a_bare_page, click_number, open_page, wait_until_idle
from benchmarks.measure import arguments, at_most, emit, interleaved, medians
from jobs.explaining import NEARNESS, built_in, explainable
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.contributions import contribute
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.intervene import Intervene
from model_zoo.types import CONTRIBUTION_MEASURES, METHODS, DoubleArray, rolled_out
from ui.show import SHOW

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


# Resolves when the words say what they are of and the heatmap is another picture, counted on its element.
SWITCHED = """direction => {
    const inside = key => [...document.querySelectorAll(`.st-key-${key} *`)].find(host => host.shadowRoot)?.shadowRoot;
    const heatmap = () => inside('heatmap')?.querySelector('.heatmap');
    const [element, picture] = [heatmap(), heatmap().dataset.picture];
    window.__drawn = new Promise((done, fail) => {
        setTimeout(() => fail(new Error(`“${direction}” was not drawn within 60 s`)), 60000);
        const look = () => {
            const now = heatmap();
            const said = inside('lit_words')?.querySelector('.direction span')?.textContent === direction;
            const another = now?.dataset.picture && (now !== element || now.dataset.picture !== picture);
            requestAnimationFrame(said && another ? () => done(performance.now()) : look);
        };
        requestAnimationFrame(look);
    });
    window.addEventListener('mousedown', () => { window.__clicked = performance.now(); }, {once: true, capture: true});
}"""
DIRECTIONS: Final[dict[Measure, str]] = {
    "value-weighted": "Takes from",
    "ALTI": "Takes from",
    "value zeroing": "Changes without",
}


def of_show(repeats: int) -> None:
    with beside_a_bare_page() as (browser, url, bare_page):
        clicks = itertools.count(1)
        for n_tokens in (32, 128):
            page = browser.new_page()

            def first(measure: Measure, number: int, page: Page = page, n_tokens: int = n_tokens) -> float:
                words = text_of(n_tokens).split()
                place = ([*DIRECTIONS].index(measure) + len(DIRECTIONS) * number) % len(words)
                text = " ".join([*words[place:], *words[:place]])
                open_page(page, f"{url}/attention?" + urlencode({"text": text}))
                page.wait_for_selector(".st-key-heatmap .heatmap[data-picture]", timeout=60_000)
                wait_until_idle(page)
                return _show(page, SHOW.labels[measure], DIRECTIONS[measure])

            def again(measure: Measure, _number: int, page: Page = page) -> float:
                _show(page, SHOW.labels["weights"], "Attends to")
                return _show(page, SHOW.labels[measure], DIRECTIONS[measure])

            tasks: dict[str, Callable[[int], float]] = {"bare page": lambda _: click_number(bare_page, next(clicks))}
            for measure in DIRECTIONS:
                tasks |= {measure: partial(first, measure), f"{measure} again": partial(again, measure)}
            took = interleaved(tasks, repeats, warm_up=1)
            page.close()
            emit(benchmark="show", tokens=n_tokens, **{f"{name}_ms": each for name, each in took.items()})
            for name in [*took][1:]:
                at_most(f"Show: {name}, {n_tokens} tokens, of bare pages", took[name] / took["bare page"], TARGET)


def _show(page: Page, title: str, direction: str) -> float:
    """Milliseconds from pressing the mouse on an option of the switch until it is what is shown."""
    page.get_by_role("combobox", name="Show").click()
    option = page.get_by_role("option", name=title, exact=True)
    option.wait_for()
    page.evaluate(SWITCHED, direction)
    option.click()
    milliseconds: float = page.evaluate("window.__drawn.then(end => end - window.__clicked)")
    wait_until_idle(page)
    return milliseconds


def main() -> None:
    parser = arguments(__doc__, 15, DEFAULT_MODEL)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--only", choices=("spearman", "speed", "show"))
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    engine = Engine("cpu")
    if chosen.only in (None, "speed"):
        with engine._memory.lease(chosen.model) as loaded:
            of_speed(loaded, chosen.repeats)
    if chosen.only in (None, "show"):
        of_show(chosen.repeats)
    if chosen.only in (None, "spearman"):
        of_spearman(engine, chosen.sentences, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
