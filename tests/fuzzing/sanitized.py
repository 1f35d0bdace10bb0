"""Test the compiled loops under AddressSanitizer and UndefinedBehaviorSanitizer, on many more inputs than the tests do.

python tests/fuzzing/sanitized.py --examples 5000
"""

import argparse
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
NAME = "drethtr.base._native"
CHECKS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1"


def main() -> None:
    """Build the module with checks, and start again in a process that has their library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=5_000)
    examples = parser.parse_args().examples
    if place := os.environ.get("DRETHTR_SANITIZED"):
        sys.exit(test(Path(place), examples))
    with TemporaryDirectory() as place:
        build = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", place, "--build-temp", place]
        subprocess.run(build, cwd=ROOT, env={**os.environ, "CFLAGS": CHECKS, "LDFLAGS": CHECKS}, check=True)
        library = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
        checked = {
            "LD_PRELOAD": library,
            "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaves memory to the system at its end
            "DRETHTR_SANITIZED": str(next(Path(place).rglob("_native*.so"))),
        }
        sys.exit(subprocess.run([sys.executable, *sys.argv], env={**os.environ, **checked}).returncode)


def test(library: Path, examples: int) -> int:
    """Run the tests of the compiled loops with a module; returns their exit status."""
    found = spec_from_file_location(NAME, library)
    assert found is not None and found.loader is not None
    sys.modules[NAME] = module_from_spec(found)
    found.loader.exec_module(sys.modules[NAME])
    tests = str(ROOT / "tests" / "base" / "test_native.py")
    return pytest.main(["-q", "-s", "-p", "no:cacheprovider", tests], [Examples(examples)])


class Examples:
    """Lets Hypothesis try this many for each test."""

    def __init__(self, number: int) -> None:
        self.number = number

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        from hypothesis import settings  # pytest wants to import it first

        settings.register_profile("sanitized", settings(), max_examples=self.number, database=None)
        settings.load_profile("sanitized")


if __name__ == "__main__":
    main()
