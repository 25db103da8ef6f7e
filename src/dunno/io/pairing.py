"""Which files are masks and which are images, and of which frames, by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from dunno.errors import MovieError
from dunno.io.images import header_shape, image_files, natural_key
from dunno.types import Ints
from dunno.types.movie import MOST_FRAMES_OF_A_MOVIE

MASK_WORDS = {"mask", "masks", "label", "labels", "lbl", "seg", "segmentation", "segmentations", "segmented"}
IMAGE_WORDS = {"image", "images", "img", "imgs", "raw", "intensity", "intensities"}
NUMBERS_LISTED = 6
STACKS = (".tif", ".tiff", ".npy", ".npz", ".h5", ".hdf5", ".zarr")


def words(name: str) -> list[str]:
    """The words of a name, without numbers.

    Example:
        >>> words("HeLa_masks07")
        ['hela', 'masks']
    """
    return [word for word in re.split(r"[^a-z]+", name.lower()) if word]


def is_masks(path: Path) -> bool:
    """Whether a name says that it holds masks."""
    return bool(MASK_WORDS & set(words(path.stem)))


def is_images(path: Path) -> bool:
    """Whether a name says that it holds images."""
    return bool(IMAGE_WORDS & set(words(path.stem))) and not is_masks(path)


def subject(path: Path) -> tuple[str, ...]:
    """What a name says beside that it is masks or images, numbers included: masks and images of a frame agree in it."""
    parts = re.findall(r"[a-z]+|\d+", path.stem.lower())
    known = MASK_WORDS | IMAGE_WORDS | {"cp"}
    return tuple(part.lstrip("0") or "0" if part.isdigit() else part for part in parts if part not in known)


def take_apart(files: Sequence[Path]) -> tuple[list[Path], list[Path] | None]:
    """The masks among a folder's files, and the images, one for each; `None` where all files are masks.

    A name that says so is one of masks. Where none does, all are taken for masks, unless there are two for a frame.
    """
    masks = [file for file in files if is_masks(file)]
    others = [file for file in files if not is_masks(file)]
    if not masks or not others:
        _refuse_two_series(files)
        return list(files), None
    by_subject = {subject(file): file for file in others}
    images = [by_subject.get(subject(mask)) for mask in masks]
    found = [image for image in images if image is not None]
    if len(found) == len(masks):
        return masks, found
    if not found and len(others) == len(masks):
        return masks, others  # two series, each in its own order
    if not found:
        return masks, None
    lonely = next(mask for mask, image in zip(masks, images, strict=True) if image is None)
    raise MovieError(f"{lonely}: there is no image {_bare(lonely)} beside it, as for other frames")


def _bare(mask: Path) -> str:
    """A mask's name without the words that make it one."""
    return re.sub(rf"[_\-. ]*(cp_)?({'|'.join(sorted(MASK_WORDS, key=len, reverse=True))})\b", "", mask.stem)


def _refuse_two_series(files: Sequence[Path]) -> None:
    """Refuse a folder with two files for a frame of which nobody knows which is the mask."""
    series: dict[str, list[Path]] = {}
    for file in files:
        series.setdefault(re.sub(r"\d+", "#", file.name), []).append(file)
    large = [each for each in series.values() if len(each) > 1]
    if len(large) > 1:
        named = " and ".join(f"{len(each)} files like {each[0].name}" for each in large[:3])
        raise MovieError(
            f"{files[0].parent}: holds {named}, and no name says which are masks; put the masks into a folder of their own, "
            "or let their names end in _mask"
        )


def images_beside(masks: Path) -> Path | None:
    """The file or folder beside some masks that is clearly the images: `raw` beside `masks`, `cells` beside `cells_masks`."""
    if not is_masks(masks) or not masks.parent.is_dir():
        return None
    return _partner(masks, is_images) or _partner(masks, lambda path: not is_masks(path) and not is_images(path))


def masks_beside(images: Path) -> Path | None:
    """The file or folder beside some images that is clearly their masks."""
    if is_masks(images) or not images.exists() or not images.parent.is_dir():
        return None
    return _partner(images, is_masks)


def _partner(path: Path, fits: Callable[[Path], bool]) -> Path | None:
    """The one neighbour of the same kind and subject that fits."""
    found = [
        each
        for each in path.absolute().parent.iterdir()
        if each.name != path.name
        and not each.name.startswith(".")
        and _kind(each) == _kind(path) is not None
        and subject(each) == subject(path)
        and fits(each)
    ]
    return path.parent / found[0].name if len(found) == 1 else None


def _kind(path: Path) -> str | None:
    """Whether it is a stack or a folder of images; `None` for all else."""
    if path.suffix.lower() in STACKS:
        return None if path.name.endswith("_seg.npy") or (path / "labels").exists() else "stack"
    return "folder" if path.is_dir() else None


def lone_stack(folder: Path) -> Path | None:
    """The one file of masks in a folder, where it is a whole movie and not a single image."""
    files = image_files(folder)
    masks = [file for file in files if is_masks(file)] or files
    if len(masks) != 1 or len(header_shape(masks[0]) or ()) < 3:
        return None
    return masks[0]


def halves(folder: Path) -> tuple[Path, Path | None] | None:
    """The subfolder of masks in a folder that holds no images itself, and that of images; `None` where there is none."""
    below = sorted((each for each in folder.iterdir() if each.is_dir() and image_files(each)), key=natural_key)
    masks = [each for each in below if is_masks(each)]
    if len(masks) != 1:
        return None
    images = [each for each in below if is_images(each)] or [each for each in below if each != masks[0]]
    return masks[0], images[0] if len(images) == 1 else None


def number_files(files: Sequence[Path]) -> Ints | None:
    """(T,) the number that tells the files apart, ascending; `None` where no single one does.

    Example:
        >>> number_files([Path("cells2_t006_mask.tif"), Path("cells2_t009_mask.tif")])
        array([6, 9])
        >>> number_files([Path("a.tif"), Path("b.tif")]) is None
        True
    """
    parts = [re.split(r"(\d+)", file.stem) for file in files]
    if len({tuple(each[::2]) for each in parts}) != 1:
        return None
    columns = list(zip(*(each[1::2] for each in parts), strict=True))
    telling = [column for column in columns if len(set(column)) > 1] or columns[-1:]
    if len(telling) != 1 or max(map(len, telling[0])) > len(str(MOST_FRAMES_OF_A_MOVIE)):
        return None
    numbers = np.array([int(digits) for digits in telling[0]], np.int64)
    return numbers if (np.diff(numbers) > 0).all() else None


def say_missing(frames: Ints | None) -> list[str]:
    """In one line which frames are missing, where the numbers do not go up evenly."""
    if frames is None or len(frames) < 3 or len(set(np.diff(frames).tolist())) == 1:
        return []
    step = int(np.gcd.reduce(np.diff(frames)))
    missing = np.setdiff1d(np.arange(frames[0], frames[-1], step), frames)
    named = ", ".join(map(str, missing[:NUMBERS_LISTED].tolist())) + (" …" if len(missing) > NUMBERS_LISTED else "")
    plural = "s" if len(missing) > 1 else ""
    return [
        f"frame{plural} {named} {'are' if plural else 'is'} missing; frames keep the numbers of their files, and cells are "
        "linked across the gap to the next frame that is there"
    ]
