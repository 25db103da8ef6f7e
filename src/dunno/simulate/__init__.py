"""Movies whose truth is known: a simulated colony, and masks that are spoiled on purpose."""

from dunno.simulate.colony import Colony, Parameters, RenderedImages, RenderedMasks, Snapshot, colony
from dunno.simulate.spoiling import Faults, Spoiled, spoil

__all__ = [
    "Colony",
    "Faults",
    "Parameters",
    "RenderedImages",
    "RenderedMasks",
    "Snapshot",
    "Spoiled",
    "colony",
    "spoil",
]
