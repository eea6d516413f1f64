"""The page "Learn": twelve lessons as data, one file a lesson in ``lessons``, drawn by one loop."""
