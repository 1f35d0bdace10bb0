"""Fuzz the readers for some minutes: python tests/fuzzing/run.py --minutes 10 [page alto json image pdf …].

A failing case is minimized and saved in the folder `corpus`, which the tests read from then on.
"""

import argparse
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "src"), str(HERE.parent)]

from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402

from drethtr.base.errors import DrethtrError  # noqa: E402
from fuzzing.files import Target  # noqa: E402
from fuzzing.targets import targets  # noqa: E402

CORPUS = HERE / "corpus"
AT_A_TIME = 200
"""Cases per turn of a target."""


def try_case(target: Target, data: bytes, folder: Path) -> None:
    """Use a file; a `DrethtrError` is fine, unless it reports a bug in a child process."""
    path = folder / f"case{target.ending}"
    path.write_bytes(data)
    try:
        target.use(path)
    except DrethtrError as error:
        if "please report it" in str(error):
            raise RuntimeError(str(error)) from error


def fuzz(target: Target, cases: int, folder: Path, *, always_the_same: bool = False) -> tuple[int, bytes | None]:
    """Try cases, new ones by default; returns their number, and the smallest failing one."""
    tried, failing = 0, None

    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        derandomize=always_the_same,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.files)
    def try_all(data: bytes) -> None:
        nonlocal tried, failing
        tried += 1
        try:
            try_case(target, data, folder)
        except Exception:
            failing = data
            raise

    try:
        try_all()
    except BaseException as error:
        if failing is None or isinstance(error, KeyboardInterrupt):
            raise
        print(f"{type(error).__name__}: {str(error)[:300]}", flush=True)  # noqa: T201
    return tried, failing


def main() -> None:
    """Fuzz the named targets in turn until time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TARGET")
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    end, counts, failed = time.monotonic() + 60 * options.minutes, {}, []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known = targets(folder)
        while time.monotonic() < end:
            for name in options.names or known:
                tried, failing = fuzz(known[name], AT_A_TIME, folder)
                counts[name] = counts.get(name, 0) + tried
                if failing is not None:
                    kept = CORPUS / f"{name}-{sha256(failing).hexdigest()[:8]}{known[name].ending}"
                    kept.write_bytes(failing)
                    failed.append(kept.name)
                if time.monotonic() > end:
                    break
            print(sum(counts.values()), "cases:", counts, "failed:", sorted(set(failed)), flush=True)  # noqa: T201
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
