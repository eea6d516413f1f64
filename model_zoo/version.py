"""The version of the whole project, which its build reads, too. A checkout that runs need not be installed."""

__version__ = "0.1.0"
