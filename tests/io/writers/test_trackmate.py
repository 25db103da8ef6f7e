"""The rules are those of TrackMate's own reader, TmXmlReader: what it logs as an error is an error here."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.io import read_links
from dunno.io.writers import export
from dunno.tracking import Tracking

from ..links.colony import as_set

DIMENSIONS = "NONE QUALITY COST INTENSITY INTENSITY_SQUARED POSITION VELOCITY LENGTH AREA TIME ANGLE RATE ANGLE_RATE STRING".split()
NEEDED = "QUALITY POSITION_X POSITION_Y POSITION_Z POSITION_T FRAME RADIUS VISIBILITY".split()


@pytest.fixture(scope="module")
def root(tracking: Tracking, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("trackmate") / "tracks.xml"
    export("trackmate", path, tracking.blocks, tracking.about)
    return ElementTree.parse(path).getroot()


def declared(root: Any, kind: str) -> dict[str, bool]:
    """The features of a kind, each declared whole, and whether it is a whole number."""
    found = {}
    for each in root.find(f"Model/FeatureDeclarations/{kind}Features"):
        assert {"feature", "name", "shortname", "dimension", "isint"} == set(each.attrib)
        assert each.get("dimension") in DIMENSIONS
        assert each.get("isint") in ("true", "false")
        found[each.get("feature")] = each.get("isint") == "true"
    return found


def check_values(element: Any, features: dict[str, bool], besides: set[str]) -> None:
    """Every attribute is a declared feature whose value parses as its reader parses it."""
    for name, value in element.attrib.items():
        if name in besides:
            continue
        assert name in features
        int(value) if features[name] else float(value)
        assert np.isfinite(float(value))


def test_every_part_that_the_reader_asks_for_is_there(root: Any) -> None:
    assert root.tag == "TrackMate"
    assert tuple(map(int, root.get("version").split("."))) >= (2, 1, 0)
    for path in (
        *("Log", "Model/AllSpots", "Model/AllTracks", "Model/FilteredTracks", "Settings/ImageData", "GUIState"),
        *("Settings/BasicSettings", "Settings/DetectorSettings", "Settings/TrackerSettings", "DisplaySettings"),
        *("Settings/InitialSpotFilter", "Settings/SpotFilterCollection", "Settings/TrackFilterCollection"),
        *(f"Settings/AnalyzerCollection/{kind}Analyzers" for kind in ("Spot", "Edge", "Track")),
    ):
        assert root.find(path) is not None, path
    assert root.find("Settings/DetectorSettings").get("DETECTOR_NAME") == "MANUAL_DETECTOR"
    assert root.find("Settings/TrackerSettings").get("TRACKER_NAME") == "MANUAL_TRACKER"
    assert {"spatialunits", "timeunits"} <= set(root.find("Model").attrib)


def test_spots_have_the_privileged_features_and_nothing_undeclared(root: Any, tracking: Tracking) -> None:
    features, spots = declared(root, "Spot"), root.findall("Model/AllSpots/SpotsInFrame/Spot")
    assert set(NEEDED) | {"PROBABILITY", "P_DIVIDE", "ENTROPY"} <= set(features)
    assert len(spots) == int(root.find("Model/AllSpots").get("nspots")) == len(tracking.cells)
    assert len({spot.get("ID") for spot in spots}) == len(spots)
    for spot in spots:
        assert set(NEEDED) <= set(spot.attrib)
        check_values(spot, features, {"ID", "name"})
    radius = np.array([float(spot.get("RADIUS")) for spot in spots])
    np.testing.assert_allclose(np.pi * radius**2, tracking.cells.area, rtol=1e-6)


def test_edges_carry_the_probability_and_tracks_are_connected(root: Any, tracking: Tracking) -> None:
    edge_features, track_features = declared(root, "Edge"), declared(root, "Track")
    frame = {s.get("ID"): int(s.get("FRAME")) for s in root.findall("Model/AllSpots/SpotsInFrame/Spot")}
    tracks = root.findall("Model/AllTracks/Track")
    seen: set[str] = set()
    probability = []
    for track in tracks:
        check_values(track, track_features, {"name"})
        spots = set()
        for edge in track.findall("Edge"):
            check_values(edge, edge_features, set())
            mother, daughter = edge.get("SPOT_SOURCE_ID"), edge.get("SPOT_TARGET_ID")
            assert frame[mother] < frame[daughter]
            spots |= {mother, daughter}
            probability.append(float(edge.get("PROBABILITY")))
        assert not spots & seen
        assert len(spots) == int(track.get("NUMBER_SPOTS")) == len(track.findall("Edge")) + 1
        seen |= spots
    links = np.concatenate([pair.link_probability for pair in tracking.pairs])
    np.testing.assert_allclose(sorted(probability), sorted(links.tolist()), rtol=1e-8)
    shown = [each.get("TRACK_ID") for each in root.findall("Model/FilteredTracks/TrackID")]
    assert shown == [track.get("TRACK_ID") for track in tracks]
    assert sum(int(track.get("NUMBER_SPLITS")) for track in tracks) > 0


@pytest.mark.parametrize(("name", "file"), [("trackmate", "t.xml"), ("napari", "n.csv"), ("laptrack", "track.csv")])
def test_what_is_written_is_read_as_the_same_links(name: str, file: str, tracking: Tracking, tmp_path: Path) -> None:
    target = tmp_path / ("folder" if name == "laptrack" else file)
    export(name, target, tracking.blocks, tracking.about)
    links = read_links(target / file if target.is_dir() else target, tracking.movie)
    cells, edges = tracking.cells, tracking.edges
    mother, daughter = edges.mother[edges.selected], edges.daughter[edges.selected]
    columns = (cells.frame[mother], cells.label[mother], cells.frame[daughter], cells.label[daughter])
    assert as_set(links) == set(zip(*(column.tolist() for column in columns), strict=True))
    assert links.unmatched == ()


def test_places_are_physical_and_times_minutes(tmp_path: Path) -> None:
    masks = np.zeros((3, 4, 6, 6), int)
    masks[:, 1:3, 2, 2:4] = 9
    movie = Movie(masks, scale=(2, 0.5, 0.5), interval=15)
    tracking = Tracker(calibration=None).track(movie)
    export("trackmate", tmp_path / "t.xml", tracking.blocks, tracking.about)
    root = ElementTree.parse(tmp_path / "t.xml").getroot()
    last = root.findall("Model/AllSpots/SpotsInFrame/Spot")[-1]
    names = ("POSITION_Z", "POSITION_Y", "POSITION_X", "POSITION_T", "FRAME")
    assert [float(last.get(name) or "nan") for name in names] == [3, 1, 1.25, 30, 2]
    size = root.find("Settings/ImageData")
    assert size is not None
    assert [size.get(name) for name in ("voxeldepth", "pixelheight", "timeinterval")] == ["2", "0.5", "15"]
