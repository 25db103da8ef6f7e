"""Runs: a movie, or a plate of them, tracked into an output folder that appears whole or not at all."""

from dunno.runs.run import Run, track_into

__all__ = ["Run", "track_into"]
