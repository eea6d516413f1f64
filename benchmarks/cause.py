"""``python -m benchmarks.cause [--repeats N] [--only engine|page|areas]``: interventions and what they cost.

Three kinds of lines, one JSON object each:

- "heads" and "gradients": every head of the default model switched off by itself, for 16 and 128 tokens, as a share of
  one plain run a head; 32 steps of integrated gradients as a share of 32 backward passes, one after the other. Both
  sides in the same process and in turns, medians after a warm-up.
- "click": a click that switches a head off until the new predictions are drawn, as a share of a click on a bare
  Streamlit page, in the same run and in turns.
- "areas": area under the deletion and insertion curves of every method on the built-in sentences: mean and median, the
  share of sentences in which it exceeds 1, how far its mean is from that of words in the order of their nearness to the
  mask, sentence by sentence, and in which share of the sentences it is better; with 95% intervals. "targets" says how
  probable the answers are. ``--markdown`` prints both as README has them. No times: these numbers are the same on
  every machine.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import torch
from playwright.sync_api import Page

from analysis.explanations import Area
from benchmarks.attention import text_of
from benchmarks.latency import beside_a_bare_page, click_number, open_page, wait_until_idle
from benchmarks.measure import arguments, emit, interleaved, medians
from jobs.explaining import Explaining, built_in
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.interventions.attribute import attribute
from model_zoo.interventions.intervene import intervene
from model_zoo.interventions.reading import reader
from model_zoo.loading import LoadedModel
from model_zoo.questions.attribute import Attribute
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, TargetAnswer

TARGETS = {16: 0.25, 128: 0.5}
GRADIENTS = 1.1
CLICK = 2.0
STEPS = 32


def masked_text(n_tokens: int) -> tuple[str, tuple[int, ...]]:
    """A text of so many tokens of the default model, and the token of it that is masked."""
    return text_of(n_tokens), (n_tokens // 2,)


def of_heads(loaded: LoadedModel, n_tokens: int, repeats: int) -> None:
    """All heads in turn, compared with one plain run of the same text."""
    info = loaded.info
    changes = [Change(heads=((layer, head),)) for layer in range(info.n_layers) for head in range(info.n_heads)]
    text, masked = masked_text(n_tokens)
    question = Intervene(info.id, text, masked=masked, changes=changes, top_k=1)
    read = reader(loaded, text, None, masked, TargetAnswer())
    inputs = loaded.inputs([read.encoding])

    def plain() -> None:
        with torch.inference_mode():
            read.logits(loaded.model.base_model(**inputs)[0])

    def every() -> None:
        # What a click on the page finds ready, the untouched run of its text, is computed anew here.
        loaded.layerwise_runs.clear()
        for _ in intervene(loaded, question):
            pass

    took = medians({"run_ms": plain, "all_heads_ms": every}, repeats)
    share = took["all_heads_ms"] / (took["run_ms"] * len(changes))
    what = {"model": info.id, "tokens": len(read.encoding), "heads": len(changes)}
    emit(benchmark="heads", **what, **took, share_of_a_run=share, target=TARGETS[n_tokens])


def of_gradients(loaded: LoadedModel, n_tokens: int, repeats: int) -> None:
    """Integrated gradients beside as many backward passes of the same text, each with its forward pass."""
    text, masked = masked_text(n_tokens)
    read = reader(loaded, text, None, masked, TargetAnswer())
    embedding = loaded.encoder.get_input_embeddings()
    ids = torch.tensor([read.encoding.ids])

    def backward() -> None:
        for _ in range(STEPS):
            vectors = embedding(ids).detach().requires_grad_()
            states = loaded.model.base_model(inputs_embeds=vectors)[0]
            torch.autograd.grad(read.logits(states).log_softmax(dim=-1).max(), vectors)

    def integrated() -> None:
        attribute(loaded, Attribute(loaded.info.id, text, masked=masked, steps=STEPS))

    took = medians({"backward_ms": backward, "integrated_ms": integrated}, max(3, repeats // 3))
    share = took["integrated_ms"] / took["backward_ms"]
    what = {"model": loaded.info.id, "tokens": len(read.encoding), "steps": STEPS}
    emit(benchmark="gradients", **what, **took, share=share, target=GRADIENTS)


# Resolves when the answer without one more head is said and its bars are drawn again; the map has its outline by then.
CLICK_CELL = """([row, column]) => new Promise((resolve, reject) => {
    const root = [...document.querySelectorAll('.st-key-cause_map *')].find(host => host.shadowRoot).shadowRoot;
    const map = root.querySelector('.cells'), canvas = root.querySelector('canvas');
    const main = document.querySelector('[data-testid=stMain]');
    const said = () => main.innerText.match(/With [^.]* off, [^.]*/)?.[0] ?? '';
    const bars = () => document.querySelector('.js-plotly-plot .barlayer')?.innerHTML ?? '';
    const [before, drawn] = [said(), bars()];
    const box = canvas.getBoundingClientRect();
    window.__drawn = new Promise((done, fail) => {
        setTimeout(() => fail(new Error('no answer within 30 s')), 30000);
        const off = () => map.dataset.picked.split(' ').includes(`${row}.${column}`);
        const look = () => said() !== before && bars() !== drawn && off()
            ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
        requestAnimationFrame(look);
    });
    window.addEventListener('mousedown', () => { window.__clicked = performance.now(); }, {once: true, capture: true});
    const {left, top, across, down} = JSON.parse(map.dataset.places);
    resolve({x: box.x + left + (column + 0.5) * across, y: box.y + top + (row + 0.5) * down});
})"""


def click_cell(page: Page, row: int, column: int) -> float:
    """Milliseconds from pressing the mouse on a head of the map to its outline, and the answer without it."""
    place = page.evaluate(CLICK_CELL, [row, column])
    page.mouse.click(place["x"], place["y"])
    milliseconds: float = page.evaluate("window.__drawn.then(end => end - window.__clicked)")
    wait_until_idle(page)
    return milliseconds


def of_clicks(repeats: int) -> None:
    with beside_a_bare_page() as (browser, url, bare_page):
        page = browser.new_page()
        text = urllib.parse.urlencode({"text": "The cat sat on the [MASK] because it was tired.", "off": "1.1"})
        open_page(page, f"{url}/cause?{text}")
        page.wait_for_selector(".st-key-cause_map .cells[data-picture]")
        wait_until_idle(page)
        sides = {
            # Each click switches one more head off: the second of the first layer, of the second, and so on.
            "app_ms": lambda number: click_cell(page, number % 6, 1 + number // 6),
            "bare_ms": lambda number: click_number(bare_page, number + 1),
        }
        took = interleaved(sides, repeats, warm_up=3)
        emit(benchmark="click", **took, ratio=took["app_ms"] / took["bare_ms"], target=CLICK)


def of_areas(engine: Engine, model: str, n: int, *, markdown: bool) -> None:
    job = Explaining(engine, built_in(model, causal=engine.info(model).lm)[:n])
    while job.running:
        job.advance()
    if job.failure is not None:
        raise RuntimeError(job.failure)
    table = job.table()
    quarters = np.quantile(job.probabilities, (0.25, 0.5, 0.75)).tolist()
    if markdown:
        print(as_markdown(table, quarters))
        return
    emit(benchmark="targets", model=model, n=job.n_done, p_quarters=quarters)
    for area in table:
        emit(benchmark="areas", model=model, **asdict(area))


def as_markdown(table: Sequence[Area], quarters: Sequence[float]) -> str:
    """README's tables, one a way, and how probable the targets are."""

    def row(one: Area) -> str:
        own = [one.method, f"{one.mean:.3f}", f"{one.median:.3f}", f"{one.exceeds_one:.0%}"]
        beside = ((one.above, "+.3f"), (one.better, ".0%"))
        return f"| {' | '.join([*own, *('–' if each is None else format(each, how) for each, how in beside)])} |"

    low, middle, high = quarters
    told = f"P of the target in the whole sentence: median {middle:.3f}, quartiles {low:.3f} and {high:.3f}."
    parts = [told]
    for way, good in (("deletion", "less"), ("insertion", "more")):
        head = f"| {way}, {good} is better | median | exceeds 1 in | against nearness | better than nearness in |"
        rows = [row(one) for one in table if one.way == way]
        parts.append("\n".join([head.replace("|", "| method |", 1), "|---|---|---|---|---|---|", *rows]))
    return "\n\n".join(parts)


def main() -> None:
    parser = arguments(__doc__, 15, DEFAULT_MODEL)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--only", choices=("engine", "page", "areas"))
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    engine = Engine("cpu")
    if chosen.only in (None, "engine"):
        with engine._memory.lease(chosen.model) as loaded:
            for n_tokens in TARGETS:
                of_heads(loaded, n_tokens, chosen.repeats)
                of_gradients(loaded, n_tokens, chosen.repeats)
    if chosen.only in (None, "page"):
        of_clicks(chosen.repeats)
    if chosen.only in (None, "areas"):
        of_areas(engine, chosen.model, chosen.sentences, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
