"""Break one line of the code at a time and see whether the tests notice: make mutants, or

python tests/mutants/run.py [WORD …]

runs the mutants of `table.toml` whose line, file or description has one of the words. Each is run against a few test
files in a copy of the package. The exit code is 1 if one survives.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import onnxruntime  # noqa: F401  # for the children
import pytest
import torch  # noqa: F401

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
TABLE = Path(__file__).with_name("table.toml")
SECONDS = 600
"""A mutant that takes more processor time is noticed: it does not end."""

NOTICED, PASSED = int(pytest.ExitCode.TESTS_FAILED), int(pytest.ExitCode.OK)


@dataclass(frozen=True)
class Mutant:
    """A line of the code and the wrong one in its place.

    rule   what the line decides
    code   a part of the code that occurs once in the package
    wrong  the part in its place
    tests  names of the test files that must notice it, wherever they are
    """

    rule: str
    code: str
    wrong: str
    tests: tuple[str, ...]

    def place(self, source: Path) -> Path:
        """The file with the code.

        Raises:
            LookupError: if it is not in the package exactly once.
        """
        texts = {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}
        places = [path for path, text in texts.items() for _ in range(text.count(self.code))]
        if len(places) != 1:
            raise LookupError(f"{self.code!r} occurs {len(places)} times in the package, not once: correct {TABLE}")
        return places[0]

    def test_files(self) -> list[Path]:
        """The test files.

        Raises:
            LookupError: if there is no file of a name.
        """
        found = [sorted(TESTS.rglob(name)) for name in self.tests]
        if missing := [name for name, paths in zip(self.tests, found, strict=True) if not paths]:
            raise LookupError(f"there is no {' or '.join(missing)} in {TESTS}: correct {TABLE}")
        return [path for paths in found for path in paths]


def read_table() -> list[Mutant]:
    """The mutants on record."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(row["rule"], row["code"], row["wrong"], tuple(row["tests"])) for row in rows]


def run_tests(files: list[Path], source: Path) -> int:
    """Run test files on a copy of the package until one fails; what pytest returns.

    In a child that inherits the imports of this process, which take longer than most tests.
    """
    child = os.fork()
    if not child:
        code = int(pytest.ExitCode.INTERNAL_ERROR)
        try:
            code = run_in_child(files, source)
        finally:  # whatever happens, the child must not go on as its parent does
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return NOTICED if code == -signal.SIGPROF else code


def run_in_child(files: list[Path], source: Path) -> int:
    """Run test files in this process, which then must end; nothing is printed."""
    silence = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(silence, number)
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # which kills it; wall time would depend on what else runs
    options = ["-x", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={source} tests"]
    return int(pytest.main([*options, *map(str, files)]))


def survives(mutant: Mutant, source: Path) -> bool:
    """Whether all tests of a mutant pass.

    Raises:
        RuntimeError: if they cannot be run.
    """
    path = mutant.place(source)
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(mutant.code, mutant.wrong), encoding="utf-8")
    try:
        code = run_tests(mutant.test_files(), source)
    finally:
        path.write_text(right, encoding="utf-8")
    if code not in (NOTICED, PASSED):
        raise RuntimeError(f"pytest returns {code} for {mutant.wrong!r} in {path.relative_to(source)}")
    return code == PASSED


def main() -> None:
    """Run the mutants that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    words = parser.parse_args().words
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "src"
        shutil.copytree(ROOT / "src", source)
        subprocess.run([sys.executable, "-m", "compileall", "-q", source], check=True)
        files = {mutant: mutant.place(source).relative_to(source).as_posix() for mutant in read_table()}
        chosen = [
            mutant
            for mutant, file in files.items()
            if not words or any(word in f"{file} {mutant.rule} {mutant.code}" for word in words)
        ]
        if run_tests(sorted({path for mutant in chosen for path in mutant.test_files()}), source) != PASSED:
            sys.exit("the tests must pass before a mutant can be noticed")
        survivors = 0
        for mutant in chosen:
            alive = survives(mutant, source)
            survivors += alive
            print("SURVIVES" if alive else "noticed ", files[mutant], mutant.rule, sep="  ", flush=True)  # noqa: T201
        print(f"{len(chosen) - survivors} of {len(chosen)} mutants are noticed")  # noqa: T201
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
