"""What TrackMate's XML holds: spots and edges, read while the file passes by."""

from __future__ import annotations

from array import array
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from dunno.errors import DunnoError
from dunno.io.images import one_line

POSITIONS = {"POSITION_Z": "voxeldepth", "POSITION_Y": "pixelheight", "POSITION_X": "pixelwidth"}


def read_content(path: Path, refusal: type[DunnoError]) -> FileContent:
    """Read a file with all spots and all tracks, or an export of tracks; what is no such file is refused."""
    file = FileContent()
    try:
        for _, element in ElementTree.iterparse(path):
            file.take(element)
            element.clear()
    except ElementTree.ParseError as error:
        raise refusal(f"{path}: is no complete XML ({error})") from None
    except (ValueError, OverflowError, LookupError, OSError) as error:  # no numbers, or an encoding that nobody knows
        raise refusal(f"{path}: cannot be read as TrackMate XML ({one_line(error)})") from None
    if not file.ids:
        raise refusal(f"{path}: holds no TrackMate spots")
    return file


class FileContent:
    """What is kept of a file while it passes by: numbers, not its elements."""

    def __init__(self) -> None:
        self.ids, self.frame, self.ends = array("q"), array("q"), array("q")
        self.position, self.radius = array("d"), array("d")
        self.hidden = array("b")
        self.pixel = [1.0, 1.0, 1.0]
        self.interval = 0.0
        self.is_export, self.unit, self.time_unit = False, "pixel", "frame"
        self.problems: list[str] = []
        self._begin = 0

    def take(self, element: ElementTree.Element) -> None:
        """Keep what an element says."""
        if element.tag == "Spot":
            self.ids.append(int(element.get("ID", -1)))
            self.frame.append(int(float(element.get("FRAME", 0))))
            self.position.extend(float(element.get(axis, 0)) for axis in POSITIONS)
            self.radius.append(float(element.get("RADIUS", "nan")))
            self.hidden.append(element.get("VISIBILITY", "1") == "0")
        elif element.tag == "Edge":
            self.ends.extend(int(element.get(end, -1)) for end in ("SPOT_SOURCE_ID", "SPOT_TARGET_ID"))
        elif element.tag == "ImageData":
            self.pixel = [float(element.get(size, 1)) for size in POSITIONS.values()]
            self.interval = float(element.get("timeinterval", 0))
        elif element.tag == "Model":
            self.unit, self.time_unit = element.get("spatialunits", "pixel"), element.get("timeunits", "frame")
        elif element.tag == "detection":
            self.ids.append(len(self.ids))
            self.frame.append(int(float(element.get("t", 0))))
            self.position.extend(float(element.get(axis, 0)) for axis in "zyx")
            self.radius.append(float("nan"))
            self.hidden.append(False)
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
