"""Examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import dunno

MODULES = [info.name for info in pkgutil.walk_packages(dunno.__path__, "dunno.") if info.name != "dunno.__main__"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_true(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
