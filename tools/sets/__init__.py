"""How the items of the built-in training sets were written: by templates and lists of words, always the same."""
