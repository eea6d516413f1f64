"""The page "Layers": choosing what to probe, running it in the background, and one file for each view."""
