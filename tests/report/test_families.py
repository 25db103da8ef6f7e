"""Families, against connected components of the whole graph."""

import networkx
import numpy as np
import pytest

from dunno.report.families import Families, certainty_over_time
from dunno.tracking import Tracking


def test_families_are_the_graphs_components(tracking: Tracking) -> None:
    families = Families()
    for block in tracking.blocks:
        families.follow(block)
    graph = tracking.to_networkx()
    components = []
    for cells in networkx.weakly_connected_components(graph):
        part = graph.subgraph(cells)
        chances = [each["probability"] for *_, each in part.edges(data=True)]
        frames = [frame for frame, _ in cells]
        tracks = {part.nodes[cell]["track"] for cell in cells}
        wrong, least = sum(1 - p for p in chances), min(chances, default=1.0)
        components.append((min(tracks), len(tracks), min(frames), max(frames), len(chances), wrong, least))
    listed = families.listed()
    mine = sorted((f.root, f.tracks, f.first, f.last, f.links, f.wrong, f.least) for f in listed)
    for one, other in zip(mine, sorted(components), strict=True):
        assert one == pytest.approx(other, abs=1e-9)
    doubts = [round(family.wrong, 9) for family in listed]
    assert doubts == sorted(doubts, reverse=True)


def test_certainty_over_time_is_that_of_each_tracks_links(tracking: Tracking) -> None:
    graph = tracking.to_networkx()
    wanted, columns = {3: 0, 8: 1, 1: 2}, {frame: frame // 2 for frame in range(12)}
    found = certainty_over_time(tracking.blocks, wanted, columns, (3, 6))
    expected = np.full((3, 6), np.nan)
    for _, daughter, about in graph.edges(data=True):
        track, frame = graph.nodes[daughter]["track"], daughter[0]
        if track in wanted:
            place = wanted[track], columns[frame]
            expected[place] = np.nanmin([expected[place], about["probability"]])
    np.testing.assert_allclose(found.probability, expected)
    probability = {daughter: about["probability"] for _, daughter, about in graph.edges(data=True)}
    for place in np.argwhere(~np.isnan(expected)).tolist():
        daughter = int(found.frame[tuple(place)]), int(found.label[tuple(place)])
        assert probability[daughter] == found.probability[tuple(place)]
        assert wanted[graph.nodes[daughter]["track"]] == place[0]
