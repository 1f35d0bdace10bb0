from collections import Counter
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from conftest import written

from drethtr.base.errors import DataError
from drethtr.cli.model.finetune_report import material_text
from drethtr.datasets.layouts.folder import store_folder
from drethtr.datasets.parquet import encoded, store_parquet
from drethtr.datasets.sample import Sample, check_apart
from drethtr.images.prepare import Preparation
from drethtr.training.finetuning.material import (
    MAX_SHARE,
    MIN_LINES,
    REMEMBERED,
    SHARE,
    all_lines,
    drop_unreadable,
    folds_of,
    gather,
    split_lines,
    split_old_lines,
)
from drethtr.training.finetuning.plan import Plan


def lines(number, pages=0):
    """Lines that all differ, on so many pages; 0: on unknown ones."""
    return [
        Sample(written(f"line {i}"), f"line {i}", set="mine", page=f"page {i % pages}" if pages else None)
        for i in range(number)
    ]


def test_whole_pages_are_drawn():
    parts = split_lines(lines(100, pages=10))
    assert parts.by_page
    assert len(parts.train) + len(parts.validation) == 100 and not parts.left_out
    assert SHARE * 100 <= len(parts.validation) <= MAX_SHARE * 100
    check_apart({"train": parts.train, "validation": parts.validation})


@pytest.mark.parametrize(
    ("sets", "each"), [((150, 5), 200), ((1000, *[1] * 9), 191), ((50, 50), 200), ((70, 70, 70), 66), ([3] * 300, 1)]
)
def test_about_as_many_lines_choose_the_weights_however_many_sets_there_are(sets, each):
    """What small sets lack, large ones give."""
    validation = [replace(sample, set=f"set {n}") for n, number in enumerate(sets) for sample in lines(number)]
    assert replace(all_lines(lines(30)), validation=tuple(validation)).per_set(200) == each


def test_training_lines_come_page_by_page():
    pages = [sample.page for sample in split_lines(lines(100, pages=10)).train]
    assert len([page for page, _ in groupby(pages)]) == len(set(pages))


@pytest.mark.parametrize("pages", [0, 1, 2])
def test_lines_are_drawn_where_there_are_too_few_pages(pages):
    parts = split_lines(lines(40, pages))
    assert not parts.by_page and len(parts.validation) == round(SHARE * 40)
    check_apart({"train": parts.train, "validation": parts.validation})


@pytest.mark.parametrize("pages", [9, 8])
def test_folds_for_cross_fitting_have_whole_pages_where_there_are_enough(pages):
    everything = all_lines(lines(72, pages))
    assert len(everything.train) == 72 and everything.by_page == (pages == 9)
    first, second = folds_of(everything)
    for fold in (first, second):
        assert len(fold.validation) == 24 and len(fold.train) == 48
        check_apart({"train": fold.train, "validation": fold.validation})
    assert not {line.text for line in first.validation} & {line.text for line in second.validation}


def stored(samples, path):
    """The name of a file of lines."""
    store_parquet(samples, path)
    return str(path)


@pytest.mark.parametrize("cross_fit", [False, True])
def test_old_lines_that_are_learned_measure_no_forgetting(cross_fit, tiny_path, tmp_path):
    """Cross-fitting even measured its gain on lines that it had learned as old ones."""
    new, old = lines(40, pages=10), [replace(sample, set="old") for sample in lines(40, pages=10)[:30]]
    given = {"validation": (stored(lines(44)[40:], tmp_path / "val.parquet"),)} if not cross_fit else {}
    plan = Plan(data=(stored(new, tmp_path / "new.parquet"),), model=str(tiny_path), cross_fit=cross_fit, **given)
    with pytest.raises(DataError, match=r"the same image is in '--old-data'.* and in 'training lines'"):
        gather(replace(plan, old_data=(stored(old, tmp_path / "old.parquet"),)))


@pytest.mark.parametrize("cross_fit", [False, True])
def test_old_lines_of_a_page_that_is_learned_are_refused_though_pages_are_few(cross_fit, tiny_path, tmp_path):
    """Lines of so few pages are drawn one by one, and were then of no page."""
    new, old = lines(60, pages=2)[:30], lines(60, pages=2)[30:]
    files = stored(new, tmp_path / "new.parquet"), stored(old, tmp_path / "old.parquet")
    with pytest.raises(DataError, match=r"page 'page 0' of 'mine' is in '--old-data'.* and in 'DATA'"):
        gather(Plan(data=files[:1], model=str(tiny_path), cross_fit=cross_fit, old_data=files[1:]))


def test_folders_of_one_name_are_sets_of_their_own(tiny_path, tmp_path):
    """Pages of equal names were one page, which was refused as being both trained on and validated with."""
    folders = [tmp_path / box / "lines" for box in "abc"]
    for number, folder in enumerate(folders):
        store_folder(lines(90)[30 * number : 30 * (number + 1)], folder / "p")
    data, validation, old = ((str(folder),) for folder in folders)
    material = gather(Plan(data=data, model=str(tiny_path), validation=validation, old_data=old))
    parts = (material.parts.train, material.parts.validation, (*material.old, *material.remembered))
    assert [{sample.set for sample in part} for part in parts] == [{"a/lines"}, {"b/lines"}, {"c/lines"}]


