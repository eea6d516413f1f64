"""Tuning a model on a task: data, settings, the loop, scores, and results."""
