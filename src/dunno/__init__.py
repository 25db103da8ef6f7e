"""Cell tracking that knows what it does not know.

```python
import dunno

movie = dunno.read("Fluo-N2DL-HeLa/02")
tracking = dunno.Tracker().track(movie)
tracking.to_geff("tracks.geff")
tracking = dunno.open("OUT")  # what `dunno track` wrote
```
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dunno.io import read
    from dunno.runs.trust import trust
    from dunno.tracking import Tracker, Tracking
    from dunno.tracking.result import open_output as open
    from dunno.types import Movie

__all__ = ["Movie", "Tracker", "Tracking", "__version__", "open", "read", "trust"]

_HOMES = {
    "Movie": ("dunno.types", "Movie"),
    "Tracker": ("dunno.tracking.tracker", "Tracker"),
    "Tracking": ("dunno.tracking.result", "Tracking"),
    "open": ("dunno.tracking.result", "open_output"),
    "read": ("dunno.io", "read"),
    "trust": ("dunno.runs.trust", "trust"),
}


def __getattr__(name: str) -> Any:
    """Import the doors when they are first used, so that `dunno --help` answers at once."""
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("dunno")
    if name in _HOMES:
        module, inside = _HOMES[name]
        return getattr(import_module(module), inside)
    raise AttributeError(f"module 'dunno' has no attribute {name!r}")
