"""What the server answers, and how requests become decisions and filters."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import fastapi
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from dunno.errors import DunnoError, InputError
from dunno.report.crops import Box
from dunno.review.decisions import Decision
from dunno.review.desks import Desks
from dunno.review.export import exported
from dunno.review.family import family
from dunno.review.overview import Tracks, overview
from dunno.review.queue import Filter
from dunno.review.security import Gate


def make_routes(desks: Desks, gate: Gate, files: dict[str, tuple[str, bytes]]) -> fastapi.FastAPI:
    """The application without its gate."""
    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    guard = Lock()  # one request at a time looks at the desks

    @app.exception_handler(DunnoError)
    def tell(request: fastapi.Request, error: DunnoError) -> JSONResponse:
        return JSONResponse({"reason": str(error).encode("utf-8", "replace").decode()}, status_code=409)

    @app.exception_handler(RequestValidationError)
    def tell_form(request: fastapi.Request, error: RequestValidationError) -> JSONResponse:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return JSONResponse({"reason": wrong.encode("utf-8", "replace").decode()[:500]}, status_code=422)

    def alone(work: Callable[[], Any]) -> JSONResponse:
        with guard:
            return JSONResponse(work(), headers={"cache-control": "no-store"})

    for path, (kind, content) in files.items():
        _serve(app, path, kind, content)
    _looking(app, desks, alone, guard)
    _deciding(app, desks, alone, gate)
    return app


Alone = Callable[[Callable[[], Any]], Any]


def _looking(app: fastapi.FastAPI, desks: Desks, alone: Alone, guard: Lock) -> None:
    """What only looks."""
    review, views, tracks = desks.review, desks.first.views, Tracks(desks.review)

    @app.get("/api/ask")
    def ask(request: fastapi.Request) -> Any:
        return alone(lambda: desks.of(request.headers).ask())

    @app.get("/api/view/{row}")
    def view(row: int, request: fastapi.Request) -> Any:
        return alone(lambda: desks.of(request.headers).view(row))

    @app.get("/api/pair/{t}")
    def pair(t: int) -> Any:
        return alone(lambda: desks.first.most_doubtful(t))

    @app.get("/api/history/{row}")
    def history(row: int) -> Any:
        return alone(lambda: views.history(row))

    @app.get("/api/family/{row}")
    def relatives(row: int) -> Any:
        return alone(lambda: family(review, views.sight(row).row))

    @app.get("/api/path/{row}")
    def path(row: int) -> Any:
        return alone(lambda: views.path(row))

    @app.get("/api/division/{row}")
    def division(row: int) -> Any:
        return alone(lambda: desks.first.next_division(views.sight(row).row))

    @app.get("/api/overview")
    def whole_field() -> Any:
        return alone(lambda: overview(review))

    @app.get("/api/decisions")
    def decisions() -> Any:
        return alone(desks.first.decisions)

    @app.get("/api/changes/{since}")
    def changes(since: int, request: fastapi.Request) -> Any:
        return alone(lambda: desks.changes(since, request.headers))

    @app.get("/api/cell/{frame}/{label}")
    def cell(frame: int, label: int) -> Any:
        return alone(lambda: review.row_at(frame, label))

    @app.get("/api/track/{number}")
    def track(number: int) -> Any:
        return alone(lambda: tracks.row(number))

    @app.get("/api/around/{t}/{top}/{left}/{height}/{width}")
    def around(t: int, top: int, left: int, height: int, width: int) -> Any:
        return alone(lambda: views.around(t, Box(top, left, top + height, left + width)))

    @app.get("/api/crop/{t}/{top}/{left}/{height}/{width}.png")
    def crop(t: int, top: int, left: int, height: int, width: int) -> fastapi.Response:
        with guard:
            content = views.scenes.crop(t, Box(top, left, top + height, left + width))
        return fastapi.Response(content, media_type="image/png", headers={"cache-control": "private, max-age=600"})


def _deciding(app: fastapi.FastAPI, desks: Desks, alone: Alone, gate: Gate) -> None:
    """What changes something."""

    @app.post("/api/answer")
    def answer(content: dict[str, Any], request: fastapi.Request) -> Any:
        decision = _decision(content)

        def work() -> Any:
            desk = desks.of(request.headers)
            found = desk.answer(decision, _name(content), _version_seen(content))
            return {**found, **(desk.ask() if decision.about_daughter else {"state": desk.state()})}

        return alone(work)

    @app.post("/api/undo")
    def undo(request: fastapi.Request, content: dict[str, Any] | None = None) -> Any:
        said = content or {}
        return alone(lambda: desks.of(request.headers).undo(_name(said), _version_seen(said)))

    @app.post("/api/redo")
    def redo(request: fastapi.Request, content: dict[str, Any] | None = None) -> Any:
        said = content or {}
        return alone(lambda: desks.of(request.headers).redo(_name(said), _version_seen(said)))

    @app.post("/api/choose")
    def choose(content: dict[str, Any], request: fastapi.Request) -> Any:
        def work() -> Any:
            desk = desks.of(request.headers)
            desk.goal = _goal(content.get("goal"))
            desk.choose(content.get("order", "gain"), _filter(content.get("filter") or {}))
            return desk.ask()

        return alone(work)

    @app.post("/api/export")
    def write_out() -> Any:
        return alone(lambda: exported(desks.review))

    @app.post("/api/invite")
    def invite() -> Any:
        return alone(lambda: {"token": gate.another_token()})


def _serve(app: fastapi.FastAPI, path: str, kind: str, content: bytes) -> None:
    def send() -> fastapi.Response:
        return fastapi.Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    app.get(path)(send)


def _name(content: dict[str, Any]) -> str | None:
    """Who says it, as the page asked once."""
    who = content.get("who")
    if who is not None and not isinstance(who, str):
        raise InputError("who is no text; expected a name")
    return " ".join((who or "").split())[:60] or None


def _version_seen(content: dict[str, Any]) -> int | None:
    seen = content.get("seen")
    return seen if type(seen) is int else None


def _goal(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < 1e9:
        raise InputError(f"the goal is {value!r:.40}; expected a number of wrong links")
    return float(value)


def _decision(content: dict[str, Any]) -> Decision:
    try:
        return Decision.from_dict(content)
    except KeyError as error:
        raise InputError(f"a decision without {error}; expected kind, frame and label") from None


def _filter(content: dict[str, Any]) -> Filter:
    try:
        frames, region = content.get("frames"), content.get("region")
        return Filter(
            frames=None if frames is None else (int(frames[0]), int(frames[1])),
            region=None if region is None else tuple(float(value) for value in region),  # type: ignore[arg-type]
            divisions=bool(content.get("divisions")),
            starts=bool(content.get("starts")),
        )
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        raise InputError(
            "a filter of another form; expected frames [first, last] and region [top, left, bottom, right]"
        ) from None
