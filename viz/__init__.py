"""Pure functions from results to Plotly figures and to payloads of components. No streamlit, no torch."""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
