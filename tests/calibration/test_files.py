"""A calibration's file: every value is what the record's annotations say, and what is not is named."""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dunno.calibration import Calibration, TemperatureScaling, load_calibration
from dunno.calibration.base import CALIBRATION_KINDS
from dunno.calibration.kinds.tempered_costs import TemperedCosts
from dunno.calibration.verdict import SkipTest, Verdict
from dunno.cli import run
from dunno.costs import cost_that_made
from dunno.errors import InputError
from dunno.rooms import members
from dunno.simulate import colony

from ..io.fuzz_forms import model, segment_model

NAN = float("nan")
SUPPORTED = Verdict("supported", "tested")
SKIPPED = SkipTest(2, 60, 50, 3.0, 4.0, 1.9, NAN, bins=((0.1, 0.2, 7),))
ODD = {"nobody": ["knows"]}
FREE = (
    "summary",
    "cost_parameters",
    "method_parameters",
    "perturbation_parameters",
    "opened_with",
    "counts",
    "fitted_for",
)
"""What holds whatever is put into it."""

KINDS: dict[str, Callable[[], Calibration]] = {
    "temperature": lambda: TemperatureScaling(
        1.5, {"step": 1}, counts={"daughters": 3}, verdict=SUPPORTED, interval=(1.0, 2.0), skipping=(SKIPPED,)
    ),
    "costs": lambda: TemperedCosts(1.5, 4.0, 4.0, 1.0, {"cost": "overlap"}),
    "model": model,
    "segments": segment_model,
}


@pytest.fixture(scope="module", params=KINDS)
def calibration(request: pytest.FixtureRequest) -> Calibration:
    return KINDS[request.param]()


@pytest.fixture(scope="module")
def content(calibration: Calibration) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(calibration.to_dict(), allow_nan=False))
    return found


def load(content: Any, folder: Path) -> Calibration:
    (folder / "c.json").write_text(json.dumps(content))
    return load_calibration(folder / "c.json")


def named(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every named value, and to the first of every list."""
    pairs = document.items() if isinstance(document, dict) else list(enumerate(document))[:1]
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list) and key not in FREE:
            yield from named(value, (*path, key))


@pytest.mark.parametrize("where", ["", "softening", "model", "model.terms.motion", "verdict"])
def test_a_name_that_nobody_knows_is_refused(where: str, tmp_path: Path) -> None:
    content: Any = KINDS["model"]().to_dict()
    place = content
    for key in where.split(".") if where else ():
        place = place[key]
    place["odd"] = 1.0
    with pytest.raises(InputError, match=rf"c\.json: {where}\.?odd is unknown"):
        load(content, tmp_path)


def inside(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


def test_every_kind_is_here(calibration: Calibration) -> None:
    assert {type(make()).name for make in (KINDS["temperature"], KINDS["costs"])} | {"motion model"} == set(
        members(CALIBRATION_KINDS)
    )


def test_it_comes_back_as_it_was(calibration: Calibration, content: dict[str, Any], tmp_path: Path) -> None:
    again = load(content, tmp_path)
    assert json.dumps(again.to_dict()) == json.dumps(content)
    before = repr(replace(calibration, fitted_for=content["fitted_for"]))  # type: ignore[type-var]
    assert repr(again) == re.sub(r"np\.float64\((.*?)\)", r"\1", before)


def test_a_value_of_another_type_is_named(content: dict[str, Any], tmp_path: Path) -> None:
    for path in named(content):
        if path[0] in ("schema", "kind") or path[-1] in FREE:
            continue
        document = deepcopy(content)
        inside(document, path)[path[-1]] = ODD
        name = str(next(key for key in reversed(path) if isinstance(key, str)))
        with pytest.raises(InputError, match=rf"c\.json: .*\b{re.escape(name)}\b") as caught:
            load(document, tmp_path)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_what_is_missing_or_unknown_is_named(content: dict[str, Any], tmp_path: Path) -> None:
    for path in named(content):
        if (
            path[0] in ("schema", "kind", "fitted_for")
            or not isinstance(path[-1], str)
            or path[-2:-1] in (("intervals",), ("courses",))
        ):
            continue
        document = deepcopy(content)
        where = inside(document, path)
        where["odder"] = where.pop(path[-1])
        with pytest.raises(InputError, match=rf"c\.json: .*\b({re.escape(path[-1])} is missing|odder\b.*)") as caught:
            load(document, tmp_path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("model.terms.motion.motion_scale", -1.0, "model.terms.motion.motion_scale is -1.0, expected"),
        ("model.terms.turnover.p_lost", 7, "p_lost is 7.0, expected"),
        ("softening.tempering", 0, "softening.tempering is 0, expected a number above 0"),
        ("softening.unknown", 1.5, "softening.unknown is 1.5, expected 0 to 1"),
        ("verdict.word", "many", "verdict.word is 'many', which does not belong there"),
        ("frames_per_block", True, "frames_per_block is True, which"),
        ("division_doubt", 10**400, "division_doubt is 1000"),
        ("courses", {"p_divide": [0.1]}, r"courses.p_divide has 1 values; expected 0, of "),
        ("fitted_for.frames", ["one"], r"fitted_for.frames\[0\] is 'one'"),
        ("model.terms.border", None, "model.terms.border is None"),
        ("model.field.low", [0.0], r"model.field: the field is from \(0.0,\) to"),
    ],
)
def test_a_value_out_of_its_range_is_named(path: str, value: object, told: str, tmp_path: Path) -> None:
    content: Any = KINDS["model"]().to_dict()
    keys = tuple(path.split("."))
    inside(content, keys)[keys[-1]] = value
    with pytest.raises(InputError, match=told):
        load(content, tmp_path)


def numbers_of(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every number."""
    pairs = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in pairs:
        if type(value) in (int, float):
            yield (*path, key)
        yield from numbers_of(value, (*path, key))


def test_no_number_of_segments_and_of_time_s_arrow_is_without_bounds(tmp_path: Path) -> None:
    content: Any = json.loads(json.dumps(KINDS["segments"]().to_dict()))
    paths = [(name, *path) for name in ("segments", "arrow") for path in numbers_of(content[name])]
    assert len(paths) > 100
    for path in paths:
        for value in (-1e300, -(10**12)):
            document = deepcopy(content)
            inside(document, path)[path[-1]] = value
            with pytest.raises(InputError, match="c.json: "):
                load(document, tmp_path)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("stays", "segments.laws.sharing: stays has 4 values; expected one of each content"),
        ("begins", "segments.laws.sharing: begins has 4 values; expected one of each content"),
    ],
)
def test_a_content_that_is_left_out_is_named(path: str, told: str, tmp_path: Path) -> None:
    content: Any = KINDS["segments"]().to_dict()
    content["segments"]["laws"]["sharing"][path].pop("trio")
    with pytest.raises(InputError, match=told):
        load(content, tmp_path)


