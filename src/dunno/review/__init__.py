"""Review: look at what the tracker does not know, decide, and watch the rest become certain (`docs/review.md`)."""

from dunno.review.audit import ErrorRate
from dunno.review.decisions import Decision
from dunno.review.queue import Filter, Question
from dunno.review.review import Review

__all__ = ["Decision", "ErrorRate", "Filter", "Question", "Review"]
