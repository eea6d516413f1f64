"""The page "Next sentence": what its views are given, and one file for each of them."""