def test_lines_that_cannot_be_used_do_not_stop_a_run_in_its_middle(tiny_path, tmp_path):
    new = stored(lines(40, pages=10), tmp_path / "new.parquet")
    long = Sample(np.full((8, 9_000), 255, np.uint8), "long", set="old", page="long")
    old = [*(replace(sample, set="old", page="old") for sample in lines(70)[40:]), long]
    plan = Plan(data=(new,), model=str(tiny_path), old_data=(stored(old, tmp_path / "old.parquet"),))
    material = gather(plan)
    assert len(material.old) + len(material.remembered) == 30
    stored(
        [replace(long, id=str(number), image=long.image - np.uint8(number)) for number in range(3)],
        tmp_path / "old.parquet",
    )
    with pytest.raises(DataError, match="none of the 3 old lines can be used; 3 too wide to train on"):
        gather(plan)
    for name, some in (("old", old), ("new", lines(40, pages=10))):
        stored([replace(sample, image=encoded(sample)[0][:-100]) for sample in some], tmp_path / f"{name}.parquet")
        with pytest.raises(DataError, match=rf"{name}\.parquet row \d+: .*truncated"):
            gather(plan)


def test_validation_lines_too_wide_to_train_on_are_not_learned(tiny_path, tmp_path):
    blank = np.full((8, 9_000), 255, np.uint8)
    long = [Sample(blank - np.uint8(n), "long", set="mine", page=f"page {n}") for n in range(10)]
    data = stored([*lines(30, pages=10), *long], tmp_path / "new.parquet")
    material = gather(Plan(data=(data,), model=str(tiny_path)))
    assert Counter(line.text == "long" for line in material.parts.validation) == {True: 2, False: 6}
    assert len(material.later) == 6 and material.learned == (*material.parts.train, *material.later)
    assert "8 for validation (other pages); 6 of these are learned at the end." in material_text(material)


def test_the_seed_decides():
    first, again, other = (split_lines(lines(60, pages=12), seed=seed).validation for seed in (1, 1, 2))
    assert [s.text for s in first] == [s.text for s in again] != [s.text for s in other]


def test_lines_to_choose_by_may_be_given():
    parts = split_lines(lines(30, pages=3), [Sample(written("other"), "other", set="theirs")])
    assert len(parts.train) == 30 and [sample.text for sample in parts.validation] == ["other"]


def test_lines_to_choose_by_must_be_usable():
    with pytest.raises(DataError, match="none of the 2 validation lines can be used; 1 without text; 1 with"):
        split_lines(lines(MIN_LINES), [Sample(written("a"), " "), Sample(written("b"), "b", clean=False)])


@pytest.mark.parametrize(("page", "apart"), [("page 9", True), (None, False)])
def test_given_lines_may_be_of_unknown_pages(page, apart):
    parts = split_lines(lines(30, pages=3), [Sample(written("other"), "other", set="mine", page=page)])
    assert parts.by_page == apart


def test_whole_pages_are_no_lines():
    wide = [Sample(np.full((40, 900 + number), 255, np.uint8), "wide", page=f"{number}") for number in range(MIN_LINES)]
    with pytest.raises(DataError, match="0 of 17 lines are short enough"):
        drop_unreadable(split_lines(wide), Preparation(height=40), 800)


def test_unusable_lines_are_counted():
    odd = [
        Sample(written("twice"), "twice"),
        Sample(written("twice"), "twice"),
        Sample(written("unsure"), "unsure", clean=False),
        Sample(written("empty"), " "),
    ]
    parts = split_lines([*lines(MIN_LINES), *odd])
    assert len(parts.train) + len(parts.validation) == MIN_LINES + 1
    assert Counter(parts.left_out.values()) == {1: 3}


def test_too_few_lines_are_refused():
    with pytest.raises(DataError, match=f"{MIN_LINES - 1} usable lines.*at least {MIN_LINES}"):
        split_lines(lines(MIN_LINES - 1))


@pytest.mark.parametrize(
    ("shape", "text", "height", "reason"),
    [
        ((40, 900), "wide", 40, "too wide to train on"),
        ((2, 3000), "too long to prepare", 64, "too wide to train on"),
        ((40, 199), 100 * "a", 40, "with more text than fits the image"),
    ],
)
def test_lines_that_are_too_wide_or_have_too_much_text_do_not_train(shape, text, height, reason):
    odd = Sample(np.full(shape, 255, np.uint8), text)
    parts = drop_unreadable(split_lines([*lines(MIN_LINES), odd], lines(1)), Preparation(height=height), 800)
    assert len(parts.train) == MIN_LINES and parts.left_out == {reason: 1}


def test_a_line_too_long_to_read_is_left_out_of_both_parts():
    """Drawn for validation, it ended the run that would have left it out of training."""
    long = [Sample(np.full((2, 30_000), gray, np.uint8), "long") for gray in range(2)]
    parts = drop_unreadable(
        split_lines([*lines(MIN_LINES), long[0]], [*lines(1), long[1]]), Preparation(height=40), 800
    )
    assert [sample.text for sample in parts.validation] == ["line 0"] and len(parts.train) == MIN_LINES
    assert parts.left_out == {"too wide to train on": 1, "too long for their height to be read": 1}
    with pytest.raises(DataError, match="none of the 1 validation lines is short enough to be read"):
        drop_unreadable(split_lines(lines(MIN_LINES), long[1:]), Preparation(height=40), 800)


def test_forgetting_is_measured_on_old_lines_that_are_not_mixed_in():
    mixed, remembered = split_old_lines(lines(100, pages=10))
    assert SHARE * 100 <= len(remembered) <= REMEMBERED and len(mixed) + len(remembered) == 100
    check_apart({"mixed in": mixed, "remembered": remembered})


def test_few_old_lines_are_all_mixed_in():
    mixed, remembered = split_old_lines(lines(MIN_LINES - 1))
    assert len(mixed) == MIN_LINES - 1 and not remembered


def test_old_lines_must_be_usable():
    with pytest.raises(DataError, match="none of the 1 old lines can be used; 1 "):
        split_old_lines([Sample(written("b"), "b", clean=False)])
