"""A page about a tracking: how far it can be trusted, and what to look at."""

from dunno.report.write import write_report

__all__ = ["write_report"]
