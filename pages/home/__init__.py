"""The home page: a model at work, three ways in, and links for a lesson."""
