"""Small movies in the formats of other programs, to try dunno with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, MissingExtra
from dunno.types import Movie

PIXEL, EXAMPLE_MINUTES = 0.65, 5.0
"""The size of a pixel in µm and the time between frames, in formats that say them."""


def write_example(name: str, folder: Path, movie: Movie) -> Path:
    """Write a movie of images and masks in a format; returns what to give to `dunno track`."""
    if name not in FORMATS:
        raise InputError(f"there is no format {name!r}; there are ctc, {', '.join(FORMATS)}")
    folder.mkdir(parents=True, exist_ok=True)
    frames = range(len(movie))
    masks = np.stack([movie.masks(t) for t in frames]).astype(np.uint16)
    return FORMATS[name](folder, masks, np.stack([movie.images(t) for t in frames]))


def write_numpy(folder: Path, masks: np.ndarray, images: np.ndarray) -> Path:
    """`masks.npy` and `raw.npy`."""
    np.save(folder / "masks.npy", masks)
    np.save(folder / "raw.npy", images)
    return folder / "masks.npy"


def write_cellpose(folder: Path, masks: np.ndarray, images: np.ndarray) -> Path:
    """An image and a `_seg.npy` per frame."""
    import tifffile

    for t in range(len(masks)):
        tifffile.imwrite(folder / f"im_{t:03d}.tif", images[t])
        content: Any = {"masks": masks[t], "outlines": np.zeros_like(masks[t]), "filename": f"im_{t:03d}.tif"}
        np.save(folder / f"im_{t:03d}_seg.npy", content)
    return folder


def write_imagej(folder: Path, masks: np.ndarray, images: np.ndarray) -> Path:
    """ImageJ hyperstacks."""
    import tifffile

    about = {"axes": "TYX", "unit": "um", "finterval": EXAMPLE_MINUTES * 60}
    for name, stack in (("masks.tif", masks), ("raw.tif", images)):
        tifffile.imwrite(folder / name, stack, imagej=True, resolution=(1 / PIXEL, 1 / PIXEL), metadata=about)
    return folder / "masks.tif"


def write_ome_tiff(folder: Path, masks: np.ndarray, images: np.ndarray) -> Path:
    """OME-TIFFs."""
    import tifffile

    about = {"axes": "TYX", "PhysicalSizeX": PIXEL, "PhysicalSizeY": PIXEL, "TimeIncrement": EXAMPLE_MINUTES * 60}
    for name, stack in (("masks.ome.tif", masks), ("raw.ome.tif", images)):
        tifffile.imwrite(folder / name, stack, ome=True, photometric="minisblack", metadata=about)
    return folder / "masks.ome.tif"


def write_ome_zarr(folder: Path, masks: np.ndarray, images: np.ndarray) -> Path:
    """An OME-Zarr image (version 0.5) with labels."""
    import zarr

    units = {"t": ("time", "minute"), "y": ("space", "micrometer"), "x": ("space", "micrometer")}
    axes = [{"name": name, "type": kind, "unit": unit} for name, (kind, unit) in units.items()]
    steps = [{"type": "scale", "scale": [EXAMPLE_MINUTES, PIXEL, PIXEL]}]
    about = [{"name": "movie", "axes": axes, "datasets": [{"path": "0", "coordinateTransformations": steps}]}]
    root = zarr.open_group(folder / "movie.ome.zarr", mode="w", zarr_format=3)
    labels = root.create_group("labels")
    cells = labels.create_group("cells")
    for group, stack, more in ((root, images, {}), (cells, masks, {"image-label": {"source": {"image": "../../"}}})):
        group.attrs["ome"] = {"version": "0.5", "multiscales": about, **more}
        group.create_array("0", data=stack, chunks=(1, *stack.shape[1:]), dimension_names=list(units))
    labels.attrs["ome"] = {"version": "0.5", "labels": ["cells"]}
    return folder / "movie.ome.zarr"


def write_ilastik(folder: Path, masks: np.ndarray, images: np.ndarray) -> Path:
    """HDF5 files as ilastik exports them."""
    try:
        import h5py
    except ImportError:
        raise MissingExtra("writing HDF5 needs h5py; pip install 'dunno[h5py]'") from None
    for name, stack in (("masks.h5", masks), ("raw.h5", images)):
        with h5py.File(folder / name, "w") as file:
            dataset = file.create_dataset("exported_data", data=stack[..., None], chunks=(1, *stack.shape[1:], 1))
            dataset.attrs["axistags"] = json.dumps({"axes": [{"key": key} for key in "tyxc"]})
    return folder / "masks.h5"


Write = Callable[[Path, np.ndarray, np.ndarray], Path]
FORMATS: dict[str, Write] = {
    "npy": write_numpy,
    "cellpose": write_cellpose,
    "imagej": write_imagej,
    "ome-tiff": write_ome_tiff,
    "ome-zarr": write_ome_zarr,
    "ilastik": write_ilastik,
}
