"""Links across gaps, decided in one forward pass: a mother who has a daughter already has none across a gap."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from dunno.lineage.tracks import LONGEST
from dunno.types import Bools, PairPosterior


def one_link_each(pairs: Iterable[PairPosterior]) -> Iterator[PairPosterior]:
    """Take back links across gaps whose mother is linked already, in a block that was solved without knowing of this one."""
    linked: deque[tuple[int, Bools]] = deque(maxlen=LONGEST)
    for pair in pairs:
        if pair.gaps is not None and pair.gaps.selected.any():
            pair = _without_taken(pair, dict(linked))
        linked.append((pair.mother_frame, pair.load > 0))
        yield pair


def _without_taken(pair: PairPosterior, linked: dict[int, Bools]) -> PairPosterior:
    gaps = pair.gaps
    assert gaps is not None
    kept = gaps.selected.copy()
    for k in np.flatnonzero(kept).tolist():
        taken = linked.get(int(gaps.mother_frame[k]))
        if taken is None or taken[gaps.mother[k]]:
            kept[k] = False
    sure = np.flatnonzero(kept)
    for k in sure.tolist():  # both daughters of a division across a gap keep her
        linked[int(gaps.mother_frame[k])][gaps.mother[k]] = True
    return replace(pair, gaps=replace(gaps, selected=kept))
