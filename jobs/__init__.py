"""Work in the background: it goes on while people look at other pages, and can be stopped; imports no streamlit."""

import look_inside_bert  # noqa: F401 — each module is loaded once, see look_inside_bert/checkout.py
from jobs.desk import Desk, Visits
from jobs.job import Job, Stopped
from jobs.worker import READER, WORKER, Worker, worker_of

__all__ = ["READER", "WORKER", "Desk", "Job", "Stopped", "Visits", "Worker", "worker_of"]
