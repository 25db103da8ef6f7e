"""What lies together in one zarr: OME-Zarr plates (wells, and in each some fields, every one a movie), and labels beside graphs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from dunno.errors import MovieError

ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")


def is_zarr(path: Path) -> bool:
    """Whether a folder is a zarr array or group."""
    return any((path / marker).exists() for marker in ZARR_FILES)


def labels_beside(path: Path, masks: Path) -> str | None:
    """Where from a graph its labels are, if both lie in one zarr; their group rather than its full resolution."""
    path, masks = path.absolute(), masks.absolute()
    if not any(is_zarr(parent) and masks.is_relative_to(parent) for parent in path.parents):
        return None
    labels = masks.parent if is_zarr(masks.parent) and not path.is_relative_to(masks.parent) else masks
    return Path(os.path.relpath(labels, path)).as_posix()


def plate_fields(path: Path) -> list[Path]:
    """Every field of every well of a plate, in the plate's order; none where it is not a plate."""
    if not is_zarr(path) or "plate" not in (about := _attributes(path)):
        return []
    try:
        wells = [path / str(well["path"]) for well in about["plate"]["wells"]]
        return [well / str(image["path"]) for well in wells for image in _attributes(well)["well"]["images"]]
    except (KeyError, TypeError, AttributeError):
        raise MovieError(
            f"{path}: its plate metadata are incomplete; expected wells, and images in each well"
        ) from None


def _attributes(path: Path) -> dict[str, Any]:
    """A group's attributes, without opening it: a plate has thousands."""
    for name in ("zarr.json", ".zattrs"):
        try:
            content = json.loads((path / name).read_text())
        except (OSError, ValueError):
            continue
        found = content.get("attributes", {}) if name == "zarr.json" and isinstance(content, dict) else content
        if isinstance(found, dict):
            ome = found.get("ome", found)
            return ome if isinstance(ome, dict) else {}
    return {}
