"""Points without masks: tables and graphs of places, TrackMate's spots, and COCO's objects, which may overlap."""

from __future__ import annotations

import csv
import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import MovieError
from dunno.io.graphs import read_geff
from dunno.io.images import natural_key, one_line
from dunno.io.masking import Region
from dunno.io.readers import ReadingOptions
from dunno.io.spacing import MICROMETRES, MINUTES, Spacing
from dunno.io.track_tables import CENTROIDS, find_columns
from dunno.io.trackmate_content import read_content
from dunno.types import Floats, Ints, Movie, Points
from dunno.types.movie import MOST_FRAMES_OF_A_MOVIE
from dunno.types.points import diameter_between, split_by_frame

EXPECTED_SPOTS = "expected the columns frame, [z,] y, x in pixels, and optionally label and radius"
LABEL_NAMES = ("label", "id", "spot_id")
UNIT_LINES = 3
SPOT_SUFFIXES = (".csv", ".xml", ".json")


class PointsReader:
    """Points (CSV with frame, [z,] y, x; a GEFF's nodes; TrackMate's `.xml`; boxes of a COCO `.json`): only places are known."""

    name = "points"
    form = "a table of points (.csv, .geff, TrackMate's .xml, COCO's .json)"
    example = "dunno track spots.csv -o OUT --scale 2,0.4,0.4"
    order = 8
    has_masks = False

    def accepts(self, path: Path) -> bool:
        """Whether it is called a CSV, an XML or a JSON, or holds the nodes of a graph."""
        return (path.suffix.lower() in SPOT_SUFFIXES and path.is_file()) or (path / "nodes").is_dir()

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read all points; frames are those between the first and the last."""
        if options.label_components:
            raise MovieError(f"{path}: has points and no masks; leave out --label-components")
        spacing = Spacing()
        if path.suffix.lower() == ".xml":
            columns, spacing = _of_trackmate(path)
        elif path.suffix.lower() == ".json":
            columns = _of_coco(path)
        else:
            columns = _of_geff(path) if path.is_dir() else _of_table(path)
        points, frames, notes = _points(columns, options, spacing, path)
        plain = replace(options, region=None)
        return plain.movie(points, name=path.stem, mask_source=str(path), frames=frames, spacing=spacing, notes=notes)


def _of_table(path: Path) -> dict[str, Floats]:
    """The columns that say something of points, as numbers; TrackMate's lines of units after the first are passed over."""
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            reader = csv.reader(file)
            kept = _columns([name.strip() for name in next(reader, [])], path)
            values = {part: array("d") for part in kept}
            for n, row in enumerate(row for row in reader if row):
                if n < UNIT_LINES and not (len(row) > kept["frame"] and _is_number(row[kept["frame"]])):
                    continue
                for part, index in kept.items():
                    values[part].append(_number(row, index, part, n, path))
    except (OSError, csv.Error) as error:
        raise MovieError(f"{path}: cannot be read as a table ({one_line(error)}); {EXPECTED_SPOTS}") from None
    return {part: np.array(column, np.float64) for part, column in values.items()}


def _columns(header: list[str], path: Path) -> dict[str, int]:
    """Where in a row the frame, the place, and names and radii are."""
    found = find_columns(header)
    kept: dict[str, int] = {part: header.index(found[part]) for part in ("frame", "z", "y", "x") if part in found}
    if not {"frame", "y", "x"} <= set(kept):
        raise MovieError(f"{path}: has the columns {', '.join(header)[:200] or '(none)'}; {EXPECTED_SPOTS}")
    lower = [name.lower() for name in header]
    return kept | {name: lower.index(name) for name in (*LABEL_NAMES, "radius") if name in lower}


def _number(row: list[str], index: int, part: str, n: int, path: Path) -> float:
    text = row[index].strip() if len(row) > index else ""
    if _is_number(text):
        return float(text)
    if part in CENTROIDS[3]:
        raise MovieError(f"{path}: row {n} has {text!r:.40} as {part}; expected a number")
    return float("nan")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_geff(path: Path) -> dict[str, Floats]:
    """Times, places and names of a graph's nodes."""
    axes, places, ids, _ = read_geff(path, MovieError)
    if len(axes) not in (3, 4):
        raise MovieError(f"{path}: has the axes {', '.join(axes) or '(none)'}; expected time and 2 or 3 of space")
    return dict(zip(("frame", *CENTROIDS[len(axes) - 1]), places, strict=True)) | {"id": ids.astype(np.float64) + 1}


