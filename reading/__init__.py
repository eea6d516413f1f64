"""The one reader of what people bring: from bytes to what is meant, with a report of what was done to get there."""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
from reading.data import Choices, Data, MissingColumn, Report
from reading.reader import read, read_files

__all__ = ["Choices", "Data", "MissingColumn", "Report", "read", "read_files"]
