"""What the page "Layers" is made of: choosing what to probe, running it in the background, reading the results."""
