"""The page's server: FastAPI in front of a desk, files from memory, nothing from the disk."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from dunno.errors import DunnoError, InputError, MissingExtra
from dunno.report.crops import Box
from dunno.review.decisions import Decision
from dunno.review.desk import Desk
from dunno.review.queue import Filter
from dunno.review.security import App, Gate, guarded

if TYPE_CHECKING:
    import fastapi

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def make_app(desk: Desk, gate: Gate) -> App:
    """The application behind its gate."""
    app = _routes(desk)
    return guarded(app, gate)


def check_installed() -> None:
    """Say what to install where the page cannot be served."""
    try:
        import fastapi
        import uvicorn
    except ImportError:
        raise MissingExtra("the review's page needs FastAPI and uvicorn: pip install 'dunno[review]'") from None
    del fastapi, uvicorn


def _routes(desk: Desk) -> fastapi.FastAPI:
    import fastapi
    from fastapi.responses import JSONResponse

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    guard = Lock()  # one request at a time looks at the desk

    @app.exception_handler(DunnoError)
    def tell(request: fastapi.Request, error: DunnoError) -> JSONResponse:
        return JSONResponse({"reason": str(error)}, status_code=409)

    def alone(work: Callable[[], Any]) -> JSONResponse:
        with guard:
            return JSONResponse(work(), headers={"cache-control": "no-store"})

    for path, (kind, content) in static_files().items():
        _serve(app, path, kind, content)

    @app.get("/api/ask")
    def ask() -> JSONResponse:
        return alone(desk.ask)

    @app.get("/api/view/{row}")
    def view(row: int) -> JSONResponse:
        return alone(lambda: desk.view(row))

    @app.get("/api/pair/{t}")
    def pair(t: int) -> JSONResponse:
        return alone(lambda: desk.most_doubtful(t))

    @app.get("/api/history/{row}")
    def history(row: int) -> JSONResponse:
        return alone(lambda: desk.history(row))

    @app.get("/api/crop/{t}/{top}/{left}/{height}/{width}.png")
    def crop(t: int, top: int, left: int, height: int, width: int) -> fastapi.Response:
        with guard:
            content = desk.crop(t, Box(top, left, top + height, left + width))
        return fastapi.Response(content, media_type="image/png", headers={"cache-control": "private, max-age=600"})

    @app.post("/api/answer")
    def answer(content: dict[str, Any]) -> JSONResponse:
        decision = _decision(content)
        return alone(
            lambda: {**desk.answer(decision), **(desk.ask() if decision.about_daughter else {"state": desk.state()})}
        )

    @app.post("/api/undo")
    def undo() -> JSONResponse:
        return alone(desk.undo)

    @app.post("/api/redo")
    def redo() -> JSONResponse:
        return alone(desk.redo)

    @app.post("/api/choose")
    def choose(content: dict[str, Any]) -> JSONResponse:
        def work() -> Any:
            desk.choose(content.get("order", "gain"), _filter(content.get("filter") or {}))
            return desk.ask()

        return alone(work)

    return app


def _serve(app: fastapi.FastAPI, path: str, kind: str, content: bytes) -> None:
    import fastapi

    def send() -> fastapi.Response:
        return fastapi.Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    app.get(path)(send)


def static_files() -> dict[str, tuple[str, bytes]]:
    """The page's files by the address under which they are served; read once."""
    found = {}
    for each in (files("dunno.review") / "static").iterdir():
        kind = KINDS.get(f".{each.name.rsplit('.', 1)[-1]}")
        if kind is not None:
            found["/" if each.name == "index.html" else f"/{each.name}"] = (kind, each.read_bytes())
    return found


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


def listen(host: str, port: int) -> socket.socket:
    """A socket that nobody else has; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError(
            f"--host {host} --port {port}: cannot be listened on ({error}); choose another, or --port 0"
        ) from None
    return listening


def gate_for(host: str, port: int) -> Gate:
    """Loopback answers to loopback names only; another host also to the machine's own."""
    if host in LOOPBACK:
        return Gate(port)
    return Gate(port, frozenset({host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}), anywhere=True)


def serve(desk: Desk, listening: socket.socket, gate: Gate, ready: Callable[[], None] = lambda: None) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    config = uvicorn.Config(make_app(desk, gate), log_level="warning", access_log=False, server_header=False, ws="none")
    Server(config).run(sockets=[listening])
