"""What is fetched from the web, what is not, and how a host is treated; the host is one of the test."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address
from threading import Event, Thread

import pytest
from web_server import Reply, served

from drethtr.base.cache import address_of
from drethtr.base.errors import DataError
from drethtr.base.web import HTTPAnswer, Web, is_public

GOOD = Reply(content=b"good")


@pytest.fixture
def host():
    with served() as host:
        yield host


@pytest.fixture
def waits():
    """Seconds that were waited, or would have been."""
    return []


@pytest.fixture
def web(waits, monkeypatch, tmp_path):
    """The web as it is, with this machine as a part of it, but not its second number."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Web(may_reach=lambda number: number == ip_address("127.0.0.1"), pause=waits.append)


@pytest.mark.parametrize(
    ("number", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        *((private, False) for private in ("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254")),
        *((private, False) for private in ("0.0.0.0", "100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1")),
        *((private, False) for private in ("::1", "::", "fe80::1", "fc00::1", "ff02::1", "2001:db8::1")),
        *((private, False) for private in ("::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a01:203", "2002:7f00:1::")),
        *((private, False) for private in ("fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1")),
        *((public, True) for public in ("64:ff9b::5db8:d822", "::93.184.216.34", "::ffff:0:93.184.216.34")),
    ],
)
def test_numbers_of_private_networks(number, public):
    assert is_public(ip_address(number)) is public


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
def test_this_machine_is_not_asked_by_any_name(host, name):
    with pytest.raises(DataError, match=r"is in a private network|cannot be reached"):
        Web(pause=lambda seconds: None).fetch([f"http://{name}:{host.port}/secret"])
    assert host.asked == []


def test_redirections_are_checked_at_each_step(host, web):
    host.replies["/a"] = Reply(302, headers={"Location": "/b"})
    host.replies["/b"] = Reply(307, headers={"Location": f"http://127.0.0.2:{host.port}/secret"})
    with pytest.raises(DataError, match=r"/a: 127\.0\.0\.2 is in a private network"):
        web.fetch([f"{host.address}/a"])
    host.replies["/b"] = Reply(301, headers={"Location": "c d?e=é"})
    host.replies["/c%20d?e=%C3%A9"] = GOOD
    assert web.fetch([f"{host.address}/a"]) == b"good"
    for elsewhere in ("file:///etc/passwd", "ftp://127.0.0.1/a", "http://user:word@127.0.0.1/", "http://["):
        host.replies["/b"] = Reply(302, headers={"Location": elsewhere})
        with pytest.raises(DataError, match="leads to"):
            web.fetch([f"{host.address}/a"])
    host.replies["/b"] = Reply(302, headers={"Location": "/a"})
    with pytest.raises(DataError, match="redirected more than 5 times"):
        web.fetch([f"{host.address}/a"])


@pytest.mark.parametrize("way", [["http://b"], ["HTTPS://b", "http://b"], ["/b", "//c", "HTTP://b"]])
def test_an_encrypted_address_does_not_lead_to_one_that_is_not(way):
    class Moving(Web):
        def ask(self, parts, most, name):
            return HTTPAnswer(301, location=left.pop(0))

    for address in ("https://a", "HTTPS://a"):
        left = way.copy()
        with pytest.raises(DataError, match=r"is redirected to (http|HTTP)://b, which is not encrypted"):
            Moving().fetch([address])


def test_redirections_are_read_as_browsers_do(host, web):
    """Their letters are UTF-8, although HTTP says Latin-1."""
    host.replies["/a"] = Reply(302, headers={"Location": "/m\u00fcnchen/書".encode().decode("latin-1")})
    host.replies["/m%C3%BCnchen/%E6%9B%B8"] = GOOD
    assert web.fetch([f"{host.address}/a"]) == b"good"


def test_a_path_is_asked_for_as_it_is(host, web):
    """As those of libraries with ARKs, which may begin with two slashes."""
    host.replies |= {"/ark:/1?x=1": GOOD, "/": GOOD, "/?a": GOOD}
    for path in ("//ark:/1?x=1#place", "", "?a", "?"):
        assert web.fetch([host.address + path]) == b"good"
    assert host.asked == ["//ark:/1?x=1", "/", "/?a", "/"]


