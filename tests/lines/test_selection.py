from dataclasses import replace

from drethtr.lines.selection import choose, clean_lines


def names(samples):
    return [sample.text.rstrip("x") for sample in samples]


def test_takes_so_many_of_each_set_in_their_order(make_samples):
    samples = [*make_samples("b", 20), *make_samples("a", 3)]
    chosen = choose(samples, 5)
    places = [int(name[1:]) for name in names(chosen)]
    assert [sample.set for sample in chosen] == ["a"] * 3 + ["b"] * 5
    assert places[:3] == [0, 1, 2] and places[3:] == sorted(set(places[3:]))


def test_a_draw_does_not_depend_on_other_sets(make_samples):
    alone = choose(make_samples("b", 20), 5)
    assert names(choose([*make_samples("a", 9), *make_samples("b", 20)], 5))[5:] == names(alone)


def test_the_seed_decides(make_samples):
    samples = make_samples("a", 50)
    drawn = {tuple(names(choose(samples, 5, seed))) for seed in (0, 0, 1, 2)}
    assert len(drawn) == 3


def test_uncertain_texts_are_no_clean_lines(make_samples):
    first, second = make_samples("a", 2)
    assert clean_lines([replace(first, clean=False), second]) == [second]
