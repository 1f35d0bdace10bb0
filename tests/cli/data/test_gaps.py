from pathlib import Path

from drethtr.synthesis.recombination import read_gaps

SAMPLES = Path(__file__).parents[3] / "samples"


def test_gaps_of_a_folder(drethtr, tmp_path):
    output = tmp_path / "gaps.parquet"
    outcome = drethtr("data", "gaps", SAMPLES, "--output", output)
    found = read_gaps(str(output))
    assert outcome.code == 0
    assert outcome.out.strip() == f"{output}: {sum(map(len, found.values()))} gaps in {len(found)} of 6 lines"
    again = drethtr("data", "gaps", SAMPLES, "--output", output)
    assert again.code != 0 and "exists; choose another output or use --force" in again.err


def test_gaps_are_written_as_parquet(drethtr, tmp_path):
    outcome = drethtr("data", "gaps", SAMPLES, "--output", tmp_path / "gaps")
    assert outcome.code == 2 and "gaps: the file name must end in .parquet" in outcome.err
