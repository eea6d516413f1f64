"""The page "Corpus": what heads do over many sentences."""
