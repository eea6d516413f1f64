"""RoBERTa, with and without its head, and its kin."""

from __future__ import annotations

from dataclasses import replace

from checkpoints.family import ROBERTA_SIZES, ROBERTA_TOKENS, Family
from checkpoints.sizes import POSITIONS

_ROBERTA = Family(
    model_type="roberta",
    head="RobertaForMaskedLM",
    tokenizer="RobertaTokenizer",
    sizes=ROBERTA_SIZES,
    mlm=True,
    max_tokens=ROBERTA_TOKENS,
)
_XLM = replace(
    _ROBERTA,
    model_type="xlm-roberta",
    head="XLMRobertaForMaskedLM",
    tokenizer="XLMRobertaTokenizer",
    max_tokens=POSITIONS,
)
CHECKPOINTS = {
    "roberta": _ROBERTA,
    "roberta_headless": replace(_ROBERTA, head="RobertaModel", mlm=False),
    "xlm-roberta": _XLM,
    "xlm-roberta-xl": replace(
        _XLM, model_type="xlm-roberta-xl", head="XLMRobertaXLForMaskedLM", final_norm="encoder.LayerNorm"
    ),
    "camembert": replace(_XLM, model_type="camembert", head="CamembertForMaskedLM", tokenizer="CamembertTokenizer"),
}
