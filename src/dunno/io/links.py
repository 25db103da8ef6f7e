"""Somebody else's links: read, and matched to the movie's detections.

Links come as a table like `edges.csv`, a CTC result folder, a GEFF or a TrackMate XML. A link joins detections in
consecutive frames of the movie; whatever cannot be told that way (gaps, merges, spots beside every cell) is listed in `unmatched`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from dunno.errors import InputError, MovieError
from dunno.io.ctc import frame_numbers, read_table
from dunno.io.tiff import image_files, read_image
from dunno.types import Detections, Floats, Ints, Movie
from dunno.types.labels import as_labels, count_overlaps, measure

Spot = tuple[int, int]
"""A detection: original frame index and label."""


@dataclass(frozen=True, eq=False)
class Links:
    """Links between detections of a movie.

    Attributes:
        mother_frame: (L,) original frame index of each link's mother.
        mother: (L,) her label.
        frame: (L,) original frame index of the daughter.
        daughter: (L,) her label.
        unmatched: What could not be used, in words.
        source: The file they came from.
    """

    mother_frame: Ints
    mother: Ints
    frame: Ints
    daughter: Ints
    unmatched: tuple[str, ...] = ()
    source: str = "given"

    def __len__(self) -> int:
        return len(self.frame)

    def between(self, mothers: Detections, daughters: Detections) -> tuple[Ints, Ints]:
        """The links of one frame pair as indices into its mothers and daughters."""
        here = (self.mother_frame == mothers.frame) & (self.frame == daughters.frame)
        return np.searchsorted(mothers.label, self.mother[here]), np.searchsorted(daughters.label, self.daughter[here])


def read_links(path: str | Path, movie: Movie) -> Links:
    """Read links and match them to a movie's detections.

    Args:
        path: A `.csv` with columns mother_frame, mother, frame, daughter (and selected); a folder with `res_track.txt` and
            masks; a `.geff`; or a TrackMate `.xml`.
        movie: The movie they belong to.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(
            f"{path}: there is no such file or folder; --links takes a CSV, CTC result, GEFF or TrackMate XML"
        )
    if path.suffix.lower() == ".csv":
        return _joined(_from_csv(path), movie, path, [])
    problems: list[str] = []
    if path.suffix.lower() == ".xml":
        return _joined(_from_trackmate(path, movie, problems), movie, path, problems)
    if path.is_dir() and any((path / name).is_file() for name in ("res_track.txt", "man_track.txt")):
        return _joined(_from_ctc(path, movie, problems), movie, path, problems)
    if path.is_dir() and (path / "nodes").is_dir():
        return _joined(_from_geff(path, movie, problems), movie, path, problems)
    raise InputError(f"{path}: is no CSV table, CTC result folder, GEFF or TrackMate XML")


def _joined(edges: Iterator[tuple[Spot, Spot]], movie: Movie, path: Path, problems: list[str]) -> Links:
    """Keep what joins existing detections in consecutive frames, each daughter once; list the rest."""
    labels = {int(frame): set(_labels(movie, t)) for t, frame in enumerate(movie.frames)}
    following = dict(zip(movie.frames[:-1].tolist(), movie.frames[1:].tolist(), strict=True))
    rows: dict[Spot, Spot] = {}
    for mother, daughter in edges:
        name = f"{mother[1]} in frame {mother[0]} → {daughter[1]} in frame {daughter[0]}"
        absent = next((spot for spot in (mother, daughter) if spot[1] not in labels.get(spot[0], ())), None)
        if absent is not None:
            problems.append(f"{name}: there is no detection {absent[1]} in frame {absent[0]}")
        elif following.get(mother[0]) != daughter[0]:
            problems.append(f"{name}: not from one frame to the next; gaps are not closed")
        elif daughter in rows:
            if rows[daughter] != mother:
                problems.append(f"{name}: a merge; the daughter has mother {rows[daughter][1]} already")
        else:
            rows[daughter] = mother
    table = np.array([(*mother, *daughter) for daughter, mother in rows.items()], np.int64).reshape(-1, 4)
    mother_frame, mother_label, frame, label = table.T
    return Links(mother_frame, mother_label, frame, label, tuple(problems), str(path))


def _labels(movie: Movie, t: int) -> list[int]:
    labels: list[int] = measure(movie.masks(t), movie.where(t)).label.tolist()
    return labels


def _from_csv(path: Path) -> Iterator[tuple[Spot, Spot]]:
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        missing = {"mother_frame", "mother", "frame", "daughter"} - set(reader.fieldnames or ())
        if missing:
            raise InputError(f"{path}: lacks the columns {', '.join(sorted(missing))}; expected a table like edges.csv")
        for line, row in enumerate(reader, 2):
            if row.get("selected", "1").strip().lower() in ("0", "false", ""):
                continue
            try:
                numbers = [int(row[name]) for name in ("mother_frame", "mother", "frame", "daughter")]
            except (TypeError, ValueError):
                raise InputError(f"{path}, line {line}: expected whole numbers, not {row}") from None
            yield (numbers[0], numbers[1]), (numbers[2], numbers[3])


