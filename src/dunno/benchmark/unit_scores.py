"""One unit's work: track, calibrate, score."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dunno import rooms
from dunno.benchmark.datasets import Part
from dunno.benchmark.one_pass import Remembered, Timed, clock_of, timed, track_together
from dunno.benchmark.peers import track_peer
from dunno.benchmark.results_table import Row
from dunno.benchmark.units import PAPER, PEER_COSTS, SETUPS, TRANSFORMER, USER, Asked, Unit
from dunno.calibration import TemperatureScaling, fit_event_costs
from dunno.costs import cost_of
from dunno.errors import DunnoWarning, InputError
from dunno.evaluation.accuracy import aurc, auroc, core_scores
from dunno.evaluation.calibration_error import curve, error_floor
from dunno.evaluation.divisions import divisions
from dunno.evaluation.outcomes import promises
from dunno.evaluation.pairs_with_truth import decide
from dunno.evaluation.sparsification import sparsify
from dunno.tracking import Tracking
from dunno.tracking.tracker import Tracker
from dunno.truth import true_mothers
from dunno.types import Truth

LEAST_LINKS_SCORED = 20
"""Fewer than this say nothing about a calibration error, nor about a temperature."""

IMAGED = ("activity",)
SLOW = ("overlap", TRANSFORMER)
"""Costs that are remembered while a unit is measured."""

AT_ONCE = 2
"""Methods that are held in memory together: where every mother is a candidate, one can take a gigabyte."""

JOINT = "JP"
WITHOUT_NUMBER = ("n_pairs", "n_links", "accuracy", "recall", "daughter_accuracy", "found_wrong", "swaps", "version")
"""What is said of a peer that has no number for a link."""

CURVE_POINTS = 20


class TooFewError(Exception):
    """There is too little to calibrate on or to evaluate; the message becomes the row's reason."""


def measure(unit: Unit, asked: Sequence[Asked]) -> list[Row]:
    """Do one unit: rows for every evaluated part. Runs in any process that finds the movies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DunnoWarning)  # what they say is in the rows
        first, *others = (part.every(unit.step) for part in unit.dataset.parts())
        if unit.cost in IMAGED and not first.movie.has_images:
            return [unit.row(*each, reason="no images") for each in _places(asked, others)]
        costs = {part.sequence: make_cost(unit) for part in (first, *others)}
        rows: list[Row] = []
        for setup in dict.fromkeys(setup for setup, _ in asked):
            own = [m for s, m in asked if s == setup and m not in PEER_COSTS]
            for some in (own[at : at + AT_ONCE] for at in range(0, len(own), AT_ONCE)):
                rows += Bench(unit, setup, costs, some).rows(first, others)
        peers = [method for _, method in asked if method in PEER_COSTS]
        return rows + [_peer_row(unit, name, part) for name in peers for part in others]


def _places(asked: Sequence[Asked], parts: Sequence[Part]) -> Iterator[tuple[str, str, str]]:
    return ((setup, part.sequence, method) for setup, method in asked for part in parts)


def make_cost(unit: Unit) -> Any:
    """The unit's cost; the transformer's with its model, slow ones remembered."""
    offered: Any = rooms.find("costs", unit.cost)
    if unit.model is not None:
        offered = offered(model=unit.model)
    made = offered() if isinstance(offered, type) else offered
    return Remembered(made) if unit.cost in SLOW else made


def make_method(unit: Unit, name: str) -> Any:
    """A method with the unit's K."""
    return Tracker("distance", name, samples=unit.samples, calibration=None).method


@dataclass(eq=False)
class Bench:
    """A unit in one set-up: a cost for each part, and what was made of the part that is calibrated on."""

    unit: Unit
    setup: str
    costs: Mapping[str, Any]
    names: Sequence[str]
    _first: dict[str, Timed] = field(default_factory=dict)

    def rows(self, first: Part, others: Sequence[Part]) -> Iterator[Row]:
        """Rows of every part, method and scaling."""
        if not self.names:
            return
        self._first = self._plain(first)
        squared = self._squared_displacement(first)
        for part in others:
            plain = self._plain(part)
            for name in self.names:
                for scaling in ("none", "temperature", "self", *(["events"] if self._fits_model(name) else [])):
                    row = self.unit.row(
                        self.setup, part.sequence, name, scaling, masks=_masks(part), squared_displacement=squared
                    )
                    try:
                        found, told = self._scaled(scaling, name, plain, first, part)
                        yield row | told | {"seconds": found.seconds} | scores(self.unit, found.tracking, part)
                    except TooFewError as error:
                        yield row | {"reason": str(error)}

    def _fits_model(self, name: str) -> bool:
        """Whether a self-calibration fits a model of motion, with a gate and a ⊥ of its own."""
        return name == JOINT and cost_of(next(iter(self.costs.values()))).is_motion

    def _plain(self, part: Part) -> dict[str, Timed]:
        if len(part) < 2:
            return {}
        methods = {name: make_method(self.unit, name) for name in self.names}
        return track_together(methods, part.movie, self.costs[part.sequence], seed=self.unit.seed, **SETUPS[self.setup])

    def _scaled(
        self, scaling: str, name: str, plain: Mapping[str, Timed], first: Part, part: Part
    ) -> tuple[Timed, dict[str, Any]]:
        """A part's tracking with one scaling, and what the scaling says of itself."""
        if name not in plain:
            raise TooFewError(_too_short(part))
        if scaling == "none":
            return plain[name], {}
        if scaling == "self":
            return self._self(name, part)
        self._check_first(name, first)
        if scaling == "events":
            return self._events(name, first, part)
        fit = _fitted(TemperatureScaling.fit, self._first[name].tracking, first)
        found = timed(fit, plain[name].tracking)
        told = {"temperature": fit.temperature, "verdict": "at bound" if fit.at_bound else None}
        return Timed(found.tracking, found.seconds + plain[name].seconds), told

    def _self(self, name: str, part: Part) -> tuple[Timed, dict[str, Any]]:
        if self._fits_model(name) and self.setup == PAPER:
            raise TooFewError("its model has a gate and a ⊥ of its own; see the user's set-up")
        found = timed(self._tracker(name, part, "self").track, part.movie, clock=clock_of(self.costs[part.sequence]))
        about = found.tracking.about
        told = {name: about[name] for name in ("verdict", "reason")}
        return found, told | {"temperature": about["calibration"].get("temperature")}

    def _events(self, name: str, first: Part, part: Part) -> tuple[Timed, dict[str, Any]]:
        if self.setup == PAPER:
            raise TooFewError("its model has a gate and a ⊥ of its own; see the user's set-up")
        fitted = _fitted(fit_event_costs, self._first[name].tracking, first)
        return timed(self._tracker(name, part, fitted).track, part.movie), {}

    def _tracker(self, name: str, part: Part, calibration: Any) -> Tracker:
        choices = {"calibration": calibration, "seed": self.unit.seed, "workers": 1, **SETUPS[self.setup]}
        return Tracker(self.costs[part.sequence], make_method(self.unit, name), **choices)

    def _check_first(self, name: str, first: Part) -> None:
        pairs = self._first[name].tracking.pairs if name in self._first else ()
        known = sum(int((true_mothers(first.truth, pair).mother >= 0).sum()) for pair in pairs)
        if known < LEAST_LINKS_SCORED:
            raise TooFewError(f"{known} true links to calibrate on; at least {LEAST_LINKS_SCORED} are needed")

    def _squared_displacement(self, first: Part) -> float | None:
        """Mean over the true links of what is calibrated on."""
        if not self._first:
            return None
        squares = squared_displacements(next(iter(self._first.values())).tracking, first)
        return float(squares.mean()) if len(squares) else None


