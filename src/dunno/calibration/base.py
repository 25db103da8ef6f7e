"""What every calibration can do, and the form in which it is kept."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias, cast

from dunno import rooms
from dunno.calibration.verdict import Verdict
from dunno.errors import DunnoWarning, InputError
from dunno.io.schema import CALIBRATION
from dunno.io.writing import whole
from dunno.types import RunInfo
from dunno.types.field import Field
from dunno.types.records import ReadLater, check_given, from_json, to_json

if TYPE_CHECKING:
    from dunno.assignment import Problem
    from dunno.costs import Cost
    from dunno.segments.segment_model import SegmentModel
    from dunno.tracking import Tracking
    from dunno.types import Block, Candidates, Floats, FramePair

    MaybeSegments: TypeAlias = "SegmentModel | None"
else:  # a movie with clean masks needs none of that
    MaybeSegments = Annotated[Any, ReadLater("dunno.segments.segment_model", "SegmentModel")]

CALIBRATION_KINDS = "calibration.kinds"
NO_CALIBRATION = "is not a dunno calibration file; make one with dunno calibrate"


class Calibration:
    """Makes probabilities true, in one of two ways, or both.

    One that `makes_costs` poses each pair's assignment problem itself; `apply` changes finished probabilities. Each module of
    `dunno.calibration.kinds` holds one kind. This class itself changes nothing.

    Attributes:
        name: What files call it.
        makes_costs: Whether costs are its own.
        solves_blocks: Whether a block of frame pairs may be one problem.
        needs_field: Whether it must know the field in which cells are seen.
        must_agree: What of a result must be as it was where it was fitted.
        fitted_for: What a result said that it was fitted on.
        verdict: What may be said of its probabilities.
        frames_per_block: How many frames are solved together, halos included; 0 where nobody has said.
        segments: How masks are made of objects; `None` where every mask is one.
    """

    name: ClassVar[str]
    makes_costs: ClassVar[bool] = False
    solves_blocks: ClassVar[bool] = False
    needs_field: ClassVar[bool] = False
    must_agree: ClassVar[tuple[str, ...]] = ("cost",)
    fitted_for: Mapping[str, Any]
    verdict: Verdict
    frames_per_block: int = 0
    segments: MaybeSegments = None

    @property
    def never_divides(self) -> bool:
        """Whether it knows of cells that never divide."""
        return False

    @property
    def trusted(self) -> bool:
        """Whether the probabilities may be called calibrated."""
        return self.overall.supported

    @property
    def max_gap(self) -> int:
        """How many frames a link may skip."""
        return 0

    def __call__(self, tracking: Tracking) -> Tracking:
        """Apply it to a finished tracking."""
        from dunno.calibration.applying import applied  # which knows the methods, and they the tracking

        return applied(self, tracking)

    def check(self, about: RunInfo) -> None:
        """Refuse results of another cost or method."""
        if self.makes_costs and not about.joint:
            raise InputError(
                f"a {self.name} calibrates method JP, not {about.method}; use --method JP or --calibration none"
            )
        for name in self.must_agree:
            if name in self.fitted_for and self.fitted_for[name] != about[name]:
                raise InputError(
                    f"the calibration was fitted for {name} {self.fitted_for[name]!r}, not for {about[name]!r}; "
                    "fit one for that: dunno calibrate"
                )

    def warn_of_others(self, names: Sequence[str], about: RunInfo, why: str) -> None:
        """Say what differs from what it was fitted on, and what follows from that."""
        for name in names:
            if name in self.fitted_for and self.fitted_for[name] != about[name]:
                was, now = self.fitted_for[name], about[name]
                told = f"the calibration was fitted at {name} {was}, and is used at {now}; {why}"
                warnings.warn(told, DunnoWarning, stacklevel=4)

    def noted_in(self, about: RunInfo) -> RunInfo:
        """What a result says of who made it, with this calibration."""
        verdict, each = (
            self.overall,
            {name: {"verdict": of.word, "reason": of.reason} for name, of in self.verdicts.items()},
        )
        word, reason = verdict.word, verdict.reason
        return replace(
            about, calibration=self.describe(), calibrated=self.trusted, verdict=word, reason=reason, verdicts=each
        )

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """By what is promised: links, divisions, segments."""
        return {"links": self.verdict}

    @property
    def overall(self) -> Verdict:
        """The worst of them."""
        return self.verdict

    def describe(self) -> dict[str, Any]:
        """What a result says about its calibration."""
        raise NotImplementedError

    def rows(self) -> list[tuple[str, str]]:
        """What a person is told of its parameters: names and values."""
        raise NotImplementedError

    @property
    def losses(self) -> tuple[float, float]:
        """Mean −log P(truth) before and after the fit, for one that was fitted with truth."""
        raise NotImplementedError

    @classmethod
    def today(cls, content: dict[str, Any]) -> dict[str, Any]:
        """What a file of an older schema holds, as this version would write it."""
        return content

    def problem(self, pair: FramePair, candidates: Candidates, cost: Cost) -> tuple[Floats, Problem]:
        """(E,) costs and the assignment problem in place of the cost's own, for one that `makes_costs`."""
        raise NotImplementedError

    def reach(self, pair: FramePair) -> float:
        """How much farther cells go between two frames than in a usual step; 1 where that is as far, or nearer."""
        return 1.0

    def apply(self, block: Block) -> Block:
        """A block's probabilities, changed."""
        return block

    def moved_to(self, field: Field) -> Self:
        """The same for a movie with another field, for one that `needs_field`."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The one JSON form of all kinds."""
        return {"schema": CALIBRATION.number, "kind": self.name, **to_json(self)}

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write it as JSON."""
        with whole(path, overwrite) as partial:
            partial.write_text(json.dumps(self.to_dict(), indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote, if it is of this kind."""
        found = load_calibration(path)
        if not isinstance(found, cls):
            raise InputError(f"{path}: holds a calibration of the kind {found.name!r}, not {cls.name!r}")
        return found


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration, whichever kind it is."""
    try:
        return from_dict(json.loads(Path(path).read_text()))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: {NO_CALIBRATION}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def from_dict(content: Any) -> Calibration:
    """The calibration that `to_dict` told; every value is what its field may hold."""
    kinds = rooms.members(CALIBRATION_KINDS)
    if not isinstance(content, dict) or not isinstance(content.get("kind"), str) or content["kind"] not in kinds:
        raise InputError(NO_CALIBRATION)
    if (problem := CALIBRATION.problem(content.get("schema", 1))) is not None:
        raise InputError(problem)
    kind = cast(type[Calibration], kinds[content["kind"]])
    found: Calibration = from_json(kind, _without_marks(kind.today(content)), "")
    check_given(RunInfo, found.fitted_for, "fitted_for")
    return found


def _without_marks(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ("schema", "kind")}


def refuse_calibrated(about: RunInfo) -> None:
    """Refuse to fit on, or scale, what is calibrated already."""
    if about.calibration is not None:
        raise InputError(
            f"this tracking is calibrated already ({about.calibration_kind}); take one that is not: "
            "Tracker(calibration=None), or --calibration none"
        )
