"""Numbers from results: attention statistics, patterns, words, scoring, probing. No plotting, no streamlit."""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
