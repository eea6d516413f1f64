"""The page "Cause": what happens to an answer when something in the model is changed."""
