"""One daughter with all that a person needs to see to decide: plain data, which a page or a viewer draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.report.crops import Box, outlines
from dunno.review.decisions import ABOUT_MOTHERS, MISSING, MOTHER, NO_MOTHER, Decision
from dunno.review.review import Review
from dunno.review.scenes import Scenes
from dunno.review.state import reported, reported_mother
from dunno.types import Bools, Ints, PairPosterior

SHOWN = 7
"""Candidate mothers that get a number."""
SHOWN_LEAST = 0.001
ANSWER_KEYS = "123456789"
HISTORY = 8
FRAMES_BACK, FAR_SHOWN = 4, 2
"""How many frames before the pair mothers are looked for, and how many of them are shown."""


@dataclass(frozen=True)
class Sight:
    """A daughter and its pair."""

    row: int
    t: int
    daughter: int
    pair: PairPosterior

    @property
    def label(self) -> int:
        """Hers."""
        return int(self.pair.daughters.label[self.daughter])


class Views:
    """Looks at a review's cells."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.scenes = Scenes(review.movie)

    def sight(self, row: int) -> Sight:
        """A daughter by its row."""
        if not 0 <= row < len(self.review.table):
            raise DecisionError(f"there is no daughter {row}")
        t = self.review.table.pair_of(row)
        return Sight(row, t, self.review.table.index(row), self.review.pair(t))

    def view(self, row: int) -> dict[str, Any]:
        """Everything to show about one daughter."""
        sight = self.sight(row)
        pair, j = sight.pair, sight.daughter
        own = _shown_edges(pair, j)
        box = self.scenes.box(pair, j, own)
        mother = reported_mother(pair, j)
        return {
            "row": row,
            "pair": sight.t,
            "frame": pair.daughter_frame,
            "mother_frame": pair.mother_frame,
            "label": sight.label,
            "answer": self._answer(pair.daughter_frame, sight.label),
            "gain": self.review.queue.gain(row),
            "no_mother": float(pair.p_appear[j]),
            **self._segment(sight),
            "repaired": {"before": self._repaired(sight.t, box), "after": self._repaired(sight.t + 1, box)},
            "reported": reported(pair, j),
            "reported_frame": None if mother is None else mother[0],
            "reported_label": None if mother is None else mother[1],
            "candidates": [self._candidate(pair, edge) for edge in own.tolist()],
            "far": self._far(sight),
            "box": {"left": box.left, "top": box.top, "width": box.width, "height": box.height},
            "before": self.scenes.cells(pair.mothers, sight.t, box),
            "after": self.scenes.cells(pair.daughters, sight.t + 1, box),
            "links": self.scenes.links(pair, box),
            "said": self._said(pair, box),
            "n_frames": self.review.table.n_pairs + 1,
        }

    def _segment(self, sight: Sight) -> dict[str, float | None]:
        """How probable it is that the mask is one object, and that it is a cell; nothing where masks are trusted."""
        row = sight.pair.daughter_rows.start + sight.daughter
        found = ((name, float(getattr(sight.pair.block, name)[row])) for name in ("p_segment", "p_cell"))
        return {name: value if value == value else None for name, value in found}

    def _repaired(self, t: int, box: Box) -> list[dict[str, Any]]:
        """The masks in sight that were repaired: as they were given, what was done, and what is there now."""
        resolved = self.review.resolved
        if resolved is None:
            return []
        made: dict[int, list[Any]] = {}
        for repair in resolved.repairs(t):
            made.setdefault(repair.mask, []).append(repair)
        given = outlines(resolved.given.movie.masks(t)[..., *box.slices]) if self.review.movie.n_dimensions == 2 else {}
        return [
            {
                "mask": label,
                "outline": given.get(label, ""),
                "what": each[0].what,
                "probability": each[0].probability,
                "labels": [one.label for one in each if one.label],
            }
            for label, each in made.items()
            if label in given
        ]

    def path(self, row: int) -> list[tuple[int, int]]:
        """The cells of a daughter's track: back to where it begins, on to where it ends or divides."""
        sight = self.sight(row)
        first, index, back = sight.t + 1, sight.daughter, []
        while (found := self.review.link_into(first - 1, index) if first else None) is not None:
            first, index, _ = found
            if len(self._links_on(first, index)) != 1:
                break
            back.append((first, index))
        path = [*back[::-1], (sight.t + 1, sight.daughter)]
        while len(on := self._links_on(*path[-1])) == 1:
            path += on
        cells = {t: self.review.frame_cells(t) for t, _ in path}
        return [(cells[t].frame, int(cells[t].label[index])) for t, index in path]

    def _links_on(self, t: int, index: int) -> list[tuple[int, int]]:
        """Where a cell's links lead: place among the frames, and index there."""
        found = []
        for later in range(t, min(t + 1 + FRAMES_BACK, self.review.table.n_pairs)):
            links = self.review.links_into(later)
            own = links.daughter[(links.t == t) & (links.mother == index)]
            found += [(later + 1, each) for each in own.tolist()]
        return found

    def history(self, row: int) -> list[dict[str, Any]]:
        """The daughter and its ancestors as reported, the earliest first."""
        sight = self.sight(row)
        cells, index, t = sight.pair.daughters, sight.daughter, sight.t + 1
        strip = [self.scenes.portrait(cells, index, t)]
        while t > 0 and len(strip) < HISTORY:
            found = self.review.link_into(t - 1, index)
            if found is None:
                break
            t, index, probability = found
            cells = self.review.frame_cells(t)
            strip.append({**self.scenes.portrait(cells, index, t), "probability": probability})
        return strip[::-1]

    def around(self, t: int, box: Box) -> list[dict[str, Any]]:
        """The outlines of the cells of frame t in a box."""
        if not 0 <= t <= self.review.table.n_pairs:
            raise DecisionError(f"there is no frame number {t}")
        self.scenes.check(t, box)
        return self.scenes.cells(self.review.frame_cells(t), t, box)

    def _answer(self, frame: int, label: int) -> dict[str, Any] | None:
        subject = ("daughter", frame, label)
        found = [answer for answer in self.review.standing if subject in answer.decision.subjects]
        return {**found[-1].decision.to_dict(), "who": found[-1].who} if found else None

    def _candidate(self, pair: PairPosterior, edge: int) -> dict[str, Any]:
        mother = int(pair.mother[edge])
        label = int(pair.mothers.label[mother])
        said = [
            answer.decision.kind
            for answer in self.review.standing
            if answer.decision.kind in ABOUT_MOTHERS
            and (answer.decision.frame, answer.decision.label) == (pair.mother_frame, label)
        ]
        return {
            "label": label,
            "probability": float(pair.probability[edge]),
            "selected": bool(pair.selected[edge]),
            "divides": None if pair.log_divide is None else float(np.exp(pair.log_divide[mother])),
            "disappears": None if pair.log_disappear is None else float(np.exp(pair.log_disappear[mother])),
            "said": said[-1] if said else None,
        }

    def _far(self, sight: Sight) -> list[dict[str, Any]]:
        """Mothers in frames before the pair's: those that the tracker thought of, then cells that were lost near here."""
        gaps, cells = sight.pair.earlier, sight.pair.block.cells
        found: dict[tuple[int, int], dict[str, Any]] = {}
        own = np.flatnonzero((gaps.daughter == sight.daughter) & ((gaps.probability >= SHOWN_LEAST) | gaps.selected))
        for k in own[np.argsort(-gaps.probability[own])].tolist():
            where = int(cells.frame[gaps.mother[k]]), int(cells.label[gaps.mother[k]])
            found[where] = {"probability": float(gaps.probability[k]), "selected": bool(gaps.selected[k])}
        for where in self._lost_near(sight):
            found.setdefault(where, {"probability": 0.0, "selected": False})
        kept = list(found.items())[:FAR_SHOWN]
        return [{"mother_frame": frame, "label": label, **about} for (frame, label), about in kept]

    def _lost_near(self, sight: Sight) -> list[tuple[int, int]]:
        """Cells without a daughter in the few frames before, the nearest first, within two diameters."""
        cells = sight.pair.daughters
        here, size = cells.centroid[sight.daughter], cells.area[sight.daughter] ** (1 / cells.centroid.shape[1])
        found = []
        for t in range(sight.t - 1, max(sight.t - 1 - FRAMES_BACK, -1), -1):
            pair = self.review.pair(t)
            lost = np.ones(len(pair.mothers), np.bool_)
            lost[pair.mother[pair.selected]] = False
            distance = np.linalg.norm(pair.mothers.centroid - here, axis=1)
            near = np.flatnonzero(lost & (distance < 2.5 * max(float(size), 1e-9)))
            found += [(float(distance[i]), pair.mother_frame, int(pair.mothers.label[i])) for i in near.tolist()]
        return [(frame, label) for _, frame, label in sorted(found)]

    def _said(self, pair: PairPosterior, box: Box) -> dict[str, Any]:
        """What was said about masks and places in sight."""
        rows, block = {"before": pair.mother_rows, "after": pair.daughter_rows}, pair.block
        told: dict[str, Any] = {
            name: {
                "false": block.cells.label[own][(block.p_segment[own] == 0) | (block.p_cell[own] < 0.5)].tolist(),
                "two": block.cells.label[own][block.two[own]].tolist(),
            }
            for name, own in rows.items()
        }
        missing = [a.decision for a in self.review.standing if a.decision.kind == MISSING]
        told["missing"] = [
            {"frame": each.frame, "y": (each.place or ())[-2] - box.top, "x": (each.place or ())[-1] - box.left}
            for each in missing
            if each.frame in (pair.mother_frame, pair.daughter_frame)
        ]
        return told


