"""Evidence from a corpus: questions that run a model over many sentences and give numbers that add up; ``survey`` asks
all that the page "Corpus" does. ``from evidence import survey`` imports no torch.
"""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
from evidence.surveying import survey

__all__ = ["survey"]
