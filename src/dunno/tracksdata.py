"""The door for tracksdata: `from dunno.tracksdata import Solver`."""

from dunno.runs.graph_solver import Solver

__all__ = ["Solver"]
