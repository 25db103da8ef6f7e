"""Frame pairs with other problems in place of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.assignment import Problem, decide
from dunno.assignment.distributions import normalise
from dunno.types import Block, PairPosterior


def solved_again(block: Block, tempering: float) -> Block:
    """A block whose pairs' problems are tempered, and solved one by one."""
    columns = {
        name: getattr(block, name).copy()
        for name in ("log_probability", "log_no_mother", "entropy", "selected", "log_disappear", "log_divide")
    }
    problem = None if block.problem is None else block.problem.tempered(tempering)
    for pair in block.pairs():
        if pair.problem is not None:
            found = _posterior(pair, pair.problem.tempered(tempering))
            for name, values in found.items():
                rows = {"log_probability": pair.near, "selected": pair.near, "log_disappear": pair.mother_rows}
                columns[name][rows.get(name, pair.mother_rows if name == "log_divide" else pair.daughter_rows)] = values
    return replace(block, **columns, samples=block.samples[:0], problem=problem, has_events=True)


def _posterior(pair: PairPosterior, problem: Problem) -> dict[str, np.ndarray]:
    """The joint posterior of another problem on a pair's edges; ⊥ stays out where it was left out."""
    found, edge = decide(problem)
    selected = np.zeros(len(pair.mother), np.bool_)
    selected[edge[edge >= 0]] = True
    with np.errstate(divide="ignore"):
        none = np.where(np.isneginf(pair.log_no_mother).all(), -np.inf, np.log(found.appear))
        spread = normalise(np.log(found.edge), none, pair.daughter)
        return {
            **spread._asdict(),
            "selected": selected,
            "log_disappear": np.log(found.disappear),
            "log_divide": np.log(found.divide),
        }