def _of_coco(path: Path) -> dict[str, Floats]:
    """The centres of annotated boxes, frame by frame in the order of the images' names; outlines are not looked at."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        images = sorted(content["images"], key=lambda image: natural_key(Path(image["file_name"])))
        frame_of = {image["id"]: t for t, image in enumerate(images)}
        found = [(frame_of[each["image_id"]], each["id"], *each["bbox"]) for each in content["annotations"]]
        frame, name, x, y, width, height = np.array(found, np.float64).reshape(-1, 6).T
    except (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
        raise MovieError(
            f"{path}: cannot be read as COCO annotations ({one_line(error)}); expected images with a file_name, and annotations "
            "with image_id and bbox"
        ) from None
    radius = np.sqrt(width * height) / 2
    return {"frame": frame, "y": y + height / 2 - 0.5, "x": x + width / 2 - 0.5, "id": name + 1, "radius": radius}


def _of_trackmate(path: Path) -> tuple[dict[str, Floats], Spacing]:
    """Spots that are shown, in pixels, their names and radii; and what the file says of pixels and time."""
    file = read_content(path, MovieError)
    pixel = np.array(file.pixel)
    if not (np.isfinite(pixel).all() and pixel.min() > 0):
        raise MovieError(f"{path}: has pixels of size {file.pixel} (Z, Y, X); expected sizes above zero")
    shown = np.array(file.hidden) == 0
    unit, minutes = MICROMETRES.get(file.unit.lower()), MINUTES.get(file.time_unit.lower())
    place = (np.array(file.position).reshape(-1, 3) / pixel)[shown].T
    columns = dict(zip(CENTROIDS[3], place, strict=True))
    columns |= {
        "frame": np.array(file.frame)[shown].astype(np.float64),
        "radius": np.array(file.radius)[shown] * (unit or 1.0),
    }
    columns["id"] = np.array(file.ids)[shown] + 1.0  # they count from 0
    z, y, x = (size * unit if unit else None for size in file.pixel)
    return columns, Spacing(z, y, x, file.interval * minutes if minutes and file.interval > 0 else None)


def _points(
    columns: dict[str, Floats], options: ReadingOptions, spacing: Spacing, path: Path
) -> tuple[Points, Ints, list[str]]:
    frame, notes = _frame_numbers(columns["frame"], path), ["points without masks: places are the only evidence"]
    flat = "z" in columns and len(np.unique(columns["z"])) <= 1
    notes += ["all points have the same z, which is left out"] if flat else []
    axes = CENTROIDS[3 if "z" in columns and not flat else 2]
    place = np.column_stack([columns[axis] for axis in axes])
    if not np.isfinite(place).all():
        raise MovieError(
            f"{path}: row {int(np.flatnonzero(~np.isfinite(place).all(axis=1))[0])} has no place; {EXPECTED_SPOTS}"
        )
    if options.region is not None:
        inside = _inside(place, options.region, path)
        frame, place = frame[inside], place[inside]
        columns = {name: column[inside] for name, column in columns.items()}
    if len(frame) == 0:
        raise MovieError(f"{path}: has no points")
    frames, rows = split_by_frame(frame, str(path))
    labels, places = _named(columns, rows), {}
    for t, here in enumerate(rows):
        order = np.argsort(labels[t], kind="stable")
        labels[t], places[t] = labels[t][order], place[here][order]
    scale = np.broadcast_to((spacing.scale(len(axes)) or 1.0) if options.scale is None else options.scale, len(axes))
    diameter = _diameter(columns.get("radius"), [places[t] * scale for t in range(len(frames))])
    return Points(labels, places, diameter, str(path)), frames, notes


def _frame_numbers(column: Floats, path: Path) -> Ints:
    with np.errstate(invalid="ignore"):
        odd = ~(np.isfinite(column) & (column == np.round(column)) & (column >= 0) & (column < MOST_FRAMES_OF_A_MOVIE))
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise MovieError(f"{path}: row {row} has the frame {column[row]:g}; expected whole numbers from 0")
    return column.astype(np.int64)


def _inside(place: Floats, region: Region, path: Path) -> Any:
    if len(region) != place.shape[1]:
        raise MovieError(f"{path}: --region has {len(region)} sides, but points have {place.shape[1]} axes")
    low, high = np.array(region).T
    return ((place >= low) & (place < high)).all(axis=1)


def _named(columns: dict[str, Floats], rows: list[Ints]) -> dict[int, Ints]:
    """Each frame's names of its points: those of the file where they are positive and differ, else numbers from 1."""
    given = next((columns[name] for name in LABEL_NAMES if name in columns), None)
    names = {}
    for t, here in enumerate(rows):
        own = None if given is None else given[here]
        fits = own is not None and bool((own > 0).all() and (own == np.round(own)).all() and len(set(own)) == len(own))
        names[t] = own.astype(np.int64) if fits and own is not None else np.arange(1, len(here) + 1)
    return names


def _diameter(radius: Floats | None, places: list[Floats]) -> float:
    """What a cell measures: twice the median radius where the file has one."""
    if radius is not None and np.isfinite(radius).any() and np.nanmedian(radius) > 0:
        return float(2 * np.nanmedian(radius))
    return diameter_between(places)
