"""Who is answered, and who is not."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from drethtr.server.guard import Access, Guard, Role

TOKEN = "a-secret"


def client(host="127.0.0.1", token=None, address="http://localhost", **rules):
    async def answer(request):
        return PlainTextResponse("answered")

    routes = [Route("/health", answer), Route("/{path:path}", answer, methods=["GET", "POST", "PUT", "DELETE"])]
    middleware = [Middleware(Guard, access=Access.of(host, token=token, **rules))]
    return TestClient(Starlette(routes=routes, middleware=middleware), address, follow_redirects=False)


@pytest.mark.parametrize(
    ("listens", "host", "answered"),
    [
        ("127.0.0.1", "localhost:8010", True),
        ("127.0.0.1", "127.0.0.1:8010", True),
        ("127.0.0.1", "[::1]:8010", True),
        ("127.0.0.1", "LOCALHOST.", True),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "evil.example:8010", False),
        ("127.0.0.1", "localhost:80@evil.example", False),
        ("127.0.0.1", "[::1]evil.example", False),
        ("127.0.0.1", "localhost/evil.example", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "192.168.1.7", False),
        ("127.0.0.1", "", False),
        ("0.0.0.0", "192.168.1.7:8010", True),
        ("0.0.0.0", "evil.example", False),
        ("0.0.0.0", "archive.example", True),
        ("192.168.1.7", "192.168.1.7", True),
    ],
)
def test_only_under_its_own_names(listens, host, answered):
    asked = client(listens, hosts=frozenset({"archive.example"})).get("/", headers={"Host": host})
    assert (asked.status_code == 200) is answered


@pytest.mark.parametrize("host", ["10.1.2.3:8000", "probe.example", ""])
def test_a_probe_may_use_any_name(host):
    assert client("0.0.0.0", TOKEN).get("/health", headers={"Host": host}).status_code == 200


def test_a_probe_may_use_any_name_below_a_prefix():
    below = TestClient(Starlette(routes=[Mount("/ocr", client("0.0.0.0", TOKEN).app)]), "http://probe.example")
    assert below.get("/ocr/health").status_code == 200
    assert below.get("/ocr/about").status_code == 400


@pytest.mark.parametrize(("path", "status"), [("/static/x.css", 200), ("/api/learn", 403)])
def test_roles_hold_below_a_prefix(path, status):
    below = TestClient(Starlette(routes=[Mount("/ocr", client(token=TOKEN).app)]), "http://localhost")
    token = {"Authorization": f"Bearer {Role.CORRECT.token(TOKEN)}"} if status == 403 else {}
    assert below.request("GET" if status == 200 else "POST", f"/ocr{path}", headers=token).status_code == status


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://localhost"}, True),
        ({"Origin": "http://localhost:9000"}, False),
        ({"Origin": "https://localhost"}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"}, False),
    ],
)
def test_changes_come_from_own_pages_or_from_programs(headers, taken):
    for method in ("POST", "PUT", "DELETE"):
        assert (client().request(method, "/x", headers=headers).status_code == 200) is taken
    reads = taken or "Sec-Fetch-Site" not in headers  # its answers cannot be read by the page, and change nothing
    assert (client().get("/x", headers=headers).status_code == 200) is reads


@pytest.mark.parametrize(
    ("path", "mode", "dest", "answered"),
    [
        ("/", "navigate", "document", True),
        ("/p/5f0c", "navigate", "document", True),
        ("/?token=x", "navigate", "document", True),
        ("/", "navigate", "iframe", False),
        ("/", "no-cors", "image", False),
        ("/api/export", "navigate", "document", False),
        ("/api/events", "navigate", "iframe", False),
        ("/p/5f0c/x", "navigate", "document", False),
        ("/search", "navigate", "document", False),
    ],
)
def test_links_on_other_web_pages_lead_to_pages_alone(path, mode, dest, answered):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    assert (client().get(path, headers=headers).status_code == 200) is answered
    assert client().post(path, headers=headers).status_code == 403


def test_browsers_are_told_what_they_may_do():
    for answer in (client().get("/"), client().get("/", headers={"Host": "evil.example"})):
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_token_opens_the_door_once_and_for_all():
    with client("0.0.0.0", TOKEN) as browser:
        assert browser.get("/p/1").status_code == 401 and browser.get("/health").status_code == 200
        assert browser.get("/p/1?token=wrong").status_code == 401
        opened = browser.get(f"/p/1?x=a%20b&token={TOKEN}")
        assert (opened.status_code, opened.headers["Location"]) == (303, "/p/1?x=a+b")
        assert "HttpOnly" in opened.headers["Set-Cookie"] and "SameSite=lax" in opened.headers["Set-Cookie"]
        assert browser.get("/p/1").status_code == 200
    program = client("0.0.0.0", TOKEN)
    assert program.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert program.get("/", headers={"Authorization": "Bearer"}).status_code == 401
    assert program.post(f"/?token={TOKEN}").status_code == 401


def test_a_token_does_not_lead_elsewhere():
    opened = client("0.0.0.0", TOKEN).get(f"http://localhost//evil.example/?token={TOKEN}")
    assert opened.headers["Location"] == "/evil.example/"


@pytest.mark.parametrize("other", ['seen={"a": 1, "b": [2]}', "x[y]=1", "flag", 'said="hello', "=1", "a@b=1"])
@pytest.mark.parametrize("order", ["{0}; {1}", "{1}; {0}"])
def test_odd_cookies_of_other_servers_on_this_machine_lock_nobody_out(other, order):
    cookies = order.format(other, f"drethtr={TOKEN}")
    assert client(token=TOKEN).get("/", headers={"Cookie": cookies}).status_code == 200


def test_each_port_has_its_own_cookie():
    """Browsers send cookies to every port of a host; two editors must not take each other's."""
    with client("0.0.0.0", TOKEN, "http://localhost:8010") as browser:
        opened = browser.get(f"/?token={TOKEN}")
        assert opened.headers["Set-Cookie"].startswith(f"drethtr-8010={TOKEN};")
        assert browser.get("/").status_code == 200
        other = browser.get("/", headers={"Host": "localhost:8011", "Cookie": f"drethtr-8010={TOKEN}"})
        assert other.status_code == 401


