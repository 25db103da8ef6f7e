"""From tracks to biology: cycles, families, rates and speeds, each with the doubt of the links carried along."""

from dunno.biology.lineage import Lineage
from dunno.biology.quantities import Biology, measure
from dunno.biology.rows import CellRows

__all__ = ["Biology", "CellRows", "Lineage", "measure"]
