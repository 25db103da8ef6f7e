"""What edges across gaps weigh: with it, and the pairs' own problems, a whole movie is one assignment problem again."""

from __future__ import annotations

from dataclasses import dataclass

from dunno.types.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class GapWeights:
    """What a problem of several frames needs to know of a pair's edges across gaps, beside their costs.

    A pair's own problem counts what gaps explain as appearing and disappearing; `appear` and `lost` do not.

    Attributes:
        dividing_cost: (G,) cost of each edge when its mother divides.
        lost: (G,) cost of its mother's being lost.
        appear: (G,) cost of its daughter's appearing.
        sister_edge: (K,) of divisions across a gap, the edge that leads to the later daughter.
        sister_frame: (K,) original index of the other daughter's frame, which may be the same.
        sister: (K,) index of the other daughter in that frame.
        sister_cost: (K,) extra cost of the division.
    """

    dividing_cost: Floats
    lost: Floats
    appear: Floats
    sister_edge: Ints
    sister_frame: Ints
    sister: Ints
    sister_cost: Floats
