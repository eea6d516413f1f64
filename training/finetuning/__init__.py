"""Tuning a model on a task: data, settings, the loop, scores, and what comes out."""
