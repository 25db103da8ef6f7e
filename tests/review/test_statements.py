"""What a person can say of masks: constraints on the neighbours, in the log, undone, exported."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from dunno.errors import DecisionError
from dunno.review import Decision, Review
from dunno.review.decisions import in_force
from dunno.review.desk import Desk
from dunno.review.export import export, reviewed_tracking
from dunno.review.family import family
from dunno.review.overview import Tracks, overview
from dunno.tracking import Tracking
from dunno.types import PairPosterior


def linked_cell(review: Review, t: int = 1) -> tuple[int, int, int]:
    """Frame, label and index of a cell with a mother in pair t and one daughter in pair t + 1."""
    before, after = review.pair(t), review.pair(t + 1)
    load = np.bincount(after.mother[after.selected], minlength=len(after.mothers))
    daughters = before.daughter[before.selected]
    index = int(next(j for j in daughters.tolist() if load[j] == 1))
    return before.daughter_frame, int(before.daughters.label[index]), index


def tables(review: Review) -> list[np.ndarray]:
    return [review.table.error.copy(), review.table.linked.copy()]


def pairs_equal(one: PairPosterior, other: PairPosterior) -> bool:
    return np.array_equal(one.log_probability, other.log_probability) and np.array_equal(one.selected, other.selected)


def test_a_mask_that_is_no_cell_has_no_links_on_either_side(output: Path) -> None:
    with Review.open(output) as review:
        frame, label, index = linked_cell(review)
        before = tables(review)
        review.answer(Decision("no cell", frame, label))
        assert review.changed == [1, 2]
        earlier, later = review.pair(1), review.pair(2)
        assert not earlier.selected[earlier.daughter == index].any()
        assert not later.selected[later.mother == index].any()
        assert (earlier.probability[earlier.daughter == index] == 0).all()
        assert (later.probability[later.mother == index] == 0).all()
        assert earlier.block.p_segment[earlier.daughter_rows][index] == 0
        np.testing.assert_allclose(
            np.bincount(later.daughter, later.probability, len(later.daughters)) + np.exp(later.log_no_mother), 1
        )
        assert not review.unanswered[review.row_at(frame, label)]
        tracking = reviewed_tracking(review)
        row = (tracking.cells.frame == frame) & (tracking.cells.label == label)
        assert tracking.cells.p_segment[row] == 0 and tracking.cells.p_cell[row] == 0
        review.undo()
        assert all(np.array_equal(a, b) for a, b in zip(tables(review), before, strict=True))
        assert pairs_equal(review.pair(2), review.original(2))
        review.redo()
    with Review.open(output, read_only=True) as again:  # from the log alone
        assert pairs_equal(again.pair(2), later) and pairs_equal(again.pair(1), earlier)


def test_a_mother_that_is_named_takes_a_false_mask_back_on_both_sides(output: Path) -> None:
    with Review.open(output) as review:
        frame, label, _ = linked_cell(review)
        mother = int(review.pair(1).mothers.label[0])
        review.answer(Decision("no cell", frame, label))
        review.answer(Decision("mother", frame, label, mother))
        assert review.changed == [1, 2]
        assert pairs_equal(review.pair(2), review.original(2))
        assert np.isnan(review.pair(1).block.p_segment).all()


def test_contradictions_are_refused_with_the_reason(output: Path) -> None:
    with Review.open(output) as review:
        frame, label, _ = linked_cell(review)
        later = review.pair(2)
        daughter = int(later.daughters.label[0])
        review.answer(Decision("no cell", frame, label))
        with pytest.raises(DecisionError, match="decided to be no cell; undo that first"):
            review.answer(Decision("mother", later.daughter_frame, daughter, label))
        review.undo()
        review.answer(Decision("mother", later.daughter_frame, daughter, label))
        with pytest.raises(DecisionError, match=f"was decided to be the mother of {daughter}"):
            review.answer(Decision("no cell", frame, label))
        assert len(review.standing) == 1


def test_two_cells_have_two_mothers_and_end_both_tracks(output: Path, tmp_path: Path) -> None:
    with Review.open(output) as review:
        frame, label, index = linked_cell(review)
        pair = review.pair(1)
        first = int(pair.mother[pair.selected & (pair.daughter == index)][0])
        second = next(i for i in range(len(pair.mothers)) if i != first)
        review.answer(Decision("mother", frame, label, int(pair.mothers.label[first])))
        review.answer(Decision("two cells", frame, label, int(pair.mothers.label[second])))
        told = review.pair(1)
        assert set(told.mother[told.selected & (told.daughter == index)].tolist()) == {first, second}
        assert told.selected[told.mother == second].sum() == 1  # its cell is in that mask and nowhere else
        export(review, tmp_path / "reviewed")
    again = Tracking.read(tmp_path / "reviewed")
    cells = again.cells
    row = int(np.flatnonzero((cells.frame == frame) & (cells.label == label))[0])
    assert cells.p_segment[row] == 1
    mothers = np.flatnonzero(cells.frame == pair.mother_frame)[[first, second]]
    links = again.edges.selected & (again.edges.daughter == row)
    assert set(again.edges.mother[links].tolist()) == set(mothers.tolist())
    ends = {each.track: each for each in again.tracks()}
    assert [ends[track].last for track in cells.track[mothers].tolist()] == [pair.mother_frame] * 2
    assert ends[int(cells.track[row])].mother == 0
    with (tmp_path / "reviewed" / "statements.csv").open() as file:
        said = [row for row in csv.DictReader(file) if row["kind"] == "two cells"]
    assert [(row["frame"], row["label"]) for row in said] == [(str(frame), str(label))]


def test_of_two_pieces_the_smaller_one_is_no_cell(output: Path) -> None:
    with Review.open(output) as review:
        pair = review.pair(1)
        large, small = np.argsort(-pair.daughters.area)[[0, -1]].tolist()
        labels = pair.daughters.label[[large, small]].tolist()
        review.answer(Decision("one cell", pair.daughter_frame, labels[0], other=labels[1]))
        assert review.standing[-1].decision == Decision("one cell", pair.daughter_frame, labels[1], other=labels[0])
        p_segment = review.pair(1).block.p_segment[review.pair(1).daughter_rows]
        assert p_segment[small] == 0 and np.isnan(p_segment[large])


def test_a_mother_divides_into_three(output: Path) -> None:
    with Review.open(output) as review:
        pair = review.pair(1)
        mother = int(np.bincount(pair.mother).argmax())
        label, frame = int(pair.mothers.label[mother]), pair.daughter_frame
        three = pair.daughter[pair.mother == mother][:3]
        assert len(three) == 3
        daughters = pair.daughters.label[three].tolist()
        for daughter in daughters[:2]:
            review.answer(Decision("mother", frame, daughter, label))
        with pytest.raises(DecisionError, match="has two daughters already"):
            review.answer(Decision("mother", frame, daughters[2], label))
        review.answer(Decision("divides into three", pair.mother_frame, label))
        review.answer(Decision("mother", frame, daughters[2], label))
        told = review.pair(1)
        assert set(told.daughter[told.selected & (told.mother == mother)].tolist()) == set(three.tolist())
        assert told.log_divide is not None and told.log_divide[mother] == 0
        assert all(np.bincount(told.daughter[told.selected]) <= 1)


def test_a_mother_across_a_gap_carries_the_track_on(output: Path, tmp_path: Path) -> None:
    with Review.open(output) as review:
        frame, label, _ = linked_cell(review, 2)
        earlier = review.pair(0)
        mother = int(earlier.mothers.label[0])
        review.answer(Decision("mother", frame, label, mother, mother_frame=earlier.mother_frame))
        assert review.changed == [0, 1, 2]
        assert not review.pair(0).selected[review.pair(0).mother == 0].any()  # it has no mask in the next frame
        gaps, cells = review.pair(2).earlier, review.pair(2).block.cells
        assert gaps.selected.tolist() == [True]
        assert (gaps.gap[0], cells.frame[gaps.mother[0]], gaps.log_probability[0]) == (2, earlier.mother_frame, 0)
        export(review, tmp_path / "reviewed")
        review.undo()
        assert pairs_equal(review.pair(0), review.original(0)) and not len(review.pair(2).earlier)
    cells = Tracking.read(tmp_path / "reviewed").cells
    track = cells.track[(cells.frame == earlier.mother_frame) & (cells.label == mother)]
    assert cells.track[(cells.frame == frame) & (cells.label == label)] == track
    with pytest.raises(DecisionError, match="expected a frame before"):
        Decision("mother", 3, 1, 1, mother_frame=3)


def test_a_missing_cell_is_listed_and_its_mother_waits(output: Path, tmp_path: Path) -> None:
    with Review.open(output) as review:
        pair = review.pair(1)
        label = int(pair.mothers.label[0])
        review.answer(Decision("missing", pair.daughter_frame, place=(10.0, 12.5), mother=label))
        told = review.pair(1)
        assert not told.selected[told.mother == 0].any()
        assert told.log_disappear is not None and told.log_disappear[0] == -np.inf  # it goes on, unseen
        with pytest.raises(DecisionError, match="expected 2 numbers"):
            review.answer(Decision("missing", pair.daughter_frame, place=(1.0, 2.0, 3.0)))
        export(review, tmp_path / "reviewed")
    row = next(csv.DictReader((tmp_path / "reviewed" / "statements.csv").read_text().splitlines()))
    assert (row["kind"], row["y"], row["x"], row["mother"]) == ("missing", "10.0", "12.5", str(label))


def test_false_masks_are_not_drawn_in_a_challenge_result(output: Path, tmp_path: Path) -> None:
    import tifffile

    with Review.open(output) as review:
        frame, label, _ = linked_cell(review)
        masks = review.movie.masks(2)
        review.answer(Decision("no cell", frame, label))
        export(review, tmp_path / "reviewed")
    drawn = tifffile.imread(tmp_path / "reviewed" / "ctc" / "mask002.tif")
    assert (drawn[masks == label] == 0).all()
    assert (drawn[(masks != label) & (masks > 0)] > 0).all()
    rows = [line.split() for line in (tmp_path / "reviewed" / "ctc" / "res_track.txt").read_text().splitlines()]
    labels = {
        int(value)
        for path in (tmp_path / "reviewed" / "ctc").glob("*.tif")
        for value in np.unique(tifffile.imread(path))
    }
    assert {int(row[0]) for row in rows} == labels - {0}
    about = json.loads((tmp_path / "reviewed" / "run.json").read_text())["parameters"]["review"]
    assert about["statements"] == {"no cell": 1}


def test_of_decisions_on_one_subject_the_last_counts() -> None:
    false, two, mother = Decision("no cell", 1, 5), Decision("two cells", 1, 5), Decision("mother", 1, 5, 2)
    assert in_force([false, two]) == [two]
    assert in_force([mother, two]) == [mother, two]
    assert in_force([mother, two, false]) == [false]
    assert in_force([false, Decision("skip", 1, 5)]) == [Decision("skip", 1, 5)]
    assert in_force([Decision("skip", 1, 5), two]) == [two]
    divides, single = Decision("divides", 1, 5), Decision("does not divide", 1, 5)
    assert in_force([divides, single]) == [single]


def test_a_track_that_is_right_is_one_line_and_so_many_mothers(output: Path) -> None:
    with Review.open(output) as review:
        desk = Desk(review)
        frame, label, _ = linked_cell(review)
        path = desk.views.path(review.row_at(frame, label))
        assert len(path) > 2
        review.answer(Decision("right track", *path[-1], path=tuple(path)))
        assert len(review.standing) == 1
        rows = [review.row_at(*cell) for cell in path[1:]]
        assert (review.table.error[rows] == 0).all() and not review.unanswered[rows].any()
    with Review.open(output) as again:  # from the log alone
        assert (again.table.error[rows] == 0).all()
        assert desk.decisions()[0]["words"].endswith(f"is right, {len(rows)} links")
        again.undo()
        assert again.unanswered[rows].all()


def test_the_next_division_comes_after_this_one(output: Path) -> None:
    with Review.open(output, read_only=True) as review:
        divisions = np.flatnonzero(review.table.division)
        desk, row, seen = Desk(review), 0, []
        for _ in divisions:
            row = desk.next_division(row)
            seen.append(row)
        assert sorted(seen) == divisions.tolist()


def test_nobody_overwrites_what_they_have_not_seen(output: Path) -> None:
    with Review.open(output, who="ada") as review:
        ada, ben = Desk(review), Desk(review)
        ben._taken = lambda: {ada.asked} if ada.asked is not None else set()
        view, other = ada.ask()["view"], ben.ask()["view"]
        assert view["row"] != other["row"]  # two people are not asked the same
        seen = view["version"]
        decision = Decision("no mother", view["frame"], view["label"])
        ada.answer(decision, who="ada", seen=seen)
        with pytest.raises(DecisionError, match="ada has decided on cell"):
            ben.answer(Decision("no cell", view["frame"], view["label"]), who="ben", seen=seen)
        with pytest.raises(DecisionError, match="ada has decided since you looked"):
            ben.undo("ben", seen=seen)
        ben.answer(Decision("no cell", view["frame"], view["label"]), who="ben", seen=review.version)
        assert [answer.who for answer in review.standing] == ["ada", "ben"]
        assert [(said.who, said.action) for said in review.since(seen)] == [("ada", "answer"), ("ben", "answer")]
        listed = ben.decisions()
        assert [each["who"] for each in listed] == ["ben"]  # what ada said counts no more; the log has it
        assert listed[0]["words"] == f"mask {view['label']} of frame {view['frame']} is no cell"


def test_a_family_an_overview_and_tracks_lead_to_rows(output: Path) -> None:
    with Review.open(output, read_only=True) as review:
        frame, label, _ = linked_cell(review)
        row = review.row_at(frame, label)
        found = family(review, row)
        here = found["cells"][found["here"]]
        assert (here["frame"], here["label"], here["row"]) == (frame, label, row)
        assert all(found["cells"][link["from"]]["t"] < found["cells"][link["to"]]["t"] for link in found["links"])
        assert len({(cell["t"], cell["lane"]) for cell in found["cells"]}) == len(found["cells"])
        heat = overview(review)
        assert sum(square["expected"] for square in heat["squares"]) == pytest.approx(review.table.error.sum(), abs=0.5)
        cells = Tracking.read(output).cells
        track = int(cells.track[(cells.frame == frame) & (cells.label == label)][0])
        reached = Tracks(review).row(track)
        assert int(review.table.frame_of(np.array([reached]))[0]) <= frame
        with pytest.raises(DecisionError, match="there is no track 99999"):
            Tracks(review).row(99999)
        with pytest.raises(DecisionError, match="is the first one"):
            review.row_at(int(review.table.mother_frame[0]), int(review.frame_cells(0).label[0]))


def test_near_questions_come_together_if_that_costs_little(output: Path) -> None:
    with Review.open(output, read_only=True) as review:
        table, queue = review.table, review.queue
        everyone = review.unanswered
        best = queue.best(everyone, "gain", 8)
        for before in best:
            (chosen,) = queue.best_near(everyone, "gain", before)
            assert queue.gain(chosen) >= 0.7 * queue.gain(best[0])
            assert chosen == best[0] or table.pair_of(chosen) == table.pair_of(before)
        assert queue.best_near(everyone, "entropy", best[0]) == queue.best(everyone, "entropy")


def test_the_second_cells_mother_may_divide(output: Path) -> None:
    with Review.open(output) as review:
        pair = review.pair(2)
        frame = pair.daughter_frame
        cells, mothers = pair.daughters.label[:4].tolist(), pair.mothers.label[:2].tolist()
        review.answer(Decision("two cells", frame, cells[0], mothers[0]))
        review.answer(Decision("mother", frame, cells[1], mothers[0]))  # one daughter shares a mask, the other does not
        told = review.pair(2)
        linked = told.daughters.label[told.daughter[told.selected & (told.mother == 0)]]
        assert {cells[0], cells[1]} <= set(linked.tolist())
        with pytest.raises(DecisionError, match="has two daughters already"):
            review.answer(Decision("mother", frame, cells[2], mothers[0]))
        with pytest.raises(DecisionError, match="has two daughters already"):
            review.answer(Decision("two cells", frame, cells[3], mothers[0]))
        review.undo()
        review.undo()
        review.answer(Decision("mother", frame, cells[1], mothers[0]))  # in the other order
        review.answer(Decision("two cells", frame, cells[0], mothers[0]))
        again = review.pair(2)
        assert (again.selected == told.selected).all()
