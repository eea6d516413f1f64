"""What the parts of a network give: in a run of some texts, and on average over built-in sentences.

Means are taken by kind of token. What is added at special tokens, and at the first token where no special one precedes
it, can be many times as long as at words: to mix them would put into words what no word ever gets. Masks and full stops
are kinds of their own, too, since what they get differs from what words get; what commas, quotation marks and the like
get is nearer to that of words than of full stops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain

import torch

from model_zoo.heldout import spread_pairs
from model_zoo.interventions.editing import Editor
from model_zoo.interventions.layerwise import BLOCKS, LayerwiseRun, refuse_without_blocks
from model_zoo.interventions.reading import hide_tokens
from model_zoo.loading import LoadedModel
from model_zoo.types import Encoding

Values = dict[tuple[str, int], torch.Tensor]
"""What stands in the place of what is switched off, by the kind of part ("heads", "attention", "feed_forward",
"states", or "final" for what the head reads) and its layer: (1, n or 1, heads, d') or (1, n or 1, width). Nothing
stands for what it does not hold.
"""

# Sentences over whose tokens means are taken. A mark that they hold less often than so many times counts as a word.
_SENTENCES = 100
_FEWEST = 20

# Kinds of token that are not one token by its id.
_WORD, _FIRST = -1, -2


def noted(loaded: LoadedModel, encodings: Sequence[Encoding], with_blocks: bool) -> tuple[LayerwiseRun, Values]:
    """A run of some texts of one length, and what its parts gave: its heads, and whole blocks where they are asked for.

    Raises NotSupported as ``refuse_without_blocks`` does.
    """
    editor = Editor(outputs=None if loaded.gives_maps else [])
    run, values, blocks = LayerwiseRun(loaded, encodings), Values(), {}
    if with_blocks:
        refuse_without_blocks(loaded)
        every = ((block, layer) for block in BLOCKS for layer in range(run.n_layers))
        blocks = {part: partial(values.__setitem__, part) for part in every}
    run.run(len(encodings), editor, blocks=blocks)
    # A decoder's come later.
    of_heads = zip(loaded.trial.attention_layers, editor.outputs or (), strict=False)
    return run, values | {("heads", layer): output for layer, output in of_heads}


def means_for(loaded: LoadedModel, encoding: Encoding, with_blocks: bool) -> Values:
    """What each part gives on average to tokens of the kinds that a text's tokens are, (1, n, ...). A kind that is not
    among the built-in sentences' counts as words. Computed once for a model.
    """
    key = "with blocks" if with_blocks else "heads"
    with loaded.means_lock:
        if key not in loaded.means:
            loaded.means[key] = _means(loaded, with_blocks)
        kinds, means = loaded.means[key]
    rows = [kinds.get(kind, kinds[_WORD]) for kind in _kinds(loaded, encoding)]
    return {part: of_kinds[:, rows] for part, of_kinds in means.items()}


def _means(loaded: LoadedModel, with_blocks: bool) -> tuple[dict[int, int], Values]:
    """Kinds of token, numbered, and the mean of every part over tokens of each, (1, kinds, ...)."""
    by_length: dict[int, list[Encoding]] = {}
    for pair in spread_pairs(_SENTENCES):
        encoding = _one_masked(loaded, loaded.encode(pair.first))
        by_length.setdefault(len(encoding), []).append(encoding)
    of_tokens = {n: [_kinds(loaded, encoding) for encoding in texts] for n, texts in by_length.items()}
    often = Counter(chain.from_iterable(chain.from_iterable(of_tokens.values())))
    frequent = sorted(kind for kind, count in often.items() if count >= _FEWEST and kind != _WORD)
    kinds = {kind: number for number, kind in enumerate([_WORD, *frequent])}
    sums, device = Values(), loaded.model.device
    n_tokens = torch.zeros(len(kinds), device=device)
    for n, encodings in by_length.items():
        numbers = torch.tensor([[kinds.get(kind, kinds[_WORD]) for kind in row] for row in of_tokens[n]], device=device)
        which = torch.nn.functional.one_hot(numbers, len(kinds)).float()  # (texts, n, kinds)
        n_tokens += which.sum(dim=(0, 1))
        for part, vectors in noted(loaded, encodings, with_blocks)[1].items():
            summed = torch.einsum("bnk,bn...->k...", which, vectors[:, :n].float())
            sums[part] = sums[part] + summed if part in sums else summed
    return kinds, {part: (summed.movedim(0, -1) / n_tokens).movedim(-1, 0)[None] for part, summed in sums.items()}


def _kinds(loaded: LoadedModel, encoding: Encoding) -> list[int]:
    """The kind of each token: its id for special tokens, masks and what is written without letters and digits."""
    texts, mask = (encoding.text, encoding.text_pair or ""), loaded.tokenizer.mask_token_id
    kinds = []
    for place, token in enumerate(encoding.ids):
        start, end = encoding.offsets[place]
        written = texts[encoding.segment_ids[place]][start:end]
        if token == mask or encoding.special[place] or (written and not any(map(str.isalnum, written))):
            kinds.append(token)
        else:
            kinds.append(_WORD if place else _FIRST)
    return kinds


def _one_masked(loaded: LoadedModel, encoding: Encoding) -> Encoding:
    """The text with its longest word masked, for a model that has a mask."""
    if loaded.tokenizer.mask_token_id is None:
        return encoding

    def length(word: range) -> int:
        return encoding.offsets[word[-1]][1] - encoding.offsets[word[0]][0]

    longest = max((word for word in encoding.words if not encoding.special[word.start]), key=length)
    return hide_tokens(loaded, encoding, longest)
