"""Statements where masks are judged: constraints on the model of masks, solved again with the block around them."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.correcting import take, truthful
from dunno import Tracker, evaluation
from dunno.assignment.choices import Choices, Kind, propagate, ways
from dunno.errors import DecisionError
from dunno.models.mask_pairs import Pairs
from dunno.models.mask_ways import IN, OUT, Graph
from dunno.review import Decision, Review
from dunno.review.clamping import Clamps, clamped
from dunno.review.export import reviewed_tracking
from dunno.runs.run import track_into
from dunno.simulate import FaultShares, Spoiled, colony, spoil
from dunno.types import PairPosterior


@pytest.fixture(scope="module")
def spoiled() -> Spoiled:
    made = colony(cells=25, frames=20, motion=0.16, seed=3, cycle=25.0)
    return spoil(made.movie, made.truth, FaultShares(missed=0.01, false=0.03, merged=0.04, split=0.03), seed=1)


@pytest.fixture(scope="module")
def kept(spoiled: Spoiled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged") / "out"
    track_into(Tracker(evidence="places,masks", workers=1), spoiled.movie, folder)
    return folder


@pytest.fixture
def review(kept: Path, spoiled: Spoiled, tmp_path: Path) -> Review:
    with Review.open(shutil.copytree(kept, tmp_path / "out"), movie=spoiled.movie) as opened:
        yield opened


def everything(review: Review) -> list[PairPosterior]:
    return [review.pair(t) for t in range(review.table.n_pairs)]


def same(one: PairPosterior, other: PairPosterior) -> bool:
    return bool(
        np.array_equal(one.log_probability, other.log_probability)
        and np.array_equal(one.log_no_mother, other.log_no_mother)
        and np.array_equal(one.selected, other.selected)
    )


def a_cell(review: Review, t: int) -> tuple[int, int]:
    """The index and label of a daughter of pair t that is linked, and goes on."""
    pair, after = review.pair(t), review.pair(t + 1)
    linked = np.zeros(len(pair.daughters), np.bool_)
    linked[pair.daughter[pair.selected & (pair.probability > 0.9)]] = True
    goes = np.zeros(len(pair.daughters), np.bool_)
    goes[after.mother[after.selected & (after.probability > 0.9)]] = True
    j = int(np.flatnonzero(linked & goes)[0])
    return j, int(pair.daughters.label[j])


def test_a_block_without_decisions_is_what_was_tracked(review: Review) -> None:
    state = review._state
    assert state._blocks is not None and state._blocks.opened()
    for first in range(0, review.table.n_pairs, 16):
        pairs = state._together(first)
        assert len(pairs) > 1
        solved = state._blocks.solve(pairs, [], state._store.block(pairs))
        for t, pair in zip(pairs, solved.pairs(), strict=True):
            assert same(pair, review.original(t))


def test_no_cell_holds_in_both_frame_pairs_and_speaks_to_its_neighbours(review: Review) -> None:
    t = 8
    j, label = a_cell(review, t)
    frame = int(review.table.daughter_frame[t])
    far = review.pair(t + 1)
    (after,) = far.daughter[(far.mother == j) & far.selected].tolist()[:1]
    before = float(far.block.p_false[far.daughter_rows][after])
    review.answer(Decision("no cell", frame, label))
    pair, following = review.pair(t), review.pair(t + 1)
    assert pair.block.p_false[pair.daughter_rows][j] == following.block.p_false[following.mother_rows][j] == 1
    assert not pair.selected[pair.daughter == j].any() and not following.selected[following.mother == j].any()
    assert (
        following.block.p_false[following.daughter_rows][after] > before + 0.01
    )  # false masks stay: its model says so, no pair does
    assert len(review.changed) > 2


def test_two_cells_and_their_mothers(review: Review) -> None:
    t = 8
    j, label = a_cell(review, t)
    pair = review.pair(t)
    frame = pair.daughter_frame
    (own,) = pair.mother[pair.selected & (pair.daughter == j)].tolist()
    distance = np.linalg.norm(pair.mothers.centroid - pair.daughters.centroid[j], axis=1)
    distance[own] = np.inf
    second = int(np.argmin(distance))
    names = pair.mothers.label
    review.answer(Decision("mother", frame, label, int(names[own])))
    review.answer(Decision("two cells", frame, label, int(names[second])))
    pair = review.pair(t)
    edges = pair.daughter == j
    assert set(pair.mother[edges & pair.selected].tolist()) == {own, second}
    assert (pair.probability[edges & pair.selected] == 1).all()
    assert pair.block.p_two[pair.daughter_rows][j] == 1
    following = review.pair(t + 1)
    assert following.block.p_two[following.mother_rows][j] == 1
    review.undo()
    review.undo()
    assert all(same(a, review.original(k)) for k, a in enumerate(everything(review)))


def test_answers_are_exact_and_the_rest_follows(review: Review) -> None:
    t = 5
    j, label = a_cell(review, t)
    pair = review.pair(t)
    review.answer(Decision("no mother", pair.daughter_frame, label))
    pair = review.pair(t)
    assert (pair.probability[pair.daughter == j] == 0).all() and pair.p_appear[j] == 1
    mother = int(np.argmax(np.exp(pair.log_divide)))
    review.answer(Decision("does not divide", pair.mother_frame, int(pair.mothers.label[mother])))
    assert np.exp(review.pair(t).log_divide[mother]) == 0
    with pytest.raises(DecisionError):
        review.answer(Decision("mother", pair.daughter_frame, 999_999, 1))


def test_the_log_makes_the_same_state_again(review: Review, spoiled: Spoiled) -> None:
    for t in (3, 8, 14):
        _, label = a_cell(review, t)
        review.answer(Decision("two cells" if t == 8 else "no cell", int(review.table.daughter_frame[t]), label))
    folder, now = review.folder, everything(review)
    error = review.table.error.copy()
    review.close()
    with Review.open(folder, movie=spoiled.movie, read_only=True) as again:
        assert all(same(a, b) for a, b in zip(now, everything(again), strict=True))
        np.testing.assert_array_equal(again.table.error, error)


def test_without_the_movie_the_stored_block_is_solved(kept: Path, tmp_path: Path) -> None:
    with Review.open(shutil.copytree(kept, tmp_path / "out")) as review:  # it was made from arrays
        _, label = a_cell(review, 8)
        review.answer(Decision("no cell", int(review.table.daughter_frame[8]), label))
        assert review.changed == [*range(review.table.n_pairs)]  # edges across gaps tie them


def test_true_answers_mend_more_than_they_spoil(review: Review, spoiled: Spoiled) -> None:
    before = evaluation.score(reviewed_tracking(review), spoiled.truth)
    for _ in range(25):
        question = review.next(order="entropy")
        assert question is not None
        for decision in truthful(review, spoiled.truth, question.pair, question.label):
            take(lambda said=decision, asked=question: review.answer(said, asked))
        if review.unanswered[question.row]:
            review.answer(Decision("skip", question.frame, question.label), question)
    after = evaluation.score(reviewed_tracking(review), spoiled.truth)
    assert after.found_wrong < before.found_wrong
    assert review.table.expected_wrong_links < review.first_expected


def test_ways_against_what_was_said_are_all_but_impossible() -> None:
    edge = np.array([0, 1])
    into = Choices.joined([ways(np.array([2]), 0, 0.0), ways(np.array([2, 2]), 1, 0.0, (edge, Kind.SINGLE))])
    out = Choices.joined([ways(np.array([2]), state, 0.0) for state in range(3)])
    clamps = Clamps()
    clamps.hold(2, 1, 2)
    clamps.into[2] = [(1, 2)]
    stretch = SimpleNamespace(mother=np.array([0, 1]), daughter=np.array([2, 2]), lags=np.array([1, 1]))
    nothing = Pairs(edge[:0], edge[:0], None)  # type: ignore[arg-type]
    sort = np.full(3, OUT.index("lost"))
    graph = Graph(stretch, None, out, into, sort, sort, sort, sort, nothing, nothing, nothing, None)  # type: ignore[arg-type]
    found = clamped(graph, clamps)
    assert (found.into.log_weight > -1).tolist() == [False, False, True]
    assert (found.out.log_weight > -1).tolist() == [False, True, True]


def test_a_division_may_lead_into_a_mask_of_two() -> None:
    """Masks 0 and 1 lead to 2 and 3: 0 divides, and 3 also holds the cell of 1."""
    mother, daughter = np.array([0, 0, 1]), np.array([2, 3, 3])
    edges = np.arange(3)
    near = [ways(mother, 1, -2.0, (edges, Kind.SINGLE)), ways(mother, 1, 0.0, (edges, Kind.MERGING))]
    divides = ways(np.array([0]), 1, -5.0, (edges[:1], Kind.DIVIDING), (edges[1:2], Kind.DIVIDING))
    lost = [ways(np.arange(2), 1, -6.0), ways(np.arange(2, 4), 1, 0.0), ways(np.arange(2, 4), 2, 0.0)]
    parts = [*near, divides, *lost]
    names = ["single", "merging", "divide", "lost", "last", "last"]
    sort = np.concatenate([np.full(len(part.mask), OUT.index(name)) for part, name in zip(parts, names, strict=True)])
    order = np.argsort(np.concatenate([part.mask for part in parts]), kind="stable")
    kinds = (Kind.SINGLE, Kind.DIVIDING)
    into = Choices.joined(
        [
            ways(np.arange(2), 1, 0.0),
            ways(np.arange(2, 4), 1, -6.0),
            ways(np.arange(2, 4), 2, -9.0),
            *(ways(daughter, 1, 0.0, (edges, kind)) for kind in kinds),
        ]
    )
    nothing = Pairs(edges[:0], edges[:0], None)  # type: ignore[arg-type]
    stretch = SimpleNamespace(mother=mother, daughter=daughter, lags=np.ones(3, np.int64))
    in_sort = np.full(len(into.mask), IN.index("mother"))
    orders = (sort[order], in_sort, order, in_sort)
    graph = Graph(stretch, None, Choices.joined(parts), into, *orders, nothing, nothing, nothing, None)  # type: ignore[arg-type]
    clamps = Clamps()
    clamps.hold(3, 2)
    clamps.into[3] = [(0, 3), (1, 3)]
    found = clamped(graph, clamps)
    beliefs = propagate(found.out, found.into, 4, 3)
    assert beliefs.state[3, 2] > 0.999
    assert (beliefs.edge[1:, Kind.MERGING] > 0.999).all()
    assert beliefs.edge[0, Kind.DIVIDING] > 0.9  # -5 + 2 against its appearing, -6
    assert propagate(graph.out, graph.into, 4, 3).state[3, 2] < 0.5
