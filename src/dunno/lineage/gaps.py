"""Links across gaps, decided in one forward pass: a mother who has a daughter already has none across a gap."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from dunno.lineage.tracks import LONGEST
from dunno.types import Bools, GapEdges, PairPosterior


def one_link_each(pairs: Iterable[PairPosterior]) -> Iterator[PairPosterior]:
    """Take back links across gaps whose mother is linked already, in a block that was solved without knowing of this one."""
    linked: deque[tuple[int, Bools]] = deque(maxlen=LONGEST)
    for pair in pairs:
        if pair.gaps is not None and pair.gaps.selected.any():
            pair = _without_taken(pair, dict(linked))
        mothers = np.zeros(len(pair.mothers), np.bool_)
        mothers[pair.mother[pair.selected]] = True
        linked.append((pair.mother_frame, mothers))
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


def drawn_gaps(pair: PairPosterior, gaps: GapEdges, alone: Bools, rng: np.random.Generator) -> GapEdges:
    """Links across gaps for daughters who were drawn without a mother, each as probable as it is given that.

    Args:
        pair: The pair.
        gaps: Its edges across gaps.
        alone: (n,) which daughters were drawn without a mother.
        rng: Random numbers, one for each daughter.
    """
    selected = np.zeros(len(gaps), np.bool_)
    draw = rng.random(len(pair.daughters)) * np.exp(pair.log_no_mother)
    for j in np.unique(gaps.daughter).tolist():
        own = np.flatnonzero(gaps.daughter == j)
        passed = np.flatnonzero(draw[j] < np.cumsum(gaps.probability[own]))
        if alone[j] and len(passed):
            selected[own[passed[0]]] = True
    return replace(gaps, selected=selected)
