"""The size of a pixel and the time between frames, as files tell them: in micrometres and minutes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from dunno.io.tiff_chain import open_tiff

MICROMETRES = {
    **dict.fromkeys(("µm", "μm", "um", "micron", "microns", "micrometer", "micrometre", "\\u00b5m"), 1.0),
    **dict.fromkeys(("nm", "nanometer", "nanometre"), 1e-3),
    **dict.fromkeys(("mm", "millimeter", "millimetre"), 1e3),
    **dict.fromkeys(("cm", "centimeter", "centimetre"), 1e4),
    **dict.fromkeys(("m", "meter", "metre"), 1e6),
    **dict.fromkeys(("Å", "angstrom"), 1e-4),
}
MINUTES = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1 / 60),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1 / 60000),
    **dict.fromkeys(("min", "minute", "minutes"), 1.0),
    **dict.fromkeys(("h", "hour", "hours"), 60.0),
    **dict.fromkeys(("d", "day", "days"), 1440.0),
}


class Spacing(NamedTuple):
    """How far apart pixels are along z, y and x, in micrometres, and frames, in minutes; `None` where it is not said."""

    z: float | None = None
    y: float | None = None
    x: float | None = None
    interval: float | None = None

    def scale(self, n_dimensions: int) -> tuple[float, ...] | None:
        """Sizes along the axes of a frame; `None` where one of them is not known."""
        sizes = [size for size in self[3 - n_dimensions : 3] if size is not None]
        return tuple(sizes) if len(sizes) == n_dimensions else None


def read_spacing(path: Path) -> Spacing:
    """What a TIFF says of itself: OME's metadata, or ImageJ's; resolution tags alone say nothing."""
    try:
        with open_tiff(path) as file:
            if file.is_ome and file.ome_metadata:
                return of_ome(file.ome_metadata)
            if file.is_imagej and file.imagej_metadata:
                tags = file.pages.first.tags
                resolution = {name: tags[name].value for name in ("XResolution", "YResolution") if name in tags}
                return of_imagej(file.imagej_metadata, resolution)
    except Exception:  # whoever reads the pixels will say what is wrong with the file
        return Spacing()
    return Spacing()


def of_imagej(metadata: dict[str, Any], resolution: dict[str, tuple[int, int]]) -> Spacing:
    """ImageJ's: pixels per unit in the resolution tags, the unit, `spacing` of slices, and `finterval` in seconds."""
    unit = MICROMETRES.get(str(metadata.get("unit", "")).strip().lower())
    interval = _product(metadata.get("finterval"), MINUTES.get(str(metadata.get("tunit", "sec")).strip().lower()))
    if unit is None:
        return Spacing(interval=interval)
    pixels = {name: _ratio(value) for name, value in resolution.items()}
    x, y = (_product(pixels.get(name), unit) for name in ("XResolution", "YResolution"))
    return Spacing(_product(metadata.get("spacing"), unit), y, x, interval)


def of_ome(xml: str) -> Spacing:
    """OME's: the physical sizes and the time increment of the first image; µm and seconds where no unit is named."""
    pixels = next((each for each in ElementTree.fromstring(xml).iter() if each.tag.endswith("}Pixels")), None)
    if pixels is None:
        return Spacing()

    def size(axis: str) -> float | None:
        unit = pixels.get(f"PhysicalSize{axis}Unit", "µm")
        return _product(pixels.get(f"PhysicalSize{axis}"), MICROMETRES.get(unit))

    interval = _product(pixels.get("TimeIncrement"), MINUTES.get(pixels.get("TimeIncrementUnit", "s")))
    return Spacing(size("Z"), size("Y"), size("X"), interval)


def _ratio(value: tuple[int, int]) -> float | None:
    """Units per pixel, from pixels per unit as a fraction."""
    return value[1] / value[0] if value[0] else None


def _product(value: Any, unit: float | None) -> float | None:
    try:
        number = float(value) * (unit or 0.0)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number > 0 else None


def in_words(scale: tuple[float, ...], interval: float | None, has_scale: bool) -> str:
    """Sizes for people: `0.65 µm/pixel, 5 min between frames`.

    Example:
        >>> in_words((5.0, 0.65, 0.65), 5.0, True)
        '5 × 0.65 × 0.65 µm/pixel, 5 min between frames'
    """
    sizes = [f"{size:.4g}" for size in scale]
    size = sizes[0] if len(set(sizes)) == 1 else " × ".join(sizes)
    parts = [f"{size} µm/pixel"] if has_scale else []
    return ", ".join([*parts, *([] if interval is None else [f"{interval:.4g} min between frames"])])