def _shown_edges(pair: PairPosterior, daughter: int) -> Ints:
    """The edges of a daughter to show, the likeliest first; the reported one is always among them."""
    worth: Bools = (pair.probability >= SHOWN_LEAST) | pair.selected
    own = np.flatnonzero((pair.daughter == daughter) & worth)
    own = own[np.lexsort((-pair.probability[own], ~pair.selected[own]))][:SHOWN]
    return np.asarray(own[np.argsort(-pair.probability[own], kind="stable")])


def choices(view: dict[str, Any]) -> list[dict[str, Any]]:
    """What can be answered with one key: the possible mothers, near and across gaps, and having none. Every face shows these."""
    frame, label = view["frame"], view["label"]
    mother = (view["reported_frame"], view["reported_label"])
    found = [(None, view["mother_frame"], each) for each in view["candidates"]]
    found += [(each["mother_frame"], each["mother_frame"], each) for each in view["far"]]
    shown = [
        _choice(key, Decision(MOTHER, frame, label, each["label"], far), each, mother == (before, each["label"]))
        for key, (far, before, each) in zip(ANSWER_KEYS, found, strict=False)
    ]
    none = {"probability": view["no_mother"]}
    return [*shown, _choice("0", Decision(NO_MOTHER, frame, label), none, mother == (None, None))]


def _choice(key: str, decision: Decision, told: dict[str, Any], reported: bool) -> dict[str, Any]:
    far = decision.mother_frame is not None
    of_frame = f" of frame {decision.mother_frame}" if far else ""
    return {
        "key": key,
        "words": "no mother" if decision.mother is None else f"cell {decision.mother}{of_frame}",
        "probability": told["probability"],
        "decision": decision.to_dict(),
        "reported": reported,
        "far": far,
    }
