"""What the server answers beside the pages, for who runs it."""