@pytest.mark.parametrize("name", ["subprocess:Popen", "os:system", "pathlib:Path", "dunno:Tracker"])
def test_a_file_cannot_have_anything_but_terms_made(name: str, tmp_path: Path) -> None:
    content = KINDS["model"]().to_dict()
    content["model"]["terms"][name] = {"args": ["touch", str(tmp_path / "harm")]}
    with pytest.raises(InputError, match=f"model.terms.{name} is no term"):
        load(content, tmp_path)
    assert not (tmp_path / "harm").exists()


def test_nor_can_an_output_name_what_to_import(tmp_path: Path) -> None:
    movie = colony(cells=4, frames=3).movie
    from dunno import Tracker

    about = Tracker("distance", "SM", calibration=None).track(movie).about
    evil = replace(about, cost="subprocess:Popen", cost_parameters={"args": ["touch", str(tmp_path / "harm")]})
    with pytest.raises(InputError, match="made with 'subprocess:Popen', and a file may not say what to import"):
        cost_that_made(evil)
    assert not (tmp_path / "harm").exists()
    assert cost_that_made(about).name == "distance"


def test_a_file_of_schema_2_is_read(tmp_path: Path) -> None:
    now = KINDS["model"]()
    content = now.to_dict()
    older = {
        **{name: content[name] for name in content if name not in ("trials", "segments", "division_doubt")},
        "schema": 2,
    }
    older["together"] = older.pop("frames_per_block")
    again = load(older, tmp_path)
    assert again.frames_per_block == now.frames_per_block > 0
    assert again == replace(now, trials=(), fitted_for=json.loads(json.dumps(content["fitted_for"])))  # type: ignore[type-var]


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "null", '{"kind": 3}', '{"kind": []}', '{"kind": "odd"}', "[" * 9999, "\ufeff{}"]
)
def test_what_is_no_calibration_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    colony(cells=4, frames=3).save(tmp_path / "01")
    (tmp_path / "c.json").write_text(text)
    masks = str(tmp_path / "01_GT" / "TRA")
    command = ["track", str(tmp_path / "01"), "--masks", masks, "-o", str(tmp_path / "out"), "--calibration"]
    assert run([*command, str(tmp_path / "c.json")]) == 2
    told = capsys.readouterr().err.strip()
    assert told.endswith("c.json: is not a dunno calibration file; make one with dunno calibrate") and "\n" not in told
