"""The page "Status": what the process does at this moment, in words and figures, and emptying its caches."""
