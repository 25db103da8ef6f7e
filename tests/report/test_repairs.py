"""What became of masks, in words and pictures."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from dunno.io.output import reopen_movie
from dunno.report import write_report
from dunno.report.repairs import SHOWN_OF_A_KIND, chosen, read_repairs, repair_scenes, section
from tests.repaired import repaired
from tests.report.test_write import words

__all__ = ["repaired"]


def test_repairs_are_counted_by_kind_with_three_pictures_each(repaired: Path, tmp_path: Path) -> None:
    page = write_report(repaired, tmp_path / "a.html")
    told, content = words(page), page.read_text()
    with (repaired / "repairs.csv").open() as file:
        rows = list(csv.DictReader(file))
    told_of = {"split": "cut in two or three", "joined": "joined with a neighbour", "left out": "left out"}
    for what, said in told_of.items():
        masks = {(row["frame"], row["mask"]) for row in rows if row["what"] == what}
        assert f"{len(masks)} masks were {said}" in told
    titles = re.findall(r"<h3>(Cut|Joined|Left out): mask", content)
    assert [titles.count(name) for name in ("Cut", "Joined", "Left out")] == [SHOWN_OF_A_KIND] * 3
    part = content[content.index('id="masks"') : content.index('id="forest"')]
    assert part.count("<img ") == 2 * len(titles)
    assert part.count("<figcaption>as given") == len(titles)


def test_before_and_after_show_the_masks_that_changed(repaired: Path) -> None:
    repairs = read_repairs(repaired)
    assert repairs is not None
    given, now = reopen_movie(repaired, as_given=True), reopen_movie(repaired)
    for scene in repair_scenes(given, now, repairs):
        repair = scene.repair
        before, after = given.masks(repair.frame), now.masks(repair.frame)
        assert np.isin(repair.given, before).all() and np.isin(repair.drawn, after).all()
        inside = np.isin(before, repair.given)
        assert not np.isin(before[~inside], repair.given).any()
        if repair.what == "left out":
            assert not repair.drawn and (after[inside] == 0).any()
        else:
            assert np.isin(after[inside], repair.drawn).all()
        assert len(repair.given) == (2 if repair.what == "joined" else 1)
        assert len(repair.drawn) == {"joined": 1, "left out": 0}.get(repair.what, len(repair.drawn))
        assert set(scene.views.before.outlines) == set(repair.given) and set(scene.views.after.outlines) == set(
            repair.drawn
        )
        assert all(each.path for each in (*scene.views.before.outlines.values(), *scene.views.after.outlines.values()))


def test_what_is_shown_goes_from_the_least_certain_to_the_surest(repaired: Path) -> None:
    repairs = read_repairs(repaired) or []
    for what in ("split", "joined", "left out"):
        own = [each.probability for each in repairs if each.what == what]
        shown = [each.probability for each in chosen(repairs) if each.what == what]
        assert (shown[0], shown[-1]) == (min(own), max(own)) and shown == sorted(shown)


def test_masks_that_were_taken_as_they_are_say_so() -> None:
    assert "Every mask was taken for one cell" in section(None, None)


def test_the_page_leaves_out_debris_and_keeps_the_numbers_of_tracks(repaired: Path, tmp_path: Path) -> None:
    import pandas as pd

    told = words(write_report(repaired, tmp_path / "a.html"))
    tracks = pd.read_csv(repaired / "tracks.csv")
    debris = tracks[tracks.p_cell < 0.5]
    assert f"{len(debris)} of {len(tracks)} tracks are taken for debris" in told
    assert f"tracks {len(tracks) - len(debris)} " in told
    families = {int(number) for number in re.findall(r"track (\d+)", told)}
    assert not families & set(debris.track)
    assert families & set(tracks.track)


def test_no_page_tells_whose_computer_it_was_made_on(repaired: Path, tmp_path: Path) -> None:
    copy = tmp_path / "secret" / "out"
    shutil.copytree(repaired, copy)
    for page in (write_report(repaired, tmp_path / "a.html"), write_report(copy, masks=repaired.parent / "01_RES")):
        told = words(page)
        assert str(repaired.parent.parent) not in page.read_text() and "secret" not in told
        assert "01_RES" in told
    (copy / "run.json").write_text(
        (copy / "run.json").read_text().replace(str(repaired.parent), "/home/ada lovelace/movies")
    )
    told = words(write_report(copy))
    assert "There are no pictures" in told and "lovelace" not in told


def test_what_is_shown_of_a_doubt_adds_up_to_one(repaired: Path, tmp_path: Path) -> None:
    content = write_report(repaired, tmp_path / "a.html").read_text().replace("\u00a0", " ")
    lists = re.findall(r'<ul class="options".*?</ul>', content, re.S)
    assert lists
    for each in lists:
        shares = [float(v) for v in re.findall(r'class="value">\D*?([\d.]+) %', each)]
        assert sum(shares) == pytest.approx(100, abs=2)
