"""Evidence from a corpus: questions that run a model over many sentences and give numbers that add up."""
