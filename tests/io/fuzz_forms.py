"""Everything that dunno reads from a disk, each as an example to damage and a way of reading it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import tifffile
import zarr

from dunno import Movie, Tracker, read
from dunno.biology.groups import read_groups
from dunno.calibration import Calibration, TemperatureScaling, load_calibration
from dunno.calibration.kinds.tempered_costs import TemperedCosts
from dunno.costs.embedding import Embedding
from dunno.io import read_links
from dunno.io.block_files import linked_blocks
from dunno.io.cell_files import StoredCells
from dunno.io.examples import FORMATS as PROGRAMS
from dunno.io.examples import write_example
from dunno.io.links import sources
from dunno.io.output import read_run, reopen_movie
from dunno.io.readers import readers
from dunno.io.writers import export
from dunno.review import Decision, Review
from dunno.review.log import read_log
from dunno.runs.plate import find_movies
from dunno.runs.run import track_into
from dunno.simulate import FaultShares, spoil
from dunno.simulate import colony as simulate

from ..conftest import COLONY
from .json_damage import misstated
from .movies import write_frames, write_sequence
from .pickle_making import library, mixed, seg_content, write_seg
from .readers.test_zarr import ome_zarr

STACK = np.stack(COLONY)
Damage = Callable[[bytes, np.random.Generator], bytes]


@dataclass(frozen=True)
class Form:
    """What is damaged, and how it is read.

    Attributes:
        make: Writes an example into a folder, and says what to open.
        use: Opens it, and looks at what is in it.
        damage: Damages a file of it in a way of its own.
    """

    make: Callable[[Path], Path]
    use: Callable[[Path], object]
    damage: Damage | None = None


def movie_at(path: Path) -> None:
    movie = read(path)
    for t in range(min(len(movie), 3)):
        movie.detections(t)
        if movie.has_images:
            movie.images(t)


def colony() -> Movie:
    return Movie(COLONY, name="colony")


def crowd() -> Movie:
    return simulate(cells=4, frames=5, motion=0.3, cycle=5, seed=2).movie


def of_reader(module: str) -> Form:
    return Form(import_module(f"tests.io.readers.test_{module}").example, movie_at)


def of_source(module: str) -> Form:
    example = import_module(f"tests.io.links.test_{module}").example
    return Form(lambda folder: example(folder, colony()), lambda path: read_links(path, colony()))


def of_writer(name: str) -> Form:
    """What dunno writes for others, as somebody's links."""

    def make(folder: Path) -> Path:
        tracking = Tracker("distance", "SM", calibration=None).track(crowd())
        path = folder / WRITTEN[name]
        export(name, folder / path.relative_to(folder).parts[0], tracking.blocks, tracking.about, tracking.movie)
        return path

    return Form(make, lambda path: read_links(path, crowd()))


WRITTEN = {
    "csv": "out/edges.csv",
    "ctc": "out",
    "geff": "out.geff",
    "intracktive": "out.csv",
    "laptrack": "out/track.csv",
    "napari": "out.csv",
    "trackmate": "out.xml",
}
"""What is read again of each writer's files; nothing reads Cell-ACDC's table."""


def tiff(name: str, **options: object) -> Form:
    def make(folder: Path) -> Path:
        tifffile.imwrite(folder / name, np.kron(STACK, np.ones((1, 4, 4), np.uint16)), **options)
        return folder / name

    return Form(make, movie_at)


def zarr_array(folder: Path) -> Path:
    zarr.create_array(folder / "m.zarr", shape=STACK.shape, chunks=(1, 4, 8), dtype="u2", zarr_format=2)[:] = STACK
    return folder / "m.zarr"


def shards(folder: Path) -> Path:
    array = zarr.create_array(folder / "m.zarr", shape=STACK.shape, chunks=(1, 3, 6), shards=(1, 6, 12), dtype="u2")
    array[:] = STACK
    return folder / "m.zarr"


def hdf5_group(folder: Path) -> Path:
    import h5py

    with h5py.File(folder / "m.h5", "w") as file:
        file.create_dataset("a/b/masks", data=STACK, chunks=(1, 4, 8), compression="gzip", shuffle=True)
    return folder / "m.h5/a/b/masks"


