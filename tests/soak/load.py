"""Memory of a server under mixed load: python tests/soak/load.py --minutes 20 [--model FILE].

Clients send lines, pages and books, broken images, bodies that are too large or break off, and heads that never end.
"""

import argparse
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

from made_pages import TEXTS, blank, write  # noqa: E402
from PIL import Image  # noqa: E402
from programs import source_first  # noqa: E402

from soak.client import address_of  # noqa: E402

SAMPLES = TESTS.parent / "samples"
CLIENTS = 6
RESIDENT = re.compile(r"VmRSS:\s+(\d+)")


def contents() -> list[tuple[str, bytes]]:
    """Addresses, and what is sent there."""
    page, book = BytesIO(), BytesIO()
    image: Image.Image = write(blank(700, 400), TEXTS[:3]).image
    image.save(page, "PNG")
    image.save(book, "PDF", save_all=True, append_images=[image])
    lines = [path.read_bytes() for path in sorted(SAMPLES.glob("*.png"))]
    return [
        *(("/line", line) for line in lines),
        ("/page?format=alto", page.getvalue()),
        ("/page?format=pdf&name=a.pdf", book.getvalue()),
        ("/line", lines[0][: len(lines[0]) // 2]),
        ("/line", bytes(60 << 20)),
        ("/nowhere", bytes(1 << 20)),
    ]


def ask(address: str, path: str, content: bytes) -> str:
    """Send a request; the status of the answer."""
    try:
        with urlopen(address + path, content, timeout=600) as answer:
            answer.read()
            return str(answer.status)
    except HTTPError as error:
        with error:
            return str(error.code)
    except OSError:
        return "closed"


def break_off(address: str) -> str:
    """Begin a head or a body, and never go on."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(
            b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nhalf"[: random.randint(0, 90)]
        )
        time.sleep(random.random())
    return "broken off"


def keep_asking(address: str, kinds: list[tuple[str, bytes]], end: float, counts: "Counter[str]") -> None:
    """Send one request after another until the end."""
    while time.monotonic() < end:
        act: Callable[[], str] = lambda: break_off(address)  # noqa: E731
        if random.random() < 0.9:
            path, content = random.choice(kinds)
            act = lambda: ask(address, path, content)  # noqa: B023, E731
        counts[act()] += 1


def resident(process: int) -> int:
    """Memory of a process in MB."""
    found = RESIDENT.search(Path(f"/proc/{process}/status").read_text())
    return int(found[1]) // 1024 if found else 0


def main() -> None:
    """Start a server and clients, and print the server's memory as time passes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    options, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as place, (Path(place) / "said").open("wb") as said:
        command = [sys.executable, "-m", "drethtr.cli", "serve", "--port", "0", "--device", "cpu", *more]
        server = subprocess.Popen(command, env=source_first(), stdout=said, stderr=said)
        address, kinds, counts = address_of(Path(place) / "said", server), contents(), Counter[str]()
        began = time.monotonic()
        end = began + 60 * options.minutes
        clients = [Thread(target=keep_asking, args=(address, kinds, end, counts)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            time.sleep(60)
            minute = (time.monotonic() - began) / 60
            print(f"{minute:.0f} min: {resident(server.pid)} MB, {dict(counts)}", flush=True)  # noqa: T201
        server.send_signal(signal.SIGINT)
        server.wait()
        print((Path(place) / "said").read_text()[-2000:])  # noqa: T201


if __name__ == "__main__":
    main()
