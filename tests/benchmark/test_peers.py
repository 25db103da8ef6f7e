"""Peers on cells whose answer is plain."""

from pathlib import Path

import numpy as np
import pytest

from dunno import evaluation
from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.peers import track_peer
from dunno.benchmark.unit_scores import measure
from dunno.benchmark.units import Experiment, plan_units
from dunno.simulate import colony

MODEL = Path(__file__).parents[2] / "benchmarks" / "models" / "dropout-0.25"

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", ["trackpy", "LapTrack"])
def test_slow_cells_are_linked_rightly(name: str) -> None:
    pytest.importorskip(name.lower())
    simulated = colony(cells=12, frames=6, motion=0.05, seed=1)
    tracking, seconds = track_peer(name, simulated.movie)
    scores = evaluation.score(tracking, simulated.truth)
    assert scores.accuracy == 1.0
    assert scores.recall > 0.9
    assert seconds > 0


def test_laptrack_links_both_daughters_of_a_division_and_trackpy_one() -> None:
    simulated = colony(cells=12, frames=12, motion=0.05, seed=1)
    found = {name: track_peer(name, simulated.movie)[0] for name in ("trackpy", "LapTrack")}
    twice = {name: sum(int(pair.divides.sum()) for pair in each.pairs) for name, each in found.items()}
    assert twice["trackpy"] == 0
    assert twice["LapTrack"] > 0


def test_trackastras_numbers_are_its_own() -> None:
    """Its scores are those of its own program, from pixels."""
    trackastra = pytest.importorskip("trackastra.model")
    movie = colony(cells=40, frames=6, motion=0.1, seed=1).movie
    model = MODEL
    tracking, _ = track_peer("Trackastra", movie, str(model))
    images, masks = (np.stack([read(t) for t in range(6)]) for read in (movie.images, movie.masks))
    images = np.stack([trackastra.model_api.normalize(each) for each in images])  # as in training: frame by frame
    theirs = trackastra.Trackastra.from_folder(model, device="cpu")
    graph, _ = theirs.track(images, masks.astype(np.int32), mode="greedy", normalize_imgs=False)
    nodes = graph.nodes
    expected = {
        (nodes[a]["time"], nodes[a]["label"], nodes[b]["label"]): weight for a, b, weight in graph.edges(data="weight")
    }
    found = {
        (
            pair.mother_frame,
            int(pair.mothers.label[pair.mother[e]]),
            int(pair.daughters.label[pair.daughter[e]]),
        ): float(pair.probability[e])
        for pair in tracking.pairs
        for e in np.flatnonzero(pair.selected)
    }
    assert found.keys() == expected.keys()
    assert len(found) > 5
    np.testing.assert_allclose([found[key] for key in expected], list(expected.values()), atol=1e-3)


def test_a_peer_without_a_number_for_a_link_has_none_in_the_table(root: Path) -> None:
    experiment = Experiment(costs=("distance",), methods=("LapTrack",), steps=(1,))
    (row,) = measure(plan_units(find_datasets(root), experiment)[0], experiment.asked("distance"))
    assert row["reason"] == "it has no number for a link"
    assert 0 < row["accuracy"] <= 1
    assert "ece" not in row and "confidence" not in row
