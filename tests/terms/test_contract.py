"""What holds for every term; a new file in the room is tested on arrival."""

import gc
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest

from benchmarks.coverage import CELL_SIZE, FIELD, TRUE
from benchmarks.draws import draw_transition
from dunno import rooms
from dunno.models.expectation import expect, maximise
from dunno.models.model import Model, start_model
from dunno.terms import PLACES
from dunno.types.records import from_json, to_json
from dunno.types.stretch import Stretch

TERMS = list(rooms.members("terms"))


@pytest.fixture(scope="module")
def stretch() -> Stretch:
    rng = np.random.default_rng(3)
    return Stretch.of([draw_transition(TRUE, 50, 120.0, rng, 2 * t) for t in range(5)])


def model_with(name: str, stretch: Stretch) -> Model:
    return start_model(stretch, FIELD, CELL_SIZE, [*PLACES, *({name} - {*PLACES})])


@pytest.mark.parametrize("name", TERMS)
def test_it_starts_within_its_bounds_and_says_what_its_parameters_are(name: str, stretch: Stretch) -> None:
    for each in model_with(name, stretch).term(name).parameters():
        assert each.bounds[0] <= each.value <= each.bounds[1]
        assert each.unit
        assert each.bounds[0] <= each.prior.mean <= each.bounds[1] or not each.prior.worth


@pytest.mark.parametrize("name", TERMS)
def test_parameters_have_names_of_their_own(name: str, stretch: Stretch) -> None:
    model = model_with(name, stretch)
    assert len(model.parameters) == sum(len(term.parameters()) for term in model.terms)


@pytest.mark.parametrize("name", TERMS)
def test_what_it_says_is_finite_and_aligned(name: str, stretch: Stretch) -> None:
    model = model_with(name, stretch)
    term = model.term(name)
    for values, length in (
        (term.log_single(stretch), len(stretch.mother)),
        (term.log_dividing(stretch), len(stretch.mother)),
        (term.lost(model, stretch), stretch.n_rows),
        (term.appear(model, stretch), stretch.n_rows),
        (term.appearances(model, stretch), len(stretch)),
    ):
        if values is not None:
            assert values.shape == (length,)
            assert np.isfinite(values).all()


@pytest.mark.parametrize("name", TERMS)
def test_what_was_solved_is_freed_at_once_and_not_when_python_looks_for_cycles(name: str, stretch: Stretch) -> None:
    own = replace(stretch)
    expected = expect(model_with(name, own), own)
    maximise(expected)
    seen = ref(own)
    gc.disable()
    try:
        del own, expected
        assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", TERMS)
def test_an_update_climbs_and_stays_within_bounds(name: str, stretch: Stretch) -> None:
    model = model_with(name, stretch)
    before = expect(model, stretch)
    after = maximise(before, np.ones((len(stretch),) * 2))
    for each in after.term(name).parameters():
        assert each.bounds[0] <= each.value <= each.bounds[1]
    assert expect(after, stretch).log_evidence > before.log_evidence


@pytest.mark.parametrize("name", TERMS)
def test_it_goes_through_json(name: str, stretch: Stretch) -> None:
    model = model_with(name, stretch)
    assert from_json(Model, to_json(model), "model") == model


@pytest.mark.parametrize("name", TERMS)
def test_the_unit_of_length_is_only_a_name(name: str, stretch: Stretch) -> None:
    """The same cells in metres: probabilities stay."""
    small = 1e-7
    cells = [type(c)(c.label, c.centroid * small, c.area * small**2, c.bbox, c.frame) for c in stretch.cells]
    scaled = replace(stretch, place=stretch.place * small, cells=tuple(cells), _columns={})
    field = type(FIELD)(tuple(x * small for x in FIELD.low), tuple(x * small for x in FIELD.high))
    shrunk = start_model(scaled, field, CELL_SIZE * small, [*PLACES, *({name} - {*PLACES})])
    one, other = expect(model_with(name, stretch), stretch), expect(shrunk, scaled)
    one, other = (expect(maximise(e, np.ones((5, 5))), e.stretch) for e in (one, other))
    np.testing.assert_allclose(one.found.edge, other.found.edge, atol=1e-9)
