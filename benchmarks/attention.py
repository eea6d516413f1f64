"""``python -m benchmarks.attention [--max-tokens N]``: this app's attention beside BertViz's, on the bundled model.

Milliseconds are counted from a finished forward pass to what is sent to the browser; bytes are the size of that.
BertViz gets eager attentions, as it needs them; ``forward_ms`` is the plain fused pass with nothing captured, and
``eager_forward_ms`` the pass BertViz needs.
"""

from __future__ import annotations

import contextlib
import io
from itertools import cycle, islice
from typing import Any

import torch
from bertviz import head_view, model_view
from transformers import AutoModel

from analysis.thumbnails import thumbnails
from benchmarks.measure import arguments, emit, medians
from model_zoo import DEFAULT_MODEL, loading, running, sources
from model_zoo.types import AttentionRun
from viz.component import pack
from viz.grid import grid
from viz.heatmap import heatmap

TOKENS = (16, 32, 64, 128, 256, 512)
_WORDS = "the old man in the boat looked at the water and thought of the fish that he had lost again"
REPEATS = 15
# One run of BertViz takes tens of seconds at 512 tokens.
BERTVIZ_REPEATS = {16: 7, 32: 7, 64: 5, 128: 3, 256: 1, 512: 1}


def text_of(n_tokens: int, first: int = 0) -> str:
    """A text of n_tokens tokens, [CLS] and [SEP] among them, that begins with the word at ``first``."""
    return " ".join(islice(cycle(_WORDS.split()), first, first + n_tokens - 2))


def grid_of(run: AttentionRun) -> bytes:
    """All heads as the page sends them, computed from the run's queries and keys."""
    return pack(grid(thumbnails(run.layer(layer) for layer in range(run.n_layers)), (0, 0)))


def bertviz(view: Any, attentions: tuple[torch.Tensor, ...], tokens: list[str]) -> str:
    """The HTML of one of BertViz's views."""
    with contextlib.redirect_stdout(io.StringIO()):
        return str(view(attentions, tokens, html_action="return").data)


def measure(loaded: loading.LoadedModel, eager: Any, fused: Any, n_tokens: int) -> None:
    text = text_of(n_tokens)
    run = running.attend(loaded, text, None)
    assert run.n_tokens == n_tokens
    tokens = list(run.encoding.tokens)
    inputs = loaded.inputs([run.encoding])

    def forward() -> None:
        with torch.inference_mode():
            fused(**inputs)

    def eager_forward() -> tuple[torch.Tensor, ...]:
        with torch.inference_mode():
            return tuple(eager(**inputs, output_attentions=True).attentions)

    ours = {
        "forward_ms": forward,
        "attend_ms": lambda: running.attend(loaded, text, None),
        "eager_forward_ms": eager_forward,
        "heatmap_ms": lambda: pack(heatmap(run.head(2, 3), tokens, tokens)),
        "grid_ms": lambda: grid_of(run),
    }
    attentions = eager_forward()
    sent: dict[str, int] = {}

    def theirs(name: str, view: Any) -> None:
        sent[name] = len(bertviz(view, attentions, tokens).encode())

    of_bertviz = {
        "bertviz_head_ms": lambda: theirs("bertviz_head_bytes", head_view),
        "bertviz_model_ms": lambda: theirs("bertviz_model_bytes", model_view),
    }
    repeats = BERTVIZ_REPEATS[n_tokens]
    figures = medians(ours, REPEATS) | medians(of_bertviz, repeats, warm_up=int(repeats > 1))
    sizes = {
        "heatmap_bytes": len(pack(heatmap(run.head(2, 3), tokens, tokens))),
        "grid_bytes": len(grid_of(run)),
        **sent,
        "run_bytes": run.n_bytes,
        "eager_attention_bytes": sum(maps.nbytes for maps in attentions),
    }
    everything: dict[str, float] = figures | sizes
    ratios = {
        "attend_over_forward": figures["attend_ms"] / figures["forward_ms"],
        "head_view_over_heatmap_ms": figures["bertviz_head_ms"] / figures["heatmap_ms"],
        "head_view_over_heatmap_bytes": sizes["bertviz_head_bytes"] / sizes["heatmap_bytes"],
        "model_view_over_grid_ms": figures["bertviz_model_ms"] / figures["grid_ms"],
        "model_view_over_grid_bytes": sizes["bertviz_model_bytes"] / sizes["grid_bytes"],
    }
    emit(tokens=n_tokens, **everything, **ratios)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--max-tokens", type=int, default=TOKENS[-1], help="leave out longer texts")
    longest = parser.parse_args().max_tokens
    loaded = loading.load(sources.find(DEFAULT_MODEL), torch.device("cpu"))
    folder = sources.embedded_folder(DEFAULT_MODEL)
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    fused = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    for n_tokens in TOKENS:
        if n_tokens <= longest:
            measure(loaded, eager, fused, n_tokens)


if __name__ == "__main__":
    main()
