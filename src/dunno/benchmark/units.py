"""Pieces of work: one dataset, cost, method and frame step each, and the file in which a finished one is kept."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dunno import rooms
from dunno.benchmark.datasets import Dataset
from dunno.benchmark.rows import Row
from dunno.errors import InputError
from dunno.evaluation.calibration_error import BINS, check_bins
from dunno.io.writing import whole
from dunno.tracking.gate import check_gate
from dunno.tracking.tracker import check_seed

SCHEMA = 2
"""Counts up when the same unit would be measured differently."""

TRANSFORMER = "transformer"
LEARNT, IMAGED = (TRANSFORMER,), ("activity",)
"""Costs that need a model, and those that need images."""

COSTS = ("distance", "activity", "overlap", TRANSFORMER)
METHODS = ("SM", "FP", "FP+A", "AS", "MC", "JP")
PERTURBING = ("FP", "FP+A")
STEPS = (1, 10, 30, 50)


@dataclass(frozen=True)
class Setup:
    """What is compared; everything that is not here is at the tracker's defaults.

    Attributes:
        costs: Names of costs. Those that need images or a model are left out where there is none.
        methods: Names of methods.
        steps: Every how many frames.
        samples: K of the methods that draw.
        max_distance: The gate; `None` estimates it for every movie, `inf` makes every mother a candidate.
        mothers_only: The paper's plain normalisation, without ⊥.
        models: The transformer's models: folders, or names of published ones; such as one per dropout rate in training.
        dropout: Other dropout rates to try with FP and FP+A; empty is the one that a model was trained with.
        n_bins: Bins of confidence in calibration errors and curves; the paper does not say how many it has.
        seed: Of everything random.
    """

    costs: tuple[str, ...] = COSTS
    methods: tuple[str, ...] = METHODS
    steps: tuple[int, ...] = STEPS
    samples: int = 10
    max_distance: float | None = None
    mothers_only: bool = False
    models: tuple[str, ...] = ()
    dropout: tuple[float, ...] = ()
    n_bins: int = BINS
    seed: int = 0

    def __post_init__(self) -> None:
        costs = (name if name == TRANSFORMER and not self.models else _known("costs", name) for name in self.costs)
        object.__setattr__(self, "costs", tuple(dict.fromkeys(costs)))
        object.__setattr__(self, "methods", tuple(dict.fromkeys(_known("methods", name) for name in self.methods)))
        if not (self.costs and self.methods and self.steps):
            raise InputError("expected at least one cost, one method and one frame step")
        wrong = next((step for step in self.steps if step < 1), None)
        if wrong is not None:
            raise InputError(f"--every {wrong}: expected frame steps of 1 or more, such as 1,10,30,50")
        if self.samples < 1:
            raise InputError(f"--samples {self.samples}: expected 1 or more")
        if self.max_distance is not None:
            check_gate(self.max_distance)
        check_bins(self.n_bins)
        check_seed(self.seed)


def _known(room: str, name: str) -> str:
    """A name as its room spells it; a user's own `package.module:Class` stays."""
    offered = rooms.find(room, name)
    return name if ":" in name else str(offered.name)


@dataclass(frozen=True)
class Unit:
    """One piece of work; it travels to workers, which read the movies themselves."""

    path: str
    sequences: tuple[str, ...]
    stamp: str
    cost: str
    method: str
    step: int
    samples: int
    max_distance: float | None
    mothers_only: bool
    model: str | None
    dropout: float | None
    n_bins: int
    seed: int
    version: str
    schema: int = SCHEMA

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return Path(self.path).name

    def __str__(self) -> str:
        model = "" if self.model is None else f" {Path(self.model).name}"
        rate = "" if self.dropout is None else f", dropout {self.dropout:g}"
        return f"{self.dataset}, {self.cost}{model}, {self.method}, every {self.step}{rate}"

    @property
    def file_name(self) -> str:
        """Readable, and another one for other parameters or another version."""
        told = json.dumps(plain(self), sort_keys=True)
        words = re.sub(r"[^A-Za-z0-9+.-]+", "_", f"{self.dataset}-{self.cost}-{self.method}-every{self.step}")
        return f"{words}-{hashlib.sha256(told.encode()).hexdigest()[:10]}.json"

    def failed(self, error: BaseException) -> Row:
        """The row of a unit that did not end."""
        reason = f"failed: {' '.join(str(error).split()) or type(error).__name__}"
        return Row(
            self.dataset, None, self.step, self.cost, self.method, "none",
            dropout=self.dropout, reason=reason, dunno=self.version, seed=self.seed,
        )  # fmt: skip


def plan_units(datasets: Sequence[Dataset], setup: Setup) -> tuple[list[Unit], list[str]]:
    """Every piece of work, and in words what was left out."""
    units, left_out = [], []
    if TRANSFORMER in setup.costs and not setup.models:
        left_out.append("cost transformer is left out: it needs a model (--model DIR)")
    for dataset in datasets:
        for cost in setup.costs:
            if cost in LEARNT and not setup.models:
                continue
            if cost in IMAGED and not dataset.has_images:
                left_out.append(f"cost {cost} is left out for {dataset.name}: it has no images")
                continue
            units += [unit for step in setup.steps for unit in _units(dataset, cost, step, setup)]
    return units, left_out


def _units(dataset: Dataset, cost: str, step: int, setup: Setup) -> list[Unit]:
    """The units of a dataset, cost and step: one per method, and for a learnt cost per model and dropout rate."""

    def unit(method: str, model: str | None, rate: float | None) -> Unit:
        return Unit(
            path=str(dataset.path),
            sequences=dataset.sequences,
            stamp=dataset.stamp,
            cost=cost,
            method=method,
            step=step,
            samples=setup.samples,
            max_distance=setup.max_distance,
            mothers_only=setup.mothers_only,
            model=model,
            dropout=rate,
            n_bins=setup.n_bins,
            seed=setup.seed,
            version=version("dunno"),
        )

    if cost not in LEARNT:
        return [unit(method, None, None) for method in setup.methods]
    rates: dict[str, tuple[float | None, ...]] = dict.fromkeys(PERTURBING, setup.dropout or (None,))
    return [unit(m, model, rate) for m in setup.methods for model in setup.models for rate in rates.get(m, (None,))]


def plain(thing: Any) -> dict[str, Any]:
    """A unit's or set-up's fields, as JSON has them: it knows no infinity."""
    return {name: str(value) if value == math.inf else value for name, value in asdict(thing).items()}


def keep(unit: Unit, rows: Sequence[Row], folder: Path) -> None:
    """Keep a finished unit, whole or not at all."""
    content = {"unit": plain(unit), "rows": [asdict(row) for row in rows]}
    with whole(folder / unit.file_name, overwrite=True) as partial:
        partial.write_text(json.dumps(content) + "\n")


def kept(unit: Unit, folder: Path) -> list[Row] | None:
    """The rows of a unit that was finished before; `None` if it was not, or its file cannot be read."""
    try:
        content: dict[str, Any] = json.loads((folder / unit.file_name).read_text())
        return [Row(**row) for row in content["rows"]]
    except (OSError, ValueError, TypeError, KeyError):
        return None