def archive(folder: Path) -> Path:
    np.savez_compressed(folder / "m.npz", masks=STACK, raw=STACK * 3)
    return folder / "m.npz"


def pngs(kind: type[np.unsignedinteger]) -> Form:
    frames = [frame.astype(kind) for frame in COLONY]
    return Form(lambda folder: write_frames(folder / "masks", ["a.png", "b.png", "c.png"], frames), movie_at)


def arrays(folder: Path) -> Path:
    for t, frame in enumerate(COLONY):
        np.save(folder / f"m{t}.npy", frame)
    return folder


def seg_files(folder: Path) -> Path:
    for t, frame in enumerate(COLONY):
        write_seg(folder / "m" / f"im_{t}_seg.npy", seg_content(frame))
    return folder / "m"


def seg_stack(folder: Path) -> Path:
    return write_seg(folder / "stack_seg.npy", seg_content(STACK))


def pickles() -> Form:
    found: list[list[bytes]] = []

    def mix(content: bytes, rng: np.random.Generator) -> bytes:
        found.extend([] if found else library())
        return mixed(found, rng)

    return Form(seg_stack, movie_at, mix)


def points_geff(folder: Path) -> Path:
    tracking = Tracker("distance", "SM", calibration=None).track(crowd())
    export("geff", folder / "points.geff", tracking.blocks, tracking.about)
    return folder / "points.geff"


def with_truth(folder: Path) -> Path:
    sequence = write_sequence(folder)
    (folder / "01_GT/TRA/man_track.txt").write_text("1 0 2 0\n2 0 2 0\n3 0 2 0\n4 1 2 0\n")
    return sequence


def times(folder: Path) -> Path:
    np.save(folder / "m.npy", STACK)
    (folder / "times.csv").write_text("frame,minutes\n0,0\n1,5.5\n2,1e1\n")
    return folder


def shifts(folder: Path) -> Path:
    np.save(folder / "m.npy", STACK)
    (folder / "shifts.csv").write_text("frame,dy,dx\n0,0,0\n1,1.5,-2\n2,3,-1e0\n")
    return folder


def features(folder: Path) -> Path:
    rows = [f"{t},{label},{t + label / 2},1" for t in range(3) for label in np.unique(COLONY[t])[1:]]
    (folder / "features.csv").write_text("frame,label,a,b\n" + "\n".join(rows) + "\n")
    return folder / "features.csv"


def features_at(path: Path) -> None:
    Tracker(Embedding.from_csv(path), "SM", calibration=None, max_distance=9.0).track(colony())


def groups(folder: Path) -> Path:
    (folder / "groups.csv").write_text("Well,Condition\nA1,control\nA2,drug\n")
    return folder / "groups.csv"


def coco(folder: Path) -> Path:
    images = [{"id": 9 - t, "file_name": f"img_{t}.png", "height": 12, "width": 12} for t in range(3)]
    objects = [{"id": 3 * t + k, "image_id": 9 - t, "bbox": [k + t, 2 * k, 3, 2]} for t in range(3) for k in (0, 1, 2)]
    (folder / "coco.json").write_text(json.dumps({"images": images, "annotations": objects, "categories": []}))
    return folder / "coco.json"


def spots(folder: Path) -> Path:
    return import_module("tests.io.links.test_trackmate").example(folder, colony())


def of_calibration(make: Callable[[], Calibration], **choices: object) -> Form:
    """A file of one kind, used on the movie that it is for."""

    def use(path: Path) -> None:
        Tracker(calibration=load_calibration(path), workers=1, **choices).track(crowd())

    def save(folder: Path) -> Path:
        make().save(folder / "calibration.json")
        return folder / "calibration.json"

    return Form(save, use, misstated)


def model() -> Calibration:
    return fitted(simulate(cells=8, frames=8, motion=0.3, seed=2).movie)


def segment_model() -> Calibration:
    made = simulate(cells=20, frames=10, motion=0.3, seed=2)
    return fitted(spoil(made.movie, made.truth, FaultShares(merged=0.3, split=0.1), seed=2).movie, repair=True)


def fitted(movie: Movie, **choices: object) -> Calibration:
    calibration = Tracker(workers=1, **choices).plan(movie).calibration
    assert calibration is not None
    return calibration


