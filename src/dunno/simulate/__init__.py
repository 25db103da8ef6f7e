"""Movies whose truth is known: a simulated colony, and masks that are spoiled on purpose."""

from dunno.simulate.colony import Colony, colony
from dunno.simulate.growth import Snapshot
from dunno.simulate.parameters import Parameters
from dunno.simulate.rendering import RenderedImages, RenderedMasks
from dunno.simulate.spoiling import FaultShares, Spoiled, spoil

__all__ = [
    "Colony",
    "FaultShares",
    "Parameters",
    "RenderedImages",
    "RenderedMasks",
    "Snapshot",
    "Spoiled",
    "colony",
    "spoil",
]
