import pickle
from collections import Counter
from math import inf, nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drethtr.base import config
from drethtr.base.errors import ConfigError, DataError
from drethtr.synthesis.synthetic import Synthetic
from drethtr.training.feed.mixture import DECK, LineMixture, deck
from drethtr.training.feed.supply import LineSource, Made, Real, RealSupply, SetFactor
from drethtr.training.layout.sources import Marked


@pytest.fixture
def pattern(draw, tmp_path):
    """Parquet files of a large set with some lines that are not clean, and of a small one."""
    for name, count in (("large", 90), ("small", 10)):
        texts = [f"{name}{number:02}" for number in range(count)]
        columns = {
            "image": [draw(text) for text in texts],
            "text": [*texts[:-1], " "],
            "set": [name] * count,
            "clean": [number >= 9 or name == "small" for number in range(count)],
        }
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    return str(tmp_path / "*.parquet")


def sets(mixture, count=DECK):
    """The share of each set in the first samples."""
    return {name: n / count for name, n in Counter(mixture.sample(i).set for i in range(count)).items()}


def test_real_lines_are_filtered(pattern):
    large, small = (supply for _, supply in Real(paths=(pattern,)).open())
    assert (large.set, len(large.samples), large.left_out) == ("large", 80, 10)
    assert (small.set, len(small.samples), small.left_out) == ("small", 9, 1)
    [(_, large), _] = Real(paths=(pattern,), clean_only=False).open()
    assert len(large.samples) == 89 and large.left_out == 1
    with pytest.raises(DataError, match="no training lines left"):
        Real(paths=(pattern,), factors=(SetFactor(set="large", factor=0.0), SetFactor(set="small", factor=0.0))).open()


@pytest.mark.parametrize(("balance", "small"), [(1.0, 9 / 89), (0.0, 1 / 2), (0.5, 3 / (3 + 80**0.5))])
def test_balance(pattern, balance, small):
    mixture = LineMixture.open((Real(paths=(pattern,), balance=balance),), seed=0)
    assert sets(mixture)["small"] == pytest.approx(small, abs=1e-3)


def test_factors(pattern):
    factors = (SetFactor(set="small", factor=2.0),)
    assert sets(LineMixture.open((Real(paths=(pattern,), factors=factors),), 0))["small"] == pytest.approx(
        18 / 98, abs=1e-3
    )
    none = (SetFactor(set="small", factor=0.0),)
    assert sets(LineMixture.open((Real(paths=(pattern,), factors=none),), 0)) == {"large": 1.0}
    with pytest.raises(ConfigError, match="set 'smal' in factors; known: large, small"):
        Real(paths=(pattern,), factors=(SetFactor(set="smal", factor=2.0),)).open()
    with pytest.raises(ConfigError, match=r"factor must be between 0 and 1e\+09, not -"):
        SetFactor(set="small", factor=-1.0)


@pytest.mark.parametrize("source", [Real, Marked])
@pytest.mark.parametrize("balance", [1000.0, nan])
def test_a_balance_beyond_its_ends_is_refused(source, balance):
    with pytest.raises(ConfigError, match=f"balance must be between 0 and 1, not {balance}"):
        source(paths=("*",), balance=balance)


@pytest.mark.parametrize("weight", [inf, nan])
def test_weights_from_which_no_shares_follow_are_refused(weight):
    for made in (lambda: Real(paths=("*",), weight=weight), lambda: SetFactor(set="small", factor=weight)):
        with pytest.raises(ConfigError, match=rf"must be between 0 and 1e\+09, not {weight}"):
            made()


def test_weights_of_sources(pattern):
    large, small = pattern.replace("*", "large"), pattern.replace("*", "small")
    mixture = LineMixture.open((Real(paths=(large,), weight=1.0), Real(paths=(small,), weight=3.0)), seed=0)
    assert sets(mixture)["small"] == pytest.approx(0.75, abs=1e-3)
    with pytest.raises(ConfigError, match=r"weight must be between 0 and 1e\+09, not -1"):
        Real(paths=(large,), weight=-1.0)
    with pytest.raises(ConfigError, match="at least one source"):
        LineMixture.open((Real(paths=(large,), weight=0.0),), seed=0)
    with pytest.raises(ConfigError, match="at least one source"):
        LineMixture.open((), seed=0)


def test_a_source_of_no_weight_only_lends_its_characters(pattern):
    large, small = pattern.replace("*", "large"), pattern.replace("*", "small")
    mixture = LineMixture.open((Real(paths=(large,), weight=0.0), Real(paths=(small,))), seed=0)
    assert sets(mixture) == {"small": 1.0} and {sample.set for sample in mixture.real_samples()} == {"small"}
    assert set("largesm") <= set("".join(mixture.texts()))
    assert [line.split()[0] for line in mixture.summary().splitlines()[1:]] == ["100.0", "0.0"]


