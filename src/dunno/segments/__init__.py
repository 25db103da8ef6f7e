"""Segments as hypotheses: what each mask holds, and how objects go on, with probabilities."""

from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.segments.posterior import SegmentPosterior, propagate

__all__ = ["Hypotheses", "SegmentPosterior", "Weights", "propagate"]
