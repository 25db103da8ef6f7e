"""The tracker and its result."""

from dunno.tracking.result import Tracking
from dunno.tracking.tracker import Tracker

__all__ = ["Tracker", "Tracking"]
