"""Any tracker, and anybody's links, beside the same movie played backwards: cells divide and do not fuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dunno.io.links import Links
from dunno.tracking import Tracking
from dunno.tracking.tracker import Tracker
from dunno.types import Block, Bools, Floats, Ints, Movie
from dunno.types.arrow_counts import ArrowCounts


class LinkedDivisions(NamedTuple):
    """Divisions of somebody's links: where they are, and how probably each is one."""

    frame: Ints  # Original index
    mother: Ints  # Label
    probability: Floats


NO_LINKS = LinkedDivisions(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, eq=False)
class ArrowScores:
    """Divisions in a movie played forwards and backwards.

    Attributes:
        reported: Mothers with two links, forwards and backwards.
        expected: Σ P(divide) in both halves of the movie, both ways; `None` where the method does not know.
        divisions: Of somebody's links; empty without.
        expected_real: How many of the reported ones are real: of somebody's links by those probabilities, else forwards less
            backwards.
    """

    reported: tuple[int, int]
    expected: ArrowCounts | None
    expected_real: float
    divisions: LinkedDivisions = NO_LINKS

    def sentence(self) -> str:
        """As a person would say it."""
        forwards, backwards = self.reported
        return (
            f"{forwards:,} divisions are reported; played backwards, the same movie shows {backwards:,} that cannot be: "
            f"about {self.expected_real:,.0f} are real"
        )


def arrow(movie: Movie, tracker: Tracker | None = None, links: Links | None = None) -> ArrowScores:
    """Track a movie both ways with one cost, method and calibration, or judge the divisions of somebody's links.

    Where cells fuse (myoblasts, phagocytosis), nothing follows from it.

    Args:
        movie: The movie; frames that are far apart tell little.
        tracker: How; the default one where it is left out.
        links: Somebody's, as `dunno.io.read_links` gives them; they are judged by the default model.

    Example:
        >>> from dunno.simulate import colony
        >>> forwards, backwards = arrow(colony(cells=20, frames=20, motion=0.1, seed=1).movie).reported
        >>> forwards > 5, backwards <= 1
        (True, True)
    """
    if links is not None:
        return _of_links(movie, Tracker(links=links))
    tracker = tracker or Tracker()
    plan = tracker.plan(movie)
    forwards, backwards = (Block.joined(list(tracker.stream(each, plan))) for each in (movie, movie.reversed()))
    reported = int(_dividing(forwards).sum()), int(_dividing(backwards).sum())
    expected = None
    if forwards.has_events:
        early, late = _halves(backwards)
        expected = ArrowCounts(_halves(forwards), (late, early), len(movie))
    return ArrowScores(reported, expected, float(max(reported[0] - reported[1], 0)))


def _of_links(movie: Movie, tracker: Tracker) -> ArrowScores:
    """The divisions of links, by what the model believes of their mothers."""
    given: Tracking = tracker.track(movie)
    played = arrow(movie)
    block = given.block
    rows = np.flatnonzero(_dividing(block))
    probability = np.exp(block.log_divide[rows])
    divisions = LinkedDivisions(block.frames[block.frame_of[rows]], block.cells.label[rows], probability)
    return ArrowScores((len(rows), played.reported[1]), played.expected, float(probability.sum()), divisions)


def _dividing(block: Block) -> Bools:
    """(N,) which cells are linked to two daughters."""
    return np.bincount(block.mother[block.selected], minlength=len(block.cells)) > 1


def _halves(block: Block) -> tuple[float, float]:
    """Σ P(divide) of the first and of the second half of the frames."""
    divide = np.nan_to_num(np.exp(block.log_divide))
    late = 2 * block.frame_of >= len(block.frames) - 1
    return float(divide[~late].sum()), float(divide[late].sum())
