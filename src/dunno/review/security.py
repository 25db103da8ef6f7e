"""Nobody else gets in: who may talk to the page's server, and what the browser may do with what it gets.

- Only a browser that came with a token in the address gets the cookie, each token lets one browser in, and nothing else is
  answered without the cookie.
- A link from a report (`/at/FRAME:LABEL`) gets a page that holds nothing but the way on; without the cookie it ends there.
- The Host header must name this machine, so that another site cannot reach the server under a name of its own (DNS rebinding).
- What changes something must say that it comes from the page itself: same origin, and a header that no form can send.
- The page may load nothing from elsewhere and run no inline script, and no other page may frame it.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

WRITE_HEADER = "x-dunno-review"
SAFE_METHODS = ("GET", "HEAD")
MOST_REQUEST_BYTES = 1 << 20
WELCOME = """<!doctype html><title>dunno review</title><meta http-equiv="refresh" content="0;url=/">
<link rel="icon" href="data:,">
<a href="/">to the review</a>
"""
PLACE_PATTERN = re.compile(r"/at/(\d{1,9}):(\d{1,9})")
LEADS = """<!doctype html><title>dunno review</title><meta http-equiv="refresh" content="0;url=/#{frame}:{label}">
<link rel="icon" href="data:,">
<a href="/#{frame}:{label}">to cell {label} of frame {frame}</a>
"""
"""What a link from a report finds: it holds nothing, and leads to the page as if the page itself had asked, cookie and all."""
WELCOME_POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Leads to the page without the token, and loads nothing itself. A browser that came from elsewhere would otherwise not send
the new cookie along when the page is loaded again."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Gate:
    """What is asked of every request."""

    port: int  # The server's own port; cookies are shared by all ports of a machine, so its name holds it
    # Names under which the server may be reached, beside loopback addresses and localhost
    names: frozenset[str] = frozenset()
    anywhere: bool = False  # Whether it listens beyond loopback: every bare IP address is then an honest name for it
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))  # What the address must hold once
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))  # What the cookie holds from then on
    unused: set[str] = field(default_factory=set)  # Tokens that have let nobody in yet

    def __post_init__(self) -> None:
        self.unused.add(self.token)

    def another_token(self) -> str:
        """A token for one more browser."""
        token = secrets.token_urlsafe(24)
        self.unused.add(token)
        return token

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return f"dunno_review_{self.port}"

    def refusal(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is refused; `None` lets it in."""
        if not self.is_own_name(headers.get("host", "")):
            return 421, "this server does not answer under that name"
        if not self.has_cookie(headers):
            return 403, (
                "open the address that dunno review printed: it holds a token, this one does not, or one that has let a browser "
                "in already; start dunno review again for a new one"
            )
        if method not in SAFE_METHODS and not self._is_own_page(headers):
            return 403, "this did not come from the review's own page"
        return None

    def is_own_name(self, host: str) -> bool:
        """Whether a Host header names this server; a tunnel may have given it another port."""
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        name = name.strip("[]").lower()
        if name == "localhost" or name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.anywhere or address.is_loopback

    def takes_token(self, method: str, headers: Mapping[str, str], query: str) -> bool:
        """Whether the address holds a token that has let nobody in yet; from now on it has."""
        if method != "GET" or not self.is_own_name(headers.get("host", "")):
            return False
        given = parse_qs(query).get("token", [""])[0].encode()
        found = [token for token in self.unused if secrets.compare_digest(given, token.encode())]
        self.unused.difference_update(found)
        return bool(found)

    def leads_to(self, method: str, headers: Mapping[str, str], path: str) -> str | None:
        """The page that leads on to a cell, for a link from a report; `None` where nothing of that sort was asked for."""
        found = PLACE_PATTERN.fullmatch(path)
        if method != "GET" or found is None or not self.is_own_name(headers.get("host", "")):
            return None
        return LEADS.format(frame=found.group(1), label=found.group(2))

    def has_cookie(self, headers: Mapping[str, str]) -> bool:
        """Whether the browser has been let in before."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self.secret.encode())

    def _is_own_page(self, headers: Mapping[str, str]) -> bool:
        origin = headers.get("origin")
        same = (
            headers.get("sec-fetch-site") == "same-origin" if origin is None else origin == f"http://{headers['host']}"
        )
        return (
            same and headers.get(WRITE_HEADER) == "1" and headers.get("sec-fetch-site", "same-origin") == "same-origin"
        )


def guarded(app: App, gate: Gate) -> App:
    """Put the gate in front of an application."""

    async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope["query_string"].decode("latin-1")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message.get("headers", [])}
                more = [
                    (name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given
                ]
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        if gate.takes_token(scope["method"], headers, query):
            cookie = f"{gate.cookie}={gate.secret}; Path=/; HttpOnly; SameSite=Strict"
            own = [(b"set-cookie", cookie.encode()), (b"content-security-policy", WELCOME_POLICY.encode())]
            await _answer(send_with_headers, 200, "text/html", WELCOME, *own)
        elif (leads := gate.leads_to(scope["method"], headers, scope["path"])) is not None:
            policy = (b"content-security-policy", WELCOME_POLICY.encode())
            await _answer(send_with_headers, 200, "text/html", leads, policy)
        elif (refused := gate.refusal(scope["method"], headers)) is not None:
            await _answer(send_with_headers, refused[0], "text/plain", f"dunno review: {refused[1]}\n")
        elif (body := await _body(receive)) is None:
            await _answer(
                send_with_headers, 413, "text/plain", f"dunno review: more than {MOST_REQUEST_BYTES:,} bytes\n"
            )
        else:
            await app(scope, _again(body, receive), send_with_headers)

    return let_in


async def _body(receive: Receive) -> bytes | None:
    """What was sent; `None` as soon as it is more than the page ever sends."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_REQUEST_BYTES:
            return None
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Hand on what was received already, and then whatever comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


async def _answer(send: Send, status: int, kind: str, text: str, *headers: tuple[bytes, bytes]) -> None:
    kinds = (b"content-type", f"{kind}; charset=utf-8".encode())
    await send({"type": "http.response.start", "status": status, "headers": [kinds, *headers]})
    await send({"type": "http.response.body", "body": text.encode()})