def _from_ctc(path: Path, movie: Movie, problems: list[str]) -> Iterator[tuple[Spot, Spot]]:
    table = next(path / name for name in ("res_track.txt", "man_track.txt") if (path / name).is_file())
    track, first, last, parent = read_table(table)
    files = image_files(path)
    by_frame = dict(zip(frame_numbers(files).tolist(), files, strict=True))
    seen: dict[tuple[int, int], int] = {}  # (track, frame) → the movie's label
    for t, frame in enumerate(movie.frames.tolist()):
        if frame not in by_frame:
            raise InputError(f"{path}: has no mask for frame {frame}")
        seen |= {(theirs, frame): mine for theirs, mine in _matched(by_frame[frame], movie, t, problems)}
    frames = movie.frames.tolist()
    for label, begin, end, mother in zip(track.tolist(), first.tolist(), last.tolist(), parent.tolist(), strict=True):
        inside = [frame for frame in frames if begin <= frame <= end and (label, frame) in seen]
        for before, after in pairwise(inside):
            yield (before, seen[label, before]), (after, seen[label, after])
        if mother and inside:
            ends = [frame for frame in frames if frame < inside[0] and (mother, frame) in seen]
            if ends:
                yield (ends[-1], seen[mother, ends[-1]]), (inside[0], seen[label, inside[0]])
            else:
                problems.append(f"track {label} comes from track {mother}, which matches no detection")


def _matched(file: Path, movie: Movie, t: int, problems: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs of a result's label and the detection that covers more than half of it."""
    masks = movie.masks(t)
    theirs = as_labels(read_image(file), str(file))
    if theirs.shape != masks.shape:
        raise MovieError(f"{file}: a frame of shape {theirs.shape}; the movie's have {masks.shape}")
    areas = measure(theirs, str(file))
    label, mine, shared = count_overlaps(theirs, masks)
    covered = 2 * shared > areas.area[np.searchsorted(areas.label, label)]
    for lonely in np.setdiff1d(areas.label, label[covered]):
        problems.append(f"{lonely} in {file.name}: no detection covers more than half of it")
    yield from zip(label[covered].tolist(), mine[covered].tolist(), strict=True)


def _from_geff(path: Path, movie: Movie, problems: list[str]) -> Iterator[tuple[Spot, Spot]]:
    from geff.core_io import read_to_memory

    try:
        graph = read_to_memory(path)
    except Exception as error:
        raise InputError(f"{path}: cannot be read as GEFF ({' '.join(str(error).split())[:200]})") from None
    axes = [axis.name for axis in graph["metadata"].axes or ()]
    if len(axes) != movie.n_dimensions + 1:
        raise InputError(f"{path}: has the axes {axes}; expected time and {movie.n_dimensions} of space")
    columns = [graph["node_props"][name]["values"] for name in axes]
    spots = _spots(graph["node_ids"], columns[0].astype(np.int64), np.stack(columns[1:], 1), movie, problems)
    for mother, daughter in graph["edge_ids"].tolist():
        if mother in spots and daughter in spots:
            yield spots[mother], spots[daughter]


def _from_trackmate(path: Path, movie: Movie, problems: list[str]) -> Iterator[tuple[Spot, Spot]]:
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: is no complete XML ({error})") from None
    found = root.findall(".//AllSpots//Spot")
    if not found:
        raise InputError(f"{path}: holds no TrackMate spots")
    image = root.find(".//ImageData")
    names = (("POSITION_Z", "voxeldepth"), ("POSITION_Y", "pixelheight"), ("POSITION_X", "pixelwidth"))
    position = np.array(
        [
            [float(spot.get(axis, 0)) / float(image.get(size, 1) if image is not None else 1) for axis, size in names]
            for spot in found
        ]
    )
    ids = np.array([int(spot.get("ID", -1)) for spot in found])
    frame = np.array([int(float(spot.get("FRAME", 0))) for spot in found])
    spots = _spots(ids, frame, position[:, -movie.n_dimensions :] * np.asarray(movie.scale), movie, problems)
    for edge in root.findall(".//AllTracks//Edge"):
        ends = sorted(
            (int(edge.get(end, -1)) for end in ("SPOT_SOURCE_ID", "SPOT_TARGET_ID")), key=lambda i: spots.get(i, (0, 0))
        )
        if all(end in spots for end in ends):
            yield spots[ends[0]], spots[ends[1]]


def _spots(ids: Ints, frame: Ints, place: Floats, movie: Movie, problems: list[str]) -> dict[int, Spot]:
    """Match points in physical units to the detections they lie on, or whose centre is within a cell's radius."""
    spots: dict[int, Spot] = {}
    for t, now in enumerate(movie.frames.tolist()):
        here = np.flatnonzero(frame == now)
        cells, taken = movie.detections(t), set()
        pixel = np.floor(place[here] / np.asarray(movie.scale) + 0.5).astype(np.int64)
        pixel = pixel.clip(0, np.asarray(movie.shape) - 1)
        under = cells.masks[tuple(pixel.T)] if len(here) else np.empty(0, np.int64)
        for index, label in zip(here.tolist(), under.tolist(), strict=True):
            label = label or _nearest(cells, place[index])
            name = f"spot {ids[index]} in frame {now}"
            if label == 0:
                problems.append(f"{name}: lies on no cell")
            elif label in taken:
                problems.append(f"{name}: lies on cell {label}, which has a spot already")
            else:
                taken.add(label)
                spots[int(ids[index])] = (now, label)
    outside = np.setdiff1d(frame, movie.frames)
    if len(outside):
        problems.append(f"{int(np.isin(frame, outside).sum())} spots lie in frames that the movie does not have")
    return spots


def _nearest(cells: Detections, place: Floats) -> int:
    """The label of the nearest cell if the place is within its radius, else 0."""
    if len(cells) == 0:
        return 0
    distance = np.linalg.norm(cells.centroid - place, axis=1)
    nearest = int(distance.argmin())
    d = cells.centroid.shape[1]
    radius = (cells.area[nearest] / (np.pi if d == 2 else 4 / 3 * np.pi)) ** (1 / d)
    return int(cells.label[nearest]) if distance[nearest] <= radius else 0
