"""Tidy tables: one row per mask, track, cycle, family and frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dunno.biology.figures import growth_rates, step_speeds
from dunno.biology.lineage import BORN, ENDED, Lineage
from dunno.biology.pooling import quantile_interval
from dunno.biology.survival import Survival
from dunno.tracking import Tracking
from dunno.types import Floats, Ints
from dunno.types.cells import AXES

Columns = dict[str, Any]

PROBABILITIES = ("entropy", "p_appear", "p_disappear", "p_divide", "p_segment", "p_cell")


def cells(lineage: Lineage, tracking: Tracking) -> Columns:
    """A row per mask."""
    rows, told = lineage.rows, tracking.cells
    source = np.arange(len(rows)) if rows.source is None else rows.source
    track = np.maximum(lineage.track, 0)
    speed = np.full(len(rows), np.nan)
    speed[lineage.steps] = step_speeds(lineage)[0]
    nearest, near = rows.neighbours()
    time = rows.times[rows.t]
    return {
        "frame": rows.frames[rows.t],
        "time": time,
        "label": rows.label,
        "track": lineage.number[track] if len(rows) else track,
        "family": lineage.number[lineage.family[track]] if len(rows) else track,
        "generation": lineage.generation[track] if len(rows) else track,
        "age": np.where(lineage.born_by[track] == 0, time - lineage.birth[track], np.nan) if len(rows) else time,
        **dict(zip(AXES[rows.place.shape[1]], rows.place.T, strict=True)),
        "area": rows.area,
        "brightness": rows.brightness,
        "total": rows.total,
        "speed": speed,
        "nearest": nearest,
        "neighbours": near,
        "at_border": rows.at_border.astype(np.int64),
        **{
            name: getattr(told, known)[source]
            for known, name in (("incoming", "probability"), *((each, each) for each in PROBABILITIES))
        },
    }


def tracks(lineage: Lineage, tracking: Tracking, draws: Sequence[Lineage]) -> Columns:
    """A row per track: how it began and ended, how it moved and grew, and how sure that is."""
    told = tracking.tracks()
    sure = [told[number - 1] for number in lineage.number.tolist()]
    shape = [cells_at(lineage, values) for values in (lineage.rows.area, lineage.rows.brightness)]
    return {
        **identity(lineage),
        "born_by": np.array(BORN)[lineage.born_by],
        "ended_by": np.array(ENDED)[lineage.ended_by],
        "masks": np.bincount(lineage.track[lineage.alive], minlength=len(lineage.first)),
        **_motion(lineage),
        **{f"area_{when}": values for when, values in shape[0].items()},
        **{f"brightness_{when}": values for when, values in shape[1].items()},
        "growth_rate": growth_rates(lineage),
        "confidence": np.array([row.confidence for row in sure]),
        "least_confidence": np.array([row.least for row in sure]),
        "support": support(lineage, draws),
    }


def cycles(lineage: Lineage, draws: Sequence[Lineage]) -> Columns:
    """A row per cell cycle, as survival programs take it: a duration, and whether the division was seen (`event`).

    `censored` says why a duration is not a whole cycle: `start` (born before the movie), `appearing` and `border` at its beginning;
    `end`, `border` and `loss` at its end.
    """
    begin = np.where(lineage.born_by == 0, "", np.array(BORN)[lineage.born_by])
    end = np.where(lineage.ended_by == 0, "", np.array(ENDED)[lineage.ended_by])
    both = np.where((begin != "") & (end != ""), "; ", "")
    return {
        **identity(lineage),
        "birth": np.where(lineage.born_by == 0, lineage.birth, np.nan),
        "division": lineage.division,
        "duration": lineage.duration,
        "event": (lineage.ended_by == 0).astype(np.int64),
        "birth_seen": (lineage.born_by == 0).astype(np.int64),
        "complete": lineage.complete.astype(np.int64),
        "censored": np.char.add(np.char.add(begin, both), end) if len(begin) else begin,
        "support": support(lineage, draws),
    }


def identity(lineage: Lineage) -> Columns:
    """Who a track is, and when it was seen."""
    rows = lineage.rows
    return {
        "track": lineage.number,
        "mother": _number(lineage, lineage.came_from),
        "sister": _number(lineage, lineage.sister),
        "family": lineage.number[lineage.family],
        "generation": lineage.generation,
        "first_frame": rows.frames[rows.t[lineage.first]],
        "last_frame": rows.frames[rows.t[lineage.last]],
        "first_label": rows.label[lineage.first],
        "last_label": rows.label[lineage.last],
    }


def _number(lineage: Lineage, tracks: Ints) -> Ints:
    """What other tracks are called; 0 for none."""
    return np.append(lineage.number, 0)[tracks]


def support(lineage: Lineage, draws: Sequence[Lineage]) -> Floats:
    """(R,) in which share of the drawn lineages a track begins and ends with the same masks, in the same ways."""
    if not draws:
        return np.full(len(lineage.first), np.nan)
    seen: Counter[tuple[int, ...]] = Counter()
    for each in draws:
        seen.update(_keys(each))
    return np.array([seen[key] / len(draws) for key in _keys(lineage)])


def _keys(lineage: Lineage) -> list[tuple[int, ...]]:
    ends = (lineage.first, lineage.last, lineage.born_by, lineage.ended_by)
    return list(zip(*(column.tolist() for column in ends), strict=True))


def _motion(lineage: Lineage) -> Columns:
    """Net displacement, length of the path, their ratio and the mean speed of each track."""
    rows, n, step = lineage.rows, len(lineage.first), lineage.steps
    length = np.linalg.norm(rows.place[step] - rows.place[lineage.mother[step]], axis=1)
    path = np.bincount(lineage.track[step], length, minlength=n)
    net = np.linalg.norm(rows.place[lineage.last] - rows.place[lineage.first], axis=1)
    seen = rows.times[rows.t[lineage.last]] - lineage.birth
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "displacement": net,
            "path": path,
            "directionality": np.where(path > 0, net / path, np.nan),
            "speed": np.where(seen > 0, path / seen, np.nan),
        }


def cells_at(lineage: Lineage, values: Floats) -> dict[str, Floats]:
    """A measured value at birth and at division (NaN where they were not seen), and its mean over each track."""
    own = np.flatnonzero(lineage.alive)
    count = np.bincount(lineage.track[own], minlength=len(lineage.first))
    return {
        "birth": np.where(lineage.born_by == 0, values[lineage.first], np.nan),
        "division": np.where(lineage.ended_by == 0, values[lineage.last], np.nan),
        "mean": np.bincount(lineage.track[own], values[own], minlength=len(lineage.first)) / np.maximum(count, 1),
    }


def families(lineage: Lineage, draws: Sequence[Lineage]) -> Columns:
    """A row per family: its tree (Newick), size and depth; divisions with their interval where the founder is the same."""
    roots = np.flatnonzero(lineage.came_from < 0)
    place = np.searchsorted(roots, lineage.family)
    n, t = len(roots), lineage.rows.t
    at_end = lineage.track[(t == len(lineage.rows.frames) - 1) & lineage.alive]
    depth = np.zeros(n, np.int64)
    np.maximum.at(depth, place, lineage.generation)
    last = np.zeros(n, np.int64)
    np.maximum.at(last, place, lineage.rows.frames[t[lineage.last]])
    divisions = np.bincount(place, lineage.ended_by == 0, minlength=n).astype(np.int64)
    low, high = _divisions_of(lineage.first[roots], draws)
    return {
        "family": lineage.number[roots],
        "tracks": np.bincount(place, minlength=n),
        "divisions": divisions,
        "divisions_low": np.minimum(low, divisions),  # what is reported is possible, too
        "divisions_high": np.maximum(high, divisions),
        "generations": depth + 1,
        "clone_size": np.bincount(place[at_end], minlength=n),
        "first_frame": lineage.rows.frames[t[lineage.first[roots]]],
        "last_frame": last,
        "founder_label": lineage.rows.label[lineage.first[roots]],
        "tree": np.array(newick(lineage, roots), dtype=object),
    }


def _divisions_of(founders: Ints, draws: Sequence[Lineage]) -> tuple[Floats, Floats]:
    """(F,) how many divisions descend from each founding mask, 95 % of the drawn lineages in which it founds a family."""
    counts = np.full((len(draws), len(founders)), np.nan)
    for k, each in enumerate(draws):
        roots = np.flatnonzero(each.came_from < 0)
        found = np.bincount(each.family, each.ended_by == 0, minlength=len(each.first))
        number = dict(zip(each.first[roots].tolist(), found[roots].tolist(), strict=True))
        counts[k] = [number.get(founder, np.nan) for founder in founders.tolist()]
    ends = [quantile_interval(own[~np.isnan(own)]) if (~np.isnan(own)).any() else (np.nan, np.nan) for own in counts.T]
    low, high = np.array(ends, np.float64).reshape(-1, 2).T
    return low, high


def newick(lineage: Lineage, roots: Ints) -> list[str]:
    """Each family as a Newick tree: tracks with the lengths of their lives."""
    daughters: dict[int, list[int]] = {}
    for track in np.flatnonzero(lineage.came_from >= 0).tolist():
        daughters.setdefault(int(lineage.came_from[track]), []).append(track)
    text: dict[int, str] = {}
    for track in reversed(range(len(lineage.first))):  # daughters come after their mothers
        below = ",".join(text.pop(each) for each in daughters.get(track, ()))
        text[track] = f"{f'({below})' if below else ''}{lineage.number[track]}:{lineage.duration[track]:.6g}"
    return [text[root] + ";" for root in roots.tolist()]


def frames(lineage: Lineage, draws: Sequence[Lineage]) -> Columns:
    """A row per frame: cells, events with their intervals, speed, size."""
    rows = lineage.rows
    n = len(rows.frames)
    speed = np.full(len(rows), np.nan)
    speed[lineage.steps] = step_speeds(lineage)[0]
    means = {name: _mean_by_frame(rows.t, v, n) for name, v in (("speed", speed), ("brightness", rows.brightness))}
    events = {name: (count(lineage), [count(each) for each in draws]) for name, count in EVENT_TABLES.items()}
    told: Columns = {"frame": rows.frames, "time": rows.times, "cells": np.bincount(rows.t, minlength=n)}
    for name, (value, drawn) in events.items():
        low, high = quantile_interval(np.array(drawn)) if drawn else (np.full(n, np.nan), np.full(n, np.nan))
        # what is reported is possible, too
        told |= {name: value, f"{name}_low": np.minimum(low, value), f"{name}_high": np.maximum(high, value)}
    return told | means | {"area": _mean_by_frame(rows.t, rows.area, n)}


def divisions_by_frame(lineage: Lineage) -> Ints:
    """(T,) divisions whose daughters are first seen in each frame."""
    daughters = np.flatnonzero((lineage.came_from >= 0) & (lineage.sister > np.arange(len(lineage.first))))
    return np.bincount(lineage.rows.t[lineage.first[daughters]], minlength=len(lineage.rows.frames))


def appearing_by_frame(lineage: Lineage) -> Ints:
    """(T,) tracks that begin without a mother in each frame but the first."""
    own = lineage.born_by >= 2
    return np.bincount(lineage.rows.t[lineage.first[own]], minlength=len(lineage.rows.frames))


def losses_by_frame(lineage: Lineage) -> Ints:
    """(T,) tracks that are last seen in each frame but the last, and do not divide."""
    own = lineage.ended_by >= 2
    return np.bincount(lineage.rows.t[lineage.last[own]], minlength=len(lineage.rows.frames))


EVENT_TABLES = {"divisions": divisions_by_frame, "appearing": appearing_by_frame, "lost": losses_by_frame}


def _mean_by_frame(t: Ints, values: Floats, n: int) -> Floats:
    known = ~np.isnan(values)
    count = np.bincount(t[known], minlength=n)
    return np.where(count > 0, np.bincount(t[known], values[known], minlength=n) / np.maximum(count, 1), np.nan)


def curve(found: Survival | None) -> Columns:
    """The survival curve, a row per age."""
    names = {"age": "age", "share": "undivided", "low": "low", "high": "high", "reported": "reported"}
    return {told: np.empty(0) if found is None else getattr(found, name) for name, told in names.items()}
