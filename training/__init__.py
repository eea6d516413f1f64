"""Training and measuring models: recipes, corpus, batches, objectives, the resumable trainer, held-out figures; and
``finetuning``, which tunes a model on a task. ``from training import finetune`` imports no torch.
"""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
from training.finetuning.notebook import finetune

__all__ = ["finetune"]
