"""Pure functions from results to Plotly figures and to payloads of components. No streamlit, no torch."""