@pytest.mark.parametrize(
    ("role", "method", "path", "allowed"),
    [
        (Role.READ, "GET", "/api/pages", True),
        (Role.READ, "POST", "/api/here", True),
        (Role.READ, "POST", "/api/pages/5f/lines/r1/l1/alternatives", True),
        (Role.READ, "PUT", "/api/pages/5f/lines/r1l1", False),
        (Role.READ, "PUT", "/api/pages/5f/lines/r1l1/alternatives", False),
        (Role.READ, "POST", "/api/confirm", False),
        (Role.CORRECT, "PUT", "/api/pages/5f/lines/r1l1", True),
        (Role.CORRECT, "POST", "/api/confirm", True),
        (Role.CORRECT, "POST", "/api/learn", False),
        (Role.CORRECT, "POST", "/api/pages/5f/read", False),
        (Role.CORRECT, "DELETE", "/api/jobs/1", False),
        (Role.CORRECT, "POST", "/api/learn%0A", False),
        (Role.CORRECT, "POST", "/api/pages/5f/read%0A", False),
        (Role.CORRECT, "POST", "/api/jobs/1/adopt%0A", False),
        (Role.CORRECT, "DELETE", "/api/jobs/%0A1", False),
        (Role.MANAGE, "POST", "/api/learn", True),
    ],
)
def test_a_token_may_what_its_role_may(role, method, path, allowed):
    token = {"Authorization": f"Bearer {role.token(TOKEN)}"}
    answer = client(token=TOKEN).request(method, path, headers=token)
    assert (answer.status_code == 200) is allowed and (allowed or "only lets you" in answer.json()["error"])


def test_tokens_of_roles_are_different_and_do_not_give_the_secret_away():
    tokens = {role.token(TOKEN) for role in Role}
    assert len(tokens) == 3 and not any(TOKEN in token for token in tokens - {TOKEN})


@pytest.mark.parametrize("path", ["/", "/p/5f", "/p/5f/layout"])
@pytest.mark.parametrize(
    "visit",
    [
        {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"},
        {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"},  # all that it sends to another machine without TLS
    ],
)
def test_a_browser_without_a_token_is_told_what_to_do(path, visit):
    answer = client(token=TOKEN).get(path, headers=visit)
    assert answer.status_code == 401 and "This folder is locked" in answer.text
    assert "does not fit" not in answer.text
    answer = client(token=TOKEN).get(f"{path}?token=another", headers=visit)
    assert answer.status_code == 401 and "This key is not valid" in answer.text


def test_a_program_without_a_token_is_told_in_json():
    assert client(token=TOKEN).get("/api/pages").json()["error"].startswith("this server requires a token")
    assert client(token=TOKEN).get("/static/style/base.css").status_code == 200
