"""All laws together: the log weights of states, events and ways, and their update from what is expected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from dunno.segments.holdings import Content, Holdings
from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.segments.laws.debris import Debris
from dunno.segments.laws.division import Division
from dunno.segments.laws.jolt import Jolt
from dunno.segments.laws.motion import Motion
from dunno.segments.laws.neck import Neck, neck_levels
from dunno.segments.laws.shape import Shape, lengths
from dunno.segments.laws.sharing import Sharing
from dunno.segments.laws.turnover import Events, Turnover
from dunno.segments.near_pairs import Near
from dunno.segments.posterior import SegmentPosterior
from dunno.segments.segments import Segments
from dunno.segments.ways import STAYING, TWO, Divisions, Moves, Splits, Stays, Ways
from dunno.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Scene:
    """What is there, before it is asked how it goes on.

    Attributes:
        segments: As they were measured.
        holdings: The states of masks and their objects.
        pairs: Pairs of near segments.
    """

    segments: Segments
    holdings: Holdings
    pairs: Near


@dataclass(frozen=True, eq=False)
class Structure(Scene):
    """What may be, before it is weighed.

    Attributes:
        splits: Mothers with two daughters.
        ways: How objects may go on.
        hypotheses: The factor graph of all that.
    """

    splits: Splits
    ways: Ways
    hypotheses: Hypotheses


@dataclass(frozen=True, eq=False)
class LinkDensities:
    """Log densities of the links of P pairs of segments, if they are cells.

    Attributes:
        straight: (P,) where the halves are as they were.
        turned: (P,) where they have changed places.
        unjolted: (P,) how probable it is that the mask was not jolted.
    """

    straight: Floats
    turned: Floats
    unjolted: Floats

    @property
    def either(self) -> Floats:
        """(P,) of both together."""
        return np.logaddexp(self.straight, self.turned)


@dataclass(frozen=True)
class Laws:
    """Laws of cells, debris and masks."""

    motion: Motion
    shape: Shape
    jolt: Jolt
    turnover: Turnover
    division: Division
    debris: Debris
    sharing: Sharing
    neck: Neck

    def weights(self, structure: Structure) -> Weights:
        """Of everything."""
        appear, disappear = self.events(structure.segments, structure.holdings)
        begins = self.begins(structure.segments, structure.holdings)
        parts = self.parts_ways(structure.segments, structure.holdings)
        links = self.links(structure.pairs, structure.segments)
        ways = structure.ways
        way = [
            self.moves(ways.moves, structure, links),
            self.stays(ways.stays, structure, links),
            self.divisions(ways.divisions, structure, self.splits(structure.splits, structure.segments)),
        ]
        way.append(way[0][ways.both].sum(axis=1))
        way.append(self.inside(way[2][ways.inside[:, 0]] + way[0][ways.inside[:, 1]], structure))
        return Weights(begins + parts, appear, disappear, np.concatenate(way))

    # --- objects ---------------------------------------------------------------------------------

    def events(self, segments: Segments, holdings: Holdings) -> tuple[Floats, Floats]:
        """(O,) log weights of objects that appear, and of those that end."""
        segment, cell = holdings.segment, holdings.is_cell
        log_area, border = np.log(segments.area[segment]), segments.at_border[segment]
        first, last = segments.frame[segment] == 0, segments.frame[segment] == segments.n_frames - 1
        born = self.turnover.log_appear(border, first) + self.turnover.log_area(log_area)
        ends = np.where(cell, self.turnover.ending(border), self.debris.end)
        appear = np.where(cell, born, self.debris.log_appear(log_area, first))
        return appear, np.where(last, 0.0, np.log(ends))

    def log_goes_on(self, segments: Segments, holdings: Holdings) -> Floats:
        """(O,) of cells that neither end nor divide; 0 for debris, whose links say it."""
        ends = self.turnover.ending(segments.at_border[holdings.segment])
        return np.where(holdings.is_cell, np.log1p(-ends - self.division.rate), 0.0)

    # --- states ----------------------------------------------------------------------------------

    def parts_ways(self, segments: Segments, holdings: Holdings) -> Floats:
        """(S,) log weights of all that a mask holds not going on together; before the last frame."""
        last = segments.frame[holdings.mask] == segments.n_frames - 1
        return np.where(last, 0.0, self.sharing.log_parts[holdings.content])

    def begins(self, segments: Segments, holdings: Holdings) -> Floats:
        """(S,) log weights: what masks begin to hold, over the density of their halves if they hold one cell."""
        content, mask, source = holdings.content, holdings.mask, holdings.source
        weight = np.zeros(len(content))
        nothing, cell, union = (content == c for c in (Content.NOTHING, Content.CELL, Content.UNION))
        log_area = np.log(segments.area)
        weight[nothing] = self.sharing.log_nothing(log_area[mask[nothing]])
        weight[cell] = log(self.sharing.single)
        first = segments.frame[mask] == 0
        price = self.cut_price(segments)
        neck = self.neck.log_two(neck_levels(segments)[: segments.n_masks])
        for kind in STAYING:
            own = content == kind
            alike = np.bincount(mask[own], minlength=segments.n_masks)[mask[own]]
            weight[own] = (
                self.sharing.log_begins(kind, first[own]) - np.log(alike) + price[source[own]] + neck[mask[own]]
            )
            if kind in TWO:
                weight[own] += np.where(first[own], self.near_each_other(segments)[source[own]], 0.0)
        rows = source[union]
        vector = self.sharing.log_union(lengths(segments.halves[rows]), segments.balance[rows], segments.dimensions)
        weight[union] = log(self.sharing.begins[Content.UNION]) + vector - log_area[rows]
        return weight

    def near_each_other(self, segments: Segments) -> Floats:
        """(C,) log density of where one part lies beside the other in a mask of two, over that of any cell."""
        mask = segments.cut_mask
        density = self.shape.log_of_two(segments.halves[mask], segments.balance[mask]) - np.log(segments.area[mask])
        return density + log(2) - log(self.turnover.first)

    def cut_price(self, segments: Segments) -> Floats:
        """(C,) minus the log density of the parts if they are one cell: 2 p(u) p(q) / A, once for each further part."""
        whole = np.arange(segments.n_masks)
        marginal = self.shape.log_marginal(segments)[whole]
        log_area = np.log(segments.area)
        mask = segments.cut_mask
        price = -(log(2) + marginal[mask] - log_area[mask])
        trio = np.flatnonzero(segments.cuts[:, 2] >= 0)
        return price + np.bincount(trio, self._further_price(segments, segments.cuts[trio]), len(price))

    def _further_price(self, segments: Segments, parts: Ints) -> Floats:
        """Of cutting two neighbouring ones of three parts, as if both were one cell."""
        d, area, place = segments.dimensions, segments.area, segments.place
        best = np.full(len(parts), -np.inf)
        for a, b in ((0, 1), (1, 2)):
            one, other = parts[:, a], parts[:, b]
            together = area[one] + area[other]
            vector = (place[one] - place[other]) / together[:, None] ** (1 / d)
            density = self.shape.log_of(vector, np.log(area[one] / area[other])) - np.log(together) + log(2)
            best = np.maximum(best, density)
        return -best

    # --- ways ------------------------------------------------------------------------------------

    def links(self, pairs: Near, segments: Segments) -> LinkDensities:
        """(P,) log densities of cells' links."""
        lasts = self.neck.log_lasts(pairs, segments)
        usual = self.motion.log_density(pairs) + log(1 - self.jolt.share) + lasts
        jolt = self.jolt.log_density(pairs, segments) + log(self.jolt.share) + lasts
        straight, turned = (usual + ratio for ratio in self.shape.log_ratios(pairs, segments))
        unjolted = np.logaddexp(straight, turned)
        straight, turned = (np.logaddexp(each, jolt - log(2)) for each in (straight, turned))
        return LinkDensities(straight, turned, np.exp(unjolted - np.logaddexp(straight, turned)))

    def moves(self, moves: Moves, scene: Scene, links: LinkDensities) -> Floats:
        """Of single objects."""
        pairs, holdings = scene.pairs, scene.holdings
        cells = links.either + pairs.gap * log(self.turnover.missed)
        debris = self.debris.log_density(pairs)
        goes_on = self.log_goes_on(scene.segments, holdings)[moves.mother]
        weight = np.where(holdings.is_cell[moves.mother], cells[moves.pair] + goes_on, debris[moves.pair])
        own = moves.of_unions  # which earn what both masks' links earn: nothing speaks for a union while it lasts
        both = cells[moves.members[own]].sum(axis=1) + goes_on[own] + log(self.sharing.stays[Content.UNION])
        weight[own] = both - self.begins(scene.segments, holdings)[holdings.state[moves.daughter[own]]]
        return weight

    def stays(self, ways: Stays, scene: Scene, links: LinkDensities) -> Floats:
        """Of all objects of a mask: what the mask earns, and log stay in place of the later state's weight."""
        segments, holdings = scene.segments, scene.holdings
        content = holdings.content[ways.daughter]
        two = np.isin(content, TWO)
        oriented = np.where(ways.turned, links.turned[ways.pair], links.straight[ways.pair])
        earned = np.where(two, oriented, links.either[ways.pair])
        earned += np.where(content == Content.FRAGMENT, log(1 - self.debris.end), 0.0)
        with_two = self.neck.log_lasts(scene.pairs, segments, two=True) - self.neck.log_lasts(scene.pairs, segments)
        earned += with_two[ways.pair]
        goes_on = np.bincount(holdings.state, self.log_goes_on(segments, holdings), len(holdings.mask))[ways.mother]
        lasting = (self.sharing.log_stays - self.sharing.log_parts)[content]
        return earned + goes_on + lasting - self.begins(segments, holdings)[ways.daughter]

    def divisions(self, divisions: Divisions, scene: Scene, splits: Floats) -> Floats:
        """Of cells whose daughters have masks of their own, or share one: that is then no matter of chance."""
        holdings = scene.holdings
        state = holdings.state[divisions.first]
        late = state == holdings.state[divisions.second]
        begins, couple = self.sharing.begins, self.division.couple
        price = np.zeros(len(Content))
        price[Content.PAIR] = log((1 - couple) / begins[Content.PAIR])
        price[Content.COUPLE] = log(couple / begins[Content.COUPLE])
        price[Content.TRIO] = log((begins[Content.PAIR] + begins[Content.COUPLE]) / begins[Content.TRIO])
        return splits[divisions.split] + np.where(late, price[holdings.content[state]], 0.0)

    def inside(self, weight: Floats, structure: Structure) -> Floats:
        """Of divisions in a mask that holds another cell, which stays: that it shares the mask is no chance either."""
        begins, (division, _) = self.sharing.begins, structure.ways.inside.T
        two = log(begins[Content.PAIR] + begins[Content.COUPLE])
        content = structure.holdings.content[structure.holdings.state[structure.ways.divisions.mother[division]]]
        return np.asarray(weight - two + (self.sharing.log_stays - self.sharing.log_parts)[content])

    def splits(self, splits: Splits, segments: Segments) -> Floats:
        """Of a mother and its daughters."""
        density = self.division.log_density(splits, segments.area[splits.mother] ** (1 / segments.dimensions))
        log_area = np.log(segments.area[splits.mother])
        return density + self.division.log_mother(log_area - self.turnover.area[0]) - self.turnover.log_area(log_area)

    # --- fit -------------------------------------------------------------------------------------

    def fitted(self, structure: Structure, posterior: SegmentPosterior) -> Laws:
        """All laws, by what is expected under them."""
        return _Fit(self, structure, posterior).update()


