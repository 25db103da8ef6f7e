"""Pieces of work: one dataset, cost and frame step each, for all methods; and the file that keeps what was measured of one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dunno import rooms
from dunno.benchmark.datasets import Dataset
from dunno.benchmark.results_table import Row
from dunno.errors import InputError
from dunno.evaluation.calibration_error import BINS, check_bins
from dunno.io.writing import whole
from dunno.tracking.tracker import check_seed

SCHEMA = 3
"""Counts up when the same unit would be measured differently."""

PAPER, USER = "paper", "user"
SETUPS: dict[str, dict[str, Any]] = {PAPER: {"max_distance": np.inf, "no_mother": False}, USER: {}}
"""What a tracker is told: every mother a candidate and no ⊥, as in the paper; or nothing, as a user gets it."""

TRANSFORMER = "transformer"
COSTS = ("activity", "distance", "overlap", TRANSFORMER)
METHODS = ("SM", "FP", "FP+A", "AS", "MC", "JP")
PEER_COSTS = {"trackpy": "distance", "LapTrack": "distance", "Trackastra": TRANSFORMER}
"""Others' trackers, and the cost beside which they stand, in the user's set-up."""

PAPER_STEPS = (1, 10, 30, 50)

Asked = tuple[str, str]
"""A set-up and a method."""


@dataclass(frozen=True)
class Experiment:
    """What is compared; everything that is not here is at the tracker's defaults.

    Attributes:
        setups: "paper", "user".
        costs: Names of costs, or `package.module:Class`.
        methods: Names of methods or peers, or `package.module:Class`.
        steps: Every how many frames.
        models: Folders of the transformer's models.
        samples: K of the methods that draw.
        n_bins: Bins of confidence in calibration errors and curves; the paper does not say how many it has.
        seed: Of everything random.
    """

    setups: tuple[str, ...] = (USER,)
    costs: tuple[str, ...] = COSTS
    methods: tuple[str, ...] = METHODS
    steps: tuple[int, ...] = PAPER_STEPS
    models: tuple[str, ...] = ()
    samples: int = 10
    n_bins: int = BINS
    seed: int = 0

    def __post_init__(self) -> None:
        costs = dict.fromkeys(TRANSFORMER if name == TRANSFORMER else _known("costs", name) for name in self.costs)
        if TRANSFORMER in costs and not self.models:
            raise InputError(
                "cost transformer needs models: --model DIR, or --train 0.25 to train one; or leave it out of --costs"
            )
        methods = dict.fromkeys(name if name in PEER_COSTS else _known("methods", name) for name in self.methods)
        object.__setattr__(self, "costs", tuple(costs))
        object.__setattr__(self, "methods", tuple(methods))
        wrong = next((name for name in self.setups if name not in SETUPS), None)
        if wrong is not None:
            raise InputError(f"--setup {wrong}: expected {', '.join(SETUPS)}")
        if not (self.setups and self.costs and self.methods and self.steps):
            raise InputError("expected at least one set-up, one cost, one method and one frame step")
        if min(self.steps) < 1:
            raise InputError(f"--every {min(self.steps)}: expected frame steps of 1 or more, such as 1,10,30,50")
        if self.samples < 1:
            raise InputError(f"--samples {self.samples}: expected 1 or more")
        check_bins(self.n_bins)
        check_seed(self.seed)

    def asked(self, cost: str) -> list[Asked]:
        """The set-ups and methods that are wanted of a cost."""
        every = [(setup, method) for setup in self.setups for method in self.methods]
        return [(s, m) for s, m in every if m not in PEER_COSTS or (s == USER and PEER_COSTS[m] == cost)]


def _known(room: str, name: str) -> str:
    """A name as its room spells it; a user's own `package.module:Class` stays."""
    offered = rooms.find(room, name)
    return name if ":" in name else str(offered.name)


@dataclass(frozen=True)
class Unit:
    """One piece of work; it travels to workers, which read the movies themselves."""

    dataset: Dataset
    stamp: str
    cost: str
    model: str | None
    step: int
    samples: int
    n_bins: int
    seed: int
    schema: int = SCHEMA

    def __str__(self) -> str:
        model = "" if self.model is None else f" {Path(self.model).name}"
        return f"{self.dataset.name}, {self.cost}{model}, every {self.step}"

    @property
    def file_name(self) -> str:
        """Readable, and another one for other parameters, or another model under the same name."""
        told = asdict(self) | {"dataset": str(self.dataset.path), "model": self._weights}
        words = re.sub(r"[^A-Za-z0-9+.-]+", "_", str(self))
        return f"{words}-{hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:10]}.json"

    @property
    def _weights(self) -> str | None:
        return None if self.model is None else hashlib.sha256((Path(self.model) / "model.pt").read_bytes()).hexdigest()

    def row(self, setup: str, sequence: str | None, method: str, scaling: str = "none", **more: Any) -> Row:
        """A row that says what it is of."""
        return {
            "setup": setup, "dataset": self.dataset.name, "sequence": sequence, "step": self.step, "cost": self.cost,
            "model": self.model and Path(self.model).name, "method": method, "scaling": scaling, "seed": self.seed, **more,
        }  # fmt: skip

    def keep(self, rows: Sequence[Row], folder: Path) -> None:
        """Keep what was measured, whole or not at all."""
        with whole(folder / self.file_name, overwrite=True) as partial:
            partial.write_text(json.dumps(list(rows)) + "\n")

    def kept(self, folder: Path) -> list[Row]:
        """The rows that were measured before; none where their file cannot be read."""
        try:
            content: list[Row] = json.loads((folder / self.file_name).read_text())
            return [dict(row) for row in content]
        except (OSError, ValueError, TypeError):
            return []


def plan_units(datasets: Sequence[Dataset], experiment: Experiment) -> list[Unit]:
    """Every piece of work, dataset by dataset."""
    return [
        Unit(dataset, dataset.stamp, cost, model, step, experiment.samples, experiment.n_bins, experiment.seed)
        for dataset in datasets
        for cost in experiment.costs
        for model in (experiment.models if cost == TRANSFORMER else (None,))
        for step in experiment.steps
    ]
