"""The page "Learn": lessons, one file each in ``lessons``, drawn by one loop."""
