"""A peer's links on a folder of masks, in the tables that dunno writes.

    python benchmarks/peer_links.py trackpy|laptrack|ultrack MASKS OUT REACH

It imports nothing of dunno, for it runs in the peer's environment. OUT gets `edges.csv`, `detections.csv`, `tracks.csv`, `seconds`,
and for Ultrack, which chooses its own segments, `masks/`.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import tifffile

Cell = tuple[int, int]
"""Frame and label."""

GAP = 2  # frames that links may skip


def main() -> None:
    """Track, and write."""
    warnings.filterwarnings("ignore")
    peer, masks, out, reach = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    files = {int(re.findall(r"\d+", file.stem)[-1]): file for file in sorted(masks.glob("*.tif"))}
    begun = time.time()
    cells, links = {"trackpy": by_trackpy, "laptrack": by_laptrack, "ultrack": by_ultrack}[peer](files, out, reach)
    (out / "seconds").write_text(f"{time.time() - begun:.1f}\n")
    write(out, cells, links)


def table(files: dict[int, Path]):  # noqa: ANN201
    """A data frame of all cells."""
    import pandas

    rows = []
    for frame, file in files.items():
        labels = tifffile.imread(file).astype(np.int64)
        size = np.bincount(labels.ravel())
        y, x = (np.bincount(labels.ravel(), axis.ravel()) for axis in np.indices(labels.shape))
        rows += [(frame, int(each), y[each] / size[each], x[each] / size[each]) for each in np.flatnonzero(size)[1:]]
    return pandas.DataFrame(rows, columns=["frame", "label", "y", "x"])


def cells_of(frame) -> list[Cell]:  # noqa: ANN001
    """Its rows as cells."""
    return list(zip(frame.frame.astype(int).tolist(), frame.label.astype(int).tolist(), strict=True))


def by_trackpy(files: dict[int, Path], out: Path, reach: float) -> tuple[list[Cell], list[tuple[Cell, Cell]]]:
    """It knows no divisions."""
    import trackpy

    trackpy.quiet()
    cells = table(files)
    found, links = trackpy.link(cells, reach, memory=GAP, pos_columns=["y", "x"]), []
    for _, track in found.groupby("particle"):
        each = cells_of(track.sort_values("frame"))
        links += list(itertools.pairwise(each))
    return cells_of(cells), links


def by_laptrack(files: dict[int, Path], out: Path, reach: float) -> tuple[list[Cell], list[tuple[Cell, Cell]]]:
    """With splitting, and gaps."""
    from laptrack import LapTrack

    cells, links = table(files), []
    options = {"cutoff": reach**2, "splitting_cutoff": reach**2, "gap_closing_cutoff": reach**2}
    tracker = LapTrack(**options, gap_closing_max_frame_count=GAP)
    found, splits, _ = tracker.predict_dataframe(cells, ["y", "x"], only_coordinate_cols=False)
    found = found if "frame" in found.columns else found.reset_index()
    found = found.loc[:, ~found.columns.duplicated()]
    ends, starts = {}, {}
    for number, track in found.groupby("track_id"):
        each = cells_of(track.sort_values("frame"))
        links += list(itertools.pairwise(each))
        starts[number], ends[number] = each[0], each[-1]
    links += [(ends[row.parent_track_id], starts[row.child_track_id]) for _, row in splits.iterrows()]
    return cells_of(cells), links


def by_ultrack(files: dict[int, Path], out: Path, reach: float) -> tuple[list[Cell], list[tuple[Cell, Cell]]]:
    """It chooses among the masks, their parts and their unions; its labels are tracks."""
    from ultrack import MainConfig, Tracker

    labels = np.stack([tifffile.imread(file) for file in files.values()]).astype(np.int32)
    sizes = np.concatenate([np.bincount(frame.ravel())[1:] for frame in labels])
    usual = float(np.median(sizes[sizes > 0]))
    config = MainConfig()
    config.data_config.working_dir = str(out)
    config.segmentation_config.min_area, config.segmentation_config.max_area = max(int(usual * 0.1), 5), int(usual * 6)
    config.linking_config.max_distance = reach
    config.tracking_config.solver_name = "CBC"
    for part in (config.data_config, config.segmentation_config, config.linking_config):
        part.n_workers = 1
    tracker = Tracker(config)
    tracker.track(labels=labels, overwrite=True)
    _, parents = tracker.to_tracks_layer()
    found = np.asarray(tracker.to_zarr())
    (out / "masks").mkdir(exist_ok=True)
    frames: dict[int, list[int]] = defaultdict(list)
    for frame, masks in zip(files, found, strict=True):
        tifffile.imwrite(out / "masks" / f"mask{frame:03d}.tif", masks.astype(np.uint16), compression="zlib")
        for label in np.unique(masks[masks > 0]).tolist():
            frames[label].append(frame)
    links = [((a, label), (b, label)) for label, own in frames.items() for a, b in itertools.pairwise(own)]
    for child, parent in parents.items():
        mother = int(parent[0] if isinstance(parent, (list, tuple)) else parent)
        if child in frames and mother in frames:
            links.append(((frames[mother][-1], mother), (frames[child][0], int(child))))
    for file in (*out.glob("*.db"), *out.glob("*.db-journal")):
        file.unlink()
    return sorted((frame, label) for label, own in frames.items() for frame in own), links


def write(out: Path, cells: list[Cell], links: list[tuple[Cell, Cell]]) -> None:
    """The tables; a track goes on where its cell has one link, and divides where it has two."""
    after: dict[Cell, list[Cell]] = defaultdict(list)
    for mother, daughter in links:
        after[mother].append(daughter)
    before = {daughter: mother for mother, daughter in links}
    track: dict[Cell, int] = {}
    for cell in sorted(cells):
        mother = before.get(cell)
        goes_on = mother is not None and len(after[mother]) == 1
        track[cell] = track[mother] if goes_on else len(track) + 1
    last = {track[cell]: cell for cell in sorted(cells)}
    write_csv(
        out / "edges.csv", "mother_frame mother frame daughter cost probability selected",
        [(*mother, *daughter, 0, 1, 1) for mother, daughter in links],
    )  # fmt: skip
    write_csv(out / "detections.csv", "frame label track p_divide", [(*cell, track[cell], 0) for cell in sorted(cells)])
    rows = [(number, "division" if len(after[cell]) > 1 else "lost") for number, cell in sorted(last.items())]
    write_csv(out / "tracks.csv", "track ending", rows)


def write_csv(path: Path, names: str, rows: list[tuple]) -> None:
    """A table with a header."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names.split())
        writer.writerows(rows)


if __name__ == "__main__":
    main()
