import json
from pathlib import Path

import numpy as np
import pytest
import zarr

from dunno.io.zarr_folder import CHUNK_ROWS, ZarrFolder

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "compressed"),
    [
        (RNG.random(CHUNK_ROWS + 10), False),  # digits without a pattern
        (np.sort(RNG.integers(0, 700, CHUNK_ROWS + 10)), True),
        (RNG.random((300, 2)), False),
        (np.zeros(5), True),
        (np.empty(0), True),
    ],
)
def test_arrays_are_compressed_where_that_is_worth_it(values: np.ndarray, compressed: bool, tmp_path: Path) -> None:
    array = ZarrFolder(tmp_path / "group").array("values", values)
    for part in np.array_split(values, 3):
        array.add(part)
    array.finish()
    about = json.loads((tmp_path / "group" / "values" / ".zarray").read_text())
    assert (about["compressor"] is not None) == compressed
    assert (zarr.open_group(tmp_path / "group", mode="r")["values"][:] == values).all()
