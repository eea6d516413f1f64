"""Which tokens a prediction depends on, by hiding words, by gradients, by parts of its logit and by attention: one
number a token.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import torch

from model_zoo import running
from model_zoo.capture import as_array
from model_zoo.contributions import contribute
from model_zoo.errors import NotSupported
from model_zoo.fair_queue import give_way
from model_zoo.interventions.decompx import decompx
from model_zoo.interventions.editing import Editor, editing
from model_zoo.interventions.layerwise import LayerwiseRun, keeping_gradients, layerwise_run
from model_zoo.interventions.reading import Reader, hide_tokens
from model_zoo.loading import LoadedModel
from model_zoo.types import Attribution, FloatArray, Measure, Method, rolled_out

# Tokens in one batch of texts with a word hidden.
_BATCH_HIDDEN = 2048

# Tokens in one batch of steps between nothing and the text: their gradients take several times what a pass takes.
_BATCH_TOKENS = 1024


def attribute(read: Reader, method: Method, measure: Measure, steps: int) -> Attribution:
    """Raises NotSupported where the method does not fit the model."""
    loaded = read.loaded
    special = read.encoding.special
    counted = tuple(place for place in range(len(special)) if not special[place] and place != read.position)
    with torch.inference_mode():
        logits = layerwise_run(loaded, [read.encoding]).logits(read)[0]
    read.choose_answers(logits)
    logs = logits.log_softmax(dim=-1)
    difference = error = uncounted = bias = None
    match method:
        case "occlusion":
            scores = _occluded(read, measure, counted)
        case "gradient x input":
            scores = _gradient_x_input(read, measure)
        case "integrated gradients":
            scores, difference = _integrated(read, measure, counted, steps)
            error = float(scores.sum()) - difference
        case "DecompX":
            scores, bias, difference = decompx(read, lambda logits: _linear(read, logits, measure))
            uncounted = float(np.delete(scores, counted).sum())
            error = float(scores.sum()) + bias - difference
        case "gradient-weighted attention":
            scores = _gradient_weighted(read, measure)
        case _:
            scores = _attention(read, method)
    kept = np.zeros(len(special), dtype=np.float32)
    kept[list(counted)] = scores[list(counted)]
    return Attribution(
        encoding=read.encoding,
        model=loaded.info,
        method=method,
        measure=measure,
        position=read.position,
        answer=read.prediction(logs, read.answer),
        foil=None if read.foil is None else read.prediction(logs, read.foil),
        scores=kept,
        counted=counted,
        difference=difference,
        error=error,
        uncounted=uncounted,
        bias=bias,
    )


def _measured(read: Reader, logits: torch.Tensor, measure: Measure) -> torch.Tensor:
    """The number that a run is measured by, a row each: (rows,) from logits (rows, answers)."""
    match measure:
        case "log P":
            return logits.log_softmax(dim=-1)[:, read.answer]
        case "P":
            return logits.softmax(dim=-1)[:, read.answer]
        case "logit difference":
            assert read.foil is not None  # the question says so
            return logits[:, read.answer] - logits[:, read.foil]


def _linear(read: Reader, logits: torch.Tensor, measure: Measure) -> torch.Tensor:
    """What stands for a measure where it has to be linear in the logits, (rows,): the logit less that of the foil, or
    else less the mean of all answers, for what raises all logits alike changes no probability.
    """
    if measure == "logit difference":
        return _measured(read, logits, measure)
    return logits[:, read.answer] - logits.mean(dim=-1)


def _occluded(read: Reader, measure: Measure, counted: Collection[int]) -> FloatArray:
    """What the measure loses when a word is hidden by itself, shared equally among its tokens, (n,): Zeiler & Fergus
    2014, Li et al. 2016.
    """
    loaded, encoding = read.loaded, read.encoding
    words = [places for word in encoding.words if (places := [place for place in word if place in counted])]
    rows = max(1, _BATCH_HIDDEN // len(encoding))
    scores = np.zeros(len(encoding), dtype=np.float32)
    with torch.inference_mode():
        unmasked = float(_measured(read, layerwise_run(loaded, [encoding]).logits(read), measure)[0])
        for start in range(0, len(words), rows):
            give_way()
            batch = words[start : start + rows]
            final = layerwise_run(loaded, [hide_tokens(loaded, encoding, word) for word in batch]).final
            for word, left in zip(batch, _measured(read, read.logits(final), measure).tolist(), strict=True):
                scores[word] = (unmasked - left) / len(word)
    return scores


def _embedded(read: Reader, ids: Sequence[int]) -> torch.Tensor:
    """The tokens' own embeddings, (1, n, width). Raises NotSupported for networks that take none."""
    loaded = read.loaded
    table = loaded.encoder.get_input_embeddings()
    embedded = table(torch.tensor([list(ids)], device=loaded.model.device))
    takes_embeddings = "inputs_embeds" in inspect.signature(loaded.encoder.forward).parameters
    if not takes_embeddings or not isinstance(embedded, torch.Tensor):
        raise NotSupported(
            f"{loaded.info.id} ({loaded.info.family}) takes no vectors in place of tokens, so gradients cannot be "
            "traced back to them here. Choose another model, such as BERT."
        )
    return embedded.detach()


def _gradient_x_input(read: Reader, measure: Measure) -> FloatArray:
    """∂F/∂e · e, (n,): Denil et al. 2014, Shrikumar et al. 2017."""
    with keeping_gradients():
        embedded = _embedded(read, read.encoding.ids).requires_grad_()
        (gradient,) = _gradient(read, measure, embedded)
        return as_array((gradient * embedded.detach()).sum(dim=-1)[0])


