import json
import pickle
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drethtr.base import config
from drethtr.base.errors import DataError
from drethtr.datasets.open import open_all
from drethtr.datasets.parquet import open_parquet
from drethtr.training.feed import LineSource, Real, Streamed
from drethtr.training.feed.mixture import LineMixture


@pytest.fixture
def pattern(draw, tmp_path):
    """Three files of lines, one of them empty; some lines are not clean, one has no text."""
    for name, count in (("a", 53), ("b", 0), ("c", 40)):
        texts = [f"{name}{number:02}" if number != 5 else " " for number in range(count)]
        columns = {
            "image": pa.array([draw(text) for text in texts], pa.binary()),
            "text": pa.array(texts, pa.string()),
            "clean": [number % 9 != 1 for number in range(count)],
        }
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=4)
    return str(tmp_path / "*.parquet")


def lines(supply, numbers, seed=1):
    return [supply.sample(number, seed).text for number in numbers]


def test_the_lines_are_those_in_memory(pattern):
    """Filtered alike, with the same images and names, each once in a round."""
    [(_, supply)] = Streamed(paths=(pattern,)).open()
    kept = {sample.key: sample for sample in open_all([pattern]) if Real(paths=()).is_usable(sample.text, sample.clean)}
    drawn = [supply.sample(number, 1) for number in range(supply.lines)]
    assert Counter(sample.key for sample in drawn) == Counter(kept.keys())
    for sample in drawn:
        other = kept[sample.key]
        assert (sample.image, sample.text, sample.set) == (other.image, other.text, other.set)
    assert sorted(supply.texts()) == sorted(sample.text for sample in kept.values())
    assert supply.describe() == f"streamed: {len(kept)} lines from 2 files"


def test_columns_may_have_the_names_of_the_hub(draw, tmp_path):
    """A file with `im`, or numbers of classes, was refused or read otherwise than in memory."""
    features = {"writing_type": {"names": ["handwritten", "printed"], "_type": "ClassLabel"}}
    table = pa.table({
        "im": [draw("a"), draw("b")],
        "text": ["a", "b"],
        "language": ["la", "fr"],
        "shelfmark": ["Ms 1", "Ms 2"],
        "writing_type": [0, 1],
    })  # fmt: skip
    path = str(tmp_path / "letters.parquet")
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})}), path)
    [(_, supply)] = Streamed(paths=(path,)).open()
    streamed = sorted((supply.sample(number, 1) for number in range(2)), key=lambda sample: sample.text)
    for found, other in zip(streamed, open_all([path]), strict=True):
        for name in ("image", "text", "set", "language", "hand", "key"):
            assert getattr(found, name) == getattr(other, name)
    assert [sample.set for sample in streamed] == ["letters_handwritten", "letters_printed"]


def test_every_round_has_another_order(pattern, monkeypatch):
    """Lines of far blocks meet, and of two rounds or seeds none is like the other; any number can be asked for."""
    monkeypatch.setattr("drethtr.training.feed.streamed.TOGETHER", 3)
    [(_, supply)] = Streamed(paths=(pattern,)).open()
    size = supply.lines
    rounds = [lines(supply, range(start, start + size)) for start in (0, size)] + [lines(supply, range(size), seed=2)]
    assert len({tuple(texts) for texts in rounds}) == 3 and len({tuple(sorted(texts)) for texts in rounds}) == 1
    assert sorted(rounds[0]) != rounds[0]
    assert all({text[0] for text in texts[:30]} == {"a", "c"} for texts in rounds), "the first file comes first"
    copy = pickle.loads(pickle.dumps(supply))
    assert lines(copy, range(2 * size - 1, -1, -7)) == [(rounds[0] + rounds[1])[n] for n in range(2 * size - 1, -1, -7)]


def test_few_blocks_are_read_for_lines_that_come_together(pattern, monkeypatch):
    """Otherwise a whole row group would be read for every line."""
    monkeypatch.setattr("drethtr.training.feed.streamed.TOGETHER", 3)
    [(_, supply)] = Streamed(paths=(pattern,)).open()
    lines(supply, range(20))
    assert supply.rows.cache_info().misses <= 9
    assert "rows" not in vars(pickle.loads(pickle.dumps(supply))), "blocks travel to other processes"


def test_a_source_does_not_take_the_memory_of_others(draw, tmp_path, monkeypatch):
    """Of one cache for all sources of a mixture, each would drop the blocks that the next one needs."""
    image, supplies, opened = draw("a"), [], []
    for number in range(6):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"image": [image] * 80, "text": ["a"] * 80}), path, row_group_size=4)
        supplies += [supply for _, supply in Streamed(paths=(str(path),)).open()]
    monkeypatch.setattr(
        "drethtr.training.feed.streamed.open_parquet", lambda file: opened.append(file) or open_parquet(file)
    )
    for number in range(64):
        for supply in supplies:
            supply.sample(number, 1)
    assert len(opened) == 6 * 16


def test_streamed_lines_in_a_mixture(pattern):
    source = config.from_dict(LineSource, {"kind": "Streamed", "paths": [pattern], "weight": 2.0})
    mixture = LineMixture.open((source, Real(paths=(pattern,))), seed=3)
    assert mixture.summary().splitlines()[1].startswith("   66.7 %  streamed: ")
    assert len(list(mixture.texts())) == 2 * len(mixture.real_samples())


def test_every_pattern_matches_files_of_its_own(pattern):
    """A line of two patterns would come twice in a round."""
    for paths, message in (
        ((pattern, pattern.replace("*", "gone")), r"gone\.parquet: matches no file"),
        ((pattern, pattern.replace("*", "a")), r"a\.parquet: is already given"),
    ):
        with pytest.raises(DataError, match=message):
            Streamed(paths=paths).open()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"image": [b""]}, r"a.parquet: no column text; it has image"),
        ({"image": [b""], "text": [" "]}, r"no training lines left in .*a.parquet"),
        ({"image": [b""] * 5001, "text": ["a"] * 5001}, r"a.parquet: a row group has 5,001 rows, too many to stream"),
    ],
)
def test_files_that_cannot_be_streamed(tmp_path, columns, message):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(DataError, match=message):
        Streamed(paths=(str(path),)).open()
