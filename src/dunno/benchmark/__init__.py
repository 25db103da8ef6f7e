"""The paper's experiments as one command: every cost with every method on annotated movies.

`datasets.py` finds the movies, `units.py` the pieces of work, `unit_scores.py` does one of them, `all_units.py` all; `one_pass.py`
tracks with several methods at once, `peers.py` with other people's trackers, `models.py` trains the transformers.
`results_table.py` is the table they make, `claims.py` judges the paper's claims by it, `charts.py` draws it and
`summary_page.py` shows everything.
"""

from dunno.benchmark.all_units import BenchmarkOutcome, run_benchmark
from dunno.benchmark.results_table import read_table
from dunno.benchmark.units import Experiment

__all__ = ["BenchmarkOutcome", "Experiment", "read_table", "run_benchmark"]
