"""What real movies must show; skipped where they are not."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker, evaluation, read
from dunno.io import read_links
from dunno.tracking import Tracking
from dunno.truth import true_mothers
from dunno.types import Truth

SEQUENCES = ["Fluo-N2DL-HeLa/01", "Fluo-N2DL-HeLa/02", "iPSC-07/01", "iPSC-07/02", "iPSC-07/03", "Cglut-2min/01"]


def right_links(tracking: Tracking, truth: Truth) -> np.ndarray:
    right = []
    for pair in tracking.pairs:
        mother = true_mothers(truth, pair).mother
        right.append(mother[pair.daughter[pair.selected]] == pair.mother[pair.selected])
    return np.concatenate(right)


def test_hela_is_tracked_as_a_reference_implementation_did(data: Path) -> None:
    movie, truth = read(data / "Fluo-N2DL-HeLa/02", truth=True)
    right = right_links(Tracker("distance", "SM", calibration=None, max_distance=30).track(movie), truth)
    assert len(right) == pytest.approx(25_166, abs=25)
    assert right.mean() == pytest.approx(0.9950, abs=0.001)


@pytest.mark.filterwarnings("ignore:masks are taken from")
@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("step", [1, 10])
def test_the_estimated_gate_is_generous_and_the_defaults_track(data: Path, sequence: str, step: int) -> None:
    movie, truth = read(data / sequence, truth=True)
    movie, truth = movie.every(step), truth.every(step)
    tracking = Tracker().track(movie)
    assert right_links(tracking, truth).mean() > (0.99 if step == 1 else 0.8)
    distances = []
    for pair in tracking.pairs:
        mother = true_mothers(truth, pair).mother
        linked = np.flatnonzero(mother >= 0)
        step_vector = pair.daughters.centroid[linked] - pair.mothers.centroid[mother[linked]]
        distances.append(np.linalg.norm(step_vector, axis=1))
    assert np.mean(np.concatenate(distances) > tracking.about["max_distance"]) < 1e-3


@pytest.mark.filterwarnings("ignore:masks are taken from")
def test_what_is_odd_in_hela_is_counted(data: Path) -> None:
    """As the data's README lists it: cells missing in the segmentation, and one mother with three daughters."""
    for sequence, missing, many in (("01", 37, 0), ("02", 42, 1)):
        movie, truth = read(data / "Fluo-N2DL-HeLa" / sequence, truth=True)
        counts = evaluation.score(Tracker("distance", "SM", calibration=None).track(movie), truth).counts
        first = len(np.setdiff1d(truth.present[0], truth.tracks[0]))
        assert counts["missed_detections"] + first == missing
        assert counts["mothers_with_more_than_two_daughters"] == many
        assert counts["false_detections"] == 0
        assert counts["undetected_mothers"] > 0


@pytest.mark.filterwarnings("ignore:masks are taken from")
def test_somebody_elses_links_on_hela_get_probabilities(data: Path) -> None:
    movie, truth = read(data / "Fluo-N2DL-HeLa/01", truth=True)
    links = read_links(data / "Fluo-N2DL-HeLa/01_GT/TRA", movie)
    found = evaluation.score(Tracker("distance", "SM", calibration=None, links=links).track(movie), truth)
    assert found.n_links == int((links.gap == 0).sum())  # this method links neighbouring frames
    assert found.accuracy == 1.0
    assert found.recall == 1.0
