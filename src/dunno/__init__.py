"""Cell tracking that knows what it does not know.

```python
import dunno

movie = dunno.read("Fluo-N2DL-HeLa/02")
tracking = dunno.Tracker().track(movie)
tracking.to_geff("tracks.geff")
```
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dunno.io import read
    from dunno.runs.trust import trust
    from dunno.tracking import Tracker
    from dunno.types import Movie

__all__ = ["Movie", "Tracker", "__version__", "read", "trust"]

_HOMES = {
    "Movie": "dunno.types",
    "Tracker": "dunno.tracking.tracker",
    "read": "dunno.io",
    "trust": "dunno.runs.trust",
}


def __getattr__(name: str) -> Any:
    """Import the doors when they are first used, so that `dunno --help` answers at once."""
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("dunno")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'dunno' has no attribute {name!r}")
