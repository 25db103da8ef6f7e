import pytest

from dunno import rooms
from dunno.errors import InputError


def test_a_room_is_read_from_its_files() -> None:
    assert "distance" in rooms.members("costs")
    assert "SM" in rooms.members("methods")


def test_names_are_found_in_any_case() -> None:
    assert rooms.find("methods", "sm") is rooms.members("methods")["SM"]


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(InputError, match="there is no cost 'nearest'; there are .*distance"):
        rooms.find("costs", "nearest")


def test_a_users_own_class_is_found_by_its_path() -> None:
    from dunno.costs.distance import Distance

    assert rooms.find("costs", "dunno.costs.distance:Distance") is Distance


@pytest.mark.parametrize("path", ["nowhere.at.all:Class", "dunno.costs:Nothing", ":Class"])
def test_a_path_that_leads_nowhere_says_what_was_expected(path: str) -> None:
    with pytest.raises(InputError, match="expected package.module:Class"):
        rooms.find("costs", path)


@pytest.mark.parametrize("room", ["costs", "methods", "perturbations"])
def test_every_member_says_in_one_line_what_it_is(room: str) -> None:
    for member in rooms.members(room).values():
        assert 10 < len(rooms.summary(member)) < 100
