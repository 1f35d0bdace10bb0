"""Which lines are accepted as training data, by the probabilities that they are right."""

from drethtr.proofreading.ground_truth import accepted
from drethtr.proofreading.proof import ProofLine
from drethtr.proofreading.verdict import TextCheck


def lines(*probabilities):
    return [ProofLine("p", n, TextCheck("text", (), p, ""), ()) for n, p in enumerate(probabilities)]


def test_accepted_lines_keep_their_order():
    assert [line.line for line in accepted(lines(0.92, 0.2, 0.99, 0.8), 0.95)] == [0, 2]


def test_lines_without_text_are_not():
    assert accepted([ProofLine("p", 0, TextCheck("", (), 1.0, ""), ())], 0.5) == []
