"""Small outputs to review, and the truth as a reviewer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import tifffile

from dunno import Tracker, read
from dunno.assignment import Problem
from dunno.methods import ScoredPair
from dunno.methods.joint_posterior import JointPosterior
from dunno.review import Decision, Question, Review
from dunno.runs.run import track_into
from dunno.simulate import Colony
from dunno.truth import true_mothers
from dunno.types import Block, Candidates, Detections, FramePair, PairPosterior, Truth


def tracked(found: Colony, folder: Path, **options: object) -> Path:
    """Save a colony as files and track it, as a user would; by places alone, so that there is something to review."""
    found.save(folder / "01")
    movie = read(folder / "01", masks=folder / "01_GT" / "TRA")
    places = {} if {"method", "cost", "calibration"} & options.keys() else {"evidence": "places"}
    track_into(Tracker(**places, **options), movie, folder / "out")  # type: ignore[arg-type]
    return folder / "out"


def relabelled(output: Path, folder: Path) -> Path:
    """The masks that an output was made from, with the same cells numbered the other way round."""
    shutil.copytree(json.loads((output / "run.json").read_text())["parameters"]["masks_path"], folder)
    for path in folder.glob("*.tif"):
        labels = tifffile.imread(path)
        tifffile.imwrite(path, np.where(labels > 0, labels.max() + 1 - labels, 0).astype(labels.dtype))
    return folder


def cells(n: int, frame: int) -> Detections:
    """Cells 1, 2, … in a row."""
    centroid = np.stack([np.zeros(n), 10.0 * np.arange(n)], axis=1)
    return Detections(np.arange(1, n + 1), centroid, np.ones(n), np.zeros((n, 2, 2), np.int64), frame)


def block_of(problem: Problem) -> Block:
    """The joint posterior of a bare problem whose edges are sorted; labels are indices plus one."""
    frames = FramePair(cells(problem.n_mothers, 0), cells(problem.n_daughters, 1), np.inf)
    candidates = Candidates(problem.mother, problem.daughter)
    scored = ScoredPair(frames, candidates, problem.cost, problem, cost=lambda pair, mother, daughter: problem.cost)
    return JointPosterior()(scored, np.random.default_rng(0))


def pair_of(problem: Problem) -> PairPosterior:
    """The same, seen as a pair."""
    return block_of(problem).pair(1)


def sorted_problem(problem: Problem) -> Problem:
    """The same problem with its edges sorted by daughter, then mother, as candidates are."""
    order = np.lexsort((problem.mother, problem.daughter))
    dividing = None if problem.dividing_cost is None else problem.dividing_cost[order]
    ends = (problem.mother[order], problem.daughter[order], problem.cost[order], problem.n_mothers, problem.n_daughters)
    triples = None if problem.triples is None else problem.triples.renumbered(np.argsort(order))
    return Problem(*ends, problem.appear, problem.disappear, problem.divide, dividing, triples)


def truthful(review: Review, truth: Truth, question: Question) -> Decision:
    """What somebody who knows the truth would answer."""
    pair = review.original(question.pair)
    true = true_mothers(truth, pair)
    daughter = int(np.searchsorted(pair.daughters.label, question.label))
    if not true.known[daughter]:
        return Decision("skip", question.frame, question.label)
    mother = int(true.mother[daughter])
    if mother < 0:
        return Decision("no mother", question.frame, question.label)
    return Decision("mother", question.frame, question.label, int(pair.mothers.label[mother]))
