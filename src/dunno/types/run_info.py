"""What every result says of who made it, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from dunno.errors import InputError
from dunno.types.records import check_given, misplaced

EARLIER = "as an earlier version of dunno saw it, which did not test by skipping frames"
"""The reason of a verdict that version 0.1 did not write."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RunInfo(Mapping[str, Any]):
    """Who made a result, and how: what `run.json`, GEFF and napari hold of it (`docs/files.md` says what each name means).

    It reads as a mapping too: `about["cost"]` is `about.cost`.
    """

    version: str
    movie: str
    movie_path: str | None
    masks_path: str | None
    mask_source: str
    opened_with: Mapping[str, Any] = field(default_factory=dict)
    frames: Sequence[int]
    step: int
    scale: Sequence[float] | None
    interval: float | None
    times: Sequence[float] | None = None
    shifts: Sequence[Sequence[float]] | None = None
    cost: str
    cost_parameters: Mapping[str, Any] = field(default_factory=dict)
    method: str
    joint: bool = False
    method_parameters: Mapping[str, Any] = field(default_factory=dict)
    perturbation: str | None = None
    perturbation_parameters: Mapping[str, Any] = field(default_factory=dict)
    max_distance: float | None = None
    max_distance_estimated: bool = True
    appear_cost: float | None = None
    disappear_cost: float | None = None
    divide_cost: float | None = None
    divisions: bool = True
    repair: bool | None = None
    no_mother: bool = True
    links: str | None = None
    links_unmatched: int = 0
    evidence: str | Sequence[str] = "auto"
    max_gap: int | None = None
    seed: int = 0
    calibration: Mapping[str, Any] | None
    calibrated: bool
    verdict: str = "untested"
    reason: str = ""
    verdicts: Mapping[str, Any] = field(default_factory=dict)
    review: Mapping[str, Any] | None = None
    export: Mapping[str, Any] | None = None

    @classmethod
    def of_dict(cls, content: Mapping[str, Any]) -> RunInfo:
        """The reverse of `to_dict`; what older versions did not write is filled in."""
        word = "supported" if content.get("calibrated") else "untested"
        told: dict[str, Any] = {"joint": content.get("method") == "JP", "verdict": word, "reason": EARLIER}
        return cls(**told | {name: content[name] for name in cls.__dataclass_fields__ if name in content})

    @classmethod
    def check(cls, content: Mapping[str, Any]) -> None:
        """Refuse the first parameter that is missing, or not what its field may hold."""
        always = (each.name for each in fields(cls) if each.default is each.default_factory is MISSING)
        if missing := [name for name in always if name not in content]:
            raise InputError(f"{missing[0]} is missing")
        check_given(cls, content)
        if len(content["frames"]) < 2 or min(content["frames"]) < 0:
            raise misplaced(content["frames"], "frames", "expected at least two, from 0")
        if content["step"] < 1:
            raise misplaced(content["step"], "step", "expected a number from 1")

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON; what was reviewed and exported only where something was."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in content.items() if value is not None or name not in ("review", "export")}

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    @property
    def without_frames(self) -> dict[str, Any]:
        """All but the list of frames, which may be long."""
        return {name: value for name, value in self.items() if name != "frames"}

    @property
    def uncalibrated(self) -> RunInfo:
        """The same before a calibration."""
        return replace(self, calibration=None, calibrated=False, verdict="untested", reason="")

    @property
    def length_unit(self) -> str:
        """`µm`, or `px`."""
        return "µm" if self.scale else "px"

    @property
    def calibration_details(self) -> Mapping[str, Any]:
        """What the calibration says of itself; nothing where there is none."""
        return self.calibration or {}

    @property
    def calibration_kind(self) -> str | None:
        """The kind of calibration."""
        return self.calibration_details.get("kind")

    @property
    def fitted_on(self) -> str | None:
        """What the calibration was fitted on: "self" or "truth"."""
        return self.calibration_details.get("fitted")

    @property
    def temperature(self) -> float | None:
        """The temperature, for a calibration that is one."""
        return self.calibration_details.get("temperature")

    @property
    def longest_gap(self) -> int:
        """How many frames a link could skip."""
        return self.calibration_details.get("max_gap") or 0

    def with_longest_gap(self, frames: int) -> RunInfo:
        """The same, where links could skip so many frames."""
        return replace(self, calibration={**self.calibration_details, "max_gap": frames})

    @property
    def judges_masks(self) -> bool:
        """Whether masks might be cut, joined or left out."""
        return bool(self.calibration_details.get("judges_masks"))

    @property
    def division_doubt(self) -> float:
        """How well the odds of divisions are known: the standard deviation of their common logarithm."""
        return float(self.calibration_details.get("division_doubt", 0.0))

    @property
    def skip_tests(self) -> Sequence[Mapping[str, Any]]:
        """What the skip tests saw, one for each step."""
        return self.calibration_details.get("skipping") or ()
