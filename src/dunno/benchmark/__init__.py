"""The paper's experiments as one command: every cost with every method on annotated movies.

`datasets.py` finds the movies, `units.py` the pieces of work, `folds.py` says what is calibrated on what, `measure.py` does
one piece, `run.py` all of them, `rows.py` is the table they make. `claims.py` judges the claims in `paper.py` by it,
`figures/` draws it (a file per figure) and `page.py` shows everything.
"""

from dunno.benchmark.rows import Row, read_rows
from dunno.benchmark.run import Outcome, run_benchmark
from dunno.benchmark.units import Setup

__all__ = ["Outcome", "Row", "Setup", "read_rows", "run_benchmark"]
