"""TrackMate's XML, as its own reader (TmXmlReader) wants it.

A TrackMate "track" is a whole family: spots that are joined by edges, divisions included. Cells without any link are spots of no
track. Lengths are in the movie's unit, times in minutes where the interval is known.
"""

from __future__ import annotations

import json
import tempfile
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from dunno.io.columns import axes_of, columns_for_tools, radius
from dunno.io.trackmate_features import EDGE, SPOT, TRACK, Declaration, FamilyEdges, family_elements, spot_features
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Ints, Movie, RunInfo

VERSION = "7.11.1"
"""The reader refuses files below 2.1."""

DISPLAY = {
    "name": "dunno",
    "spotColorByType": "SPOTS",
    "spotColorByFeature": "PROBABILITY",
    "spotMin": 0.5,
    "spotMax": 1.0,
    "trackColorByType": "EDGES",
    "trackColorByFeature": "PROBABILITY",
    "trackMin": 0.5,
    "trackMax": 1.0,
    "colormap": "Viridis",
}
"""How the file is shown when it is opened: spots and edges by their probability."""


class TrackMateWriter:
    """A TrackMate file (XML), for Fiji and Mastodon: spots with sizes, edges with the feature PROBABILITY."""

    name = "trackmate"
    needs_masks = False

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None:
        self._path, self._about = path, about
        self._scale: list[float] = list(about.scale or [])
        self._minutes: float | None = None if about.interval is None else about.interval / about.step
        self._spots = tempfile.TemporaryFile("w+", dir=path.parent, encoding="utf-8")
        self._names: list[str] = []
        self._n_spots, self._frames = 0, array("q")
        # of edges: mother, daughter, family; probability, cost, frames apart
        self._ends, self._values = array("q"), array("d")

    def write(self, numbered: NumberedBlock) -> None:
        columns, block = columns_for_tools(numbered), numbered.block
        del columns["family"]
        columns["radius"] = radius(columns["area"], len(axes_of(columns)))
        for t in numbered.frames:
            own = slice(int(block.begin[t]) - numbered.rows.start, int(block.begin[t + 1]) - numbered.rows.start)
            here = {name: values[own] for name, values in columns.items()}
            self._write_spots(int(block.frames[t]), numbered.node[block.rows(t)], here)
        link = block.links
        ends = (
            numbered.node[block.mother[link]],
            numbered.node[block.daughter[link]],
            numbered.family[block.daughter[link]],
        )
        self._ends.extend(np.column_stack(ends).ravel().tolist())
        values = block.probability[link], block.cost[link], block.gap[link] + 1.0
        self._values.extend(np.column_stack(values).ravel().tolist())

    def _write_spots(self, frame: int, nodes: Ints, columns: dict[str, np.ndarray]) -> None:
        features = spot_features(columns, frame, self._minutes)
        self._names = list(features)
        self._spots.write(f'      <SpotsInFrame frame="{frame}">\n')
        lists = {name: values.tolist() for name, values in features.items()}
        for i, node in enumerate(nodes.tolist()):
            told = _attributes((name, values[i]) for name, values in lists.items())
            self._spots.write(f'        <Spot ID="{node}" name="{frame}:{columns["label"][i]}"{told} />\n')
        self._spots.write("      </SpotsInFrame>\n")
        self._n_spots += len(nodes)
        self._frames.append(frame)

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        ends = np.array(self._ends, np.int64).reshape(-1, 3)
        edges = FamilyEdges(ends, np.array(self._values).reshape(-1, 3))
        families = np.unique(edges.family).tolist()
        with self._path.open("w", encoding="utf-8") as file:
            file.write(self._header())
            self._spots.seek(0)
            for line in self._spots:
                file.write(line)
            file.write("    </AllSpots>\n    <AllTracks>\n")
            file.writelines(family_elements(edges, tracks, self._minutes))
            file.write("    </AllTracks>\n    <FilteredTracks>\n")
            file.writelines(f'      <TrackID TRACK_ID="{family}" />\n' for family in families)
            file.write("    </FilteredTracks>\n  </Model>\n" + self._settings() + "</TrackMate>\n")

    def close(self) -> None:
        self._spots.close()

    def _header(self) -> str:
        log = f"Written by dunno {self._about.version}; probabilities are {self._about.verdict}."
        unit, time = "micron" if self._scale else "pixel", "frame" if self._minutes is None else "min"
        spot = {
            name: SPOT.get(name, Declaration(name.replace("_", " ").capitalize(), "NONE", False))
            for name in self._names
        }
        declared = "".join(_declaration(*each) for each in (("Spot", spot), ("Edge", EDGE), ("Track", TRACK)))
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<TrackMate version="{VERSION}">\n  <Log>{escape(log)}</Log>\n'
            f'  <Model spatialunits="{unit}" timeunits="{time}">\n    <FeatureDeclarations>\n{declared}'
            f'    </FeatureDeclarations>\n    <AllSpots nspots="{self._n_spots}">\n'
        )

    def _settings(self) -> str:
        sizes = [1.0] * (3 - len(self._scale)) + self._scale
        file = Path(self._about.movie_path or "")
        is_file = file.suffix.lower() in (".tif", ".tiff")
        folder = quoteattr(f"{file.parent}/") if is_file else '""'
        image = (
            f'filename={quoteattr(file.name if is_file else "")} folder={folder} width="0" height="0" nslices="1" '
            f'nframes="{max(self._frames, default=0) + 1}" pixelwidth="{sizes[2]:.9g}" pixelheight="{sizes[1]:.9g}" '
            f'voxeldepth="{sizes[0]:.9g}" timeinterval="{self._minutes or 1.0:.9g}"'
        )
        last = max(self._frames, default=0)
        return (
            f"  <Settings>\n    <ImageData {image} />\n"
            f'    <BasicSettings xstart="0" xend="0" ystart="0" yend="0" zstart="0" zend="0" tstart="0" tend="{last}" />\n'
            '    <DetectorSettings DETECTOR_NAME="MANUAL_DETECTOR" RADIUS="5.0" />\n'
            '    <InitialSpotFilter feature="QUALITY" value="0.0" isabove="true" />\n'
            '    <SpotFilterCollection />\n    <TrackerSettings TRACKER_NAME="MANUAL_TRACKER" />\n'
            "    <TrackFilterCollection />\n    <AnalyzerCollection>\n      <SpotAnalyzers />\n      <EdgeAnalyzers />\n"
            "      <TrackAnalyzers />\n    </AnalyzerCollection>\n  </Settings>\n"
            '  <GUIState state="ConfigureViews" />\n'
            f"  <DisplaySettings>{escape(json.dumps(DISPLAY))}</DisplaySettings>\n"
        )


def _declaration(kind: str, features: Mapping[str, Declaration]) -> str:
    lines = (
        f'        <Feature feature="{name}" name={quoteattr(each.name)} shortname={quoteattr(each.short or each.name)} '
        f'dimension="{each.dimension}" isint="{str(each.is_int).lower()}" />\n'
        for name, each in features.items()
    )
    return f"      <{kind}Features>\n{''.join(lines)}      </{kind}Features>\n"


def _attributes(values: Iterable[tuple[str, float]]) -> str:
    """What is known, as attributes; TrackMate leaves out what is not."""
    return "".join(f' {name}="{value:.9g}"' for name, value in values if value == value)
