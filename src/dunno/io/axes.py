"""What the axes of an array are, and where in it a frame lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError

if TYPE_CHECKING:
    from dunno.io.readers import ReadingOptions

AXIS_LETTERS = "TZCYX"
EXPECTED_AXES = "expected (T, Y, X) or (T, Z, Y, X)"


@dataclass(frozen=True)
class Layout:
    """An array with a name for each axis, of which one channel is looked at.

    Example:
        >>> layout = Layout((20, 5, 2, 64, 48), "TZCYX", channel=1)
        >>> len(layout), layout.frame_shape, layout.index(7)
        (20, (5, 64, 48), (7, slice(None, None, None), 1, slice(None, None, None), slice(None, None, None)))
    """

    shape: tuple[int, ...]  # Of the whole array
    axes: str  # A letter of `TZCYX` for each axis; T, Y and X are among them
    channel: int = 0  # Which channel is looked at, where there is an axis C

    def __len__(self) -> int:
        return self.size("T")

    def size(self, axis: str) -> int:
        """How long an axis is; 1 where there is none of that name."""
        return self.shape[self.axes.index(axis)] if axis in self.axes else 1

    @property
    def n_channels(self) -> int:
        """How many channels there are."""
        return self.size("C")

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """(Y, X) or (Z, Y, X)."""
        return tuple(self.size(axis) for axis in "ZYX" if axis in self.axes)

    def index(self, t: int, axes: str | None = None) -> tuple[Any, ...]:
        """Where frame t lies, along all axes or some of them."""
        places: dict[str, Any] = {"T": t, "C": self.channel}
        return tuple(places.get(axis, slice(None)) for axis in (self.axes if axes is None else axes))

    def arranged(self, frame: NDArray[Any]) -> NDArray[Any]:
        """A frame, whose axes are in the array's order, as (Y, X) or (Z, Y, X)."""
        order = "".join(axis for axis in self.axes if axis in "ZYX")
        return frame.transpose([order.index(axis) for axis in "ZYX" if axis in order])


def lay_out(shape: tuple[int, ...], own: str, options: ReadingOptions, where: str, *, named: bool = False) -> Layout:
    """Find out what an array's axes are, and which of its channels is looked at."""
    axes = _asked(shape, options, where) or _own(shape, own.upper().replace("S", "C"), where, named)
    layout = Layout(shape, axes)
    if layout.n_channels == 1:
        return layout
    return Layout(shape, axes, _channel(layout, own, options, where))


def _asked(shape: tuple[int, ...], options: ReadingOptions, where: str) -> str | None:
    """What the user calls the axes; of images it is passed over where it cannot be."""
    if options.axes is None:
        return None
    axes = options.axes.upper()
    if not set("TYX") <= set(axes) <= set(AXIS_LETTERS) or len(set(axes)) != len(axes):
        raise MovieError(f"--axes {options.axes}: expected T, Y, X and perhaps Z and C, each once, such as TZYX")
    if len(axes) == len(shape):
        return axes
    if options.shows_images:
        return None
    raise MovieError(f"{where}: --axes {axes} names {len(axes)} axes, but the array has {len(shape)}: {shape}")


def _own(shape: tuple[int, ...], own: str, where: str, named: bool) -> str:
    """What the file calls its axes, as far as that can be.

    The leading axis is time whatever the writer called it: few frames are often saved as channels or slices.
    """
    if len(own) != len(shape):
        own = ""
    is_clear = set("TYX") <= set(own) <= set(AXIS_LETTERS) and len(set(own)) == len(own)
    if is_clear and (named or len(own) != 3):
        return own
    if named and own:
        raise MovieError(
            f"{where}: has the axes {own} of shape {shape}, without time; say what they are with --axes, such as TZYX"
        )
    if len(shape) == 4 and not own and shape[-1] == 1 < shape[-2]:
        raise MovieError(
            f"{where}: an array of shape {shape} without names of its axes: frames with one channel, or volumes that are "
            "1 pixel wide? Say so with --axes TYXC or --axes TZYX"
        )
    if len(shape) == 3 and own[1:] != "XC":
        return "TYX"
    if len(shape) == 4:
        return f"T{own[1:]}" if sorted(own[1:]) == ["C", "X", "Y"] else "TZYX"
    if len(shape) == 5:
        raise MovieError(f"{where}: an array of shape {shape}; say what its axes are with --axes, such as TZCYX")
    colour = "has colour channels, and is " if "C" in own else ""
    raise MovieError(f"{where}: {colour}an array of shape {shape}; {EXPECTED_AXES}")


def _channel(layout: Layout, own: str, options: ReadingOptions, where: str) -> int:
    n = layout.n_channels
    if options.channel is None and options.shows_images:
        return 0
    if options.channel is None:
        called = f"axes {own}, " if own else ""
        raise MovieError(
            f"{where}: has colour channels ({called}shape {layout.shape}); say which of them holds the masks with "
            f"--channel 0 to {n - 1}, or what the axes are with --axes, such as TZYX"
        )
    if not 0 <= options.channel < n:
        raise MovieError(f"{where}: has no channel {options.channel}; expected --channel 0 to {n - 1}")
    return options.channel


def check_channel(options: ReadingOptions, *sources: Any) -> None:
    """Refuse a channel that nothing has."""
    if options.channel is None:
        return
    layouts = [source.layout for source in sources if isinstance(getattr(source, "layout", None), Layout)]
    if not any(layout.n_channels > 1 for layout in layouts):
        raise MovieError(f"--channel {options.channel}: neither the masks nor the images have several channels")


def planes_of(layout: Layout, t: int, page_axes: int) -> NDArray[np.int64] | None:
    """The numbers of frame t's pages where each holds the last `page_axes` axes; `None` where time is among those."""
    leading = layout.axes[:-page_axes]
    if "T" not in leading:
        return None
    numbers = np.arange(int(np.prod(layout.shape[:-page_axes]))).reshape(layout.shape[:-page_axes])
    return np.asarray(numbers[layout.index(t, leading)])
