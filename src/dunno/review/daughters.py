"""One row per daughter of a movie: what the queue needs to know, small enough for long movies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dunno.errors import DecisionError, InputError
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.review import gain
from dunno.types import Block, Bools, Floats, Ints, PairPosterior

TAKES_PART_FROM = 0.1
"""A daughter takes part in a division if it is reported, or if its likeliest mother divides with this probability."""


@dataclass(eq=False)
class Table:
    """All daughters: those that were tracked, frame by frame, then those that came with what was said of masks.

    Rows of a pair are rewritten when it is solved again. A row means the same cell for as long as the output is there; of cells
    that are no more, nothing is asked.
    """

    # (T,) the first row of each pair, as it was tracked, and one past the last row of all
    first: Ints
    mother_frame: Ints  # (T - 1,) original index of each pair's earlier frame; `daughter_frame` of its later one
    daughter_frame: Ints
    pair: Ints  # (N,) the number of its pair
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
    debris: Bools  # (N,) whether it is taken for debris, by its track as it was tracked: it is neither counted nor asked about
    changed: dict[int, Ints] = field(default_factory=dict)  # The rows of pairs whose daughters are not those of before

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Table:
        """Take down all blocks, one at a time."""
        parts: list[dict[str, np.ndarray]] = []
        frames: list[tuple[int, int]] = []
        numbers, tracks = TrackNumbers(), list[Ints]()
        for part in numbered(blocks, numbers):
            for t, pair in zip(part.block.own, part.block.pairs(), strict=True):
                parts.append(_rows(pair))
                frames.append((pair.mother_frame, pair.daughter_frame))
                tracks.append(part.track[part.block.rows(t)])
        if not parts:
            raise InputError("the tracking has no frame pair; there is nothing to review")
        first = np.concatenate([[0], np.cumsum([len(part["label"]) for part in parts])])
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        mothers, daughters = np.array(frames).T
        number = np.repeat(np.arange(len(frames)), np.diff(first))
        debris = np.array([False, *(row.is_debris for row in numbers.table())])[np.concatenate(tracks)]
        return cls(first, mothers, daughters, number, **columns, debris=debris)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_pairs(self) -> int:
        """T - 1."""
        return len(self.mother_frame)

    def update(self, t: int, pair: PairPosterior) -> None:
        """Rewrite the rows of pair t."""
        columns = _rows(pair)
        rows = self.rows(t)
        if not np.array_equal(self.label[rows], columns["label"]):
            rows = self._renewed(t, columns)
        for name, values in columns.items():
            getattr(self, name)[rows] = values

    def _renewed(self, t: int, columns: dict[str, np.ndarray]) -> Ints:
        """The rows of a pair with other daughters: old ones for those that were there before, new ones at the end."""
        ever = np.flatnonzero(self.pair == t)
        for name in ("error", "entropy", "promise", "linked", "division", "starts", "open"):
            getattr(self, name)[ever] = 0
        known = dict(zip(self.label[ever].tolist(), ever.tolist(), strict=True))
        fresh = np.array([label not in known for label in columns["label"].tolist()], np.bool_)
        new = np.arange(len(self), len(self) + int(fresh.sum()))
        for name, values in columns.items():
            setattr(self, name, np.concatenate([getattr(self, name), values[fresh]]))
        self.pair = np.concatenate([self.pair, np.full(len(new), t)])
        self.debris = np.concatenate([self.debris, np.zeros(len(new), np.bool_)])
        known |= dict(zip(columns["label"][fresh].tolist(), new.tolist(), strict=True))
        self.changed[t] = np.array([known[label] for label in columns["label"].tolist()], np.int64)
        return self.changed[t]

    def rows(self, t: int) -> Ints:
        """The rows of pair t, in the order of its daughters."""
        found = self.changed.get(t)
        return np.arange(int(self.first[t]), int(self.first[t + 1])) if found is None else found

    def pair_of(self, row: int) -> int:
        """The pair that a row is from."""
        return int(self.pair[row])

    def index(self, row: int) -> int:
        """The place of a row's cell among its pair's daughters; refused where it is no cell any more."""
        t = int(self.pair[row])
        found = np.flatnonzero(self.rows(t) == row)
        if not len(found):
            raise DecisionError(
                f"cell {self.label[row]} of frame {self.daughter_frame[t]} is none any more, after what was said of its mask"
            )
        return int(found[0])

    def row(self, t: int, label: int) -> int:
        """The row of a daughter of pair t, also of one that is no cell any more."""
        ever = np.flatnonzero(self.pair == t) if t in self.changed else self.rows(t)
        found = ever[self.label[ever] == label]
        if not len(found):
            raise DecisionError(f"frame {self.daughter_frame[t]} has no cell {label}")
        return int(found[0])

    def cell(self, row: int) -> tuple[int, int]:
        """Frame and label of a row's cell."""
        return int(self.daughter_frame[self.pair[row]]), int(self.label[row])

    def frame_of(self, rows: Ints) -> Ints:
        """(k,) the original frames of daughters."""
        return self.daughter_frame[self.pair[rows]]

    def place_of(self, frame: int) -> int:
        """Where a frame is among the movie's."""
        t = 0 if frame == self.mother_frame[0] else int(np.searchsorted(self.daughter_frame, frame)) + 1
        if t and (t > self.n_pairs or self.daughter_frame[t - 1] != frame):
            raise DecisionError(f"frame {frame} has no cells in this output")
        return t

    @property
    def links(self) -> int:
        """How many links there are, those of debris left out: what the screen and the report count."""
        return int((self.linked & ~self.debris).sum())

    @property
    def expected_wrong_links(self) -> float:
        """The sum of 1 − P over these links."""
        return float(self.error[self.linked & ~self.debris].sum())

    def over_time(self) -> Floats:
        """(T - 1,) the expected number of wrong decisions in each pair."""
        return np.bincount(self.pair, np.where(self.debris, 0.0, self.error), self.n_pairs).astype(np.float64)


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
