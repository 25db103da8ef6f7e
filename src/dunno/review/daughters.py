"""One row per daughter of a movie: what the queue needs to know, small enough for long movies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dunno.errors import InputError
from dunno.review import gain
from dunno.types import Block, Bools, Floats, Ints, PairPosterior

TAKES_PART_FROM = 0.1
"""A daughter takes part in a division if it is reported, or if its likeliest mother divides with this probability."""


@dataclass(frozen=True, eq=False)
class Table:
    """All daughters, frame by frame; rows of a pair are rewritten when it is solved again."""

    first: Ints  # (T,) the first row of each pair, and one past the last row of all
    mother_frame: Ints  # (T - 1,) original index of each pair's earlier frame; `daughter_frame` of its later one
    daughter_frame: Ints
    label: Ints  # (N,) each daughter's label
    place: Floats  # (N, 2) its centre in the plane, in the movie's unit
    error: Floats  # (N,) probability that its reported decision is wrong
    entropy: Floats  # (N,) of its distribution; 0 where it has none
    group: Ints  # (N,) which daughters of its pair it is tied to
    promise: Floats  # (N,) what asking it may be worth
    signature: Floats  # (N,) what its gain depends on, as a number
    linked: Bools  # (N,) whether it has a mother in the reported assignment; otherwise it appears
    division: Bools  # (N,) whether it takes part in a division
    starts: Bools  # (N,) whether it starts a track
    open: Bools  # (N,) whether anything can be asked about it; not after a frame that could not be read

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Table:
        """Take down all blocks, one at a time."""
        parts: list[dict[str, np.ndarray]] = []
        frames: list[tuple[int, int]] = []
        for pair in (pair for block in blocks for pair in block.pairs()):
            parts.append(_rows(pair))
            frames.append((pair.mother_frame, pair.daughter_frame))
        if not parts:
            raise InputError("the tracking has no frame pair; there is nothing to review")
        first = np.concatenate([[0], np.cumsum([len(part["label"]) for part in parts])])
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        mothers, daughters = np.array(frames).T
        return cls(first, mothers, daughters, **columns)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_pairs(self) -> int:
        """T - 1."""
        return len(self.mother_frame)

    def update(self, t: int, pair: PairPosterior) -> None:
        """Rewrite the rows of pair t."""
        for name, values in _rows(pair).items():
            getattr(self, name)[self.rows(t)] = values

    def rows(self, t: int) -> slice:
        """The rows of pair t."""
        return slice(int(self.first[t]), int(self.first[t + 1]))

    def pair_of(self, row: int) -> int:
        """The pair that a row is from."""
        return int(np.searchsorted(self.first, row, side="right")) - 1

    def frame_of(self, rows: Ints) -> Ints:
        """(k,) the original frames of daughters."""
        return self.daughter_frame[np.searchsorted(self.first, rows, side="right") - 1]

    @property
    def expected_wrong_links(self) -> float:
        """The sum of 1 − P over all links."""
        return float(self.error[self.linked].sum())

    def over_time(self) -> Floats:
        """(T - 1,) the expected number of wrong decisions in each pair."""
        return np.asarray(np.add.reduceat(np.append(self.error, 0.0), self.first[:-1]) * (np.diff(self.first) > 0))


def _rows(pair: PairPosterior) -> dict[str, np.ndarray]:
    n = len(pair.daughters)
    linked = np.zeros(n, np.bool_)
    linked[pair.daughter[pair.selected]] = True
    linked[pair.earlier.daughter[pair.earlier.selected]] = True
    twin = np.zeros(n, np.bool_)
    twin[pair.daughter[pair.selected]] = pair.divides[pair.mother[pair.selected]]
    error, group = gain.errors(pair), gain.groups(pair)
    return {
        "label": pair.daughters.label,
        "place": pair.daughters.centroid[:, -2:],
        "error": error,
        "entropy": np.nan_to_num(pair.entropy),
        "group": group,
        "promise": error if pair.problem is None else gain.promise(error, group),
        "signature": gain.signatures(pair, group),
        "linked": linked,
        "division": twin | _may_be_twin(pair),
        "starts": ~linked | twin,
        "open": ~np.isnan(pair.log_no_mother),
    }


def _may_be_twin(pair: PairPosterior) -> Bools:
    if pair.log_divide is None:
        return np.zeros(len(pair.daughters), np.bool_)
    best = np.full(len(pair.daughters), -np.inf)
    np.maximum.at(best, pair.daughter, pair.log_probability)
    likeliest = (pair.log_probability == best[pair.daughter]) & (pair.log_probability > np.log(0.5))
    found = np.zeros(len(pair.daughters), np.bool_)
    found[pair.daughter[likeliest]] = pair.log_divide[pair.mother[likeliest]] >= np.log(TAKES_PART_FROM)
    return found
