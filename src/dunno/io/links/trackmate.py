"""TrackMate's XML: spots in its own units, matched by place."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from dunno.errors import InputError
from dunno.io.images import one_line
from dunno.io.spacing import MICROMETRES
from dunno.io.spots import match_spots
from dunno.types import Movie
from dunno.types.links import GivenLinks

PIXELS = ("pixel", "pixels", "px")
POSITIONS = {"POSITION_Z": "voxeldepth", "POSITION_Y": "pixelheight", "POSITION_X": "pixelwidth"}


class TrackMateLinks:
    """A TrackMate file (`.xml`) with all spots and all tracks, or its "Export tracks to XML"."""

    name = "trackmate"
    form = "TrackMate XML"
    example = "dunno track masks.tif -o OUT --links trackmate.xml"
    order = 40

    def accepts(self, path: Path) -> bool:
        """Whether it is called XML."""
        return path.suffix.lower() == ".xml"

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read spots and edges; an edge's earlier spot is the mother. Exported tracks have no edges: their spots follow in time."""
        file = _Content()
        try:
            for _, element in ElementTree.iterparse(path):
                file.take(element)
                element.clear()
        except ElementTree.ParseError as error:
            raise InputError(f"{path}: is no complete XML ({error})") from None
        except (
            ValueError,
            OverflowError,
            LookupError,
            OSError,
        ) as error:  # no numbers, or an encoding that nobody knows
            raise InputError(f"{path}: cannot be read as TrackMate XML ({one_line(error)})") from None
        if not file.ids:
            raise InputError(f"{path}: holds no TrackMate spots")
        if file.is_export:
            file.pixel = _pixel_of_export(file, movie, path)
        if not (np.isfinite(file.pixel).all() and min(file.pixel) > 0):
            raise InputError(f"{path}: has pixels of size {file.pixel} (Z, Y, X); expected sizes above zero")
        with np.errstate(over="ignore"):  # spots that have no place are listed
            place = np.array(file.position).reshape(-1, 3) / np.array(file.pixel)
        place = place[:, -movie.n_dimensions :] * np.asarray(movie.scale)
        spots = match_spots(np.array(file.ids, np.int64), np.array(file.frame, np.int64), place, movie)
        links = spots.links(*np.array(file.ends, np.int64).reshape(-1, 2).T, directed=False)
        return replace(links, problems=(*links.problems, *file.problems))


def _pixel_of_export(file: _Content, movie: Movie, path: Path) -> list[float]:
    """The size of a pixel in the unit of an export, which does not say it: that of the movie."""
    if file.unit.lower() in PIXELS:
        return [1.0, 1.0, 1.0]
    micrometres = MICROMETRES.get(file.unit.lower())
    if micrometres is None or not movie.has_scale:
        raise InputError(
            f"{path}: has places in {file.unit!r:.40}, and the size of a pixel is not known; give it with --scale, in µm"
        )
    return [1.0] * (3 - movie.n_dimensions) + [size / micrometres for size in movie.scale]


class _Content:
    """What is kept of a file while it passes by: numbers, not its elements."""

    def __init__(self) -> None:
        self.ids, self.frame, self.ends = array("q"), array("q"), array("q")
        self.position = array("d")
        self.pixel = [1.0, 1.0, 1.0]
        self.is_export, self.unit = False, "pixel"
        self.problems: list[str] = []
        self._begin = 0

    def take(self, element: ElementTree.Element) -> None:
        if element.tag == "Spot":
            self.ids.append(int(element.get("ID", -1)))
            self.frame.append(int(float(element.get("FRAME", 0))))
            self.position.extend(float(element.get(axis, 0)) for axis in POSITIONS)
        elif element.tag == "Edge":
            self.ends.extend(int(element.get(end, -1)) for end in ("SPOT_SOURCE_ID", "SPOT_TARGET_ID"))
        elif element.tag == "ImageData":
            self.pixel = [float(element.get(size, 1)) for size in POSITIONS.values()]
        elif element.tag == "detection":
            self.ids.append(len(self.ids))
            self.frame.append(int(float(element.get("t", 0))))
            self.position.extend(float(element.get(axis, 0)) for axis in "zyx")
        elif element.tag == "particle":
            self._link_particle()
        elif element.tag == "Tracks":
            self.is_export, self.unit = True, element.get("spaceUnits", "pixel")

    def _link_particle(self) -> None:
        """Link an exported track's spots from frame to frame; where two follow two, the file does not say which follows which."""
        by_frame: dict[int, list[int]] = {}
        for spot in range(self._begin, len(self.ids)):
            by_frame.setdefault(self.frame[spot], []).append(spot)
        self._begin = len(self.ids)
        for earlier, later in pairwise(sorted(by_frame)):
            mothers, daughters = by_frame[earlier], by_frame[later]
            if len(mothers) > 1:
                self.problems.append(
                    f"a track has {len(mothers)} spots in frame {earlier}, and an export of tracks does not say which goes on as "
                    "which; save the whole TrackMate file instead"
                )
                continue
            for daughter in daughters:
                self.ends.extend((mothers[0], daughter))
