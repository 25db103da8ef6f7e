"""Models: sums of terms, fitted to a movie without truth."""

from dunno.models.fit import Fit, find_fit
from dunno.models.model import Model, start_model

__all__ = ["Fit", "Model", "find_fit", "start_model"]
