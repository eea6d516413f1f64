"""Numbers from results: attention statistics, patterns, words, scoring, probing. No plotting, no streamlit."""
