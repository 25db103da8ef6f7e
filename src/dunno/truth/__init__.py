"""What is true: annotated tracks matched to a movie's cells, and every daughter's true mother."""

from dunno.truth.annotated_graphs import AnnotatedCells, truth_of_graph
from dunno.truth.matching import TrackTable, check_table, match_tracks, match_truth, matched_again
from dunno.truth.mothers import (
    MOTHERLESS,
    NO_TRACK,
    EarlierMothers,
    TrueMothers,
    ancestors,
    earlier_mothers,
    position,
    true_mothers,
)

__all__ = [
    "MOTHERLESS",
    "NO_TRACK",
    "AnnotatedCells",
    "EarlierMothers",
    "TrackTable",
    "TrueMothers",
    "ancestors",
    "check_table",
    "earlier_mothers",
    "match_tracks",
    "match_truth",
    "matched_again",
    "position",
    "true_mothers",
    "truth_of_graph",
]
