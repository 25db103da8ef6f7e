"""Other tools' readers of what dunno writes; they pin other versions, so they have an environment of their own: `make readers`."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])


def by_others(test: Test) -> Test:
    """A test that `make readers` runs; what others are warned of is their own business."""
    return pytest.mark.readers(pytest.mark.filterwarnings("ignore")(test))


def library(name: str) -> Any:
    """Another tool's module; must be there in the environment that is made for it, and is done without elsewhere."""
    if os.environ.get("DUNNO_READERS"):
        return import_module(name)
    return pytest.importorskip(name, reason=f"{name} has an environment of its own: make readers")
