"""Questions that run a model over many sentences, one file each. Importing one imports no torch."""
