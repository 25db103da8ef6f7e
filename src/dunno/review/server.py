"""The page's server: FastAPI in front of a desk, files from memory, nothing from the disk."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib.resources import files

from dunno.errors import InputError, MissingExtra
from dunno.review.desk import Desk
from dunno.review.desks import Desks
from dunno.review.security import App, Gate, guarded

CONTENT_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def make_app(desk: Desk, gate: Gate) -> App:
    """The application behind its gate."""
    from dunno.review.routes import make_routes  # which needs FastAPI

    return guarded(make_routes(Desks(desk), gate, static_files()), gate)


def check_installed() -> None:
    """Say what to install where the page cannot be served."""
    try:
        import fastapi
        import uvicorn
    except ImportError:
        raise MissingExtra("the review's page needs FastAPI and uvicorn: pip install 'dunno[review]'") from None
    del fastapi, uvicorn


def static_files() -> dict[str, tuple[str, bytes]]:
    """The page's files by the address under which they are served; read once."""
    found = {}
    for each in (files("dunno.review") / "static").iterdir():
        kind = CONTENT_TYPES.get(f".{each.name.rsplit('.', 1)[-1]}")
        if kind is not None:
            found["/" if each.name == "index.html" else f"/{each.name}"] = (kind, each.read_bytes())
    return found


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


def listen_or_elsewhere(host: str, port: int) -> socket.socket:
    """A socket at a port, or at any that is free where somebody has it already."""
    try:
        return listen(host, port)
    except InputError:
        return listen(host, 0)


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
