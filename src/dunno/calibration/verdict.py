"""What a skip test says about probabilities: supported, untested or contradicted, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dunno.types import RunInfo
from dunno.types.arrow_counts import ArrowCounts
from dunno.types.records import MaybeKnown

Word = Literal["supported", "untested", "contradicted"]

LEAST_ERRORS = 5.0  # links; benchmarks.skipping
"""Fewer errors than this, as the frames between say, tell nothing about how many were promised."""

LEAST_JUDGED = 50  # daughters; benchmarks.skipping; below which nothing is tested
LARGEST_SHARE = 0.5  # share; benchmarks.skipping; of links that are wrong, above which nothing can be followed
LEAST_TEMPERING = 0.6  # τ; benchmarks.skipping; below which the model is contradicted
LEAST_GROWTH = 1.15  # ratio; benchmarks.skipping
"""Cells that are tracked move farther in two steps than in one; noise does not."""

LARGEST_RATIO, LARGEST_SURPRISE = 1.5, 4.0  # ratio, standard deviations; benchmarks.skipping
"""Found over promised, or the other way round, and by how many standard deviations, on frames that did not serve to fit."""

LEAST_DIVISIONS, UNCLEAR = (
    20.0,
    0.1,
)  # divisions, share; benchmarks.skipping; and of wrong links, below which divisions are told
FEW_EXCESS, LARGEST_EXCESS = 0.045, 0.25  # share; benchmarks.skipping
"""Divisions that single steps see and skipped ones do not, as a share: from where on they are looked into, and not believed."""

LEAST_SEEN_DIVISIONS = 10.0  # divisions; judged; below which links alone are judged
LARGEST_FALSE, HOPELESS_FALSE = 0.45, 0.75  # share; docs/arrow.md
"""Of the divisions that are seen, those that the reversed movie shows: where they are not supported any more, and contradicted."""

HALVES_APART = 3.0  # standard deviations; judged
"""By which the shares of false divisions in both halves of a movie may differ."""

DOUBTFUL_PARTS = 0.1  # share; docs/arrow.md; of parts that are none, above which divisions into them are not supported
LEAST_SETS, LARGEST_UNKNOWN = 20, 0.25  # segments, share; benchmarks.segments
"""Parts and unions below which nothing is said of them; and how many may be none by what skipping frames says."""

LARGEST_COVERING = 0.25  # share; docs/evidence.md
"""Share of the variance of changes in size that may follow from touching; more, and masks cover each other."""


@dataclass(frozen=True)
class SkipTest:
    """What was looked at, and what was found."""

    step: int  # How many single steps one skipped step is
    judged: int  # Daughters that were judged
    links: int  # Their links
    promised: float  # How many of these were promised to be wrong
    composed: float  # How many are, by what the frames between say
    growth: MaybeKnown  # Squared motion over `step` steps, relative to one step
    growth_error: MaybeKnown  # Standard error of its logarithm
    tempering: float = 1.0  # By how much the fit had to be softened
    divisions: MaybeKnown = float("nan")  # How many divisions are seen at this step
    divisions_between: MaybeKnown = float("nan")  # How many there are, by what the frames between say
    # Links by how wrong they were promised to be: (promised share, share that is wrong, links) of each bin
    bins: tuple[tuple[float, float, int], ...] = ()

    @property
    def is_clear(self) -> bool:
        """Whether links are clear enough for what depends on them to be told."""
        return self.composed < UNCLEAR * self.links


@dataclass(frozen=True)
class Verdict:
    """What may be said of probabilities: one word, and the reason in a line."""

    word: Word
    reason: str

    @property
    def supported(self) -> bool:
        """Whether the probabilities may be called calibrated."""
        return self.word == "supported"


UNTESTED = Verdict("untested", "nothing was tested; the probabilities are the method's own")


def fitted_with_truth(about: RunInfo, at_bound: bool = False) -> Verdict:
    """The verdict on what was fitted on an annotated movie."""
    if at_bound:
        return Verdict("contradicted", "the temperature ran into a bound of its search")
    return Verdict("supported", f"fitted on the annotated movie {about.movie}")


def judge(test: SkipTest | None, problems: tuple[str, ...] = (), covering: float = 0.0) -> Verdict:
    """Weigh a skip test, and what else speaks against the model."""
    if problems:
        return Verdict("contradicted", "; ".join(problems))
    if test is None or test.judged < LEAST_JUDGED:
        n = 0 if test is None else test.judged
        return Verdict("untested", f"skipping frames leaves {n} cells to judge; at least {LEAST_JUDGED} are needed")
    return next(_findings(test, covering))


def judge_divisions(counts: ArrowCounts, unknown: float | None = None) -> Verdict:
    """Weigh what the reversed movie shows.

    Of parts and unions of masks, a share `unknown` are none, whatever the model says: daughters may be among them. `None` where
    masks are taken as they are, and nothing is taken from divisions.
    """
    if counts.seen < LEAST_SEEN_DIVISIONS:
        return Verdict("untested", f"fewer than {LEAST_SEEN_DIVISIONS:.0f} divisions are seen: too few to judge by")
    share = counts.impossible / counts.seen
    if share > HOPELESS_FALSE:
        return Verdict("contradicted", counts.sentence())
    one, other = counts.false_shares
    spread = np.sqrt(
        sum(max(b, 1.0) / max(f, 1.0) ** 2 for f, b in zip(counts.forwards, counts.backwards, strict=True))
    )
    if abs(one - other) > max(HALVES_APART * spread, LARGEST_FALSE):
        return Verdict("untested", f"{counts.sentence()}; but both halves of the movie do not agree")
    if unknown is not None and unknown > DOUBTFUL_PARTS:
        parts = f"{100 * unknown:.0f} % more parts of cut masks are no cells than was promised, and daughters may be among them"
        return Verdict("untested", f"{counts.sentence()}; {parts}")
    if share > LARGEST_FALSE:
        return Verdict("untested", counts.sentence())
    return Verdict("supported", counts.sentence() + ("" if unknown is None else "; that is taken into account"))


def judge_segments(sets: int, unknown: float) -> Verdict:
    """Weigh what skipping frames says of parts and unions of masks."""
    if sets < LEAST_SETS:
        return Verdict("untested", f"{sets} parts of masks could be looked at: too few to judge by")
    more = f"{100 * unknown:.0f} % more of them were wrong than promised"
    word: Word = "supported" if unknown <= LARGEST_UNKNOWN else "contradicted"
    said = f"with every second frame left out, {sets:,} changed masks were judged again, and {more}"
    return Verdict(word, f"{said}; that is taken into account")


def worst(verdicts: Mapping[str, Verdict], few_divisions: bool) -> Verdict:
    """The worst of the verdicts on what an output shows; with few divisions, that on the others."""
    order: list[Word] = ["supported", "untested", "contradicted"]
    weighty = [each for name, each in verdicts.items() if name != "divisions" or not few_divisions]
    return max(weighty, key=lambda each: order.index(each.word))


def sees_false_divisions(test: SkipTest, excess: float = FEW_EXCESS) -> bool:
    """Whether single steps see clearly more divisions than skipped ones in the same time.

    True divisions stay when a frame is left out; masks that come and go, or fall apart for a moment, do not. Where links are hard
    to tell, so are divisions, and nothing is said. The thresholds were settled on the shared movies, clean (at most 1.03) and
    spoiled (from 1.07 on), and on simulated colonies.
    """
    enough = test.is_clear and test.divisions_between >= LEAST_DIVISIONS
    return enough and test.divisions_between > (1 + excess) * test.divisions


def hopeless(test: SkipTest) -> bool:
    """Whether nothing can be followed: cells do not move farther in more steps, or most links are wrong."""
    return test.growth < LEAST_GROWTH or test.composed > LARGEST_SHARE * test.links


def is_kept(promised: float, found: float) -> bool:
    """Whether so many wrong links are about as many as were promised, as far as chance allows."""
    ratio = (found + 1) / (promised + 1)
    surprise = abs(found - promised) / np.sqrt(promised + found + 1)
    return bool(max(ratio, 1 / ratio) <= LARGEST_RATIO or surprise <= LARGEST_SURPRISE)


def still_kept(promised: float) -> tuple[int, int]:
    """The fewest and the most wrong links that would still be about as many as were promised.

    Example:
        >>> still_kept(19), still_kept(1000)
        ((1, 53), (667, 1500))
    """
    low = high = round(promised)
    while low > 0 and is_kept(promised, low - 1):
        low -= 1
    while is_kept(promised, high + 1):
        high += 1
    return low, high


def _findings(test: SkipTest, covering: float) -> Iterator[Verdict]:
    """What can be said, the weightiest first."""
    skipped, growth = "with every second frame left out", f"{test.growth:.2f} times"
    if test.growth < LEAST_GROWTH * np.exp(-1.64 * test.growth_error):
        yield Verdict(
            "contradicted",
            f"cells do not move farther in {test.step} steps than in one ({growth} the squared motion): "
            "what was linked may not be the same cells",
        )
    if test.composed > LARGEST_SHARE * test.links:
        share = f"{100 * test.composed / max(test.links, 1):.0f} %"
        reason = f"{skipped}, {share} of the links are wrong; at this frame rate cells can hardly be followed"
        yield Verdict("contradicted", reason)
    if test.tempering < LEAST_TEMPERING:
        yield Verdict("contradicted", f"the model is far too sure of itself (tempering {test.tempering:.2f})")
    if sees_false_divisions(test, LARGEST_EXCESS):
        yield Verdict(
            "contradicted",
            f"with all frames {test.divisions_between:.0f} divisions are seen, with every second one left out "
            f"{test.divisions:.0f}: masks come and go, and divisions are not to be trusted",
        )
    if not is_kept(test.promised, test.composed):
        links = f"{test.promised:.0f} links were promised to be wrong, and {test.composed:.0f} were"
        yield Verdict("contradicted", f"{skipped}, {links}")
    if covering > LARGEST_COVERING:
        yield Verdict(
            "untested",
            f"masks cover each other ({100 * covering:.0f} % of the changes in size follow from masks that touch), so that their "
            "centres are not the cells' own; skipping frames cannot tell, and there may be twice as many wrong links as promised",
        )
    if test.growth < LEAST_GROWTH * np.exp(1.64 * test.growth_error):
        more = f"cells hardly move farther in {test.step} steps than in one ({growth})"
        yield Verdict("untested", f"{more}, so that skipping frames tells little")
    if test.composed < LEAST_ERRORS:
        few = f"about {test.composed:.0f} of {test.links:,} links are wrong: too few to judge by"
        yield Verdict("untested", f"{skipped}, {few}")
    links = f"{test.promised:.0f} of {test.links:,} links were promised to be wrong, and {test.composed:.0f} were"
    yield Verdict("supported", f"{skipped}, {links}, as all frames show")
