"""The page "Train": what its views share, and a file a view."""
