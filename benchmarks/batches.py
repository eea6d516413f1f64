"""``python -m benchmarks.batches [--texts N] [--repeats N]``: many texts at once beside one after another.

``hidden_states_ms`` is the yardstick: the hidden states of all texts, batched by length. ``attend_ms`` is their
attention, kept as queries and keys; ``every_map_ms`` computes every head's matrix of every text as well. ``peer_ms`` is
transformers alone: all texts padded into one batch, fused kernel, hidden states. Each question is asked of the list and
of one text after another, by an engine that remembers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from transformers import AutoModel, AutoTokenizer

from benchmarks.measure import arguments, emit, medians
from model_zoo import DEFAULT_MODEL, Engine, sources
from model_zoo.heldout import written_pairs


def sentences(n: int) -> list[str]:
    """The first sentences that come with the project, each once."""
    found = dict.fromkeys(text for pair in written_pairs() for text in (pair.first, pair.second))
    return list(found)[:n]


def main() -> None:
    parser = arguments(__doc__, 7, DEFAULT_MODEL)
    parser.add_argument("--texts", type=int, default=100)
    chosen = parser.parse_args()
    model, texts = chosen.model, sentences(chosen.texts)
    engine = Engine("cpu", result_bytes=0)
    n_tokens = [len(engine.encode(model, text)) for text in texts]
    folder = sources.find(model).folder
    if folder is None:
        parser.error(f"{model} is not on this disk; run it once in the app, or choose another model")
    network = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def peer() -> None:
        with torch.inference_mode():
            network(**tokenizer(texts, padding=True, return_tensors="pt"), output_hidden_states=True)

    def every_map() -> None:
        for run in engine.attend(model, texts):
            for layer in range(run.n_layers):
                run.layer(layer)

    times = medians(
        {
            "hidden_states_ms": lambda: engine.hidden_states(model, texts),
            "attend_ms": lambda: engine.attend(model, texts),
            "attend_with_states_ms": lambda: engine.attend(model, texts, states=True),
            "every_map_ms": every_map,
            "attend_one_by_one_ms": lambda: [engine.attend(model, text) for text in texts],
            "peer_ms": peer,
        },
        chosen.repeats,
    )
    states = times["hidden_states_ms"]
    emit(
        benchmark="batches",
        model=model,
        texts=len(texts),
        tokens=sum(n_tokens),
        longest=max(n_tokens),
        **times,
        attend_over_states=times["attend_ms"] / states,
        every_map_over_states=times["every_map_ms"] / states,
        one_by_one_over_batched=times["attend_one_by_one_ms"] / times["attend_ms"],
        states_over_peer=states / times["peer_ms"],
        threads=torch.get_num_threads(),
    )
    masked = [text.replace(text.split()[1], "[MASK]", 1) for text in texts]
    pairs = list(zip(texts[0::2], texts[1::2], strict=False))
    some = texts[: max(2, len(texts) // 10)]
    questions: dict[str, tuple[Callable[..., object], Sequence[str | tuple[str, str]]]] = {
        "fill_mask": (engine.fill_mask, masked),
        "next_sentence": (engine.next_sentence, pairs),
        "token_scores": (engine.token_scores, some),
    }
    for name, (ask, asked) in questions.items():
        compare(name, model, ask, asked, chosen.repeats)


def compare(
    name: str, model: str, ask: Callable[..., object], asked: Sequence[str | tuple[str, str]], repeats: int
) -> None:
    """One question of all texts or pairs beside one of each."""

    def one_by_one() -> None:
        for each in asked:
            ask(model, *((each,) if isinstance(each, str) else each))

    times = medians({"list_ms": lambda: ask(model, asked), "one_by_one_ms": one_by_one}, repeats, warm_up=1)
    over_list = times["one_by_one_ms"] / times["list_ms"]
    emit(benchmark=name, model=model, texts=len(asked), **times, one_by_one_over_list=over_list)


if __name__ == "__main__":
    main()
