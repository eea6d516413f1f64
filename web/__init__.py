"""What the app's server does beside serving Streamlit: headers, health, unknown addresses, errors, logs."""