def _gradient(read: Reader, measure: Measure, embedded: torch.Tensor) -> tuple[torch.Tensor, ...]:
    final = LayerwiseRun(read.loaded, [read.encoding], embedded).final
    return torch.autograd.grad(_measured(read, read.logits(final), measure).sum(), embedded)


def _integrated(read: Reader, measure: Measure, counted: Sequence[int], steps: int) -> tuple[FloatArray, float]:
    """Integrated gradients (Sundararajan et al. 2017) from the text with all ``counted`` tokens hidden to the text, by
    the midpoints of so many steps, (n,); and how much F differs between the two.
    """
    loaded = read.loaded
    nothing = hide_tokens(loaded, read.encoding, counted)
    with keeping_gradients():
        start, end = _embedded(read, nothing.ids), _embedded(read, read.encoding.ids)
        total = torch.zeros_like(end[0], dtype=torch.float32)
        for shares in _shares(steps, len(read.encoding)):
            give_way()
            along = torch.tensor(shares, device=end.device, dtype=end.dtype)[:, None, None]
            (gradient,) = _gradient(read, measure, (start + along * (end - start)).requires_grad_())
            total += gradient.float().sum(dim=0)
        scores = as_array((total / steps * (end - start)[0].float()).sum(dim=-1))
    with torch.inference_mode():
        ends = [LayerwiseRun(loaded, [encoding]).final for encoding in (read.encoding, nothing)]
        full, empty = _measured(read, read.logits(torch.cat(ends)), measure).tolist()
    return scores, full - empty


def _shares(steps: int, n: int) -> Iterator[list[float]]:
    """The midpoints of equal steps from 0 to 1, as many at a time as make a batch."""
    rows = max(1, _BATCH_TOKENS // n)
    every = [(step + 0.5) / steps for step in range(steps)]
    for start in range(0, steps, rows):
        yield every[start : start + rows]


def _gradient_weighted(read: Reader, measure: Measure) -> FloatArray:
    """How much of each token reaches the vector that the answer is read from, when each layer's attention counts by
    its own effect: R ← R + Ā R, Ā the mean over heads of (∂F/∂A ⊙ A) above 0, R at first I (Chefer et al. 2021).
    """
    loaded, n = read.loaded, len(read.encoding)
    _refuse_without_attention(loaded)
    editor = Editor(maps=[])
    with keeping_gradients():
        embedded = _embedded(read, read.encoding.ids).requires_grad_()
        with editing(loaded, editor):
            run = LayerwiseRun(loaded, [read.encoding], embedded)
        maps = (editor.maps or [])[: loaded.info.n_layers]  # a decoder's come later
        if any(layer_maps.shape[-2:] != (n, n) for layer_maps in maps):
            raise NotSupported(
                f"The attention of {loaded.info.id} ({loaded.info.family}) is computed in windows, and their "
                "gradients are not combined here. Choose another method."
            )
        gradients = torch.autograd.grad(_measured(read, read.logits(run.final), measure).sum(), maps)
        relevance = torch.eye(n, device=embedded.device)
        for weights, gradient in zip(maps, gradients, strict=True):
            mean = (weights * gradient).clamp(min=0)[0].float().mean(dim=0)
            relevance = relevance + mean @ relevance
        return as_array(relevance[read.row])


def _refuse_without_attention(loaded: LoadedModel) -> None:
    if loaded.model.config.is_encoder_decoder:
        raise NotSupported(
            f"The prediction of {loaded.info.id} is made by its decoder, and the encoder's attention alone does not "
            "lead there. Choose a gradient method, or another model."
        )
    if not loaded.info.n_heads:
        raise NotSupported(
            f"{loaded.info.id} ({loaded.info.family}) {loaded.info.why_no_attention}, so this method does not fit it. "
            "Choose another."
        )


def _attention(read: Reader, method: Method) -> FloatArray:
    """Attention's own answers, (n,), as seen from the vector that the answer is read from: its weights, or weighted by
    value (Kobayashi et al. 2020), mean of all heads of all layers; or rollout (Abnar & Zuidema 2020), of attention or
    of what whole layers mix: contributions (ALTI, Ferrando et al. 2022) or value zeroing (Mohebbi et al. 2023).
    """
    _refuse_without_attention(read.loaded)
    if method == "contributions" or method == "value zeroing":
        mixed = contribute(read.loaded, read.encoding, "ALTI" if method == "contributions" else method)
        return rolled_out(mixed.maps, residual=False)[read.row].astype(np.float32)
    run = running.attend(read.loaded, read.encoding)
    layers = run.layers_with_attention
    scores: FloatArray
    if method == "rollout":
        if len(layers) < run.n_layers:
            raise NotSupported(
                f"Rollout follows attention from layer to layer, and some layers of {run.model.id} have none. Choose "
                "another method."
            )
        scores = rolled_out(run.layer(layer).mean(axis=0) for layer in layers)[read.row].astype(np.float32)
    elif method == "value-weighted attention":
        scores = np.mean(
            [(run.layer(number)[:, read.row] * run.value_norms(number)).mean(axis=0) for number in layers], axis=0
        )
    else:
        scores = np.mean([run.layer(layer)[:, read.row].mean(axis=0) for layer in layers], axis=0)
    return scores
