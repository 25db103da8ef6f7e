"""Which segments of different frames are near each other, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno import _core
from dunno.segments.segments import Segments
from dunno.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Near:
    """P pairs of segments.

    Attributes:
        mother: (P,) the earlier segment.
        daughter: (P,) the later one.
        gap: (P,) frames between them.
        squared: (P,) squared distance of their centres.
        growth: (P,) log ratio of their areas.
        parts: (P,) how many of the two are parts: 0, 1 or 2.
        kept: (P,) squared difference of the vectors between their halves; NaN where one is a part.
        turned: (P,) the same, where the daughter's halves change places.
    """

    mother: Ints
    daughter: Ints
    gap: Ints
    squared: Floats
    growth: Floats
    parts: Ints
    kept: Floats
    turned: Floats

    def __len__(self) -> int:
        return len(self.mother)

    @property
    def lag(self) -> Floats:
        """(P,) steps from one to the other."""
        return np.asarray(1.0 + self.gap, np.float64)

    def __getitem__(self, rows: Ints | Bools) -> Near:
        return Near(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def near(segments: Segments, mother: Ints, daughter: Ints, gap: Ints) -> Near:
    """These pairs, compared."""
    is_part = np.isnan(segments.balance)
    squared = ((segments.place[daughter] - segments.place[mother]) ** 2).sum(axis=1)
    growth = np.log(segments.area[daughter] / segments.area[mother])
    one, other = segments.halves[mother], segments.halves[daughter]
    kept, turned = ((other - one) ** 2).sum(axis=1), ((other + one) ** 2).sum(axis=1)
    parts = is_part[mother].astype(np.int64) + is_part[daughter]
    return Near(mother, daughter, gap, squared, growth, parts, kept, turned)


def within(segments: Segments, rows: Ints, reach: float, gap: int) -> tuple[Ints, Ints]:
    """Pairs of these segments, `gap` frames between them, whose centres are no farther apart than reach."""
    order = rows[np.argsort(segments.frame[rows], kind="stable")]
    begin = np.searchsorted(segments.frame[order], np.arange(segments.n_frames + 1))
    mother, daughter = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for t in range(segments.n_frames - 1 - gap):
        early, late = order[begin[t] : begin[t + 1]], order[begin[t + 1 + gap] : begin[t + 2 + gap]]
        if len(early) and len(late):
            first, second, *_ = _core.within(segments.place[early], segments.place[late], reach)
            mother.append(early[first])
            daughter.append(late[second])
    return np.concatenate(mother), np.concatenate(daughter)
