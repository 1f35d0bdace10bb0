from drethtr.cli.reports import between, figure, interval, table


def test_columns_are_as_wide_as_needed():
    assert table(["set", "lines"], [["iam", "2,915"], ["a long name", "7"]]).splitlines() == [
        "set          lines",
        "iam          2,915",
        "a long name      7",
    ]


def test_more_columns_may_begin_at_the_left():
    assert table(["a", "b", "c"], [["xx", "yy", ""]], left=2).splitlines() == ["a   b   c", "xx  yy"]


def test_a_rate_that_is_not_known_is_a_dash():
    assert figure(None) == "–" and figure(0.5) == "50.00" and figure(0.98765, 3, 1) == "0.988"
    assert interval({"cer": None}, "cer") == "–"
    assert interval({"cer": 0.1, "cer_low": None}, "cer") == "10.00 –"
    assert interval({"cer": 0.1, "cer_low": 0.05, "cer_high": 0.2}, "cer") == "10.00 [5.00, 20.00]"


def test_differences_have_a_sign():
    assert between(-0.1, -0.2, 0.05, digits=1, sign="+") == "-10.0 [-20.0, +5.0]"
