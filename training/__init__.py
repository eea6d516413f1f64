"""Training and measuring models: recipes, corpus, batches, objectives, the resumable trainer, held-out figures; and
``finetuning``, which tunes a model on a task. ``from training import finetune`` imports no torch.
"""

from training.finetuning.notebook import finetune

__all__ = ["finetune"]
