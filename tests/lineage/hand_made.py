"""Blocks made by hand: pairs of frames with links and their probabilities, joined, and links across gaps between them."""

from dataclasses import replace

import numpy as np

from dunno.types import Block, Detections
from dunno.types.block import AS_DAUGHTER


def cells(frame: int, n: int) -> Detections:
    box = np.zeros((n, 2, 2), np.int64)
    return Detections(np.arange(1, n + 1), np.arange(2.0 * n).reshape(n, 2), np.ones(n), box, frame)


def pair(frame: int, n: tuple[int, int], links: list[tuple[int, int, float]], **more: object) -> Block:
    """Links from mother to daughter with their probabilities; of every mother, P(lost) is 0.3 and P(divide) 0.6."""
    mother, daughter, probability = np.array(links).reshape(-1, 3).T
    known = {"log_disappear": np.log(np.full(n[0], 0.3)), "log_divide": np.log(np.full(n[0], 0.6))} | more
    events = {name: known[name] for name in known if name not in AS_DAUGHTER and known[name] is not None}
    block = Block.of_pair(
        cells(frame, n[0]),
        cells(frame + 1, n[1]),
        (mother.astype(np.int64), daughter.astype(np.int64)),
        of_mothers=events,  # type: ignore[arg-type]
        of_daughters={"log_no_mother": np.full(n[1], -1.0), "entropy": np.zeros(n[1])},
        cost=np.zeros(len(links)),
        log_probability=np.log(probability),
        selected=np.ones(len(links), np.bool_),
    )
    return replace(block, **{name: values for name, values in more.items() if name in AS_DAUGHTER})  # type: ignore[arg-type]


def whole(*pairs: Block, far: list[tuple[int, int, int, int, float]] | None = None) -> Block:
    """All pairs as one, with links across gaps: frame and index of the mother, then of the daughter, and the probability."""
    block = Block.joined(pairs)
    row = {int(frame): int(first) for frame, first in zip(block.frames, block.begin, strict=False)}
    for early, mother, late, daughter, probability in far or []:
        columns = {
            "mother": row[early] + mother,
            "daughter": row[late] + daughter,
            "gap": late - early - 1,
            "cost": 0.0,
            "log_probability": np.log(probability),
            "selected": True,
        }
        place = block.into(int(np.searchsorted(block.frames, late))).stop
        block = replace(block, **{name: np.insert(getattr(block, name), place, each) for name, each in columns.items()})
    return block
