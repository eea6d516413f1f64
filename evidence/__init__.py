"""Evidence from a corpus: questions that run a model over many sentences and give numbers that add up."""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
