"""Lenses fitted before the app was given out, and how far they are from the final prediction on other sentences;
``python -m pages.masked_words`` fits them.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple
from typing import Final

from analysis.lens_fit import JudgedLens
from evidence.lens_sentences import lens_sentences
from model_zoo import registry
from ui.precomputed import EMBEDDED
from ui.precomputed.by_model import ByModel
from web.process import process_cache


@process_cache()
def _sentences() -> str:
    return f"sha256:{hashlib.sha256(repr(astuple(lens_sentences())).encode()).hexdigest()[:12]}"


_MODELS: Final = tuple(model for model in EMBEDDED if registry.MODELS[model].mlm)

LENSES: Final[ByModel[JudgedLens]] = ByModel("lens", _MODELS, _sentences)
