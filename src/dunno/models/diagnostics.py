"""Does the fitted model explain the movie? What speaks against trusting it, in words; and whether masks cover each other."""

from __future__ import annotations

import numpy as np

from dunno.models.expectation import Expected
from dunno.types import special

MOST_APPEARING = 0.15  # share; docs/joint-posterior.md
"""Largest believable share of daughters that appear inside the field: cells come from cells."""

MOST_GROWTH = 1.8  # ratio; docs/joint-posterior.md
"""Largest growth per transition at which two daughters per mother can still be the whole story."""

LEAST_CERTAINTY = 0.6  # probability; docs/joint-posterior.md; mean of the likeliest mothers, or nothing is believed
LARGEST_MISFIT = 0.1  # distance; docs/joint-posterior.md; Kolmogorov's, from the fitted law of motion
LARGEST_DRIFT = 1.0  # standard deviations; docs/joint-posterior.md; of what all cells move together
LEAST_LINKS_TESTED = 5  # links; judged
"""Fewer expected links than this say nothing about a transition's drift."""

LEAST_TOUCHING, TOUCHING_CHANGED = 50, 0.02  # links, share; docs/evidence.md
"""Links along which the share of an outline that touches others changes by more than this; fewer say nothing of covering."""

LARGEST_CHANGE = 1.0  # log area; judged
"""Of log area; what changes more is a mask that was cut, or a division."""


def find_problems(expected: Expected) -> list[str]:
    """List what the fitted model cannot explain, or cannot tell; empty if nothing."""
    stretch = expected.stretch
    mothers, daughters = float(stretch.n_mothers.sum()), float(stretch.n_daughters.sum())
    if mothers == 0 or daughters == 0:
        return ["there are no cells to learn from"]
    problems = []
    appeared = expected.totals()["appeared"] / daughters
    if appeared > MOST_APPEARING:
        problems.append(
            f"{100 * appeared:.0f} % of the cells would have appeared from nowhere inside the field; "
            "they more likely moved farther or divided more often than can be told at this frame rate"
        )
    if daughters > MOST_GROWTH * mothers:
        problems.append(
            f"there are {daughters / mothers:.1f} times as many cells from one frame to the next; "
            "with at most two daughters per mother that cannot be explained"
        )
    if expected.certainty < LEAST_CERTAINTY:
        problems.append(
            f"the likeliest mother is right with probability {expected.certainty:.2f} on average: "
            "too ambiguous to learn from"
        )
    misfit, links = displacement_misfit(expected)
    if misfit > LARGEST_MISFIT + 1.36 / np.sqrt(max(links, 1.0)):  # the 95 % quantile of what chance alone does
        problems.append(f"displacements do not follow the fitted distribution (largest difference {misfit:.2f})")
    drift = common_drift(expected)
    if drift > LARGEST_DRIFT:
        problems.append(
            f"all cells move together by {drift:.1f} standard deviations per frame; register the movie first"
        )
    return problems


def displacement_misfit(expected: Expected) -> tuple[float, float]:
    """Largest difference between the expected displacements' distribution and the fitted one, and over how many links.

    A weighted Kolmogorov–Smirnov distance.
    """
    stretch, model = expected.stretch, expected.model
    ratio = stretch.squared / stretch.by_edge(model.value("motion_scale"))
    weight = expected.single * expected.interior
    links = float(weight.sum())
    if links <= 0:
        return 0.0, 0.0
    order = np.argsort(ratio)
    ratio, share = ratio[order], np.cumsum(weight[order]) / links
    d, tail = stretch.n_dimensions, model.mean("tail")
    theory = special.chi_square_below(d, ratio) if np.isinf(tail) else special.f_below(d, tail, ratio / d)
    return float(np.abs(share - theory).max()), links


def common_drift(expected: Expected) -> float:
    """Mean displacement of a frame's cells that the model does not know of, in standard deviations; the median over frames."""
    stretch = expected.stretch
    weight, owner = expected.single * expected.interior, stretch.edge_transition
    total = np.bincount(owner, weight, minlength=len(stretch))
    sums = [
        np.bincount(owner, weight * stretch.moved[:, axis], minlength=len(stretch))
        for axis in range(stretch.n_dimensions)
    ]
    mean = np.stack(sums, axis=1) / np.maximum(total, 1e-12)[:, None]
    scale = np.broadcast_to(np.asarray(expected.model.value("motion_scale")), len(stretch)) * stretch.usual_spread
    sizes = (np.linalg.norm(mean, axis=1) / np.sqrt(scale))[total >= LEAST_LINKS_TESTED]
    return float(np.median(sizes)) if len(sizes) else 0.0


def covering(expected: Expected) -> float:
    """Share of the variance of changes in size that follows from masks touching more, and then being smaller.

    Masks that cover each other have centres that are not where the cells are, and no skipped frame tells. A cell that touches
    another keeps its size; one whose mask is covered by the other's loses some. Near 0 for masks of cells side by side, .3 and more
    for discs that are drawn over each other.
    """
    stretch = expected.stretch
    edges = np.flatnonzero(expected.single > 0.5)
    mother, daughter, weight = stretch.mother[edges], stretch.daughter[edges], expected.single[edges]
    columns = stretch.column("touching"), stretch.column("log_area")
    touched, grown = (column[daughter] - column[mother] for column in columns)
    known = np.isfinite(touched) & np.isfinite(grown)
    touched, grown, weight = touched[known], grown[known], weight[known]
    if (np.abs(touched) > TOUCHING_CHANGED).sum() < LEAST_TOUCHING:
        return 0.0
    grown = np.clip(grown - np.median(grown), -LARGEST_CHANGE, LARGEST_CHANGE)
    moments = np.cov(touched, grown, aweights=weight)
    if moments[0, 1] >= 0 or moments[1, 1] <= 0:
        return 0.0
    return float(moments[0, 1] ** 2 / (moments[0, 0] * moments[1, 1]))
