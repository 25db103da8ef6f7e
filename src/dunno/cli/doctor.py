"""`dunno doctor`: what is installed, and what would be slow or missing."""

from __future__ import annotations

import platform
import re
import sys

from dunno.cli.console import say

EXTRAS = {
    "review": "the page for checking links (dunno review)",
    "plot": "tracking.plot_lineage() and other curves",
    "pandas": "tracking.to_pandas(), dunno.trust(table, masks)",
    "napari": "the viewer's plugin",
    "h5py": "ilastik's files (.h5)",
    "dask": "clusters (--dask)",
    "ctc": "the Cell Tracking Challenge's own measures (dunno evaluate --ctc)",
    "tracksdata": "tracking.to_tracksdata(), dunno.tracksdata.Solver",
    "transformer": "--cost transformer",
}
"""What each extra is for."""


def doctor() -> None:
    """Show versions, extras and cores, and anything that would be slow."""
    from importlib.metadata import metadata, requires, version

    from dunno.work.schedule import count_workers

    say(f"dunno {version('dunno')}, Python {platform.python_version()} at {sys.executable}")
    say(f"{platform.system()} {platform.machine()}, {count_workers()} cores, {_memory()} of memory")
    needed = [line for line in requires("dunno") or [] if "extra ==" not in line]
    say("needs    " + ", ".join(_state(_name(line)) for line in needed))
    offered = metadata("dunno").get_all("Provides-Extra") or []
    for extra, what in ((name, what) for name, what in EXTRAS.items() if name in offered):
        packages = [_name(line) for line in requires("dunno") or [] if re.search(rf"extra == .{extra}.$", line)]
        missing = [name for name in packages if not _version(name)]
        cure = f"  → for {what}: pip install 'dunno[{extra}]'" if missing else ""
        say(f"{extra:12} {', '.join(_state(name) for name in packages)}{cure}")
    for line in _slow():
        say(f"note: {line}")


def _name(requirement: str) -> str:
    return re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0]


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _state(package: str) -> str:
    return f"{package} {_version(package) or 'missing'}"


def _memory() -> str:
    import os

    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
    except (ValueError, OSError, AttributeError):
        return "an unknown amount"


def _slow() -> list[str]:
    """What would take long here."""
    from dunno.work.schedule import count_workers

    lines = []
    if count_workers() < 2:
        lines.append("one core: frames are tracked one after the other; movies of thousands of frames take long")
    if _version("torch") and not _has_gpu():
        lines.append("torch has no GPU: --cost transformer is slow, and training slower; the other costs need none")
    return lines


def _has_gpu() -> bool:
    """Whether torch was built for a GPU, without importing it, which takes seconds."""
    return "+cu" in _version("torch") or "rocm" in _version("torch")
