"""Questions to models, one per file; see ``model_zoo.question``. The code that asks a question imports its file."""
