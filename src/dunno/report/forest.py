"""The lineage forest, coloured by certainty: time runs to the right, a line is a track, a fork is a division."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from dunno.lineage.tracks import TrackRow
from dunno.report import svg
from dunno.report.families import Family, LeastCertain, certainty_over_time
from dunno.report.html_parts import table
from dunno.report.review_address import ReviewAddress
from dunno.runs.numbers import amount, count, percent
from dunno.types import Block, Floats, Ints

MOST_FAMILIES, MOST_ROWS, MOST_ROWS_EACH = 24, 96, 32
"""What a page has room for: families, ends of tracks in all, and in each of them where there are many."""

TREE_COLUMNS = 400
"""Spans of time that are told apart."""

ROW, GAP, INDENT = 11.0, 9.0, 96.0

CLASSES = (("sure", 0.99), ("good", 0.9), ("doubtful", 0.5), ("guess", -1.0))
"""How certain a link is, and the probability that it must be above."""

DOUBTFUL_LINES = ("doubtful", "guess")


@dataclass(frozen=True)
class Branch:
    """A track as it is drawn."""

    track: TrackRow  # The track
    row: float  # Where, counted in lines from the top of its family
    daughters: tuple[int, ...]  # The tracks that it divides into, as far as they are drawn
    hidden: int  # How many of its descendants are not drawn


@dataclass(frozen=True)
class Tree:
    """A family as it is drawn: its branches by track number, and how many rows they take."""

    family: Family
    branches: dict[int, Branch]
    rows: int

    @property
    def hidden(self) -> int:
        """Tracks that are not drawn."""
        return sum(branch.hidden for branch in self.branches.values())


def plant(families: Sequence[Family], rows: Sequence[TrackRow]) -> list[Tree]:
    """Lay out the first families of a list, as many as there is room for."""
    daughters: dict[int, list[TrackRow]] = {}
    for row in rows:
        if row.mother:
            daughters.setdefault(row.mother, []).append(row)
    trees: list[Tree] = []
    room, most = MOST_ROWS, max(MOST_ROWS_EACH, MOST_ROWS // max(len(families), 1))
    for family in families[:MOST_FAMILIES]:
        tree = _tree(family, rows[family.root - 1], daughters, min(room, most))
        trees.append(tree)
        room -= tree.rows
        if room <= 0:
            break
    return trees


def grow(
    blocks: Iterable[Block],
    families: Sequence[Family],
    rows: Sequence[TrackRow],
    frames: Ints,
    deciding: ReviewAddress | None = None,
) -> tuple[list[Tree], str]:
    """The trees of the first families and their drawing, for which all blocks are looked at once more."""
    trees = plant(families, rows)
    if not trees:
        return [], ""
    row, column = drawn_tracks(trees), columns(frames)
    least = certainty_over_time(blocks, row, column, (len(row), max(column.values()) + 1))
    return trees, draw(trees, least, frames, deciding)


def _tree(family: Family, root: TrackRow, daughters: Mapping[int, list[TrackRow]], room: int) -> Tree:
    """Open divisions in the order of time until the rows are used up; a track not opened hides its descendants."""
    opened, waiting, ends = set[int](), [root], 1
    while waiting:
        track = min(waiting, key=lambda each: (each.last, each.track))
        waiting.remove(track)
        following = daughters.get(track.track, [])
        if following and ends + len(following) - 1 <= room:
            opened.add(track.track)
            waiting.extend(following)
            ends += len(following) - 1
    below = {track: tuple(each.track for each in daughters[track]) for track in opened}
    row_of = {each.track: each for each in (root, *chain.from_iterable(daughters[track] for track in opened))}
    branches = {
        track: Branch(row_of[track], row, below.get(track, ()), 0 if track in below else _descendants(track, daughters))
        for track, row in lanes(root.track, below).items()
    }
    return Tree(family, branches, ends)


def lanes(root: int, daughters: Mapping[int, Sequence[int]]) -> dict[int, float]:
    """A lane for each member of a tree, daughters first: ends have lanes in order, all others the middle of their daughters'."""
    lane: dict[int, float] = {}
    stack, free = [(root, False)], 0
    while stack:
        each, ready = stack.pop()
        below = daughters.get(each, ())
        if ready:
            lane[each] = sum(lane[daughter] for daughter in below) / len(below)
        elif below:
            stack += [(each, True), *((daughter, False) for daughter in reversed(below) if daughter not in lane)]
        else:
            lane.setdefault(each, float(free))
            free += 1
    return lane


def _descendants(track: int, daughters: Mapping[int, list[TrackRow]]) -> int:
    found, waiting = 0, [track]
    while waiting:
        following = daughters.get(waiting.pop(), [])
        found += len(following)
        waiting.extend(each.track for each in following)
    return found


