import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from starlette.applications import Starlette

from drethtr.cli.serve import listener, serving

LINE = Path(__file__).parents[2] / "samples" / "000003.png"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_it_answers_at_the_address_it_prints_until_it_is_interrupted(tiny_path, host):
    command = [sys.executable, "-m", "drethtr", "serve", "--model", str(tiny_path), "--host", host, "--port", "0"]
    command.append("--access-log")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = next(row for row in process.stderr if "running on" in row)
        address = said.split("running on ")[1].split()[0]
        with urlopen(Request(f"{address}/line", LINE.read_bytes())) as answer:
            assert "text" in json.loads(answer.read())
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate()
        assert process.returncode == 0 and printed.count("\n") == 1 and '"POST /line HTTP/1.1" 200' in printed
    assert "//0.0.0.0:" not in address


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process at once")
def test_it_does_not_wait_for_a_request_without_limit(tiny_path):
    """An upload that has stopped would be answered with 408, after a minute."""
    code = "from drethtr.cli import main, serve; serve.PATIENCE = 1; main.main()"
    command = [sys.executable, "-c", code, "serve", "--model", str(tiny_path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said = next(row for row in process.stderr if "running on" in row)
        port = int(said.split()[2].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf")
            with urlopen(f"http://127.0.0.1:{port}/health"):  # by now the server has it
                process.send_signal(signal.SIGTERM)
            response = client.makefile("rb").read()
        assert response.startswith(b"HTTP/1.1 503") and b'{"error":"the server stopped before' in response
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == -signal.SIGTERM


def test_a_place_that_cannot_be_had_is_told_before_the_model_is_loaded(drethtr, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = drethtr("serve", "--port", port, "--model", tmp_path / "gone")
    assert outcome.code == 2 and outcome.err.count("\n") == 1
    assert f"--port {port}: Address already in use; give another port" in outcome.err
    assert "0 picks a free one" in outcome.err
    outcome = drethtr("serve", "--host", "192.0.2.1", "--port", 0, "--model", tmp_path / "gone")
    assert outcome.code == 2 and "--host 192.0.2.1" in outcome.err and "address of this machine" in outcome.err


def test_a_proxy_closes_an_idle_connection_before_the_server_does():
    """Else it sends requests into closed connections; 60 seconds are usual."""
    assert serving(Starlette(), 1).config.timeout_keep_alive > 60


def test_connections_send_small_packets_at_once():
    """A response of a header and a body took 40 ms longer."""
    with listener("127.0.0.1", 0) as door, socket.create_connection(door.getsockname()), door.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
