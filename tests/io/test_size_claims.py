"""Files that claim to be larger than they can be, or than the memory: refused before anything is decoded."""

import json
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
import zarr

from dunno import Movie, Tracker, read
from dunno.cli import run
from dunno.errors import InputError, MovieError
from dunno.io import read_links, size_claims
from dunno.io.tiff_chain import open_tiff
from dunno.io.writers import export

from ..conftest import COLONY
from .movies import write_frames
from .pickle_making import seg_content, write_seg

STACK = np.stack(COLONY)
HUGE = 2_000_000_000


def png(folder: Path, bad: int = 0) -> Path:
    """One frame says that it is 1,969,553,526 × 29,810 pixels, with a checksum that fits."""
    folder = write_frames(folder / "masks", ["a.png", "b.png", "c.png"])
    path = folder / f"{'abc'[bad]}.png"
    content = path.read_bytes()
    header = content[12:16] + struct.pack(">II", 1_969_553_526, 29_810) + content[24:29]
    path.write_bytes(content[:12] + header + struct.pack(">I", zlib.crc32(header)) + content[33:])
    return folder


def tiff(**options: object) -> Callable[[Path], Path]:
    """A stack whose tags for width and height are raised."""

    def make(folder: Path) -> Path:
        path = folder / "masks.tif"
        tifffile.imwrite(path, STACK, photometric="minisblack", **options)
        with tifffile.TiffFile(path, mode="r+b") as file:
            for page in file.pages:
                for name in ("ImageWidth", "ImageLength"):
                    page.tags[name].overwrite(HUGE, dtype="I")
        return path

    return make


def tiff_frames(folder: Path) -> Path:
    (folder / "masks").mkdir(parents=True)
    for t in range(3):
        (folder / "masks" / f"m{t}.tif").write_bytes(tiff(compression="zlib")(folder).read_bytes())
    return folder / "masks"


def npy(folder: Path) -> Path:
    np.save(folder / "masks.npy", STACK)
    content = (folder / "masks.npy").read_bytes()
    (folder / "masks.npy").write_bytes(content.replace(b"(3, 6, 12), }      ", b"(3,66666,1212121),}"))
    return folder / "masks.npy"


def npz(folder: Path) -> Path:
    """An archive that says that its array takes four gigabytes."""
    np.savez(folder / "m.npz", STACK)
    content = bytearray((folder / "m.npz").read_bytes())
    at = content.index(b"PK\1\2") + 24
    content[at : at + 4] = b"\xf0\xff\xff\xff"
    (folder / "m.npz").write_bytes(content)
    return folder / "m.npz"


def zarr_array(folder: Path) -> Path:
    zarr.create_array(folder / "m.zarr", shape=(3, HUGE, HUGE), chunks=(1, 10, 10), dtype="u2")
    return folder / "m.zarr"


def hdf5(folder: Path) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "m.h5", "w") as file:
        file.create_dataset("masks", (3, HUGE, HUGE), np.uint16, chunks=(1, 10, 10))
    return folder / "m.h5"


def cellpose(folder: Path) -> Path:
    path = write_seg(folder / "m_seg.npy", seg_content(STACK))
    path.write_bytes(path.read_bytes().replace(b"K\x03K\x06K\x0c\x87", b"M\xff\xffM\xff\xffM\xff\xff\x87"))
    return path


