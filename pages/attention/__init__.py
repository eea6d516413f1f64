"""The page "Attention": what its views are given, what they share, and one file for each of them."""
