"""The engine on other machines: the messages, the side that asks (``remote``), and the side that answers (``service``,
and ``app`` on Ray Serve).

Only ``app``, ``tuning`` and ``__main__`` need Ray (requirements-serve.txt); the side that asks needs neither Ray nor
torch.
"""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