FORMS = {
    "png": (png, "29810 × 1969553526 would take 117,424 GB, and the file cannot hold that"),
    "a later png": (lambda folder: png(folder, 1), "would take 117,424 GB, and the file cannot hold that"),
    "tiff": (tiff(), "would take 8,000,000,000 GB, and the file cannot hold that"),
    "packed tiff": (tiff(compression="zlib"), "would take 8,000,000,000 GB, and the file cannot hold that"),
    "odd tiff": (tiff(compression="zstd"), "would take 8,000,000,000 GB, and 1.07 GB of memory are free"),
    "tiff frames": (tiff_frames, "would take 8,000,000,000 GB, and the file cannot hold that"),
    "npy": (npy, "mmap length is greater than file size"),
    "npz": (npz, "an array of 4294967280 would take 4.29 GB, and 1.07 GB of memory are free"),
    "zarr": (zarr_array, "would take 8,000,000,000 GB, and 1.07 GB of memory are free"),
    "hdf5": (hdf5, "would take 8,000,000,000 GB, and 1.07 GB of memory are free"),
    "cellpose": (cellpose, "its masks have 432 bytes, which is not what their shape needs"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_claim_beyond_the_file_or_the_memory_is_refused(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(size_claims, "free_memory", lambda: 1 << 30)
    make, why = FORMS[form]
    path = make(tmp_path)
    with pytest.raises(MovieError, match=rf"cannot be read .*\(.*{why}\); is it (a )?complete( TIFF)?\?") as caught:
        read(path).masks(1)
    assert str(path) in str(caught.value)
    assert run(["track", str(path), "-o", str(tmp_path / "out"), "-q"]) == 2
    assert re.search(why, capsys.readouterr().err)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("back_to", [0, 1])
def test_pages_that_lead_in_a_circle_are_refused(big: bool, back_to: int, tmp_path: Path) -> None:
    """tifffile would follow them for ever, page by page."""
    path = tmp_path / "masks.tif"
    tifffile.imwrite(path, STACK, photometric="minisblack", bigtiff=big, metadata=None)
    open_tiff(path).close()
    with tifffile.TiffFile(path) as file:
        places = [page.offset for page in file.pages]
        tags = len(file.pages[2].tags)
    content = bytearray(path.read_bytes())
    end = places[2] + (8 + 20 * tags if big else 2 + 12 * tags)
    content[end : end + (8 if big else 4)] = places[back_to].to_bytes(8 if big else 4, "little")
    path.write_bytes(content)
    with pytest.raises(MovieError, match="its pages lead in a circle"):
        read(path)
    (tmp_path / "frames").mkdir()
    path.rename(tmp_path / "frames" / "m0.tif")
    with pytest.raises(MovieError, match="its pages lead in a circle"):
        read(tmp_path / "frames").masks(0)


@pytest.mark.parametrize("as_stack", [True, False])
def test_pixels_that_would_end_the_program_are_refused(as_stack: bool, tmp_path: Path) -> None:
    """imagecodecs follows the first code of an LZW stream into a table that is empty still."""
    path = tmp_path / "masks.tif"
    tifffile.imwrite(path, STACK if as_stack else STACK[0], photometric="minisblack", compression="lzw", metadata=None)
    open_tiff(path).close()
    with tifffile.TiffFile(path) as file:
        at = file.pages[0].dataoffsets[0]
    content = bytearray(path.read_bytes())
    content[at : at + 3] = ((256 << 15) | (468 << 6)).to_bytes(3, "big")
    path.write_bytes(content)
    if as_stack:
        with pytest.raises(MovieError, match="a code that stands for nothing"):
            read(path).masks(0)
    else:
        (tmp_path / "frames").mkdir()
        path.rename(tmp_path / "frames" / "m0.tif")
        with pytest.raises(MovieError, match="a code that stands for nothing"):
            read(tmp_path / "frames").masks(0)


def test_a_graph_that_claims_too_many_nodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_claims, "free_memory", lambda: 1 << 30)
    tracking = Tracker("distance", "SM", calibration=None).track(Movie(COLONY))
    path = tmp_path / "points.geff"
    export("geff", path, tracking.blocks, tracking.about)
    about = next(each for each in (path / "nodes/ids/zarr.json", path / "nodes/ids/.zarray") if each.exists())
    about.write_text(json.dumps(json.loads(about.read_text()) | {"shape": [HUGE]}))
    refused = r"points.geff: cannot be read as GEFF \(a graph's nodes of 8 × 2000000000 would take 128 GB, and"
    with pytest.raises(InputError, match=refused):
        read(path)
    with pytest.raises(InputError, match=refused):
        read_links(path, Movie(COLONY))


def test_what_is_packed_as_densely_as_can_be_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_claims, "SMALL", 0)
    frame = np.zeros((4_000, 4_000), np.uint8)
    frame[:50, :50] = 1
    folder = write_frames(tmp_path / "masks", ["a.png", "b.tif"], [frame, frame], compression="zlib")
    for name, packed in (("c.tif", "lzw"), ("d.tif", "packbits"), ("e.tif", "zstd"), ("f.tif", None)):
        tifffile.imwrite(folder / name, frame, compression=packed)
    assert frame.nbytes > 900 * (folder / "a.png").stat().st_size
    movie = read(folder)
    assert [int(movie.masks(t).sum()) for t in range(len(movie))] == [2500] * 6
