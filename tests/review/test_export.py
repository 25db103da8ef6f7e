"""What a review leaves for others."""

import csv
import json
from pathlib import Path

import geff
import numpy as np
import pytest

from dunno import evaluation
from dunno.errors import InputError, MovieError, OutputError
from dunno.review import Review
from dunno.review.desk import Desk
from dunno.review.export import export, reviewed_tracking
from dunno.simulate import Colony
from dunno.tracking import Tracking
from tests.review.outputs import relabelled, truthful


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_exports_hold_the_decisions_and_mark_them(output: Path, crowd: Colony, tmp_path: Path) -> None:
    before = evaluation.score(Tracking.read(output), crowd.truth).daughter_accuracy
    with Review.open(output) as review:
        for _ in range(15):
            question = review.next()
            assert question is not None
            review.answer(truthful(review, crowd.truth, question), question)
        export(review, tmp_path / "export")
        told = reviewed_tracking(review)
        answers = [answer.decision for answer in review.standing]
    rows = table(tmp_path / "export" / "edges.csv")
    marked = {(int(r["frame"]), int(r["daughter"]), int(r["mother"])) for r in rows if r["reviewed"] == "1"}
    assert marked == {(d.frame, d.label, d.mother) for d in answers if d.kind == "mother"}
    cells = table(tmp_path / "export" / "detections.csv")
    assert sum(int(row["reviewed"]) for row in cells) == 15
    geff.validate_structure(tmp_path / "export" / "tracks.geff")
    geff.validate_structure(tmp_path / "export" / "tracks.geff" / "candidates")
    graph, _ = geff.read(tmp_path / "export" / "tracks.geff", backend="networkx")
    assert sum(bool(edge["reviewed"]) for _, _, edge in graph.edges(data=True)) == len(marked)
    assert (tmp_path / "export" / "ctc" / "res_track.txt").is_file()
    again = Tracking.read(tmp_path / "export")
    for one, other in zip(told.pairs, again.pairs, strict=True):
        np.testing.assert_array_equal(one.selected, other.selected)
        np.testing.assert_array_equal(one.log_probability, other.log_probability)
    after = evaluation.score(again, crowd.truth).daughter_accuracy
    assert after > before
    assert again.about["review"]["answered"] == 15


def test_an_export_does_not_replace_what_is_there(output: Path) -> None:
    with Review.open(output, read_only=True) as review, pytest.raises(OutputError, match="exists already"):
        export(review, output)


def test_without_the_movie_only_the_challenges_result_is_missing(output: Path, tmp_path: Path) -> None:
    told = json.loads((output / "run.json").read_text())
    told["parameters"] |= {"movie_path": str(tmp_path / "gone"), "masks_path": None}
    (output / "run.json").write_text(json.dumps(told))
    with Review.open(output, read_only=True) as review:
        missing = export(review, tmp_path / "done")
    assert missing is not None and "gone" in missing
    assert not (tmp_path / "done" / "ctc").exists()
    geff.validate_structure(tmp_path / "done" / "tracks.geff")
    assert table(tmp_path / "done" / "edges.csv")
    with Review.open(output, read_only=True, masks=tmp_path / "elsewhere") as review, pytest.raises(InputError):
        export(review, tmp_path / "again")


def test_masks_that_have_changed_are_refused_by_the_page_and_the_export(output: Path, tmp_path: Path) -> None:
    masks = relabelled(output, tmp_path / "masks")
    with Review.open(output, masks=masks) as review:
        with pytest.raises(MovieError, match=r"^frame \d: the masks have changed since they were measured"):
            Desk(review).ask()
        with pytest.raises(MovieError, match="^frame 0: the masks have changed since they were measured"):
            export(review, tmp_path / "export")
        assert len(review.movie.detections(0)) == len(review.original(0).mothers)
    assert not (tmp_path / "export").exists()
    with pytest.raises(MovieError, match="^frame 0: the masks have changed"):
        Tracking.read(output, masks=masks).to_ctc(tmp_path / "ctc")


def test_an_export_has_the_cells_too(output: Path, tmp_path: Path) -> None:
    with Review.open(output, read_only=True) as review:
        export(review, tmp_path / "export")
    assert Tracking.read(tmp_path / "export").movie.has_cells
    assert (tmp_path / "export" / "cells" / "000000.npz").read_bytes() == (output / "cells" / "000000.npz").read_bytes()
