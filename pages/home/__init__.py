"""The home page: a sentence's walk through a model, ways in, and links for a lesson."""
