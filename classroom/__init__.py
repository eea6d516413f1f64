"""A class of students that follows its teacher through the app: rooms, where they are kept, and what both see of them.

Rooms and their stores (``rooms``, ``stores``) need no Streamlit; ``session`` is what one visitor has to do with rooms,
``widgets`` draws it. What answers are, and when they are seen, the lessons say (pages/learn/teaching.py).
"""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
