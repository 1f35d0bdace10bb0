from pathlib import Path

import pytest

from drethtr.synthesis.recombination import read_gaps

SAMPLES = Path(__file__).parents[3] / "samples"


def test_gaps_of_a_folder(drethtr, tmp_path):
    output = tmp_path / "gaps.parquet"
    outcome = drethtr("data", "gaps", SAMPLES, "--output", output)
    found = read_gaps(str(output))
    assert outcome.code == 0
    assert outcome.out.strip() == f"{output}: {sum(map(len, found.values()))} gaps in {len(found)} of 6 lines"


def test_gaps_are_written_as_parquet(drethtr, tmp_path):
    outcome = drethtr("data", "gaps", SAMPLES, "--output", tmp_path / "gaps")
    assert outcome.code == 2 and "gaps: the file name must end in .parquet" in outcome.err


@pytest.mark.parametrize("command", ["gaps", "import"])
def test_no_table_of_a_folder_of_tables_is_replaced(drethtr, tmp_path, command):
    folder = tmp_path / "tables"
    folder.mkdir()
    table = folder / "mine.parquet"
    assert drethtr("data", "import", SAMPLES, table).code == 0
    before = table.read_bytes()
    for output in (table, folder / "new.parquet"):
        named = ("--output", output) if command == "gaps" else (output,)
        refused = drethtr("data", command, folder, *named, "--force")
        assert refused.code == 2 and f"{output} is inside {folder}, where the next run would read it" in refused.err
    assert table.read_bytes() == before and list(folder.iterdir()) == [table]
