"""The engine on other machines: what travels, who asks (``remote``), who answers (``service``, ``app`` on Ray Serve).

Only ``app``, ``tuning`` and ``__main__`` need Ray (requirements-serve.txt); who asks needs neither Ray nor torch.
"""
