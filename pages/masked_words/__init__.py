"""The page "Masked words": what its views are given, and one file for each of them."""
