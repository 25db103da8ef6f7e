"""What the page is told."""

import json
from pathlib import Path

import numpy as np
import pytest

from dunno.errors import DecisionError
from dunno.review import Decision, Filter, Review
from dunno.review.desk import Desk


def test_a_view_has_the_daughter_her_mothers_and_neighbours(output: Path) -> None:
    with Review.open(output) as review:
        view = Desk(review).ask()["view"]
        pair = review.pair(view["pair"])
        labels = [cell["label"] for cell in view["after"]]
        assert view["label"] in labels
        total = sum(candidate["probability"] for candidate in view["candidates"]) + view["no_mother"]
        assert total == pytest.approx(1.0, abs=0.01)
        shown = {cell["label"] for cell in view["before"]}
        assert {c["label"] for c in view["candidates"] if c["probability"] > 0.01} <= shown
        probabilities = [candidate["probability"] for candidate in view["candidates"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert {link["daughter"] for link in view["links"]} <= set(pair.daughters.label.tolist())
        cell = next(cell for cell in view["after"] if cell["label"] == view["label"])
        assert 0 < cell["x"] < view["box"]["width"] and 0 < cell["y"] < view["box"]["height"]
        assert cell["outline"].startswith("M")


def test_history_follows_links_back(output: Path) -> None:
    with Review.open(output, read_only=True) as review:
        desk = Desk(review)
        row = int(review.table.rows(4)[0])
        strip = desk.history(row)
        assert [item["frame"] for item in strip] == list(range(5 - len(strip) + 1, 6))
        assert strip[-1]["label"] == review.table.label[row]
        assert "probability" not in strip[-1]
        assert all(0 < item["probability"] <= 1 for item in strip[:-1])


def test_the_state_falls_with_answers_and_says_when_to_stop(output: Path) -> None:
    with Review.open(output) as review:
        desk = Desk(review)
        before = desk.ask()["state"]
        assert before["expected"] == before["first_expected"] > 0
        assert not before["advice"]["stop"] and before["advice"]["halving"] > 0
        for _ in range(len(review.table)):
            view = desk.ask()["view"]
            if view is None:
                break
            own = view["reported"]
            kind = (
                Decision("no mother", view["frame"], view["label"])
                if own is None
                else Decision("mother", view["frame"], view["label"], own)
            )
            desk.answer(kind)
        after = desk.ask()["state"]
        assert after["expected"] == pytest.approx(0.0, abs=1e-9)
        assert after["advice"]["stop"]
        assert after["audit"]["n"] > 0
        assert sum(after["over_time"]) == pytest.approx(0.0, abs=1e-3)


def test_only_what_was_asked_counts_as_asked(output: Path) -> None:
    with Review.open(output) as review:
        desk = Desk(review)
        asked = desk.ask()["view"]
        other = next(row for row in range(len(review.table)) if row != asked["row"])
        view = desk.view(other)
        assert not view["asked"]
        desk.answer(Decision("no mother", view["frame"], view["label"]))
        desk.answer(Decision("no mother", asked["frame"], asked["label"]))
        assert [answer.question is None for answer in review.standing] == [True, False]
        undone = desk.undo()
        assert undone["view"]["row"] == asked["row"] and undone["view"]["asked"]
        assert undone["state"]["can_redo"]


def test_a_question_stays_until_it_has_an_answer(output: Path) -> None:
    with Review.open(output) as review:
        desk = Desk(review)
        first = desk.ask()
        assert desk.ask()["view"]["row"] == first["view"]["row"]  # the page was loaded again
        other = next(row for row in range(len(review.table)) if row not in (first["view"]["row"], *first["ahead"]))
        view = desk.view(other)
        desk.answer(Decision("skip", view["frame"], view["label"]))
        assert desk.ask()["view"]["row"] == first["view"]["row"]
        desk.answer(Decision("skip", first["view"]["frame"], first["view"]["label"]))
        assert desk.ask()["view"]["row"] == first["ahead"][0]  # as it was planned
        desk.undo()
        desk.redo()
        desk.answer(Decision("no mother", first["view"]["frame"], first["view"]["label"]))  # a change of mind
        assert [answer.question is not None for answer in review.standing] == [False, True, False]


def test_a_region_is_given_in_pixels(output: Path) -> None:
    with Review.open(output, read_only=True) as review:
        desk = Desk(review)
        desk.choose("time", Filter(region=(0.0, 0.0, 60.0, 60.0)))
        assert desk.chosen.region == pytest.approx(np.array([0, 0, 60, 60]) * review.movie.scale[0])
        with pytest.raises(DecisionError, match="there is no frame pair"):
            desk.most_doubtful(99)


def test_three_dimensions_masks_without_images_and_empty_frames(tmp_path: Path) -> None:
    import zarr

    from dunno import Tracker, read
    from dunno.runs.run import track_into

    masks = np.zeros((6, 5, 40, 40), np.uint16)
    for t in (0, 1, 2, 4, 5):  # frame 3 is empty
        for k, (y, x) in enumerate([(8, 8), (8, 20), (25, 15)]):
            masks[t, 1:4, y + t : y + t + 5, x : x + 5] = k + 1
    zarr.save_array(tmp_path / "masks.zarr", masks)
    movie = read(tmp_path / "masks.zarr", scale=(2.0, 0.5, 0.5))
    track_into(Tracker(), movie, tmp_path / "out")
    with Review.open(tmp_path / "out") as review:
        desk = Desk(review)
        assert len(review.table.over_time()) == 5
        assert desk.most_doubtful(2) is None  # nobody is in frame 3
        while (view := desk.ask()["view"]) is not None:
            assert len(view["after"]) == 3
            desk.history(view["row"])
            desk.answer(Decision("no mother", view["frame"], view["label"]))
        assert review.n_answered == 12
        assert review.table.over_time()[2] == 0.0


def test_points_in_3d_are_seen_from_above_with_their_depths(tmp_path: Path) -> None:
    from dunno import Tracker, read
    from dunno.napari.layers import candidates_layer, tracks_layer
    from dunno.report.crops import picture
    from dunno.runs.run import track_into

    rows = ["frame,id,z,y,x"]  # cell 2 lies below cell 1, cell 3 beside them; each goes on by half a pixel
    for t in range(6):
        rows += [f"{t},{k},{z},{20 + t / 2},{x}" for k, z, x in ((1, 30, 20), (2, 10, 20), (3, 20, 60))]
    (tmp_path / "spots.csv").write_text("\n".join(rows) + "\n")
    movie = read(tmp_path / "spots.csv", scale=(2.0, 1.0, 1.0))
    assert set(picture(movie, 0).labels.ravel().tolist()) >= {0, 2, 3}  # the highest is in front
    assert picture(movie, 0).labels[20, 20] == 2
    track_into(Tracker(), movie, tmp_path / "out")
    with Review.open(tmp_path / "out") as review:
        desk = Desk(review)
        view = desk.views.view(0)
        assert {cell["label"]: cell["depth"] for cell in view["after"] if cell["label"] < 3} == {1: 60.0, 2: 20.0}
        assert {cell["label"] for cell in view["before"]} >= {1, 2}
        tracks = tracks_layer(review, 0)[0]
        assert tracks.shape == (18, 5)
        assert {(z, x) for z, x in tracks[:, [2, 4]].tolist()} == {(30, 20), (10, 20), (20, 60)}
        assert candidates_layer(review, desk.ask()["view"])[1]["ndim"] == 4


def test_nobody_asks_about_cells_after_a_frame_that_cannot_be_read(tmp_path: Path) -> None:
    from dunno import Tracker, read
    from dunno.runs.run import track_into
    from dunno.simulate import colony

    colony(cells=8, frames=6, seed=1).save(tmp_path / "01")
    masks = tmp_path / "01_GT" / "TRA"
    (masks / "man_track002.tif").write_bytes(b"II*\0cut short")
    track_into(Tracker(), read(tmp_path / "01", masks=masks), tmp_path / "out")
    with Review.open(tmp_path / "out") as review:
        desk = Desk(review)
        after = review.table.rows(2)  # frame 3's daughters, whose mothers nobody has seen
        assert len(review.table.label[after]) > 0
        assert not review.unanswered[after].any()
        while (shown := desk.ask())["view"] is not None:
            json.dumps(shown, allow_nan=False)
            assert shown["view"]["frame"] != 3
            desk.answer(Decision("skip", shown["view"]["frame"], shown["view"]["label"]))
        assert np.isfinite(review.table.over_time()).all()