def test_a_name_is_looked_up_once_and_the_number_that_was_checked_is_asked(host, web, monkeypatch):
    numbers = ["127.0.0.1", "127.0.0.2"]
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda name, port, **_: [(socket.AF_INET, 1, 6, "", (numbers.pop(0), port))]
    )
    monkeypatch.setattr(socket, "create_connection", connect_to_number)
    host.replies["/a"] = GOOD
    assert web.fetch([f"http://library.example:{host.port}/a"]) == b"good" and numbers == ["127.0.0.2"]
    with pytest.raises(DataError, match=r"library\.example is in a private network \(127\.0\.0\.2\)"):
        web.fetch([f"http://library.example:{host.port}/a"])


def connect_to_number(place, timeout):
    connection = socket.socket()
    connection.settimeout(timeout)
    connection.connect(place)
    return connection


def test_a_name_with_accents_is_looked_up_as_it_is_registered(host, web, monkeypatch):
    asked = []
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda name, port, **_: asked.append(name) or [(2, 1, 6, "", ("127.0.0.1", port))]
    )
    monkeypatch.setattr(socket, "create_connection", connect_to_number)
    host.replies["/%C3%A4"] = GOOD
    assert web.fetch([f"http://Bücher.example:{host.port}/ä"]) == b"good" and asked == ["xn--bcher-kva.example"]


def test_a_host_may_be_a_number_of_ipv6(host):
    number = "::ffff:127.0.0.1"
    try:
        socket.create_connection((number, host.port)).close()
    except OSError:
        pytest.skip("no IPv6 here")
    host.replies["/a"] = GOOD
    assert Web(may_reach=ip_address(number).__eq__).fetch([f"http://[{number}]:{host.port}/a"]) == b"good"


def test_a_busy_host_is_asked_again_when_it_says(host, web, waits):
    host.replies["/a"] = [Reply(503, headers={"Retry-After": "7"}), Reply(429), GOOD]
    assert web.fetch([f"{host.address}/a"]) == b"good" and waits == [7, 4]
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100))
    host.replies["/b"] = [Reply(503, headers={"Retry-After": date}), GOOD]
    assert web.fetch([f"{host.address}/b"]) == b"good" and 0 < waits[-1] <= 100


def test_a_host_that_wants_peace_gets_it(host, web, waits):
    host.replies["/a"] = Reply(429, headers={"Retry-After": "3600"})
    with pytest.raises(DataError, match="asks to wait 3600 seconds; run the same command again then"):
        web.fetch([f"{host.address}/a", f"{host.address}/b"])
    assert waits == [] and host.asked == ["/a"]
    host.replies["/a"] = Reply(503)
    with pytest.raises(DataError, match="the host responds with status 503"):
        web.fetch([f"{host.address}/a"])
    assert waits == [2, 4, 8]


@pytest.mark.parametrize("date", ["1 Jan 99999999999 00:00:00 GMT", "1 Jan 2030 00:00:00 +999999999999999999"])
def test_a_host_may_name_no_time(host, web, waits, date):
    host.replies["/a"] = [Reply(503, headers={"Retry-After": date}), GOOD]
    assert web.fetch([f"{host.address}/a"]) == b"good" and waits == [2]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(401), "asks for a login"),
        (Reply(404), "not found"),
        (Reply(418), "the host responds with status 418"),
        (Reply(content=b"x" * 2000), "is larger than 0 MB"),
        (Reply(content=b"x" * 2000, length=-1), "is larger than 0 MB"),
        (Reply(content=b"x", headers={"Content-Encoding": "gzip"}), "is sent compressed"),
        (Reply(content=b"x", length=9), "the connection broke after 1 of 9 bytes"),
    ],
)
def test_what_is_no_file_is_refused_with_a_reason(host, web, reply, reason):
    host.replies["/a"] = reply
    with pytest.raises(DataError, match=f"{host.address}/a: {reason}"):
        web.fetch([f"{host.address}/a"], most=1000)


