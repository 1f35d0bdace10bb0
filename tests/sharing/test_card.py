"""What a card lacks is found and named with its remedy."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from sharing_examples import CARD, RATES, complete

from drethtr.base.errors import DataError
from drethtr.evaluation.metrics import MIN_PAGES
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import SHIPPED, load_model
from drethtr.sharing.card import (
    ENOUGH,
    figures_of,
    is_own,
    missing_entries,
    read_additions,
    refuse_foreign,
    with_entries,
)


def without(*keys):
    return {key: value for key, value in CARD.items() if key not in keys}


def measured(**changes):
    return CARD | {"evaluation": {**CARD["evaluation"], "overall": RATES | changes}}


LACKING = {
    "data": (without("data"), "the training data"),
    "no data": (CARD | {"data": []}, "the training data"),
    "odd data": (CARD | {"data": "all of it"}, "the training data"),
    "source": (CARD | {"data": [{"set": "letters", "license": "CC0"}]}, "source of the data 'letters'"),
    "unknown license": (
        CARD | {"data": [{"set": "mine", "license": "not stated", "source": "Ada"}]},
        "license of the data 'mine'",
    ),
    "nameless": (CARD | {"data": [{}]}, "set and license and source of the data 'number 1'"),
    "relicensed": (
        CARD | {"data": [{"set": "kew", "license": "CC BY-SA 4.0", "source": "Kew"}]},
        "a share-alike license of the weights, as required by 'kew'",
    ),
    "sold": (
        CARD | {"data": [{"set": "kew", "license": "CC BY-NC 4.0", "source": "Kew"}]},
        "a license of the weights that forbids commercial use, as required by 'kew'",
    ),
    "changed": (
        CARD | {"data": [{"set": "kew", "license": "CC BY-ND 4.0", "source": "Kew"}]},
        "a license of the weights that forbids derivatives, as required by 'kew'",
    ),
    "license": (CARD | {"license": " "}, "the license of the weights"),
    "normalization": (without("normalization"), "the text normalization"),
    "evaluation": (without("evaluation"), "a character error rate with its interval"),
    "interval": (measured(cer_low=None), "a character error rate with its interval"),
    "endless": (measured(cer_high=10**400), "a character error rate with its interval"),
    "impossible": (measured(cer_low=0.3), "a character error rate with its interval"),
    "few lines": (measured(lines=99), "a character error rate on at least 100 lines of 6 pages"),
    "few pages": (
        measured(drawn=5, cer_low=None, cer_high=None),
        "a character error rate on at least 100 lines of 6 pages",
    ),
    "odd evaluation": (CARD | {"evaluation": 0.1}, "a character error rate with its interval"),
}


def test_a_complete_card_lacks_nothing(tiny_model):
    assert missing_entries(complete(tiny_model)) == []


def test_figures_of_another_model_are_none_of_its_own(tiny_model):
    card = CARD | {"evaluation": CARD["evaluation"] | {"made_by": {"model": "kin 0123456789ab"}}}
    [gap] = missing_entries(replace(complete(tiny_model), card=card))
    assert "of kin 0123456789ab, not of" in gap.what


def test_the_figures_of_the_shipped_model_are_its_own():
    """Also after a change of defaults, which the hash leaves out."""
    shipped = load_model(SHIPPED)
    assert is_own(shipped.card["evaluation"], shipped)


@pytest.mark.parametrize(("card", "what"), LACKING.values(), ids=LACKING)
def test_what_is_missing_is_named_with_its_remedy(tiny_model, card, what):
    [gap] = missing_entries(replace(complete(tiny_model), card=card))
    assert gap.what == what and gap.remedy


ALIKE = ["CC BY-SA 4.0", "cc-by-sa-4.0", "CC BY-NC-SA 4.0", "CC BY-SA4.0", "ccbysa", "Attribution-ShareAlike"]
FORBIDDING = ["CC BY-NC 4.0", "cc-by-nc-nd-4.0", "ccbyncsa", "not for commercial use", "CC BY-ND 3.0", "NoDerivatives"]


@pytest.mark.parametrize("name", [*ALIKE, *FORBIDDING])
def test_what_the_data_ask_for_has_to_be_given(tiny_model, name):
    card = CARD | {"license": name, "data": [{"set": "kew", "license": name, "source": "Kew"}]}
    assert missing_entries(replace(complete(tiny_model), card=card)) == []
    found = missing_entries(replace(complete(tiny_model), card=card | {"license": "CC BY 4.0"}))
    assert found and all(f'license = "{name}"' in gap.remedy for gap in found)


def test_the_license_that_asks_for_most_is_the_remedy(tiny_model):
    data = [{"set": name, "license": name, "source": "Kew"} for name in ("CC BY-SA 4.0", "CC BY-NC-SA 4.0")]
    found = missing_entries(replace(complete(tiny_model), card=CARD | {"license": "MIT", "data": data}))
    assert [gap.remedy for gap in found] == ["add license = \"CC BY-NC-SA 4.0\", not 'MIT'"] * 2


def test_a_model_that_is_not_calibrated_lacks_that(tiny_model):
    [gap] = missing_entries(replace(complete(tiny_model), record=CalibrationRecord()))
    assert gap.what == "calibrated confidences" and "drethtr model calibrate" in gap.remedy


def test_the_shipped_model_lacks_nothing():
    """With the card that the recipe puts into it."""
    recipe = Path(__file__).parents[2] / "recipes" / "card.toml"
    model = load_model(SHIPPED)
    card = {**model.card, **tomllib.loads(recipe.read_text(encoding="utf-8"))}
    assert missing_entries(replace(model, card=card)) == []


def test_entries_replace_and_data_are_added_set_by_set():
    mine = {"set": "mine", "license": "not stated", "source": "50 lines"}
    card = with_entries({"name": "a", "data": [*CARD["data"], mine]}, {"name": "b", "license": "CC0"})
    assert (card["name"], card["license"], len(card["data"])) == ("b", "CC0", 2)
    card = with_entries(card, {"data": [mine | {"license": "CC0"}]})
    assert [entry["license"] for entry in card["data"]] == ["CC0", "CC0"]


def test_figures_of_few_pages_are_told_without_an_interval():
    alone = dict.fromkeys(("cer_low", "cer_high", "wer_low", "wer_high"))
    assert figures_of(measured(drawn=5, **alone)) is not None
    assert figures_of(measured(cer_low=None)) is None
    assert figures_of(measured(cer=None, wer=None, **alone)) is not None, "without text"
    assert ENOUGH["drawn"] == MIN_PAGES


def test_figures_are_those_of_their_maker(tiny_model):
    refuse_foreign({"made_by": {"model": f"an older name {tiny_model.hash[:12]}"}}, tiny_model)
    with pytest.raises(DataError, match=f"the metrics are of compact a4e3638ecdbf, not of {tiny_model.identity}"):
        refuse_foreign({"made_by": {"model": "compact a4e3638ecdbf"}}, tiny_model)
    for odd in ({}, {"made_by": "me"}, 3):
        with pytest.raises(DataError, match="an unnamed model"):
            refuse_foreign(odd, tiny_model)


def test_data_without_a_name_and_several_of_one_set_stay():
    two = [{"license": "CC0"}, {"license": "CC BY 4.0"}, {"set": "mine", "source": "a"}, {"set": "mine", "source": "b"}]
    assert with_entries({"data": two}, {"license": "CC0"})["data"] == two
    assert with_entries({"data": "none"}, {"license": "CC0"})["data"] == "none"
    added = [{"license": "CC0"}, {"set": "mine", "source": "c"}]
    assert with_entries({"data": two}, {"data": added})["data"] == [*two[:2], *added]


def test_a_date_is_an_entry(tmp_path):
    (tmp_path / "card.toml").write_text("date = 2024-05-01", encoding="utf-8")
    assert read_additions(tmp_path / "card.toml") == {"date": "2024-05-01"}


def test_entries_are_read_from_toml_and_figures_from_json(tmp_path):
    (tmp_path / "card.toml").write_text('license = "CC0"', encoding="utf-8")
    (tmp_path / "figures.json").write_text(json.dumps(CARD["evaluation"]), encoding="utf-8")
    assert read_additions(tmp_path / "card.toml") == {"license": "CC0"}
    assert read_additions(tmp_path / "figures.json") == {"evaluation": CARD["evaluation"]}


def test_figures_of_layouts_are_no_error_rates(tmp_path):
    """They replaced the error rates in the card, since they have sets and a total, too."""
    found = CARD["evaluation"] | {"overall": {"pages": 6, "lines": 113, "f": 0.93}}
    (tmp_path / "layout.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(DataError, match=r"layout\.json: cannot be used: has no error rate of lines"):
        read_additions(tmp_path / "layout.json")


def test_figures_with_half_a_character_can_be_written(tmp_path):
    found = CARD["evaluation"] | {"convention": "\ud800"}
    (tmp_path / "figures.json").write_text(json.dumps(found), encoding="utf-8")
    assert read_additions(tmp_path / "figures.json")["evaluation"]["convention"] == "\ufffd"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_entries_may_be_saved_by_notepad(tmp_path, encoding):
    (tmp_path / "card.toml").write_text('license = "CC0"', encoding=encoding)
    assert read_additions(tmp_path / "card.toml") == {"license": "CC0"}


@pytest.mark.parametrize(
    ("entries", "answer"),
    [
        ('licence = "CC0"', "unknown entry 'licence'; did you mean 'license'"),
        ('[[data]]\nset = "a"\nsources = "Ada"', "unknown entry 'sources'; did you mean 'source'"),
        ("license = true", "the entry 'license' must be a string in quotes, not true"),
        ('description = ["a", "b"]', "the entry 'description' must be a string"),
        ('languages = "de"', "the entry 'languages' must be a list of strings, not \"de\""),
        ("weaknesses = [1]", "the entry 'weaknesses' must be a list of strings"),
        ('[data]\nset = "a"', r"the entry 'data' must be tables, each under \[\[…\]\], not {\"set\": \"a\"}"),
        ('[[data]]\nset = "a"\nlicense = 4.0', "the entry 'license' of the data 'a' must be a string in quotes"),
        ("evaluation = 0.1", "the entry 'evaluation' must be a table"),
    ],
)
def test_an_entry_that_would_be_ignored_is_refused_with_what_is_expected(entries, answer, tmp_path):
    (tmp_path / "card.toml").write_text(entries, encoding="utf-8")
    with pytest.raises(DataError, match=rf"card\.toml: cannot be used: {answer}"):
        read_additions(tmp_path / "card.toml")


def test_other_entries_are_free(tmp_path):
    (tmp_path / "card.toml").write_text('doi = "10.1/2"\n[[data]]\nuse = "validation"', encoding="utf-8")
    assert read_additions(tmp_path / "card.toml") == {"doi": "10.1/2", "data": [{"use": "validation"}]}


BAD = {"card.yaml": "license: CC0", "card.toml": "license = CC0", "other.json": '{"license": "CC0"}', "half.json": "{"}


@pytest.mark.parametrize("name", [*BAD, "gone.toml"])
def test_a_file_without_entries_is_named(name, tmp_path):
    if name in BAD:
        (tmp_path / name).write_text(BAD[name], encoding="utf-8")
    with pytest.raises(DataError, match=name):
        read_additions(tmp_path / name)
