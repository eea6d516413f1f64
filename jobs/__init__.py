"""Work in the background: it goes on while people look at other pages, and can be stopped; imports no streamlit."""

from jobs.desk import Desk
from jobs.job import Job, Stopped
from jobs.visits import Visits
from jobs.worker import WORKER, Worker

__all__ = ["WORKER", "Desk", "Job", "Stopped", "Visits", "Worker"]
