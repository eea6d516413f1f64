"""What the app's server does beside serving Streamlit: headers, health, unknown addresses, errors, logs."""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
