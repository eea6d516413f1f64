"""What heads do on the built-in treebank, measured before the app was given out; ``python -m pages.corpus`` does it."""

from __future__ import annotations

import hashlib
from typing import Final

from analysis.corpus.reading import built_in
from analysis.corpus.results import Results
from model_zoo import registry
from ui.precomputed import EMBEDDED
from ui.precomputed.by_model import ByModel
from web.process import process_cache


@process_cache()
def _sentences() -> str:
    digest = hashlib.sha256()
    for sentence in built_in():
        digest.update(repr((sentence.text, sentence.spans, sentence.deprel, sentence.heads)).encode())
    return f"sha256:{digest.hexdigest()[:12]}"


_MODELS: Final = tuple(model for model in EMBEDDED if registry.MODELS[model].heads)

HEADS: Final[ByModel[Results]] = ByModel("heads", _MODELS, _sentences)
