"""The options of commands that track, and the tracker they make."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option  # noqa: F401  (the fields of `Opening` are read in this file, too)

from dunno.cli.movie_options import Opening
from dunno.errors import InputError

if TYPE_CHECKING:
    from dunno.costs import Cost
    from dunno.tracking.tracker import Tracker


PRECISION, STRENGTH = ("precision",), ("variance", "amplitude", "rate")
"""What the options are called in the costs and perturbations that have them."""


OF_THE_TRACKER = (
    *(
        "samples",
        "max_distance",
        "appear_cost",
        "disappear_cost",
        "divide_cost",
        "repair",
        "evidence",
        "max_gap",
        "seed",
    ),
    "workers",
)
"""Options that the tracker has by the same names."""


@dataclass(frozen=True)
class TrackerOptions(Opening):
    """What to track and how; each field is an option."""

    cost: Annotated[str, Option(help="How links are judged (`dunno list costs`); your own: package.module:Class.")] = (
        "distance"
    )
    method: Annotated[str, Option(help="How probabilities are computed (`dunno list methods`).")] = "JP"
    samples: Annotated[
        int | None, Option(help="K: how many samples or perturbations a method takes (default: 10).")
    ] = None
    perturbation: Annotated[
        str | None, Option(help="What to perturb (`dunno list perturbations`; default: the cost's own).")
    ] = None
    members: Annotated[
        list[Path] | None,
        Option(help="For --perturbation ensemble: another segmentation of the movie; may be repeated."),
    ] = None
    strength: Annotated[
        float | None,
        Option(help="Strength of --perturbation: γ (gaussian), pixels (shift, border), rate (dropout)."),
    ] = None
    precision: Annotated[float | None, Option(help="λ of --cost distance or activity, per squared pixel.")] = None
    features: Annotated[Path | None, Option(help="For --cost embedding: a CSV with frame, label and features.")] = None
    model: Annotated[Path | None, Option(help="For --cost transformer: a model folder, or general_2d or ctc.")] = None
    max_distance: Annotated[
        float | None,
        Option(help="How far a cell may move between frames, in µm (in pixels without --scale; default: estimated)."),
    ] = None
    appear_cost: Annotated[float | None, Option(help="Cost of a cell that appears (has no mother).")] = None
    disappear_cost: Annotated[float | None, Option(help="Cost of a cell that disappears.")] = None
    divide_cost: Annotated[float | None, Option(help="Cost of a division.")] = None
    no_divisions: Annotated[
        bool, Option("--no-divisions", help="Cells do not divide: none ever has two daughters.")
    ] = False
    mothers_only: Annotated[
        bool,
        Option("--mothers-only", help="Normalise over mothers only, as the paper does: every cell has a mother."),
    ] = False
    repair: Annotated[
        bool | None,
        Option(
            "--repair/--no-repair",
            help="Whether masks may be cut, joined and left out (default: where a glance says that they may be wrong). "
            "With --no-repair, cells that share a mask share its row (docs/files.md has what each format writes).",
        ),
    ] = None
    workers: Annotated[int | None, Option(help="Number of cores to use (default: all).")] = None
    memory: Annotated[
        str | None, Option(help="Memory that each process may take, such as 2GB (default: half of what is free).")
    ] = None
    evidence: Annotated[
        str,
        Option(help="What the model looks at: auto (what helps on this movie), or a list such as places,size."),
    ] = "auto"
    max_gap: Annotated[
        int | None,
        Option(help="How many frames a link may skip where masks are missing (default: estimated)."),
    ] = None
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = 0

    def make_tracker(self, **more: Any) -> Tracker:
        """Make the tracker."""
        from dunno.cli.console import note
        from dunno.tracking.tracker import Tracker
        from dunno.work.budget import limit_memory

        limit_memory(self.memory)
        own = {name: getattr(self, name) for name in OF_THE_TRACKER}
        own |= {"divisions": not self.no_divisions, "no_mother": not self.mothers_only}
        if "perturbation" not in more:
            own["perturbation"] = self._perturbation()
        tracker = Tracker(self._cost(), self.method, **own | more)
        if self.samples is not None and tracker.method.samples is None:
            note(f"method {tracker.method.name} draws no samples; --samples {self.samples} has no effect")
        return tracker

    def _cost(self) -> str | Cost:
        """A cost by name; one that needs a file or folder with what that holds."""
        if self.features is not None:
            from dunno.costs.embedding import Embedding

            self._check_cost(Embedding.name, f"--features {self.features}", "compares features")
            return Embedding.from_csv(self.features)
        if self.model is not None:
            from dunno.costs.transformer import TransformerCost

            self._check_cost(TransformerCost.name, f"--model {self.model}", "has a model")
            return TransformerCost(self.model)
        return (
            self.cost if self.precision is None else _with(self.precision, "costs", self.cost, "--precision", PRECISION)
        )

    def _perturbation(self) -> Any:
        """A perturbation by name, or with what was said about it; `None` is the cost's own."""
        if self.members:
            from dunno.io.reading import read_frames
            from dunno.perturbations.ensemble import Ensemble

            if (self.perturbation or "").lower() != Ensemble.name:
                raise InputError(f"--members {self.members[0]}: only --perturbation {Ensemble.name} has members")
            return Ensemble([read_frames(path) for path in self.members])
        if self.strength is None:
            return self.perturbation
        if self.perturbation is None:
            raise InputError(f"--strength {self.strength:g}: name the --perturbation that it belongs to")
        return _with(self.strength, "perturbations", self.perturbation, "--strength", STRENGTH)

    def _check_cost(self, name: str, option: str, what: str) -> None:
        if self.cost.lower() != name:
            raise InputError(f"{option}: only --cost {name} {what}, not {self.cost}")


def _with(value: float, room: str, name: str, option: str, names: tuple[str, ...]) -> Any:
    """Something of a room with one of its parameters given."""
    from dunno import rooms

    kind = rooms.find(room, name)
    found = next((each for each in names if each in inspect.signature(kind).parameters), None)
    if found is None:
        raise InputError(f"{option} {value:g}: {name} has no {' or '.join(names)}")
    return kind(**{found: int(value) if value.is_integer() else value})
