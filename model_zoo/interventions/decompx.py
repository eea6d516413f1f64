"""A logit as a sum over the input's tokens, followed through all layers: DecompX (Modarressi et al. 2023).

Every vector is kept as a sum over the tokens that it comes from and one part of all biases. Attention weights are
frozen, norms divide by what they divided by, and an activation f multiplies its z by f(z)/z. The logit is then linear
in the vectors that the first layer is given and in the biases, so a part is its vector times the gradient of this
linear function: the same sum as that of n vectors for each of n tokens, in one pass back. The authors share biases
among the tokens; here they are a part of their own. A product of two (a gated feed-forward) gives half to each factor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from model_zoo import capture
from model_zoo.anatomy import inside, parts_of
from model_zoo.capture import as_array
from model_zoo.interventions.editing import Editor
from model_zoo.interventions.frozen import frozen
from model_zoo.interventions.layerwise import LayerwiseRun, keeping_gradients
from model_zoo.interventions.reading import Reader
from model_zoo.types import FloatArray


def decompx(read: Reader, wanted: Callable[[torch.Tensor], torch.Tensor]) -> tuple[FloatArray, float, float]:
    """The part of each token (n,), that of all biases, and the number that they add up to but for rounding: what
    ``wanted`` makes of the logits (1, answers), linear in them.

    Raises NotSupported where the layers are not known part by part.
    """
    loaded = read.loaded
    so = "its prediction cannot be followed back through them"
    parts = parts_of(loaded, so, "Choose another method, or")
    with keeping_gradients():
        with torch.no_grad():
            run = LayerwiseRun(loaded, [read.encoding])
        entered = run.states[0].detach().requires_grad_()
        biases = torch.ones((), device=entered.device, requires_grad=True)
        layers = [inside(loaded.encoder, parts.layer.format(number)) for number in range(run.n_layers)]
        outer = {inside(layer, parts.outer) for layer in layers} if parts.gated else set()
        with frozen(loaded.model, [], noting=True, biases=biases), capture.hooked(outer, _halved, before=True):
            total = wanted(read.logits(run.run(1, Editor(), states=entered))).sum()
        of_states, of_biases = torch.autograd.grad(total, (entered, biases))
        scores = as_array((of_states.cpu().double() * entered.detach().cpu().double()).sum(dim=-1)[0])
        return scores, float(of_biases), float(total.detach())


def _halved(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """The same product, of which half counts: its two factors have a gradient each."""
    product, *rest = inputs
    return (product / 2 + product.detach() / 2, *rest)
