"""Hours of mixed load on `drethtr serve` and `drethtr edit`: python tests/soak/load.py --minutes 120 --decoder ctc.

Unknown options are passed to the servers. Prints the servers' resources every minute, and fails if they grow, if an
answer has status 500, or if a server does not stop.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

from edited_folders import put_page  # noqa: E402
from programs import source_first  # noqa: E402

from soak.client import address_of  # noqa: E402
from soak.measures import Held, grown, held, seconds  # noqa: E402
from soak.visitors import Visitor  # noqa: E402

KINDS = {"serve": ["serve"], "edit": ["edit", "scans", "--no-browser", "--no-token"]}
QUIET = 3.0
"""Seconds without requests before each measurement."""


class Soaked:
    """A server under load, and its resources at each minute."""

    def __init__(self, kind: str, place: Path, more: list[str], chances: random.Random) -> None:
        self.kind, self.place, self.minutes = kind, place / kind, list[Held]()
        self.counts = Counter[str]()
        self.temporary = self.place / "temporary"
        self.temporary.mkdir(parents=True)
        for name in "abc":
            put_page(self.place / "scans", name)
        command = [sys.executable, "-m", "drethtr", *KINDS[kind], "--port", "0", "--device", "cpu", *more]
        environment = {**source_first(), "TMPDIR": str(self.temporary), "OMP_NUM_THREADS": "1"}
        self.said = self.place / "said"
        with self.said.open("wb") as said:
            self.server = subprocess.Popen(command, cwd=self.place, env=environment, stdout=said, stderr=said)
        self.visitor = Visitor(address_of(self.said, self.server), chances, editing=kind == "edit")

    def visit(self) -> None:
        """Make a random request."""
        self.counts[self.visitor.visit()] += 1

    def measure(self) -> None:
        """Record and print its resources."""
        self.minutes.append(held(self.server.pid, self.temporary))
        values = ", ".join(f"{value:,} {name}" for name, value in self.minutes[-1]._asdict().items())
        print(f"{self.kind}, {len(self.minutes)} min: {self.counts.total():,} requests; {values}", flush=True)  # noqa: T201

    def end(self) -> list[str]:
        """Stop the server; returns all faults."""
        self.visitor.leave()
        self.server.send_signal(signal.SIGTERM)
        try:
            code = self.server.wait(60)
        except subprocess.TimeoutExpired:
            self.server.kill()
            code = self.server.wait()
        bad = [f"{what}: {count}" for what, count in sorted(self.counts.items()) if "500" in what.split()]
        bad += grown(self.minutes)
        if code not in (0, -signal.SIGTERM):
            bad.append(f"it ended with {code}: {self.said.read_text()[-2000:]}")
        if left := sorted(path.name for path in self.temporary.iterdir()):
            bad.append(f"left behind: {left}")
        print(self.kind, dict(sorted(self.counts.items())), "failed:", bad, flush=True)  # noqa: T201
        return bad


def main() -> None:
    """Start the servers, make requests to them in turn, and exit with 1 after any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--share", type=float, default=0.15, help="share of a processor that servers use; 1: no pauses")
    parser.add_argument("--seed", type=int, default=0)
    options, more = parser.parse_known_args()
    chances = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        soaked = [Soaked(kind, Path(folder), more, chances) for kind in ([options.only] if options.only else KINDS)]
        warm = {one.kind: seconds(one.server.pid) for one in soaked}
        began = time.monotonic()
        minute = 1
        while minute <= options.minutes:
            for one in soaked:
                one.visit()
            used = sum(seconds(one.server.pid) - warm[one.kind] for one in soaked)
            pause = used / options.share - (time.monotonic() - began)
            time.sleep(min(max(pause, 0), 60))
            if time.monotonic() - began >= 60 * minute:
                time.sleep(QUIET)
                for one in soaked:
                    one.measure()
                minute = int((time.monotonic() - began) / 60) + 1
        bad = [fault for one in soaked for fault in one.end()]
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
