"""Models: sums of terms, fitted to a movie without truth."""

from dunno.models.fit import Fit, find_fit, refit
from dunno.models.model import Model, start_model

__all__ = ["Fit", "Model", "find_fit", "refit", "start_model"]