def temperature() -> Calibration:
    simulated = simulate(cells=8, frames=5, motion=0.3, seed=2)
    return TemperatureScaling.fit(Tracker("distance", "SM", calibration=None).track(simulated.movie), simulated.truth)


def plate(folder: Path) -> Path:
    """One field of one well."""
    root = zarr.open_group(folder / "plate.zarr", mode="w", zarr_format=2)
    root.attrs["plate"] = {"wells": [{"path": "A/1"}]}
    root.create_group("A/1").attrs["well"] = {"images": [{"path": "0"}]}
    ome_zarr(folder / "plate.zarr/A/1/0")
    return folder / "plate.zarr"


def plate_at(path: Path) -> None:
    for each in find_movies([path]).values():
        movie_at(each)


def output(**choices: object) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        movie = simulate(cells=6, frames=8, motion=0.3, cycle=6, seed=3)
        movie.save(folder / "data" / "01")
        opened = read(folder / "data" / "01", masks=folder / "data" / "01_GT" / "TRA")
        track_into(Tracker(method="JP", **choices), opened, folder / "out", ctc=True)
        with Review.open(folder / "out", who="ada") as review:
            question = review.next()
            assert question is not None
            review.answer(Decision("no mother", question.frame, question.label), question)
        return folder / "out"

    return make


def output_at(path: Path) -> None:
    """Everything that opening an output reads, short of its masks."""
    read_run(path)
    list(linked_blocks(path))
    cells = StoredCells(path / "cells")
    for t in range(3):
        cells[t], cells.digest(t)
    reopen_movie(path)
    read_log(path)
    with Review.open(path, read_only=True) as review:
        review.next()


def _module(thing: object) -> str:
    return type(thing).__module__.rpartition(".")[2]


FORMS: dict[str, Form] = {
    **{f"movie {each.name}": of_reader(_module(each)) for each in readers()},
    **{f"links {each.name}": of_source(_module(each)) for each in sources()},
    **{
        f"movie of {name}": Form(lambda folder, name=name: write_example(name, folder, crowd()), movie_at)
        for name in PROGRAMS
    },
    **{f"written {name}": of_writer(name) for name in WRITTEN},
    "tiff tiled": tiff("m.tif", bigtiff=True, tile=(16, 16), compression="zlib", photometric="minisblack"),
    "tiff lzw": tiff("m.tif", compression="lzw", predictor=True, photometric="minisblack"),
    "tiff volumes": tiff("m.ome.tif", metadata={"axes": "TYX"}, compression="zstd", photometric="minisblack"),
    "zarr v2": Form(zarr_array, movie_at),
    "zarr shards": Form(shards, movie_at),
    "zarr ome v2": Form(lambda folder: ome_zarr(folder / "m.zarr"), movie_at),
    "zarr plate": Form(plate, plate_at),
    "hdf5 group": Form(hdf5_group, movie_at),
    "npz": Form(archive, movie_at),
    "npy frames": Form(arrays, movie_at),
    "png 8 bit": pngs(np.uint8),
    "png 16 bit": pngs(np.uint16),
    "cellpose frames": Form(seg_files, movie_at),
    "cellpose stack": Form(seg_stack, movie_at),
    "cellpose pickles": pickles(),
    "points geff": Form(points_geff, movie_at),
    "truth": Form(with_truth, lambda path: read(path, truth=True)),
    "times": Form(times, lambda path: read(path / "m.npy", times=path / "times.csv")),
    "shifts": Form(shifts, lambda path: read(path / "m.npy", shifts=path / "shifts.csv")),
    "features": Form(features, features_at),
    "groups": Form(groups, read_groups),
    "points coco": Form(coco, movie_at),
    "points coco misstated": Form(coco, movie_at, misstated),
    "points trackmate": Form(spots, movie_at),
    "calibration model": of_calibration(model),
    "calibration segments": of_calibration(segment_model),
    "calibration temperature": of_calibration(temperature, method="SM"),
    "calibration costs": of_calibration(lambda: TemperedCosts(1.5, 4.0, 4.0, 1.0), cost="overlap"),
    "output": Form(output(calibration=None), output_at),
    "output calibrated": Form(output(calibration="self"), output_at),
}
