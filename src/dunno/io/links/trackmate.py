"""TrackMate's XML: spots in its own units, matched by place."""

from __future__ import annotations

from array import array
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from dunno.errors import InputError
from dunno.io.images import one_line
from dunno.io.spots import match_spots
from dunno.types import Movie
from dunno.types.links import GivenLinks

POSITIONS = {"POSITION_Z": "voxeldepth", "POSITION_Y": "pixelheight", "POSITION_X": "pixelwidth"}


class TrackMateLinks:
    """A TrackMate file (`.xml`) with all spots and all tracks."""

    name = "trackmate"
    form = "TrackMate XML"
    order = 40

    def accepts(self, path: Path) -> bool:
        """Whether it is called XML."""
        return path.suffix.lower() == ".xml"

    def read(self, path: Path, movie: Movie) -> GivenLinks:
        """Read spots and edges; an edge's earlier spot is the mother."""
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
        if not (np.isfinite(file.pixel).all() and min(file.pixel) > 0):
            raise InputError(f"{path}: has pixels of size {file.pixel} (Z, Y, X); expected sizes above zero")
        with np.errstate(over="ignore"):  # spots that have no place are listed
            place = np.array(file.position).reshape(-1, 3) / np.array(file.pixel)
        place = place[:, -movie.n_dimensions :] * np.asarray(movie.scale)
        spots = match_spots(np.array(file.ids, np.int64), np.array(file.frame, np.int64), place, movie)
        return spots.links(*np.array(file.ends, np.int64).reshape(-1, 2).T, directed=False)


class _Content:
    """What is kept of a file while it passes by: numbers, not its elements."""

    def __init__(self) -> None:
        self.ids, self.frame, self.ends = array("q"), array("q"), array("q")
        self.position = array("d")
        self.pixel = [1.0, 1.0, 1.0]

    def take(self, element: ElementTree.Element) -> None:
        if element.tag == "Spot":
            self.ids.append(int(element.get("ID", -1)))
            self.frame.append(int(float(element.get("FRAME", 0))))
            self.position.extend(float(element.get(axis, 0)) for axis in POSITIONS)
        elif element.tag == "Edge":
            self.ends.extend(int(element.get(end, -1)) for end in ("SPOT_SOURCE_ID", "SPOT_TARGET_ID"))
        elif element.tag == "ImageData":
            self.pixel = [float(element.get(size, 1)) for size in POSITIONS.values()]
