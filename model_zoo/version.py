"""The version of the whole project, which its build reads, too. A checkout that runs need not be installed."""

__version__ = "1.0.0"
