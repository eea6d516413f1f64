"""The page "Sentence vectors": what its views are given, and one file for each of them."""
