"""Masked words beside transformers' own ways: one mask against the fill-mask pipeline, all tokens against a loop.

    python -m benchmarks.mlm [--repeats N] [--model ID]

Prints one JSON line each. Both sides use the same weights in this process and are timed in turns: medians after a warm-
up; the engine remembers no answer. The pipeline loads them with transformers' defaults. The loop is what one would
write first: for every token a copy of the input with a mask, a run of the model, softmax.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForMaskedLM, FillMaskPipeline

from benchmarks.measure import arguments, emit, medians
from model_zoo import DEFAULT_MODEL, Engine, masked, sources
from model_zoo.loading import LoadedModel
from model_zoo.types import FloatArray

SENTENCE = "The keys to the old wooden cabinet in the hall are on the [MASK] beside the door."
PARAGRAPH = (
    "The library opens at nine, but the reading room is often full by ten. Students come early to find a desk near the "
    "window, where the light is good and the noise of the street is faint. In the afternoon most of them leave for "
    "lectures, and older readers take their places with newspapers, maps and letters from the archive in the cellar."
)
TOKENS = 64


def scores(loaded: LoadedModel, text: str) -> FloatArray:
    """ln P of every token by the app."""
    ((_, found),) = masked.token_scores(loaded, [text])
    return found.log_probabilities


def slow_scores(model: Any, ids: list[int], mask: int) -> list[float]:
    """ln P of every token but the first and the last, one run of the model per token."""
    scores = []
    with torch.inference_mode():
        for place in range(1, len(ids) - 1):
            inputs = torch.tensor([[*ids[:place], mask, *ids[place + 1 :]]], device=model.device)
            output = model(inputs)
            logits = output.prediction_logits if "prediction_logits" in output else output.logits
            scores.append(float(logits[0, place].float().log_softmax(dim=-1)[ids[place]]))
    return scores


def masked_lm(folder: Path) -> Any:
    """The network as the pipeline loads it."""
    return AutoModelForMaskedLM.from_pretrained(folder).eval()


def main() -> None:
    parser = arguments(__doc__, 50, DEFAULT_MODEL)
    chosen = parser.parse_args()
    name, engine = chosen.model, Engine("cpu", result_bytes=0)
    folder = sources.find(name).folder
    if folder is None:
        parser.error(f"{name} is not on this disk; run it once in the app, or choose another model")
    threads = torch.get_num_threads()
    with engine._memory.lease(name) as loaded:
        sentence = SENTENCE.replace("[MASK]", loaded.tokenizer.mask_token)
        pipeline = FillMaskPipeline(model=masked_lm(folder), tokenizer=loaded.tokenizer, top_k=10)
        theirs_best, ours_best = pipeline(sentence)[0], engine.fill_mask(name, sentence)[0].best[0]
        assert theirs_best["token"] == ours_best.id
        assert abs(theirs_best["score"] - ours_best.probability) < 1e-5
        sides = {"ours_ms": lambda: engine.fill_mask(name, sentence), "pipeline_ms": lambda: pipeline(sentence)}
        took = medians(sides, chosen.repeats, warm_up=1)
        what = {"model": name, "tokens": len(loaded.encode(sentence)), "threads": threads}
        emit(benchmark="fill_mask", **what, **took, ratio=took["ours_ms"] / took["pipeline_ms"])
        text = loaded.tokenizer.decode(loaded.tokenizer(PARAGRAPH, add_special_tokens=False)["input_ids"][: TOKENS - 2])
        ids = list(loaded.encode(text).ids)
        mask = loaded.tokenizer.mask_token_id
        batched = scores(loaded, text)[1:-1]
        slow = slow_scores(loaded.model, ids, mask)
        assert max(abs(a - b) for a, b in zip(batched.tolist(), slow, strict=True)) < 1e-4
        sides = {"ours_ms": lambda: scores(loaded, text), "loop_ms": lambda: slow_scores(loaded.model, ids, mask)}
        took = medians(sides, max(3, chosen.repeats // 10), warm_up=1)
        what = {"model": name, "tokens": len(ids), "threads": threads}
        emit(benchmark="token_scores", **what, **took, times_faster=took["loop_ms"] / took["ours_ms"])


if __name__ == "__main__":
    main()
