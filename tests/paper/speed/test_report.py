import json
from xml.etree import ElementTree

import torch

from drethtr.paper.speed.race import Race
from drethtr.paper.speed.report import BenchmarkReport

RACE = Race("SMALL, batch 1", "s", {"ours": (1.0, 1.25), "theirs": (3.0, 3.0)}, {"by formula": 0.5})
CPU = torch.device("cpu")
REPORT = BenchmarkReport("Some <title>", ("A note.",), (RACE, RACE), CPU)


def test_table_holds_all_figures_and_lines_up():
    table = REPORT.table()
    assert table.startswith("## Some <title>\n\nA note.\n\n| work")
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert len({len(row) for row in rows}) == 1 and len(rows) == 2 + 2 * 3
    assert "| SMALL, batch 1 | ours" in rows[2] and "1.12 [1, 1.25] s" in rows[2]
    assert "theirs" in rows[3] and "3 s" in rows[3] and "2.7 [2.4, 3]" in rows[3]
    assert "*by formula*" in rows[4] and "0.5" in rows[4]


def test_json_has_every_single_figure_and_the_machine():
    found = json.loads(json.dumps(REPORT.to_json()))
    assert {"processor", "threads", "torch", "drethtr"} <= found["machine"].keys()
    assert found["machine"]["device"] == "cpu" and found["machine"]["gpu"] is None  # even where there is one
    race = found["races"][0]
    assert race["work"] == "SMALL, batch 1" and race["facts"] == {"by formula": 0.5}
    assert race["contenders"][1]["figures"] == [3.0, 3.0]
    assert race["contenders"][1]["ratio"] == {"median": 2.7, "low": 2.4, "high": 3.0}


def test_plots_are_well_formed():
    points = [Race("work", unit, {"ours": (1.0,), "theirs": (at,)}, at=at) for unit in ("s", "MB") for at in (1.0, 9.0)]
    for report in (REPORT, BenchmarkReport("Curves", (), points, CPU, "tokens")):
        drawing = ElementTree.fromstring(report.plot())
        assert drawing.tag.endswith("svg")
        words = [element.text for element in drawing.iter() if element.tag.endswith("text")]
        assert report.title in words and {"ours", "theirs"} <= set(words)