def columns(frames: Ints) -> dict[int, int]:
    """Which span of time each frame belongs to."""
    last = max(len(frames) - 1, 1)
    width = min(TREE_COLUMNS, last)
    return {frame: min(t * width // last, width) for t, frame in enumerate(frames.tolist())}


def drawn_tracks(trees: Sequence[Tree]) -> dict[int, int]:
    """A number for each track that is drawn."""
    tracks = [track for tree in trees for track in tree.branches]
    return {track: index for index, track in enumerate(tracks)}


def draw(trees: Sequence[Tree], least: LeastCertain, frames: Ints, deciding: ReviewAddress | None = None) -> str:
    """The families below each other; doubtful stretches lead to the review of their least certain link.

    `least` holds the least certain link of each track in each column; `deciding` says where links are decided on, if anywhere.
    """
    row, column = drawn_tracks(trees), columns(frames)
    x = svg.across(0, max(column.values()) or 1, left=INDENT)
    strokes: dict[str, list[str]] = {name: [] for name, _ in CLASSES}
    words, anchors, top = list[str](), list[str](), 14.0
    for tree in trees:
        root = tree.branches[tree.family.root]
        words.append(svg.text(INDENT - 10, top + root.row * ROW + 4, f"track {tree.family.root}", "end", "small"))
        for branch in tree.branches.values():
            own = row[branch.track.track]
            place = (x, top, column)
            _draw_branch(tree, branch, least.probability[own], place, strokes)
            if deciding is not None:
                anchors += _anchors(branch, least.of(own), place, deciding)
            if branch.hidden:
                end = x(column[branch.track.last]) + 4
                words.append(svg.text(end, top + branch.row * ROW + 4, f"+{branch.hidden}", "start", "small"))
        top += (tree.rows - 1) * ROW + ROW + GAP
    paths = [f'<path class="{name}" d="{"".join(parts)}"/>' for name, parts in strokes.items() if parts]
    axis = svg.x_axis(svg.across(float(frames[0]), float(frames[-1]), left=INDENT), top + 2, "frame", svg.whole)
    told = f"Lineage trees of {len(trees)} families, coloured by the probability of their links; the table has the numbers."
    return svg.chart([*paths, *words, axis, *anchors], told, height=top + 46, name="forest")


Place = tuple[svg.Axis, float, dict[int, int]]


def _draw_branch(tree: Tree, branch: Branch, certainty: Floats, place: Place, strokes: dict[str, list[str]]) -> None:
    """A line along time, and for each daughter a line down or up to it, coloured by its link to the mother."""
    x, top, column = place
    y = top + branch.row * ROW
    first, last = column[branch.track.first], column[branch.track.last]
    for begin, end, name in _runs(certainty[first + 1 : last + 1], first):
        strokes[name].append(f"M{x(begin):.1f} {y:.1f}H{x(end):.1f}")
    if first == last:
        strokes["sure"].append(f"M{x(first):.1f} {y:.1f}h2")
    mother = tree.branches.get(branch.track.mother)
    if mother is not None:
        name = _class(float(certainty[first]))
        divides = x(column[mother.track.last])
        strokes[name].append(f"M{divides:.1f} {top + mother.row * ROW:.1f}V{y:.1f}H{x(first):.1f}")


def _anchors(branch: Branch, least: LeastCertain, place: Place, deciding: ReviewAddress) -> Iterator[str]:
    """A link over every doubtful stretch of a track, to its least certain link."""
    x, top, column = place
    y = top + branch.row * ROW
    first, last = column[branch.track.first], column[branch.track.last]
    stretches = [(first, first, _class(float(least.probability[first])))]  # the link to the mother
    stretches += [(begin + 1, end, name) for begin, end, name in _runs(least.probability[first + 1 : last + 1], first)]
    for begin, end, name in stretches:
        if name in DOUBTFUL_LINES:
            worst = begin + int(np.nanargmin(least.probability[begin : end + 1]))
            frame, label = int(least.frame[worst]), int(least.label[worst])
            told = f"cell {label} of frame {frame}, {percent(float(least.probability[worst]))}: decide"
            left, right = x(max(begin - 1, 0)) - 2, x(end) + 2
            inside = f'<title>{told}</title><path class="hit" d="M{left:.1f} {y:.1f}H{right:.1f}"/>'
            yield deciding.anchor(frame, label, inside, tab=False)


def _runs(certainty: Floats, first: int) -> Iterator[tuple[int, int, str]]:
    """Begin, end and class of every stretch of equally certain links; spans without links follow those before."""
    names: list[str] = []
    for value in certainty.tolist():
        names.append(names[-1] if names and np.isnan(value) else _class(value))
    ends = [0, *(i for i in range(1, len(names)) if names[i] != names[i - 1]), len(names)]
    for begin, end in pairwise(ends):
        if end > begin:
            yield first + begin, first + end, names[begin]


def _class(probability: float) -> str:
    return next((name for name, above in CLASSES if probability > above), "sure")  # NaN: there is no link to doubt


def as_table(trees: Sequence[Tree]) -> str:
    """The families in numbers."""
    rows = [
        (
            f"track {family.root}",
            f"{family.first} – {family.last}",
            count(family.tracks),
            count(family.links),
            amount(family.wrong),
            percent(family.least) if family.links else "–",
        )
        for family in (tree.family for tree in trees)
    ]
    head = ("family of", "frames", "tracks", "links", "expected wrong links", "least certain link")
    return table("Families", head, rows)
