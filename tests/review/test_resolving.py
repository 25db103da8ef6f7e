"""Reviews of outputs whose masks were repaired: what is said of masks and links solves segments again."""

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from dunno import Tracker, read
from dunno.errors import DecisionError
from dunno.review import Decision, Review, nearby_segments
from dunno.review.desk import Desk
from dunno.review.export import export
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.tracking import Tracking
from dunno.types import Block
from tests.repaired import repaired as careless

__all__ = ["careless"]

TOGETHER = range(5, 8)
"""Frames in which two neighbours share a mask."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A colony in which the two nearest cells share a mask for some frames, tracked with its masks repaired."""
    folder = tmp_path_factory.mktemp("repaired")
    colony(cells=14, frames=14, motion=0.1, seed=2).save(folder / "01")
    masks = sorted((folder / "01_GT" / "TRA").glob("*.tif"))
    cells = read(folder / "01", masks=folder / "01_GT" / "TRA").detections(TOGETHER.start)
    away = np.linalg.norm(cells.centroid[:, None] - cells.centroid, axis=2) + 1e9 * np.eye(len(cells))
    one, other = cells.label[list(np.unravel_index(away.argmin(), away.shape))].tolist()
    for t in TOGETHER:
        image = tifffile.imread(masks[t])
        image[image == other] = one
        tifffile.imwrite(masks[t], image)
    (folder / "shared.txt").write_text(f"{one} {other}")
    track_into(Tracker(repair=True), read(folder / "01", masks=folder / "01_GT" / "TRA"), folder / "out")
    return folder


@pytest.fixture
def repaired(made: Path, tmp_path: Path) -> Path:
    """A copy that nobody has reviewed."""
    return Path(shutil.copytree(made / "out", tmp_path / "out"))


@pytest.fixture
def shared(made: Path) -> int:
    """The label of the mask that two cells share."""
    return int((made / "shared.txt").read_text().split()[0])


def whole(review: Review) -> Block:
    return review.block(0, review.table.n_pairs)


def assert_sound(block: Block) -> None:
    """Every daughter has one mother at the most, every mother two daughters, and what is believed sums to one."""
    links = block.links
    assert np.bincount(block.daughter[links]).max() == 1 and np.bincount(block.mother[links]).max() <= 2
    known = ~np.isnan(block.log_no_mother)
    total = np.bincount(block.daughter, block.probability, len(block.cells)) + np.nan_to_num(block.p_appear)
    np.testing.assert_allclose(total[known], 1, atol=1e-6)
    assert (np.diff(block.cells.frame * 10**6 + block.cells.label) > 0).all()


def same(one: Block, other: Block) -> bool:
    names = ("mother", "daughter", "log_probability", "selected", "p_segment")
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "p_segment") for name in names
    )


def labels_at(review: Review, frame: int) -> set[int]:
    return set(review.find(frame).cells.label.tolist())


def parts_of(review: Review, frame: int, mask: int) -> list[int]:
    """The objects that lie where a mask was given."""
    assert review.resolved is not None
    given = review.resolved.given.movie.masks(frame) == mask
    return [int(each) for each in np.unique(review.movie.masks(frame)[given]) if each]


def a_single_cell(review: Review, frame: int, mask: int) -> int:
    return min(labels_at(review, frame) - {mask} - set(parts_of(review, frame, mask)))


def test_a_mask_that_holds_two_becomes_two_objects_here_and_nearby(repaired: Path, shared: int) -> None:
    with Review.open(repaired) as review:
        if len(parts_of(review, 6, shared)) == 2:  # as the tracker said already: take it back first
            review.answer(Decision("as given", 6, shared))
        assert parts_of(review, 6, shared) == [shared]
        review.answer(Decision("two cells", 6, shared))
        two = parts_of(review, 6, shared)
        assert len(two) == 2 and set(two) <= labels_at(review, 6)
        assert all(len(parts_of(review, t, shared)) == 2 for t in TOGETHER)
        block = whole(review)
        assert_sound(block)
        rows = np.isin(block.cells.label, two) & (block.cells.frame == 6)
        assert (block.p_segment[rows] > 0.999).all() and (block.p_cell[rows] > 0.999).all()
        with pytest.raises(DecisionError, match="is none any more"):
            review.table.index(review.table.row(5, shared))
    with Review.open(repaired, read_only=True) as again:  # from the log alone
        assert same(whole(again), block)


def test_a_repair_is_taken_back_and_done_again(repaired: Path, shared: int) -> None:
    with Review.open(repaired) as review:
        before = whole(review)
        masks = review.movie.masks(6).copy()
        review.answer(
            Decision("two cells", 6, shared)
            if len(parts_of(review, 6, shared)) == 1
            else Decision("as given", 6, shared)
        )
        after = whole(review)
        assert not same(before, after)
        assert not np.array_equal(review.movie.masks(6), masks)
        review.undo()
        assert same(whole(review), before) and np.array_equal(review.movie.masks(6), masks)
        assert review.table.expected_wrong_links == review.first_expected
        review.redo()
        assert same(whole(review), after)


def test_what_is_no_cell_is_debris_or_nothing(repaired: Path, shared: int) -> None:
    with Review.open(repaired) as review:
        label = a_single_cell(review, 6, shared)
        review.answer(Decision("no cell", 6, label))
        block = whole(review)
        assert_sound(block)
        rows = (block.cells.frame == 6) & (block.cells.label == label)
        assert not rows.any() or block.p_cell[rows] < 1e-6


