"""A real movie, reviewed with its truth."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker, evaluation, read
from dunno.errors import DecisionError
from dunno.review import Review
from dunno.review.desk import Desk
from dunno.review.export import reviewed_tracking
from dunno.runs.run import track_into
from dunno.tracking import Tracking
from tests.review.outputs import truthful


def test_sixty_answers_mend_many_links_of_a_hela_movie(data: Path, tmp_path: Path) -> None:
    movie, truth = read(data / "Fluo-N2DL-HeLa" / "02", truth=True)
    movie, truth = movie.every(10), truth.every(10)
    track_into(Tracker(), movie, tmp_path / "out")
    before = evaluation.score(Tracking.read(tmp_path / "out"), truth)
    with Review.open(tmp_path / "out") as review:
        desk, first = Desk(review), review.first_expected
        for _ in range(60):
            question = review.next()
            assert question is not None
            view = desk.view(question.row)
            assert any(cell["label"] == question.label for cell in view["after"])
            try:
                review.answer(truthful(review, truth, question), question)
            except DecisionError:  # at every 10th frame a mother may truly have three daughters
                continue
        after = evaluation.score(reviewed_tracking(review), truth)
        assert review.table.expected_wrong_links < first - 20
    mended = (after.daughter_accuracy - before.daughter_accuracy) * np.concatenate(truth.labels[1:]).size
    assert mended > 25
    shutil.rmtree(tmp_path / "out")


@pytest.mark.filterwarnings("ignore:masks are taken from")
def test_rods_and_masks_without_images_can_be_looked_at(data: Path, tmp_path: Path) -> None:
    for name, step in (("Cglut-2min", 5), ("iPSC-07", 10)):
        movie = read(data / name / "01").every(step).part(slice(0, 10))
        track_into(Tracker(), movie, tmp_path / name)
        with Review.open(tmp_path / name, read_only=True) as review:
            desk = Desk(review)
            view = desk.ask()["view"]
            assert max(view["box"]["width"], view["box"]["height"]) <= 640
            assert view["candidates"]
            assert desk.history(view["row"])
