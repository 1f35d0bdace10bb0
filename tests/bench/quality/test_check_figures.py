"""Which sets a model knows."""

from drethtr import Recognizer
from drethtr.bench.quality.check_figures import HELD_OUT, KNOWN, known_sets, pools_of


def test_known_sets_are_those_of_the_card(tiny_model):
    assert known_sets(tiny_model) == frozenset()
    assert "hooker_en" in known_sets(Recognizer.load(threads=1).model)


def test_a_pool_without_sets_is_left_out():
    assert pools_of(["b", "a", "b"], {"b"}) == {"a": ["a"], "b": ["b"], KNOWN: ["b"], HELD_OUT: ["a"]}
    assert list(pools_of(["a"], ())) == ["a", HELD_OUT]