def _fitted(fit: Callable[[Tracking, Truth], Any], tracking: Tracking, first: Part) -> Any:
    """What is fitted with truth; where no true mother is a candidate, there is nothing to fit on."""
    try:
        return fit(tracking, first.truth)
    except InputError as error:
        raise TooFewError(str(error)) from None


def scores(unit: Unit, tracking: Tracking, part: Part) -> dict[str, Any]:
    """A tracking beside its truth."""
    decisions = decide(tracking, part.truth)
    confidence, right = decisions.link_confidence, decisions.link_right
    if len(right) < LEAST_LINKS_SCORED:
        raise TooFewError(f"{len(right)} links to evaluate; at least {LEAST_LINKS_SCORED} are needed")
    edge, entropy = sparsify(confidence, right, "edge"), sparsify(-decisions.link_entropy, right, "entropy")
    found = {
        "n_pairs": len(tracking.pairs),
        "n_links": len(right),
        "confidence": float(confidence.mean()),
        "ece_floor": error_floor(confidence, unit.n_bins, unit.seed),
        "ece_daughters_floor": error_floor(decisions.confidence, unit.n_bins, unit.seed),
        "gain_edge": edge.gain,
        "gain_entropy": entropy.gain,
        "oracle_gain": edge.oracle_gain,
        "dimensions": part.movie.n_dimensions,
        "version": tracking.about.version,
        **core_scores(decisions, unit.n_bins),
        **promises(decisions.link_kind, confidence),
        "auroc": auroc(confidence, right),
        "aurc": aurc(confidence, right),
    }
    reported = divisions(tracking, part.truth) if tracking.about.joint else None
    if reported is not None:
        found |= {"divisions": reported.reported, "divisions_right": reported.right, "divisions_true": reported.true}
    bins = curve(confidence, right, unit.n_bins)
    every = len(edge.removed) // CURVE_POINTS
    found["curves"] = {
        "count": bins.count.tolist(),
        "confidence": _rounded(bins.confidence),
        "accuracy": _rounded(bins.accuracy),
        "removed": _rounded(edge.removed[::every]),
        "edge": _rounded(edge.accuracy[::every]),
        "entropy": _rounded(entropy.accuracy[::every]),
    }
    return {name: None if value != value else value for name, value in found.items()}


def squared_displacements(tracking: Tracking, part: Part) -> np.ndarray:
    """(L,) how far each true link's daughter is from its mother, squared."""
    squares = [np.empty(0)]
    for pair in tracking.pairs:
        mother = true_mothers(part.truth, pair).mother
        linked = np.flatnonzero(mother >= 0)
        moved = pair.daughters.centroid[linked] - pair.mothers.centroid[mother[linked]]
        squares.append((moved**2).sum(axis=1))
    return np.concatenate(squares)


def _peer_row(unit: Unit, name: str, part: Part) -> Row:
    row = unit.row(USER, part.sequence, name, masks=_masks(part))
    if len(part) < 2:
        return row | {"reason": _too_short(part)}
    tracking, seconds = track_peer(name, part.movie, unit.model)
    try:
        found = scores(unit, tracking, part)
    except TooFewError as error:
        return row | {"reason": str(error)}
    if unit.model is None:
        found = {column: found[column] for column in WITHOUT_NUMBER} | {"reason": "it has no number for a link"}
    return row | found | {"seconds": seconds}


def _too_short(part: Part) -> str:
    return f"no links to evaluate ({len(part)} frame at this step); at least {LEAST_LINKS_SCORED} are needed"


def _masks(part: Part) -> str:
    return "/".join(part.movie.mask_source.split("/")[-2:])


def _rounded(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 6) for value in values]