def test_links_that_a_person_decides_on_are_certain(repaired: Path, shared: int) -> None:
    with Review.open(repaired) as review:
        pair = review.pair(9)
        j = int(np.flatnonzero(pair.daughters.label == a_single_cell(review, 10, shared))[0])
        far = int(np.argmax(((pair.mothers.centroid - pair.daughters.centroid[j]) ** 2).sum(axis=1)))
        label, mother = int(pair.daughters.label[j]), int(pair.mothers.label[far])
        review.answer(Decision("no mother", 10, label))
        now = review.pair(9)
        assert now.p_appear[now.daughters.label == label] == pytest.approx(1)
        review.answer(Decision("mother", 10, label, mother))  # nobody thought of it
        now = review.pair(9)
        assert_sound(whole(review))
        own = now.selected & (now.daughters.label[now.daughter] == label)
        assert now.mothers.label[now.mother[own]].tolist() == [mother]
        assert now.probability[own] == pytest.approx(1)


def test_a_contradiction_is_refused_and_leaves_nothing(repaired: Path, shared: int) -> None:
    with Review.open(repaired) as review:
        before = whole(review)
        label = a_single_cell(review, 6, shared)
        for wrong in (Decision("one cell", 6, label, other=10**6), Decision("as given", 6, 10**6)):
            with pytest.raises(DecisionError):
                review.answer(wrong)
        daughters = review.pair(6).daughters.label.tolist()[:3]
        for daughter in daughters[:2]:
            review.answer(Decision("mother", 7, daughter, label))
        with pytest.raises(DecisionError, match="a third"):
            review.answer(Decision("mother", 7, daughters[2], label))
        with pytest.raises(DecisionError, match="so it divides"):
            review.answer(Decision("does not divide", 6, label))
        assert len(review.standing) == 2
        assert_sound(whole(review))
        for _ in range(2):
            review.undo()
        assert same(whole(review), before)


def test_what_was_said_of_a_cell_at_the_rim_contradicts_nothing(
    careless: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """Of a cell whose daughters lie outside of the surroundings, "divides" stays true while something else is answered."""
    monkeypatch.setattr(nearby_segments, "NEAREST", 4)
    with Review.open(Path(shutil.copytree(careless, tmp_path / "out"))) as review:
        block = whole(review)
        for mother in np.flatnonzero((block.load == 2) & (block.cells.frame == 0)).tolist():
            label = int(block.cells.label[mother])
            review.answer(Decision("divides", 0, label))
            away = np.linalg.norm(block.cells.centroid - block.cells.centroid[mother], axis=1)
            away[(block.cells.frame != 0) | (block.load != 1)] = np.inf
            for other in block.cells.label[np.argsort(away)[:8]].tolist():
                review.answer(Decision("does not divide", 0, other))
            now = whole(review)
            (row,) = np.flatnonzero((now.cells.frame == 0) & (now.cells.label == label))
            assert now.load[row] == 2


def test_an_export_has_the_masks_as_they_are_now(repaired: Path, shared: int, tmp_path: Path) -> None:
    with Review.open(repaired) as review:
        other = "as given" if len(parts_of(review, 6, shared)) == 2 else "two cells"
        review.answer(Decision(other, 6, shared))
        seen = {t: review.movie.masks(t) for t in range(14)}
        block = whole(review)
        export(review, tmp_path / "reviewed")
        review.without_repairs()
        assert review.resolved is not None
        given = review.resolved.given.movie
        assert all(np.array_equal(review.movie.masks(t), given.masks(t)) for t in range(14))
        export(review, tmp_path / "given")
    for t, masks in seen.items():
        assert np.array_equal(tifffile.imread(tmp_path / "reviewed" / "masks" / f"mask{t:03d}.tif"), masks)
    with (tmp_path / "reviewed" / "repairs.csv").open() as file:
        rows = list(csv.DictReader(file))
    drawn = {(int(row["frame"]), int(row["label"])) for row in rows if row["label"]}
    cells = {*zip(block.cells.frame.tolist(), block.cells.label.tolist(), strict=True)}
    assert drawn <= cells
    assert len((tmp_path / "given" / "repairs.csv").read_text().splitlines()) == 1
    again = Tracking.read(tmp_path / "reviewed")
    assert len(again.cells) == len(block.cells)
    with Review.open(tmp_path / "reviewed", read_only=True) as opened:
        assert same(whole(opened), block)


def test_the_page_shows_what_the_mothers_probabilities_leave_out(repaired: Path, shared: int) -> None:
    with Review.open(repaired) as review:
        desk = Desk(review)
        if len(parts_of(review, 6, shared)) == 1:
            review.answer(Decision("two cells", 6, shared))
        row = review.row_at(6, parts_of(review, 6, shared)[0])
        view = desk.view(row)
        assert 0 <= view["p_segment"] <= 1 and 0 <= view["p_cell"] <= 1
        (mine,) = (each for each in view["repaired"]["after"] if view["label"] in each["labels"])
        assert (mine["mask"], mine["what"]) == (shared, "split") and mine["outline"]
        found = desk.answer(Decision("as given", 6, mine["mask"]))
        assert found["touched"] > 0
        assert desk.ask()["state"]["repaired"]
        assert shared in {cell["label"] for cell in desk.view(review.row_at(6, shared))["after"]}