def test_no_line_comes_again_before_all_others_came(make_samples):
    """Across the edges of decks, too: 7 lines do not divide a deck."""
    supplies = (RealSupply("a", make_samples("a", 7)), RealSupply("b", make_samples("b", 5)))
    mixture = LineMixture(supplies, (0.7, 0.3), seed=1)
    for name, count in (("a", 7), ("b", 5)):
        seen = [s.key for s in map(mixture.sample, range(DECK - 200, DECK + 200)) if s.set == name]
        rounds = [seen[start : start + count] for start in range(0, len(seen) - count + 1, count)]
        shifts = [
            all(len({*seen[start : start + count]}) == count for start in range(shift, len(seen) - count, count))
            for shift in range(count)
        ]
        assert any(shifts)
        assert len({tuple(r) for r in rounds}) > 1, "every round has the same order"


def test_a_sample_depends_on_seed_and_index_only(make_samples):
    def keys(seed, indices):
        mixture = LineMixture(
            (RealSupply("a", make_samples("a", 50)), RealSupply("b", make_samples("b", 9))), (0.5, 0.5), seed
        )
        return {index: mixture.sample(index).key for index in indices}

    forward = keys(3, range(DECK + 100))
    assert keys(3, range(DECK + 99, DECK - 100, -1)).items() <= forward.items()
    assert keys(4, range(100)) != keys(3, range(100))


def test_equal_sets_are_not_drawn_alike(make_samples):
    mixture = LineMixture(
        (RealSupply("a", make_samples("a", 40)), RealSupply("b", make_samples("b", 40))), (0.5, 0.5), 0
    )
    samples = [mixture.sample(index) for index in range(60)]
    a, b = ([int(s.text[1:].rstrip("x")) for s in samples if s.set == name][:20] for name in "ab")
    assert a != b


def test_deck_counts_its_cards():
    cards, earlier, counts = deck((0.6, 0.4 - 1e-9, 1e-9), 5, 0)
    assert counts.sum() == DECK and counts[2] == 1
    for supply in range(3):
        assert earlier[cards == supply].tolist() == list(range(counts[supply]))
    assert deck((0.6, 0.4 - 1e-9, 1e-9), 6, 0)[0].tolist() != cards.tolist()


def test_real_samples_and_summary(pattern):
    mixture = LineMixture.open((Real(paths=(pattern,)),), seed=0)
    assert len(mixture.real_samples()) == 89
    assert mixture.summary().splitlines() == [
        "drawn from:",
        "   89.9 %  large: 80 lines (10 left out)",
        "   10.1 %  small: 9 lines (1 left out)",
    ]
    everything = LineMixture.open((Real(paths=(pattern.replace("*", "large"),), clean_only=False),), seed=0)
    assert everything.summary() == "drawn from:\n  100.0 %  large: 89 lines (1 left out)"
    copy = pickle.loads(pickle.dumps(mixture))
    assert [copy.sample(i).key for i in range(20)] == [mixture.sample(i).key for i in range(20)]


def test_sources_from_a_configuration():
    assert config.from_dict(LineSource, {"kind": "Real", "paths": ["a.parquet"], "balance": 0.5}) == Real(
        paths=("a.parquet",), balance=0.5
    )
    made = {"kind": "Made", "weight": 2.0, "lines": {"fonts": "fonts", "texts": ["novel.txt"]}}
    assert config.from_dict(LineSource, made) == Made(weight=2.0, lines=Synthetic(fonts="fonts", texts=("novel.txt",)))


def store(path, draw, texts, words=None):
    """Lines of some texts, whose images say something else if there are other `words`."""
    if path.suffix == ".parquet":
        columns = {"image": [draw(word) for word in words or texts], "text": texts}
        pq.write_table(pa.table(columns), path, row_group_size=2)
        return
    for number, word in enumerate(words or texts):
        (path.parent / f"{number}.png").write_bytes(draw(word))
    path.write_text("".join(f"{number}.png\t{text}\n" for number, text in enumerate(texts)))


@pytest.mark.parametrize(("kind", "suffix"), [("Real", ".parquet"), ("Real", ".tsv"), ("Streamed", ".parquet")])
def test_other_lines_have_another_digest(kind, suffix, draw, tmp_path):
    digests = []
    for folder, texts, words in (
        ("here", ["a", "b", "c"], None),
        ("there", ["a", "b", "c"], None),
        ("edited", ["a", "b", "d"], ["a", "b", "c"]),
        ("grown", ["a", "b", "c", "d"], None),
        ("in another order", ["a", "c", "b"], None),
        ("of other images", ["a", "b", "c"], ["a", "b", "longer"]),
    ):
        (tmp_path / folder).mkdir()
        store(tmp_path / folder / f"lines{suffix}", draw, texts, words)
        source = config.from_dict(LineSource, {"kind": kind, "paths": [str(tmp_path / folder / f"lines{suffix}")]})
        digests += LineMixture.open([source], 0).digests()
    assert digests[0] == digests[1] and len(set(digests)) == 5


@pytest.mark.parametrize("edited", ["a.ttf", "text_en.txt"])
def test_lines_made_of_something_else_have_another_digest(edited, tmp_path):
    for name in ("a.ttf", "text_en.txt"):
        (tmp_path / name).write_text("before")
    made = Made(lines=Synthetic(fonts=str(tmp_path), texts=(str(tmp_path / "text_en.txt"),)))
    before = LineMixture.open([made], 0).digests()
    assert LineMixture.open([made], 1).within("abc").digests() == before
    (tmp_path / edited).write_text("beyond")
    assert LineMixture.open([made], 0).digests() != before
