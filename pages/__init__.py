"""The pages in the order of the menu. A page is added by adding its folder and its name here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
from classroom.widgets import companion
from ui import Page, address
from ui.page import accompany

_NAMES = (
    "home",
    "learn",
    "attention",
    "masked_words",
    "next_sentence",
    "layers",
    "corpus",
    "cause",
    "compare",
    "train",
    "sentence_vectors",
    "glossary",
    "status",
)

PAGES: tuple[Page[Any], ...] = tuple(import_module(f"{__name__}.{name}.page").PAGE for name in _NAMES)

accompany(companion())
for _page in PAGES:
    address.declare(_page.name, _page.all_fields)
