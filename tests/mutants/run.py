"""Break one line of the code at a time and see whether the tests notice: make mutants, or

python tests/mutants/run.py [WORD …]

runs the mutants whose line, file, table or description has one of the words. `promises.toml` takes out what SECURITY.md
and the pages of docs promise, `table.toml` has all others. Each is run against a few tests in a copy of the package.
The exit code is 1 if one survives.
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
HERE = Path(__file__).parent
SECONDS = 600
"""A mutant that takes more processor time is noticed: it does not end."""

NOTICED, PASSED = int(pytest.ExitCode.TESTS_FAILED), int(pytest.ExitCode.OK)


@dataclass(frozen=True)
class Mutant:
    """A line of the code and the wrong one in its place.

    rule   what the line decides
    code   a part of the code that occurs once in the package
    wrong  the part in its place
    tests  names of the test files that must notice it, wherever they are, or of tests in them: `test_a.py::test_b`
    table  the name of the table that has it
    """

    rule: str
    code: str
    wrong: str
    tests: tuple[str, ...]
    table: str

    def place(self, source: Path) -> Path:
        """The file with the code.

        Raises:
            LookupError: if it is not in the package exactly once.
        """
        texts = {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}
        places = [path for path, text in texts.items() for _ in range(text.count(self.code))]
        if len(places) != 1:
            raise LookupError(
                f"{self.code!r} occurs {len(places)} times in the package, not once: correct {self.table}"
            )
        return places[0]

    def chosen_tests(self) -> list[str]:
        """The test files, or the tests in them, as pytest takes them.

        Raises:
            LookupError: if there is no file of a name, or no such test in it.
        """
        found: list[str] = []
        for named in self.tests:
            file, _, test = named.partition("::")
            paths = sorted(path for path in TESTS.rglob(file) if not test or f"def {test}(" in path.read_text("utf-8"))
            if not paths:
                raise LookupError(f"there is no {named} in {TESTS}: correct {self.table}")
            found += [f"{path}::{test}" if test else str(path) for path in paths]
        return found


def read_table() -> list[Mutant]:
    """The mutants on record."""
    return [
        Mutant(row["rule"], row["code"], row["wrong"], tuple(row["tests"]), table.name)
        for table in sorted(HERE.glob("*.toml"))
        for row in tomllib.loads(table.read_text(encoding="utf-8"))["mutant"]
    ]


def run_tests(tests: list[str], source: Path) -> int:
    """Run tests on a copy of the package until one fails; what pytest returns.

    In a child that inherits the imports of this process, which take longer than most tests.
    """
    child = os.fork()
    if not child:
        code = int(pytest.ExitCode.INTERNAL_ERROR)
        try:
            code = run_in_child(tests, source)
        finally:  # whatever happens, the child must not go on as its parent does
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return NOTICED if code < 0 else code  # a signal ended it: that of the clock, or of a library that aborts


def run_in_child(tests: list[str], source: Path) -> int:
    """Run tests in this process, which then must end; nothing is printed."""
    silence = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(silence, number)
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # which kills it; wall time would depend on what else runs
    options = ["-x", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={source} tests"]
    return int(pytest.main([*options, *tests]))


def survives(mutant: Mutant, source: Path) -> bool:
    """Whether all tests of a mutant pass.

    Raises:
        RuntimeError: if they cannot be run.
    """
    path = mutant.place(source)
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(mutant.code, mutant.wrong), encoding="utf-8")
    try:
        code = run_tests(mutant.chosen_tests(), source)
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
            if not words or any(word in f"{file} {mutant.table} {mutant.rule} {mutant.code}" for word in words)
        ]
        if run_tests(sorted({test for mutant in chosen for test in mutant.chosen_tests()}), source) != PASSED:
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
