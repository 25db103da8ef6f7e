"""Links across missing masks: found, certain, and the same in blocks as in the whole movie."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tifffile import imread

from dunno import Movie, Tracker, evaluation
from dunno.assignment import Problem, marginals, sample
from dunno.assignment.solve import max_expected_accuracy
from dunno.calibration import ModelCalibration
from dunno.calibration.kinds.model import transition_of
from dunno.costs.distance import Distance
from dunno.errors import InputError
from dunno.io.block_files import read_block, write_block
from dunno.io.joining import join as join_links
from dunno.lineage.gap_links import one_link_each
from dunno.models.model import Model, start_model
from dunno.runs.run import track_into
from dunno.segments.drawing import draw_over_background
from dunno.simulate import colony
from dunno.terms.missed import Missed
from dunno.tracking import Tracking
from dunno.tracking.forests import tied
from dunno.tracking.gaps import gap_candidates, posterior_with_gaps
from dunno.tracking.gate import find_candidates
from dunno.tracking.link_dependence import log_together
from dunno.tracking.solver import decided
from dunno.types import Block, Detections, FramePair, Truth
from dunno.types.block import OF_EDGES
from dunno.types.field import Field
from dunno.types.links import GivenLinks
from dunno.types.stretch import Stretch
from tests.lineage.hand_made import pair, whole

FIELD = Field((0.0, 0.0), (100.0, 100.0))


def frame(places: list[tuple[float, float]], t: int) -> Detections:
    n = len(places)
    centres = np.array(places, float).reshape(n, 2)
    return Detections(np.arange(1, n + 1), centres, np.full(n, 80.0), np.zeros((n, 2, 2), np.int64), t)


def stretch_of(cells: list[Detections]) -> Stretch:
    pairs = [FramePair(a, b, 20.0) for a, b in pairwise(cells)]
    return Stretch.of([transition_of(p, find_candidates(p.mothers, p.daughters, 20.0), Distance()) for p in pairs])


def model_with_misses(stretch: Stretch, p_missed: float = 0.02) -> Model:
    model = start_model(stretch, FIELD, 10.0).with_values(
        {"motion_scale": 2.0, "tail": 50.0, "p_divide": 0.01, "p_lost": 0.01, "appear_density": 1e-6}
    )
    return replace(model, terms=(*model.terms, Missed(p_missed)))


def solved(model: Model, stretch: Stretch, gate: float, tempering: float = 1.0) -> Block:
    found = posterior_with_gaps(model, stretch, gate, tempering)
    return decided(*found, range(len(stretch)), 0)


def with_deletions(share: float, seed: int) -> tuple[Movie, Truth]:
    made = colony(cells=40, frames=40, motion=0.1, cycle=60.0, seed=seed)
    rng = np.random.default_rng(seed)
    frames, labels, tracks = [], [], []
    for t in range(len(made.movie)):
        masks = np.array(made.movie.masks(t))
        keep = rng.random(len(made.truth.labels[t])) >= share
        masks[np.isin(masks, made.truth.labels[t][~keep])] = 0
        frames.append(masks)
        labels.append(made.truth.labels[t][keep])
        tracks.append(made.truth.tracks[t][keep])
    return Movie(frames), replace(made.truth, labels=tuple(labels), tracks=tuple(tracks))


@pytest.fixture(scope="module")
def damaged() -> tuple[Movie, Truth]:
    return with_deletions(0.03, seed=1)


@pytest.fixture(scope="module")
def tracked(damaged: tuple[Movie, Truth]) -> Tracking:
    return Tracker(workers=1, evidence="places").track(damaged[0])


def test_a_cell_that_is_missing_in_one_frame_is_linked_across_it() -> None:
    cells = [frame([(50, 50), (20, 20)], 0), frame([(20, 21)], 1), frame([(51, 50), (20, 22)], 2)]
    stretch = stretch_of(cells)
    block = solved(model_with_misses(stretch), stretch, 20.0)
    (chosen,) = np.flatnonzero(block.selected & (block.gap > 0))
    mother = block.mother[chosen]
    assert (block.cells.frame[mother], block.cells.label[mother], block.gap[chosen]) == (0, 1, 1)
    assert block.probability[chosen] > 0.9


def test_probabilities_sum_to_one_with_gaps() -> None:
    cells = [frame([(50, 50), (20, 20)], 0), frame([(20, 21)], 1), frame([(51, 50), (20, 22)], 2)]
    stretch = stretch_of(cells)
    last = solved(model_with_misses(stretch), stretch, 20.0).pair(2)
    near = np.bincount(last.daughter, last.probability, minlength=2)
    assert near + np.exp(last.log_no_mother) == pytest.approx(1.0)
    assert len(last.earlier)
    far = np.bincount(last.earlier.daughter, last.earlier.probability, minlength=2)
    assert near + far + last.p_appear == pytest.approx(1.0)


def brute_force(problem: Problem) -> np.ndarray:
    """(E,) marginals by listing every set of edges in which nobody has two mothers or more than two daughters."""
    total, edges = 0.0, np.zeros(len(problem.cost))
    options = [[-1, *np.flatnonzero(problem.daughter == j).tolist()] for j in range(problem.n_daughters)]
    chosen = np.full(problem.n_daughters, -1)

    def weigh() -> float:
        used = chosen[chosen >= 0]
        load = np.bincount(problem.mother[used], minlength=problem.n_mothers)
        if load.max(initial=0) > 2:
            return 0.0
        divides = load == 2
        cost = problem.appear[chosen < 0].sum() + problem.disappear[load == 0].sum() + problem.divide[divides].sum()
        assert problem.dividing_cost is not None
        cost += sum((problem.dividing_cost if divides[problem.mother[e]] else problem.cost)[e] for e in used)
        if problem.triples is not None:
            pairs = zip(problem.triples.first_edge, problem.triples.second_edge, problem.triples.cost, strict=True)
            cost += sum(extra for e, f, extra in pairs if e in used and f in used)
        return float(np.exp(-cost))

    def descend(j: int) -> None:
        nonlocal total
        if j == problem.n_daughters:
            weight = weigh()
            total += weight
            edges[chosen[chosen >= 0]] += weight
            return
        for option in options[j]:
            chosen[j] = option
            descend(j + 1)
        chosen[j] = -1

    descend(0)
    return edges / total


@pytest.mark.parametrize("seed", range(8))
def test_small_worlds_with_gaps_agree_with_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = [rng.uniform(30, 50, (rng.integers(1, 4 - t % 2), 2)) for t in range(4)]
    stretch = stretch_of([frame([tuple(p) for p in each], t) for t, each in enumerate(places)])
    model = model_with_misses(stretch, 0.1)
    found = marginals(model.problem(stretch))
    everything = replace(found, disappear=np.ones(stretch.n_rows), appear=np.ones(stretch.n_rows))
    joined = stretch.with_gaps(*gap_candidates(model, stretch, everything, 20.0))
    assert (joined.lags > 1).any()
    problem = model.problem(joined)
    assert marginals(problem).edge == pytest.approx(brute_force(problem), abs=1e-9)


def test_missing_masks_are_counted_and_bridged(damaged: tuple[Movie, Truth], tracked: Tracking) -> None:
    movie, truth = damaged
    calibration = tracked.about["calibration"]
    assert calibration["max_gap"] >= 1
    assert calibration["parameters"]["p_missed"] == pytest.approx(0.03, rel=0.5)
    found = evaluation.score(tracked, truth)
    assert found.counts["true_gap_links"] > 20
    assert found.counts["gap_links"] == pytest.approx(found.counts["true_gap_links"], rel=0.2)
    alone = Tracker(workers=1, max_gap=0).track(movie)
    judged = replace(alone, about=alone.about.with_longest_gap(1))
    assert found.daughter_accuracy > evaluation.score(judged, truth).daughter_accuracy + 0.02
    lengths = [[row.last - row.first + 1 for row in each.tracks()] for each in (tracked, alone)]
    assert np.mean(lengths[0]) > 1.3 * np.mean(lengths[1])


def test_without_missing_masks_nothing_changes() -> None:
    movie = colony(cells=30, frames=12, motion=0.1, cycle=1e9, seed=2, enter=0.0).movie
    found, pairs_only = Tracker(workers=1).track(movie), Tracker(workers=1, max_gap=0).track(movie)
    assert found.about["calibration"]["max_gap"] == 0
    for a, b in zip(found.pairs, pairs_only.pairs, strict=True):
        assert np.array_equal(a.log_probability, b.log_probability)
        assert not len(a.earlier)


def test_gaps_may_be_asked_for_where_no_mask_is_missing() -> None:
    movie = colony(cells=10, frames=6, motion=0.05, cycle=1e9, seed=2, enter=0.0, room=6.0).movie
    tracking = Tracker(workers=1, max_gap=2).track(movie)
    assert tracking.about["calibration"]["max_gap"] == 2
    assert not (tracking.edges.selected & (tracking.edges.gap > 0)).any()


def test_blocks_agree_with_the_whole_movie(damaged: tuple[Movie, Truth], tracked: Tracking) -> None:
    movie, _ = damaged
    tracker = Tracker(workers=1, evidence="places")
    plan = tracker.plan(movie)
    calibration = plan.calibration
    assert isinstance(calibration, ModelCalibration)
    cells = [movie.detections(t) for t in range(len(movie))]
    parts = [
        transition_of(FramePair(a, b, plan.gate), find_candidates(a, b, plan.gate), Distance())
        for a, b in pairwise(cells)
    ]
    model, stretch = calibration.posed(Stretch.of(parts))
    expected_block = calibration.apply(solved(model, stretch, plan.gate, calibration.softening.tempering))
    for found, expected in zip(tracked.pairs, expected_block.pairs(), strict=True):
        assert found.probability == pytest.approx(expected.probability, abs=1e-3)


def test_any_number_of_workers_gives_the_same_bits(damaged: tuple[Movie, Truth], tracked: Tracking) -> None:
    for a, b in zip(tracked.pairs, Tracker(workers=2, evidence="places").track(damaged[0]).pairs, strict=True):
        assert np.array_equal(a.log_probability, b.log_probability)
        assert np.array_equal(a.earlier.log_probability, b.earlier.log_probability)
        assert np.array_equal(a.earlier.selected, b.earlier.selected)


def test_tables_and_graphs_have_the_edges_across_gaps(tracked: Tracking) -> None:
    cells, edges = tracked.cells, tracked.edges
    assert (cells.frame[edges.daughter] - cells.frame[edges.mother] == edges.gap + 1).all()
    across = edges.selected & (edges.gap > 0)
    assert across.sum() > 20
    kept = cells.track[edges.mother[across]] == cells.track[edges.daughter[across]]
    assert kept.mean() > 0.9  # the others divide across the gap
    table, _ = tracked.to_pandas()
    assert (table["mother_frame"] < table["frame"] - 1).sum() == (edges.gap > 0).sum()
    graph = tracked.to_networkx()
    assert sum(b[0] - a[0] > 1 for a, b in graph.edges) == across.sum()
    assert graph.number_of_edges() == edges.selected.sum()


def test_nobody_has_two_mothers_or_daughters_in_two_frames(tracked: Tracking) -> None:
    edges, cells = tracked.edges, tracked.cells
    assert np.bincount(edges.daughter[edges.selected]).max() == 1
    mother, frame_of = edges.mother[edges.selected], cells.frame[edges.daughter[edges.selected]]
    for m in np.flatnonzero(np.bincount(mother) > 1).tolist():
        assert len(set(frame_of[mother == m].tolist())) == 1


def test_a_link_across_a_gap_is_taken_back_where_its_mother_is_linked() -> None:
    near = pair(0, (1, 1), [(0, 0, 0.9)]), pair(1, (1, 1), [])
    for blocks in ([whole(*near, far=[(0, 0, 2, 0, 0.9)])], [near[0], whole(*near, far=[(0, 0, 2, 0, 0.9)]).part(1)]):
        *_, last = one_link_each(blocks)
        assert not last.selected[last.gap > 0].any()
    (kept,) = one_link_each([whole(pair(0, (1, 1), []), near[1], far=[(0, 0, 2, 0, 0.9)])])
    assert kept.selected[kept.gap > 0].all()


def test_a_block_with_gaps_goes_through_a_file(tracked: Tracking, tmp_path: Path) -> None:
    block = next(part for k in range(20) if (part := tracked.block.part(k, k + 16)).first > 0)
    assert (block.gap > 0).any()
    write_block(tmp_path / "000000.npz", block)
    again = read_block(tmp_path / "000000.npz")
    for name in (*OF_EDGES, "log_no_mother", "appears_less", "disappears_less", "log_together"):
        assert np.array_equal(getattr(block, name), getattr(again, name), equal_nan=True), name
    assert block.problem is not None and again.problem is not None
    for name in ("cost", "appear", "disappear", "divide", "dividing_cost"):
        assert np.array_equal(getattr(block.problem, name), getattr(again.problem, name)), name


def test_a_run_writes_gaps_into_every_file(damaged: tuple[Movie, Truth], tracked: Tracking, tmp_path: Path) -> None:
    run = track_into(Tracker(workers=1, evidence="places"), damaged[0], tmp_path / "out", ctc=True)
    assert run.summary.gap_links == int((tracked.edges.selected & (tracked.edges.gap > 0)).sum())
    rows = np.loadtxt(tmp_path / "out" / "edges.csv", delimiter=",", skiprows=1)
    assert int(((rows[:, 0] < rows[:, 2] - 1) & (rows[:, 6] == 1)).sum()) == run.summary.gap_links
    table = np.loadtxt(tmp_path / "out" / "ctc" / "res_track.txt", dtype=int)
    parents = table[table[:, 3] > 0]
    children = np.bincount(parents[:, 3])
    assert (children == 1).sum() > 20  # a track with a gap goes on as its own only child
    assert (table[:, 2] >= table[:, 1]).all()
    import zarr

    ids = zarr.open_group(tmp_path / "out" / "tracks.geff", mode="r")["edges/ids"]
    assert ids.shape[0] == run.summary.links  # type: ignore[union-attr]


def test_filled_gaps_leave_no_frame_of_a_track_without_a_cell(tracked: Tracking) -> None:
    full = tracked.filled()
    cells, edges = full.cells, full.edges
    assert (edges.gap[edges.selected] == 0).all()
    gap = tracked.edges.gap[tracked.edges.selected]
    assert 0 <= gap.sum() - (len(cells) - len(tracked.cells)) < 10  # two daughters across a gap share what is filled in
    for row in full.tracks():
        assert (cells.track == row.track).sum() == row.last - row.first + 1
    before, after = tracked.tracks(), full.tracks()
    assert [row.mother for row in after] == [row.mother for row in before]
    assert [row.confidence for row in after] == pytest.approx([row.confidence for row in before])
    by_daughter = np.bincount(edges.daughter, edges.probability, minlength=len(cells))
    real = ~np.isnan(cells.p_appear)
    assert (by_daughter + np.nan_to_num(cells.p_appear))[real] == pytest.approx(1.0)


def test_filled_in_cells_are_marked_in_every_file(
    damaged: tuple[Movie, Truth], tracked: Tracking, tmp_path: Path
) -> None:
    full = tracked.filled()
    added = len(full.cells) - len(tracked.cells)
    full.to_csv(tmp_path / "csv")
    header = (tmp_path / "csv" / "detections.csv").read_text().split("\n", 1)[0].split(",")
    rows = np.genfromtxt(tmp_path / "csv" / "detections.csv", delimiter=",", skip_header=1)
    assert rows[:, header.index("filled")].sum() == added > 20
    full.to_geff(tmp_path / "tracks.geff")
    import zarr

    marks = zarr.open_group(tmp_path / "tracks.geff", mode="r")["nodes/props/filled/values"]
    assert np.asarray(marks[:]).sum() == added  # type: ignore[index]
    full.to_ctc(tmp_path / "ctc")
    table = np.loadtxt(tmp_path / "ctc" / "res_track.txt", dtype=int)
    assert len(table) == len(tracked.tracks())  # no track is cut at a gap
    present = [set(np.unique(imread(path)).tolist()) for path in sorted((tmp_path / "ctc").glob("mask*.tif"))]
    for label, first, last, _ in table.tolist():
        assert all(label in present[t] for t in range(first, last + 1))


def test_a_cell_without_room_is_drawn_on_the_nearest_free_pixel() -> None:
    tracks = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0]], np.uint16)
    draw_over_background(tracks, np.array([[0, 0], [0, 1], [0, 2]]), 7)
    assert tracks.tolist() == [[1, 1, 1], [1, 1, 7], [0, 0, 0]]


def test_links_are_drawn_as_often_as_they_are_probable(tracked: Tracking) -> None:
    n, edges = 100, tracked.edges
    drawn = tracked.sample(n, seed=0)
    share = np.mean([each.edges.selected for each in drawn], axis=0)
    noise = np.sqrt(edges.probability * (1 - edges.probability) / n)
    for some in (edges.gap == 0, edges.gap > 0):
        off = np.abs(share - edges.probability)[some]
        assert off.mean() < noise[some].mean() + 1e-3  # what is not known (ε) is not in samples
        assert share[some].sum() == pytest.approx(edges.probability[some].sum(), rel=0.02)
    assert (edges.selected & (edges.gap > 0)).sum() > 20
    for each in drawn[:3]:
        assert np.bincount(edges.daughter[each.edges.selected]).max() == 1
        assert np.bincount(edges.mother[each.edges.selected]).max() <= 2
        assert len(each.tracks()) > 40


def test_pairs_that_gaps_tie_are_one_problem() -> None:
    rng = np.random.default_rng(0)
    cells = [frame([tuple(p) for p in rng.uniform(30, 50, (2, 2))], t) for t in range(4)]
    stretch = stretch_of(cells)
    model = model_with_misses(stretch, 0.1)
    block = solved(model, stretch, 30.0)
    assert [len(run) for run in tied(block)] == [3]
    assert block.problem is not None
    assert marginals(block.problem).edge == pytest.approx(block.probability, abs=1e-5)
    unlikely = np.where(block.gap > 0, -50.0, block.log_probability)
    assert [len(run) for run in tied(replace(block, log_probability=unlikely))] == [1, 1, 1]


def test_a_track_is_as_certain_as_its_links_are_drawn_together() -> None:
    """Three cells in a row of frames with a tempting gap: what one link says of the next is counted."""
    rng = np.random.default_rng(5)
    cells = [frame([tuple(p) for p in rng.uniform(38, 50, (2, 2))], t) for t in range(3)]
    stretch = stretch_of(cells)
    _, problem, found = posterior_with_gaps(model_with_misses(stretch, 0.3), stretch, 30.0)
    chosen = max_expected_accuracy(problem, found)
    link = chosen[chosen >= 0]
    ratio = log_together(problem, found, np.isin(np.arange(len(problem.cost)), link), seed=0)
    pairs = [(a, b) for a in link for b in link if problem.daughter[a] == problem.mother[b]]
    drawn = sample(problem, 4000, 1)
    tied = 0
    for a, b in pairs:
        right = [drawn[:, problem.daughter[e]] == e for e in (a, b)]
        both = (right[0] & right[1]).mean()
        told = found.edge[a] * found.edge[b] * np.exp(ratio[problem.daughter[b]])
        assert told == pytest.approx(both, abs=0.06)
        tied += abs(ratio[problem.daughter[b]]) > 0
    assert tied


def test_a_pairs_own_problem_says_what_all_frames_say(tracked: Tracking) -> None:
    off = [
        np.abs(marginals(pair.problem).edge - pair.probability) for pair in tracked.pairs if pair.problem is not None
    ]
    assert np.concatenate(off).mean() < 1e-3


def test_somebodys_links_across_gaps_are_judged(damaged: tuple[Movie, Truth], tracked: Tracking) -> None:
    movie, edges, cells = damaged[0].part(slice(0, 17)), tracked.edges, tracked.cells
    own = np.flatnonzero(edges.selected & (cells.frame[edges.daughter] < 17))
    ends = [column[row[own]] for row in (edges.mother, edges.daughter) for column in (cells.frame, cells.label)]
    links = join_links(GivenLinks(*ends), movie, "here")
    assert links.longest_gap >= 1
    judged = Tracker(workers=1, links=links).track(movie)
    assert judged.about["calibration"]["max_gap"] == links.longest_gap
    assert judged.edges.selected.sum() == len(links)
    across = judged.edges.selected & (judged.edges.gap > 0)
    assert across.sum() == (edges.gap[own] > 0).sum() > 3
    assert judged.edges.probability[across].mean() > 0.8
    alone = Tracker(workers=1, method="SM", links=links).track(movie)
    assert alone.edges.selected.sum() == (edges.gap[own] == 0).sum()
    assert alone.about["links_unmatched"] == across.sum()


def test_gaps_are_refused_where_no_model_is_fitted() -> None:
    with pytest.raises(InputError, match=r"max_gap 2.*method SM"):
        Tracker(method="SM", max_gap=2)
    with pytest.raises(InputError, match="max_gap is -1"):
        Tracker(max_gap=-1)
    assert Tracker(method="SM").max_gap == 0
