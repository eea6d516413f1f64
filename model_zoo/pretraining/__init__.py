"""Pretraining of the embedded models: corpus, batches, objectives, recipes, and the resumable trainer."""
