"""Nobody else gets in: each way is tried from outside, on a real server."""

import json
import re
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dunno.cli.review import opened_in_browser
from dunno.review.security import Gate
from tests.review.outputs import relabelled
from tests.review.serving import Served, serving


@pytest.fixture(scope="module")
def served(kept_output: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    import shutil

    output = Path(shutil.copytree(kept_output, tmp_path_factory.mktemp("served") / "out"))
    with serving(output) as running:
        yield running


@pytest.fixture(scope="module")
def cookies(served: Served) -> dict[str, str]:
    """What a browser has that came with the token, which works once."""
    return dict(httpx.get(served.address).cookies)


@pytest.fixture
def browser_like(served: Served, cookies: dict[str, str]) -> Iterator[httpx.Client]:
    """A client that has come with the token, as the page does."""
    headers = {"origin": served.origin, "x-dunno-review": "1", "sec-fetch-site": "same-origin"}
    with httpx.Client(base_url=served.origin, cookies=cookies, headers=headers) as client:
        yield client


def raw(served: Served, request: str) -> str:
    """Send bytes as they are, and read the whole answer."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode("latin-1"))
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts).decode("latin-1")


def test_nothing_is_answered_without_the_token(served: Served) -> None:
    for path in (
        "/",
        "/main.js",
        "/api/ask",
        "/api/crop/0/0/0/5/5.png",
        "/?token=",
        "/?token=wrong",
        "/openapi.json",
        "/docs",
    ):
        assert httpx.get(served.origin + path).status_code == 403, path
    assert httpx.post(served.origin + "/api/undo").status_code == 403


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(output: Path) -> None:
    with serving(output) as running:
        answer = httpx.get(running.address)
        cookie = answer.headers["set-cookie"]
        assert f"dunno_review_{running.port}=" in cookie
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert running.token not in cookie
        assert "set-cookie" not in httpx.get(f"{running.origin}/?token=wrong").headers
        forged = {f"dunno_review_{running.port}": "guessed"}
        assert httpx.get(running.origin, cookies=forged).status_code == 403


def test_a_token_lets_one_browser_in(output: Path) -> None:
    with serving(output) as running:
        assert httpx.head(running.address).status_code == 403
        assert httpx.get(running.address, headers={"host": "evil.example"}).status_code == 421
        first, second = httpx.get(running.address), httpx.get(running.address)
        assert (first.status_code, second.status_code) == (200, 403)
        assert "has let a browser in already" in second.text
        assert "set-cookie" not in second.headers
        page = httpx.get(running.address, cookies=dict(first.cookies))
        assert page.status_code == 200 and "main.js" in page.text


def test_what_is_larger_than_any_answer_is_not_read(served: Served, browser_like: httpx.Client) -> None:
    body = b'{"order": "' + b"x" * (2 << 20) + b'"}'
    assert browser_like.post("/api/choose", content=body).status_code == 413
    assert browser_like.post("/api/choose", content=iter([body])).status_code == 413  # in chunks, of no known length
    assert browser_like.post("/api/choose", content=b"[" * 100_000).status_code in (400, 422)


def test_the_browser_is_opened_by_a_file_that_only_its_owner_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with opened_in_browser("http://127.0.0.1:80/?token=secret") as path:
        assert opened == [path.as_uri()]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "url=http://127.0.0.1:80/?token=secret" in path.read_text()
    assert not path.exists()


def test_masks_that_changed_after_tracking_are_named_and_nothing_is_shown_of_them(output: Path, tmp_path: Path) -> None:
    masks = relabelled(output, tmp_path / "masks")
    with serving(output, "--masks", str(masks)) as running:
        cookies = dict(httpx.get(running.address).cookies)
        for path in ("ask", "view/0", "history/0", "crop/0/0/0/20/20.png"):
            answer = httpx.get(f"{running.origin}/api/{path}", cookies=cookies)
            assert answer.status_code == 409, path
            assert re.match(r"frame \d: the masks have changed since they were measured", answer.json()["reason"]), path


def test_another_name_for_this_machine_is_refused(served: Served, browser_like: httpx.Client) -> None:
    for host in (
        "evil.example",
        f"evil.example:{served.port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "",
    ):
        answer = browser_like.get("/", headers={"host": host}, params={"token": served.token})
        assert answer.status_code == 421, host
    for host in (
        f"localhost:{served.port}",
        "localhost:9999",
        f"127.0.0.1:{served.port}",
        "[::1]:80",
    ):  # a tunnel has its own port
        assert browser_like.get("/", headers={"host": host}).status_code == 200, host


def test_without_a_host_header_nothing_is_answered(served: Served) -> None:
    assert " 200 " not in raw(served, f"GET /?token={served.token} HTTP/1.0\n\n").splitlines()[0]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"x-dunno-review": ""},
        {"origin": None, "sec-fetch-site": None},
    ],
)
def test_writes_need_the_pages_own_origin_and_header(
    browser_like: httpx.Client, headers: dict[str, str | None]
) -> None:
    for name, value in headers.items():
        browser_like.headers.pop(name, None)
        if value is not None:
            browser_like.headers[name] = value
    for path in ("/api/answer", "/api/undo", "/api/redo", "/api/choose"):
        assert browser_like.post(path, json={}).status_code == 403, path
    state = browser_like.get("/api/ask").json()["state"]
    assert state["answered"] == 0


def test_a_form_of_another_site_changes_nothing(served: Served, browser_like: httpx.Client) -> None:
    body = json.dumps({"kind": "skip", "frame": 1, "label": 1})
    cookie = "; ".join(f"{name}={value}" for name, value in browser_like.cookies.items())
    request = (
        f"POST /api/answer HTTP/1.1\nHost: 127.0.0.1:{served.port}\nCookie: {cookie}\nOrigin: http://evil.example\n"
        f"Content-Type: text/plain\nContent-Length: {len(body)}\nConnection: close\n\n{body}"
    )
    assert raw(served, request).startswith("HTTP/1.1 403")


def test_the_browser_is_told_to_run_and_load_nothing_else(browser_like: httpx.Client) -> None:
    for path in ("/", "/main.js", "/api/ask", "/nowhere"):
        headers = browser_like.get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    page = browser_like.get("/").text
    assert "<style" not in page and "onclick" not in page and "style=" not in page
    assert page.count("<script") == page.count('<script type="module" src="main.js">') == 1


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/../server.py",
        "/..%2fserver.py",
        "/api/crop/..%2f..%2fetc%2fpasswd/0/0/1/1.png",
        "/api/view/..%2f..%2frun.json",
        "/review.jsonl",
        "/run.json",
        "/server.py",
        "//etc/passwd",
        "/main.js%00.png",
    ],
)
def test_no_path_reaches_the_file_system(served: Served, browser_like: httpx.Client, path: str) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in browser_like.cookies.items())
    answer = raw(served, f"GET {path} HTTP/1.1\nHost: 127.0.0.1:{served.port}\nCookie: {cookie}\nConnection: close\n\n")
    assert answer.split()[1] in ("400", "404", "409", "422"), answer[:200]
    assert "root:" not in answer and "def " not in answer


def test_crops_are_pieces_of_the_movie_and_nothing_else(browser_like: httpx.Client) -> None:
    whole = browser_like.get("/api/crop/0/0/0/20/30.png")
    assert whole.status_code == 200
    assert whole.content.startswith(b"\x89PNG")
    for place in ("99/0/0/5/5", "0/0/0/5000/5000", "0/-3/0/5/5", "0/0/0/0/0", "-1/0/0/5/5"):
        assert browser_like.get(f"/api/crop/{place}.png").status_code == 409, place


def test_what_cannot_be_is_refused_with_the_reason(browser_like: httpx.Client) -> None:
    for content, reason in (
        ({"kind": "marries", "frame": 1, "label": 1}, "a decision of kind 'marries'"),
        ({"frame": 1}, "a decision without 'kind'"),
        ({"kind": "skip", "frame": "1", "label": 1}, "expected whole numbers"),
        ({"kind": "skip", "frame": 1, "label": 999}, "frame 1 has no cell 999"),
    ):
        answer = browser_like.post("/api/answer", json=content)
        assert answer.status_code == 409
        assert reason in answer.json()["reason"]
    assert browser_like.post("/api/choose", json={"order": "beauty"}).status_code == 409
    assert browser_like.post("/api/choose", json={"filter": {"frames": [1]}}).status_code == 409
    for wrong in (
        [1],
        {"frames": {}},
        {"frames": {"0": 1}},
        {"region": {}},
        {"region": [1, 2]},
        {"region": [1, 2, 3, 4, 5]},
        {"region": ["nan", 0, 1, 1]},
    ):
        assert browser_like.post("/api/choose", json={"filter": wrong}).status_code == 409
    assert browser_like.get("/api/view/100000").status_code == 409


def test_it_listens_on_loopback_only(served: Served) -> None:
    import psutil

    own = psutil.Process(served.process.pid)
    listening = [each.laddr.ip for each in own.net_connections() if each.status == psutil.CONN_LISTEN]
    assert listening == ["127.0.0.1"]


def test_beyond_loopback_only_the_given_names_and_bare_addresses_are_answered() -> None:
    wide = Gate(80, frozenset({"lab-pc"}), anywhere=True)
    assert wide.is_own_name("lab-pc:80") and wide.is_own_name("192.168.0.7:80") and wide.is_own_name("[fe80::1]:80")
    assert not wide.is_own_name("evil.example:80")
    assert not Gate(80).is_own_name("192.168.0.7:80")


def test_control_c_ends_it_kindly_and_lets_others_in(output: Path) -> None:
    with serving(output, "--who", "ada") as running:
        running.process.send_signal(signal.SIGINT)
        out, err = running.process.communicate(timeout=30)
        assert running.process.returncode == 0
        assert "0 daughters reviewed" in out and "--export DIR" in out
        assert [line for line in err.splitlines() if not line.startswith("reading: ")] == []  # told where it takes long
    with serving(output):
        pass


def test_a_killed_server_has_every_answer_that_it_confirmed(output: Path) -> None:
    with serving(output) as running, httpx.Client(base_url=running.origin) as client:
        client.get("/", params={"token": running.token})
        client.headers.update({"origin": running.origin, "x-dunno-review": "1"})
        view = client.get("/api/ask").json()["view"]
        told = client.post("/api/answer", json={"kind": "no mother", "frame": view["frame"], "label": view["label"]})
        assert told.status_code == 200
        running.process.kill()
        running.process.wait()
    with serving(output) as again, httpx.Client(base_url=again.origin) as client:
        client.get("/", params={"token": again.token})
        assert client.get("/api/ask").json()["state"]["answered"] == 1


def test_a_link_from_a_report_leads_on_and_gives_nothing_away(served: Served) -> None:
    with httpx.Client(base_url=served.origin) as client:
        led = client.get("/at/3:4")
        assert led.status_code == 200 and "url=/#3:4" in led.text
        assert "set-cookie" not in led.headers and served.token not in led.text
        assert client.get("/").status_code == 403  # where it leads to
        assert client.get("/at/3:4", headers={"host": "evil.example"}).status_code == 421
        for path in ("/at/3:4/more", "/at/3:<script>", "/at/../api/ask", "/at/"):
            assert client.get(path).status_code == 403
        assert client.post("/at/3:4").status_code == 403
