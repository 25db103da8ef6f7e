"""What a page would never send is refused with a reason, and leaves no trace that others stumble over."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dunno.errors import DecisionError, InputError
from dunno.review import Decision, Review
from dunno.review.desk import Desk
from dunno.review.desks import Desks
from dunno.review.log import Log, read_log
from dunno.review.routes import make_routes
from dunno.review.security import Gate

HALF = "\ud800x"
"""The first half of a character, which UTF-8 has not."""

LARGE = 10**400
ADDRESSES = ["ask", "decisions", "overview", "changes/0", "view/0", "history/0", "family/0", "pair/0"]


class Client:
    """The application without its gate; what fails in it is an answer of 500, as on the real server."""

    def __init__(self, review: Review) -> None:
        app = make_routes(Desks(Desk(review)), Gate(80), {})
        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)

    def get(self, path: str) -> httpx.Response:
        return asyncio.run(self._send("GET", path, None))

    def post(self, path: str, content: str) -> httpx.Response:
        return asyncio.run(self._send("POST", path, content))

    async def _send(self, method: str, path: str, content: str | None) -> httpx.Response:
        async with httpx.AsyncClient(transport=self._transport, base_url="http://localhost") as client:
            return await client.request(method, path, content=content, headers={"content-type": "application/json"})


@pytest.fixture
def client(output: Path) -> Iterator[Client]:
    with Review.open(output, who="ada") as review:
        yield Client(review)


def answer(**changes: object) -> str:
    return json.dumps({"kind": "skip", "frame": 1, "label": 1, **changes})


ODD = [
    "NaN",
    "Infinity",
    "1e999",
    '"\\ud800"',
    "[" * 10_000,
    answer(who=HALF),
    answer(kind=HALF),
    answer(kind=float("nan")),
    answer(frame=LARGE),
    answer(label=LARGE),
    answer(label=-LARGE),
    answer(label=float("nan")),
    answer(kind="mother", mother=LARGE),
    answer(kind="mother", mother=1, mother_frame=-LARGE),
    answer(kind="one cell", other=LARGE),
    answer(kind="missing", place=[LARGE, 5]),
    answer(kind="missing", place=[float("inf"), 5]),
    answer(kind="missing", place=[float("nan"), 5]),
    answer(kind="missing", place=[1e6, 5]),
    answer(kind="missing", place=[-30, 5]),
    answer(kind="missing", place=[HALF, 5]),
    answer(kind="missing", place=[5]),
]


@pytest.mark.parametrize("body", ODD)
def test_an_odd_answer_is_refused_and_nothing_is_written(body: str, client: Client, output: Path) -> None:
    before = (output / "review.jsonl").read_bytes()
    found = client.post("/api/answer", body)
    assert found.status_code in (400, 409, 422), found.text
    assert found.json()
    assert (output / "review.jsonl").read_bytes() == before
    assert [client.get(f"/api/{path}").status_code for path in ADDRESSES] == [200] * len(ADDRESSES)


@pytest.mark.parametrize("body", ["NaN", '{"who": "\\ud800x"}', '{"who": 3}', '{"seen": 1e999}'])
@pytest.mark.parametrize("path", ["undo", "redo", "choose"])
def test_odd_requests_of_other_kinds_are_answered(path: str, body: str, client: Client) -> None:
    client.post("/api/answer", answer())
    assert client.post(f"/api/{path}", body).status_code in (200, 400, 409, 422)
    assert [client.get(f"/api/{each}").status_code for each in ADDRESSES] == [200] * len(ADDRESSES)


@pytest.mark.parametrize(
    "content",
    [
        {"order": HALF},
        {"goal": LARGE},
        {"goal": float("nan")},
        {"filter": {"frames": [LARGE, LARGE]}},
        {"filter": {"frames": [-LARGE, HALF]}},
        {"filter": {"region": [LARGE, 0, 0, 0]}},
        {"filter": HALF},
    ],
)
def test_odd_choices_are_answered(content: dict[str, object], client: Client) -> None:
    assert client.post("/api/choose", json.dumps(content)).status_code in (200, 409)
    assert client.get("/api/ask").status_code == 200


@pytest.mark.parametrize("number", [LARGE, -LARGE, 2**63, -1, 10**9])
@pytest.mark.parametrize("path", ["view/{}", "pair/{}", "history/{}", "family/{}", "changes/{}", "track/{}"])
def test_large_numbers_in_addresses_are_answered(path: str, number: int, client: Client) -> None:
    assert client.get("/api/" + path.format(number)).status_code in (200, 409, 422)
    for more in (f"cell/{number}/1", f"cell/1/{number}", f"around/{number}/0/0/5/5", f"around/0/{number}/0/5/5"):
        assert client.get(f"/api/{more}").status_code in (200, 409, 422), more
    assert client.get(f"/api/crop/0/0/{number}/5/5.png").status_code in (409, 422)


def old_log(folder: Path, **changes: object) -> None:
    """A log as an earlier version wrote it, with a line that is refused now."""
    with Review.open(folder, who="ada") as review:
        question = review.next()
        assert question is not None
        review.answer(Decision("no mother", question.frame, question.label), question)
    first, line = (folder / "review.jsonl").read_text().splitlines()
    (folder / "review.jsonl").write_text(f"{first}\n{json.dumps(json.loads(line) | changes)}\n")


def test_an_old_log_with_half_a_character_opens_and_is_shown(output: Path) -> None:
    old_log(output, who=HALF, time=HALF)
    assert read_log(output)[1][0]["who"] == "?x"
    with Review.open(output, who="ada") as review:
        client = Client(review)
        row = review.row_of(review.standing[0].decision)
        for path in (*ADDRESSES, f"view/{row}"):
            assert client.get(f"/api/{path}").status_code == 200, path
        assert client.get("/api/decisions").json()[0]["who"] == "?x"
        assert client.post("/api/undo", "{}").status_code == 200
        assert client.get("/api/changes/0").json()["said"][0]["who"] == "?x"
    assert b"\\ud800x" in (output / "review.jsonl").read_bytes()  # the log itself is only added to


def test_an_old_log_with_a_far_place_opens(output: Path) -> None:
    old_log(output, kind="missing", label=0, place=[1e6, -1e6], before={}, question=None)
    with Review.open(output, who="ada") as review:
        client = Client(review)
        assert [client.get(f"/api/{path}").status_code for path in ADDRESSES] == [200] * len(ADDRESSES)
        assert client.post("/api/undo", "{}").status_code == 200


@pytest.mark.parametrize("place", [(float("nan"), 5.0), (5.0, float("inf")), (5.0,)])
def test_a_place_that_is_none_is_no_decision_even_where_the_field_is_not_known(place: tuple[float, ...]) -> None:
    with pytest.raises(DecisionError, match="expected two or three finite numbers"):
        Decision("missing", 1, 0, place=place)


def test_names_that_are_no_text_are_refused_wherever_they_come_from(output: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"who is '.ud800x', which is no text; expected a name"):
        Review.open(output, who=HALF)
    with Review.open(output, who="Zoë ☃ 𝔄") as review:  # which the lock lets in again
        assert review.who == "Zoë ☃ 𝔄"
    log = Log(tmp_path, "ada", {"review_of": "x"})
    with pytest.raises(InputError, match="which is no text"):
        log.answer(Decision("skip", 1, 1), {}, None, HALF)
    log.close()
    assert len((tmp_path / "review.jsonl").read_bytes().splitlines()) == 1
