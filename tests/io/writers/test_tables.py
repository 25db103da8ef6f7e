import csv
from pathlib import Path

import numpy as np

from dunno.io.writers import export
from dunno.tracking import Tracking

from .conftest import n_cells


def columns_of(path: Path) -> dict[str, np.ndarray]:
    with path.open() as file:
        names, *rows = csv.reader(file)
    values = [[float(cell) if cell else np.nan for cell in row] for row in rows]
    return dict(zip(names, np.array(values).reshape(-1, len(names)).T, strict=True))


def parents(tracking: Tracking) -> dict[int, int]:
    return {row.track: row.mother for row in tracking.tracks()}


def test_napari_tables_are_sorted_by_track_and_time(tracking: Tracking, tmp_path: Path) -> None:
    export("napari", tmp_path / "n.csv", tracking.blocks, tracking.about)
    table = columns_of(tmp_path / "n.csv")
    assert list(table)[:4] == ["ID", "T", "Y", "X"]
    data, more, _ = tracking.to_napari()
    np.testing.assert_allclose(np.column_stack([table[name] for name in ("ID", "T", "Y", "X")]), data, rtol=1e-8)
    np.testing.assert_allclose(table["probability"], more["features"]["confidence"], rtol=1e-8)
    mother = parents(tracking)
    assert all(mother[int(track)] == parent for track, parent in zip(table["ID"], table["parent"], strict=True))


def test_laptrack_tables_have_trees_and_splits(tracking: Tracking, tmp_path: Path) -> None:
    export("laptrack", tmp_path / "lap", tracking.blocks, tracking.about)
    track, split = columns_of(tmp_path / "lap" / "track.csv"), columns_of(tmp_path / "lap" / "split.csv")
    assert list(track)[:4] == ["frame", "index", "track_id", "tree_id"]
    assert len(track["frame"]) == n_cells(tracking)
    found = dict(zip((split["child_track_id"] + 1).tolist(), (split["parent_track_id"] + 1).tolist(), strict=True))
    assert found == {child: mother for child, mother in parents(tracking).items() if mother}
    tree = dict(zip(track["track_id"].tolist(), track["tree_id"].tolist(), strict=True))
    assert all(tree[child - 1] == tree[mother - 1] for child, mother in found.items())
    assert len(set(tree.values())) == sum(mother == 0 for mother in parents(tracking).values())
    assert (tmp_path / "lap" / "merge.csv").read_text() == "parent_track_id,child_track_id\n"


def test_intracktive_counts_frames_from_zero_and_says_minus_one(tracking: Tracking, tmp_path: Path) -> None:
    export("intracktive", tmp_path / "i.csv", tracking.blocks, tracking.about)
    table = columns_of(tmp_path / "i.csv")
    assert list(table)[:6] == ["track_id", "t", "y", "x", "parent_track_id", "radius"]
    assert set(table["t"].tolist()) == set(range(len(tracking.movie)))
    mother = parents(tracking)
    pairs = zip(table["track_id"], table["parent_track_id"], strict=True)
    assert all((mother[int(track)] or -1) == parent for track, parent in pairs)


def test_cell_acdc_has_tracked_masks_and_a_tree(tracking: Tracking, tmp_path: Path) -> None:
    export("cell_acdc", tmp_path / "acdc", tracking.blocks, tracking.about, tracking.movie)
    masks = np.load(tmp_path / "acdc" / "segm.npz")["arr_0"]
    table = columns_of(tmp_path / "acdc" / "acdc_output.csv")
    assert masks.shape == (len(tracking.movie), *tracking.movie.shape)
    for t in (0, 5, len(masks) - 1):
        np.testing.assert_array_equal(masks[t] > 0, tracking.movie.masks(t) > 0)
        assert set(np.unique(masks[t])) - {0} == set(table["Cell_ID"][table["frame_i"] == t])
    mother = parents(tracking)
    own = dict(
        zip(table["Cell_ID"], zip(table["parent_ID_tree"], table["generation_num_tree"], strict=True), strict=True)
    )
    for track, (parent, generation) in own.items():
        assert (mother[int(track)] or -1) == parent
        assert generation == (1 if parent < 0 else own[parent][1] + 1)
    sisters = dict(zip(table["Cell_ID"].tolist(), table["sister_ID_tree"].tolist(), strict=True))
    assert any(sister > 0 for sister in sisters.values())
    assert all(sisters[sister] == track for track, sister in sisters.items() if sister > 0)
