"""A ticket lets one browser of this user in, once and soon."""

import os
import socket
import sys

import pytest
from starlette.datastructures import Headers

from drethtr.server import ticket
from drethtr.server.ticket import Ticket, users_in

NO_HEADERS = Headers({})


@pytest.fixture
def request_of_ours():
    """The scope of a request on a connection within this process."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as browser:
        yield {"method": "GET", "server": server.getsockname(), "client": browser.getsockname()}


def test_it_is_valid_once(request_of_ours):
    made = Ticket()
    assert not made.admits(request_of_ours | {"method": "HEAD"}, NO_HEADERS)  # as programs ask that look before
    assert made.admits(request_of_ours, NO_HEADERS)
    assert not made.admits(request_of_ours, NO_HEADERS)


def test_it_is_valid_for_a_minute(request_of_ours, monkeypatch):
    made = Ticket()
    later = made.ends + 0.1
    monkeypatch.setattr(ticket, "monotonic", lambda: later)
    assert not made.admits(request_of_ours, NO_HEADERS)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows command lines to others")
def test_nobody_else_is_let_in(request_of_ours, monkeypatch):
    made = Ticket()
    for_another = Headers({"X-Forwarded-For": "127.0.0.1"})  # by which the client would seem to be another
    assert not made.admits(request_of_ours, for_another)
    assert not made.admits(request_of_ours | {"client": ("192.0.2.1", 9)}, NO_HEADERS)  # on another machine
    assert not made.admits(request_of_ours | {"client": None}, NO_HEADERS)  # gone
    with monkeypatch.context() as changed:
        changed.setattr(os, "getuid", lambda: 12345)
        changed.setattr(ticket, "users_in", lambda table, local, remote: [12345, 23456])
        assert not made.admits(request_of_ours, NO_HEADERS)
        changed.setattr(ticket, "users_in", lambda table, local, remote: [12345, 0])
        assert made.admits(request_of_ours, NO_HEADERS)


def test_the_users_of_connections_are_those_of_open_ones(tmp_path):
    table = tmp_path / "tcp"
    row = "  {}: 0100007F:{:04X} 0100007F:1F4A {} 00000000:00000000 00:00000000 00000000  {}        0 12345 1 0 20 0\n"
    rows = [(50000, "01", 1000), (8010, "01", 1001), (50000, "05", 0), (50001, "01", 1002), (50000, "01", 1003)]
    table.write_text("  sl  local_address\n" + "".join(row.format(at, *one) for at, one in enumerate(rows)))
    assert list(users_in(table, 50000, 8010)) == [1000, 1003]
    for unreadable in (tmp_path / "none", tmp_path):  # a container may hide or lock the tables
        assert list(users_in(unreadable, 50000, 8010)) == []