class _Fit:
    """One step of expectation–maximisation."""

    def __init__(self, model: Laws, structure: Structure, posterior: SegmentPosterior) -> None:
        self.model, self.structure, self.posterior = model, structure, posterior
        self.segments, self.holdings, self.ways = structure.segments, structure.holdings, structure.ways
        _, stay, divide, both, inside, end = self.ways.first
        twice = np.repeat(posterior.way[both:inside], 2)
        self.move = posterior.way[:stay] + np.bincount(self.ways.both.ravel(), twice, stay)
        self.move += np.bincount(self.ways.inside[:, 1], posterior.way[inside:end], stay)
        self.stay, self.divide = posterior.way[stay:divide], posterior.way[divide:both].copy()
        self.divide += np.bincount(self.ways.inside[:, 0], posterior.way[inside:end], both - divide)
        self.there = posterior.state[self.holdings.state]
        moves = self.ways.moves
        cell = self.holdings.is_cell[moves.mother]
        n = len(structure.pairs)
        self.cell_links, self.debris_links = (
            np.bincount(moves.pair[own], self.move[own], n).astype(np.float64) for own in (cell, ~cell)
        )
        self.single = self._held(Content.CELL)
        self.two = self._held(Content.PAIR) + self._held(Content.COUPLE)

    def update(self) -> Laws:
        """The next one."""
        pairs, old = self.structure.pairs, self.model
        unjolted = self.cell_links * old.links(pairs, self.segments).unjolted
        log_area = np.log(self.segments.area)
        masks = slice(0, self.segments.n_masks)
        turnover, debris = self._events(log_area)
        cells = float(self.there[self.holdings.is_cell].sum())
        n_debris = float(self.there[~self.holdings.is_cell].sum())
        able = self.holdings.is_cell & (self.segments.frame[self.holdings.segment] < self.segments.n_frames - 1)
        return replace(
            old,
            motion=old.motion.fitted(pairs, unjolted),
            shape=old.shape.fitted(pairs, unjolted, self.segments, self.single),
            jolt=old.jolt.fitted(float((self.cell_links - unjolted).sum()), float(self.cell_links.sum())),
            turnover=turnover.with_area(log_area[masks], self.single).with_missed(
                float((self.cell_links * pairs.gap).sum()), cells
            ),
            division=self._division(float(self.there[able].sum())),
            debris=debris.fitted_links(pairs, self.debris_links, n_debris),
            sharing=self._sharing(),
            neck=self._neck(),
        )

    def _neck(self) -> Neck:
        pairs, stays = self.structure.pairs, self.ways.stays
        whole = (pairs.mother < self.segments.n_masks) & (pairs.daughter < self.segments.n_masks) & (pairs.gap == 0)
        two = np.isin(self.holdings.content[stays.daughter], TWO)
        both = np.bincount(stays.pair[two], self.stay[two], len(pairs)).astype(np.float64)
        return self.model.neck.fitted(
            self.segments, self.single, self.two, pairs[whole], self.cell_links[whole], both[whole]
        )

    def _division(self, cells: float) -> Division:
        divisions, holdings, splits = self.ways.divisions, self.holdings, self.structure.splits
        weight = np.bincount(divisions.split, self.divide, len(splits)).astype(np.float64)
        state = holdings.state[divisions.first]
        couple = (state == holdings.state[divisions.second]) & (holdings.content[state] == Content.COUPLE)
        larger = np.log(self.segments.area[splits.mother]) - self.model.turnover.area[0]
        return self.model.division.fitted(splits, weight, larger, float(self.divide[couple].sum()), cells)

    def _held(self, content: Content) -> Floats:
        """(M,) how probable it is that each mask holds that."""
        own = self.holdings.content == content
        return np.bincount(self.holdings.mask[own], self.posterior.state[own], self.segments.n_masks).astype(np.float64)

    def _events(self, log_area: Floats) -> tuple[Turnover, Debris]:
        segment, cell = self.holdings.segment, self.holdings.is_cell
        frame, frames = self.segments.frame[segment], self.segments.n_frames
        events = Events(self.there, self.posterior.appear, self.posterior.disappear, frame == 0, frame == frames - 1)
        cells, others = (events.only(own) for own in (cell, ~cell))
        turnover = self.model.turnover.fitted(cells, self.segments.at_border[segment][cell], frames)
        return turnover, self.model.debris.fitted(others, log_area[segment][~cell], frames)

    def _sharing(self) -> Sharing:
        contents = (Content.CELL, *STAYING, Content.UNION)
        held = {c: float(self._held(c).sum()) for c in contents}
        last = self.segments.frame[: self.segments.n_masks] == self.segments.n_frames - 1
        able = {c: float(self._held(c)[~last].sum()) for c in contents}
        stays = self.holdings.content[self.ways.stays.daughter]
        stayed = {c: float(self.stay[stays == c].sum()) for c in contents}
        stayed[Content.UNION] = float(self.move[self.ways.moves.of_unions].sum())
        nothing = float(self._held(Content.NOTHING).sum())
        unions = np.flatnonzero(self.holdings.content == Content.UNION)
        rows = self.holdings.source[unions]
        sharing = self.model.sharing.fitted(held, able, stayed, nothing, self.segments.n_frames)
        return sharing.with_unions(
            lengths(self.segments.halves[rows]), self.segments.balance[rows], self.posterior.state[unions]
        )
