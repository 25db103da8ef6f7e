from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import read
from dunno.errors import MovieError

from ...conftest import COLONY
from ..movies import assert_is_colony


def example(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(folder / "stack.tif", np.stack(COLONY), photometric="minisblack")
    return folder / "stack.tif"


@pytest.mark.parametrize(
    "options",
    [
        {"photometric": "minisblack"},
        {"photometric": "minisblack", "compression": "lzw"},
        {"photometric": "minisblack", "imagej": True},
        {"photometric": "rgb", "planarconfig": "separate"},
        {"photometric": "rgb", "planarconfig": "separate", "compression": "zlib"},
    ],
)
def test_a_stack_is_read_frame_by_frame(tmp_path: Path, options: dict) -> None:
    path = tmp_path / "stack.tif"
    tifffile.imwrite(path, np.stack(COLONY), **options)
    assert_is_colony(read(path))


def test_threads_do_not_read_each_others_pixels(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 9, (40, 60, 60)).astype(np.uint16)
    with tifffile.TiffWriter(tmp_path / "stack.tif") as stack:
        for frame in frames:
            stack.write(frame, contiguous=True)
    movie = read(tmp_path / "stack.tif")
    with ThreadPoolExecutor(4) as executor:
        found = list(executor.map(movie.masks, [*range(40)] * 20))
    assert all(np.array_equal(each, frames[t % 40]) for t, each in enumerate(found))


@pytest.mark.parametrize("options", [{}, {"compression": "lzw"}, {"imagej": True, "metadata": {"axes": "TZYX"}}])
def test_a_stack_of_volumes_is_read(tmp_path: Path, options: dict) -> None:
    volumes = np.stack([np.stack([frame, frame * 2]) for frame in COLONY])
    tifffile.imwrite(tmp_path / "stack.tif", volumes, **options)
    movie = read(tmp_path / "stack.tif", scale=(3.0, 1.0, 1.0))
    assert len(movie) == 3
    for t in range(3):
        np.testing.assert_array_equal(movie.masks(t), volumes[t])


def test_a_stack_of_colour_images_is_refused(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "c.tif", np.zeros((3, 4, 5, 3), np.uint8), photometric="rgb")
    with pytest.raises(MovieError, match="has colour channels .axes TYXS|IYXS|QYXS.*--channel 0 to 2"):
        read(tmp_path / "c.tif")


VOLUMES = np.stack([np.stack([frame, frame * 2]) for frame in COLONY])


@pytest.mark.parametrize("axes", ["TCYX", "CTYX"])
def test_a_channel_is_chosen(tmp_path: Path, axes: str) -> None:
    channels = np.stack([np.stack([frame * 0 + 7, frame]) for frame in COLONY])
    array = channels if axes == "TCYX" else channels.swapaxes(0, 1)
    tifffile.imwrite(tmp_path / "c.ome.tif", array, metadata={"axes": axes}, photometric="minisblack")
    assert_is_colony(read(tmp_path / "c.ome.tif", channel=1))
    with pytest.raises(MovieError, match="--channel 0 to 1, or what the axes are with --axes"):
        read(tmp_path / "c.ome.tif")
    with pytest.raises(MovieError, match="has no channel 2; expected --channel 0 to 1"):
        read(tmp_path / "c.ome.tif", channel=2)
    with pytest.raises(MovieError, match="--channel 1: neither the masks nor the images have several channels"):
        read(example(tmp_path), channel=1)


@pytest.mark.parametrize("options", [{"imagej": True, "metadata": {"axes": "TZCYX"}}, {"metadata": {"axes": "TZCYX"}}])
def test_volumes_with_channels_are_read(tmp_path: Path, options: dict) -> None:
    both = np.stack([VOLUMES * 0 + 9, VOLUMES], axis=2)
    tifffile.imwrite(tmp_path / "v.tif", both, photometric="minisblack", **options)
    movie = read(tmp_path / "v.tif", channel=1)
    assert (len(movie), movie.shape) == (3, (2, 6, 12))
    for t in range(3):
        np.testing.assert_array_equal(movie.masks(t), VOLUMES[t])


def test_axes_overrule_what_a_file_says_of_itself(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "v.tif", VOLUMES, imagej=True, metadata={"axes": "ZCYX"})
    with pytest.raises(MovieError, match="axes ZCYX.*or what the axes are with --axes, such as TZYX"):
        read(tmp_path / "v.tif")
    movie = read(tmp_path / "v.tif", axes="tzyx")
    np.testing.assert_array_equal(movie.masks(2), VOLUMES[2])
    turned = read(tmp_path / "v.tif", axes="ZTYX")
    assert (len(turned), turned.shape) == (2, (3, 6, 12))
    np.testing.assert_array_equal(turned.masks(1), VOLUMES[:, 1])
    with pytest.raises(MovieError, match="--axes TYX names 3 axes, but the array has 4"):
        read(tmp_path / "v.tif", axes="TYX")
    for wrong in ("TZZX", "ZYX", "TQYX"):
        with pytest.raises(MovieError, match=f"--axes {wrong}: expected T, Y, X and perhaps Z and C, each once"):
            read(tmp_path / "v.tif", axes=wrong)


def test_the_shared_volumes_are_read(data: Path) -> None:
    movie = read(data / "Fluo-N3DH-CHO_02_masks.tif", axes="TZYX")
    assert (len(movie), movie.shape) == (20, (5, 443, 512))
    assert 8 <= len(movie.detections(0)) <= 10


IMAGEJ = {"imagej": True, "resolution": (1 / 0.25, 1 / 0.5)}


@pytest.mark.parametrize(
    ("options", "scale", "interval", "note"),
    [
        (
            {**IMAGEJ, "metadata": {"axes": "TYX", "unit": "um", "finterval": 90.0}},
            (0.5, 0.25),
            1.5,
            "0.5 × 0.25 µm/pixel, 1.5 min between frames, from the file",
        ),
        (
            {**IMAGEJ, "metadata": {"axes": "TYX", "unit": "\\u00B5m"}},
            (0.5, 0.25),
            None,
            "0.5 × 0.25 µm/pixel, from the file",
        ),
        ({**IMAGEJ, "metadata": {"axes": "TYX", "unit": "nm"}}, (0.0005, 0.00025), None, "0.0005 × 0.00025 µm"),
        ({**IMAGEJ, "metadata": {"axes": "TYX", "unit": "pixel"}}, None, None, None),
        ({**IMAGEJ, "metadata": {"axes": "TYX"}}, None, None, None),
        ({"resolution": (72, 72), "resolutionunit": "INCH"}, None, None, None),
        (
            {
                "ome": True,
                "metadata": {"axes": "TYX", "PhysicalSizeX": 0.65, "PhysicalSizeY": 0.65, "TimeIncrement": 300},
            },
            (0.65, 0.65),
            5.0,
            "0.65 µm/pixel, 5 min between frames, from the file",
        ),
        (
            {
                "ome": True,
                "metadata": {
                    "axes": "TYX",
                    "PhysicalSizeX": 650,
                    "PhysicalSizeXUnit": "nm",
                    "PhysicalSizeY": 650,
                    "PhysicalSizeYUnit": "nm",
                    "TimeIncrement": 0.5,
                    "TimeIncrementUnit": "h",
                },
            },
            (0.65, 0.65),
            30.0,
            "0.65 µm/pixel, 30 min between frames, from the file",
        ),
    ],
)
def test_the_size_of_a_pixel_and_the_interval_come_from_the_file(
    tmp_path: Path, options: dict, scale: tuple[float, ...] | None, interval: float | None, note: str | None
) -> None:
    tifffile.imwrite(tmp_path / "m.tif", np.stack(COLONY), photometric="minisblack", **options)
    movie = read(tmp_path / "m.tif")
    assert_is_colony(movie)
    assert movie.has_scale is (scale is not None)
    assert movie.scale == pytest.approx(scale or (1.0, 1.0))
    assert movie.interval == (None if interval is None else pytest.approx(interval))
    assert (note in movie.notes[0]) if note else movie.notes == ()
    own = read(tmp_path / "m.tif", scale=2.0, interval=7.0)
    assert (own.scale, own.interval, own.notes) == ((2.0, 2.0), 7.0, ())


def test_slices_have_a_step_of_their_own(tmp_path: Path) -> None:
    metadata = {"axes": "TZYX", "unit": "um", "spacing": 4.0}
    tifffile.imwrite(tmp_path / "v.tif", VOLUMES, imagej=True, resolution=(2.0, 2.0), metadata=metadata)
    assert read(tmp_path / "v.tif").scale == (4.0, 0.5, 0.5)
    tifffile.imwrite(
        tmp_path / "w.tif", VOLUMES, imagej=True, resolution=(2.0, 2.0), metadata={**metadata, "spacing": None}
    )
    flat = read(tmp_path / "w.tif")
    assert not flat.has_scale
    assert flat.notes == (
        "the file says 0.5 µm/pixel but not how far apart the slices are, so lengths are in pixels; give --scale Z,0.5,0.5",
    )


@pytest.mark.parametrize("bytes_left", [0, 4, 8, 50, 200, 400])
def test_a_stack_that_was_cut_off_gets_one_clear_line(tmp_path: Path, bytes_left: int) -> None:
    path = example(tmp_path)
    path.write_bytes(path.read_bytes()[:bytes_left])
    with pytest.raises(MovieError, match="stack.tif: "):
        read(path).masks(2)


@pytest.mark.parametrize("tag", ["ImageWidth", "ImageLength", "BitsPerSample", "StripOffsets"])
def test_a_stack_with_odd_tags_gets_one_clear_line(tmp_path: Path, tag: str) -> None:
    path = example(tmp_path)
    with tifffile.TiffFile(path) as file:
        place = file.pages[0].tags[tag].valueoffset
    content = bytearray(path.read_bytes())
    content[place : place + 2] = b"\xfe\x7f"
    path.write_bytes(content)
    with pytest.raises(MovieError, match="stack.tif"):
        movie = read(path)
        for t in range(3):
            movie.masks(t)
