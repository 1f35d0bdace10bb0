from xml.etree import ElementTree

import pytest

from drethtr.pictures.chart import Axis, Panel, curves, ranges, spanning

SVG = "{http://www.w3.org/2000/svg}"


def places(drawing, name):
    return [float(dot.get(name)) for dot in ElementTree.fromstring(drawing).iter(f"{SVG}circle") if dot.get("r")]


def test_an_axis_is_logarithmic():
    axis = Axis(1, 100, start=10, pixels=200)
    assert axis(1) == 10 and axis(10) == pytest.approx(110) and axis(100) == 210


def test_an_axis_may_run_upward():
    assert Axis(1, 100, start=300, pixels=-200)(100) == 100


@pytest.mark.parametrize("values", [(1, 1.3), (1.2, 1.25), (0.8, 2.2), (0.5, 40), (1e-3, 1e4), (7, 7)])
def test_ticks_are_round_few_and_within(values):
    axis = spanning(values, 0, 100)
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks())
    assert 1 <= len(axis.ticks()) <= 12


def test_a_greater_figure_stands_further_right():
    drawing = ranges("A & B", "times A", [("one", {"A": (1, 1, 1), "B": (2, 1.5, 3)}), ("two", {"A": (1, 1, 1)})])
    _, _, first, second, third = places(drawing, "cx")
    assert first == third < second
    rows = places(drawing, "cy")[2:]
    assert rows[0] == rows[1] < rows[2]


def test_a_name_has_one_color_in_all_panels():
    panels = [
        Panel("s", "N", {"A": [(1, 1), (10, 5)]}),
        Panel("MB", "N", {"B": [(1, 2), (9, 3)], "A": [(1, 1), (9, 9)]}),
    ]
    lines = [line.get("stroke") for line in ElementTree.fromstring(curves("t", panels)).iter(f"{SVG}polyline")]
    assert lines[0] == lines[2] != lines[1]