def test_the_first_address_that_has_the_file(host, web):
    host.replies |= {"/a": Reply(400), "/b": Reply(501), "/c": GOOD}
    assert web.fetch([f"{host.address}/{name}" for name in "abc"]) == b"good" and host.asked == ["/a", "/b", "/c"]
    with pytest.raises(DataError, match="/a: the host responds with status 400"):
        web.fetch([f"{host.address}/{name}" for name in "ab"])
    [agent] = host.agents
    assert agent.startswith("drethtr/")


@pytest.mark.parametrize(
    ("reply", "reason"), [(Reply(503), "responds with status 503"), (Reply(401), "asks for a login")]
)
def test_of_several_addresses_the_one_that_may_have_the_file_gives_the_reason(host, web, reply, reason):
    host.replies |= {"/a": Reply(404), "/b": reply, "/c": GOOD}
    with pytest.raises(DataError, match=f"/a: .*{reason}"):
        web.fetch([f"{host.address}/{name}" for name in "abc"])


def test_one_request_at_a_time(host, web):
    def slow():
        time.sleep(0.02)
        return GOOD

    host.replies["/a"] = slow
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(web.fetch, [[f"{host.address}/a"]] * 8)) == {b"good"}
    assert host.most_busy == 1


def test_a_file_is_fetched_once_and_remembers_where_it_comes_from(host, web, tmp_path):
    host.replies["/a"] = GOOD
    path = web.file([f"{host.address}/a"], "scan.jpg")
    assert web.file([f"{host.address}/a"], "scan.jpg") == path and host.asked == ["/a"]
    assert path.read_bytes() == b"good" and path.name == "scan.jpg" and path.is_relative_to(tmp_path)
    assert address_of(path) == f"{host.address}/a" and address_of(tmp_path / "scan.jpg") is None


@pytest.mark.parametrize("proxy", ["", "http://proxy.example:3128"])
def test_a_host_that_is_not_there(web, waits, proxy, monkeypatch):
    """Behind a proxy, no host is."""
    monkeypatch.setenv("http_proxy", proxy)
    hint = "; the proxy in your settings is not used: if you need it, download the files and give their folder"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        expected = f"the host cannot be reached: Connection refused{hint * bool(proxy)}$"
        with pytest.raises(DataError, match=expected):
            web.fetch([f"http://127.0.0.1:{port}/a"])
    assert len(waits) == 3


@pytest.mark.parametrize(
    "address",
    [
        *("https://", "http://host:99999/a", "ftp://example.org/a", "http://a@example.org/", "http://ü@example.org/"),
        *("http://a..b/c", f"http://{'x' * 64}.org/", f"http://{'ü' * 64}.org/"),
    ],
)
def test_what_is_no_address_is_refused(web, address):
    with pytest.raises(DataError, match="is not a web address"):
        web.fetch([address])


def test_a_host_that_browsers_would_look_up_as_another_one_is_refused(web):
    with pytest.raises(DataError, match="write its host as xn--"):
        web.fetch(["http://straße.example/a"])


DRIPS = {
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
    "chunk size": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "content": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"a"),
}


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("drip", DRIPS)
def test_a_host_that_drips_is_left(web, drip, secure):
    """Each of its bytes comes in time; over TLS, it drips before the handshake."""
    begin, again = DRIPS[drip]

    def answer():
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.recv(9999)
            connection.sendall(b"\x16\x03\x03\x3f\xff" if secure else begin)
            for _ in range(500):
                if left.wait(0.02):
                    return
                connection.sendall(again)

    left = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=answer, daemon=True).start()
        address = f"http{'s' if secure else ''}://127.0.0.1:{server.getsockname()[1]}/a"
        with pytest.raises(DataError, match=r"takes more than 0\.5 seconds to download"):
            replace(web, longest=0.5).fetch([address])
        left.set()
