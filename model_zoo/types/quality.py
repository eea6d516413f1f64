"""How well a model does on the built-in held-out sentences."""

from __future__ import annotations

from dataclasses import dataclass

from model_zoo.types.shows import Shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality(Shows):
    """How well a model does on the built-in held-out sentences, after ``n_done`` of ``n_total`` texts and pairs.

    Of the tokens, 15% are chosen; 80% of these are masked, 10% replaced and 10% kept (Devlin et al. 2019). ``mlm_loss``
    (mean, nats) and ``mlm_accuracy`` are over the ``n_masked`` masked ones alone. ``replaced_accuracy`` is the share of
    the ``n_replaced`` replaced ones that are restored, ``kept_accuracy`` that of the ``n_kept`` visible ones that are
    left unchanged. ``nsp_accuracy`` is over ``n_pairs`` pairs, half of them random. A figure is None before its turn,
    where nothing was measured, or where ``no_mlm`` or ``no_nsp`` says why the model has none.
    """

    n_done: int = 0
    n_total: int
    mlm_loss: float | None = None
    mlm_accuracy: float | None = None
    n_masked: int = 0
    replaced_accuracy: float | None = None
    n_replaced: int = 0
    kept_accuracy: float | None = None
    n_kept: int = 0
    nsp_accuracy: float | None = None
    n_pairs: int = 0
    no_mlm: str | None = None
    no_nsp: str | None = None
