"""The tables of mutants are up to date; `make mutants` runs them."""

from pathlib import Path

import pytest
from mutants.run import read_table

import drethtr

SOURCE = Path(drethtr.__file__).parent


@pytest.mark.parametrize("mutant", read_table(), ids=lambda mutant: mutant.rule)
def test_mutants_are_wrong_code_in_one_place_with_tests(mutant):
    path = mutant.place(SOURCE)
    assert mutant.wrong not in (mutant.code, "") and mutant.chosen_tests()
    assert compile(path.read_text(encoding="utf-8").replace(mutant.code, mutant.wrong), path, "exec")
