"""Configs survive the trip to disk, and mistakes are named where they are."""

import json
import subprocess
import sys
from dataclasses import dataclass, field, make_dataclass, replace

import pytest

from drethtr.base.config import changes, essence, from_dict, load, set_values, to_dict
from drethtr.base.errors import ConfigError
from drethtr.paper.variants import (
    RETHTR_SMALL,
    TRHTR_SMALL,
    EncoderDecoder,
    Fade,
    Gated,
    HeadNorm,
    JointSoftmax,
    Patches,
    SplitSoftmax,
)
from drethtr.recognition.model.architecture import (
    BASE,
    COMPACT,
    SMALL,
    Added,
    CTCConfig,
    EfficientNetV2S,
    Learned,
    Light,
    NetworkConfig,
    NoPrior,
    Retentive,
)
from drethtr.recognition.model.decay import Scheduled


class Animal:
    """A choice of two."""


@dataclass(frozen=True)
class Cat(Animal):
    lives: int = 9


@dataclass(frozen=True)
class Dog(Animal):
    name: str
    weight: float = 20.0

    def __post_init__(self):
        if self.weight <= 0:
            raise ConfigError(f"a dog weighs more than 0, not {self.weight}")


@dataclass(frozen=True, kw_only=True)
class House:
    street: str
    number: int = 1
    heated: bool = True
    size: tuple[float, int] = (8.0, 12)
    names: tuple[str, ...] = ()
    keeper: Animal = Cat(lives=7)
    animals: tuple[Animal, ...] = ()
    guest: Animal | None = None
    owner: Dog | None = Dog("Rex", weight=30.0)
    network: NetworkConfig = COMPACT


HOUSES = [
    House(street="a"),
    House(street="b", number=-3, heated=False, size=(1e9, 1), names=("x", "y z"), guest=Dog("Ino"), owner=None),
    House(street="c", animals=(Cat(), Dog("Ino", 1.5), Cat(1)), keeper=Dog("Rex"), network=SMALL),
]
NETWORKS = [
    SMALL,
    BASE,
    COMPACT,
    replace(COMPACT, mixer=Retentive(Gated(8.0), normalize=False), prior=NoPrior(), ctc=None),
    replace(SMALL, mixer=JointSoftmax(), backbone=Light(height=48), positions=Learned(7)),
    RETHTR_SMALL,
    replace(TRHTR_SMALL, architecture=EncoderDecoder(2, 64), output=HeadNorm(on_image=False), text_positions=False),
    replace(SMALL, mixer=JointSoftmax(Fade(Scheduled("small"), normalize=False)), backbone=Patches(rows=64, columns=4)),
    replace(BASE, mixer=SplitSoftmax(), prior=Added(Scheduled("small", 0.5)), backbone=EfficientNetV2S(canvas=2227)),
]


@pytest.mark.parametrize("config", HOUSES + NETWORKS, ids=str)
def test_a_config_survives_saving(config):
    for form in (to_dict, changes):
        assert from_dict(type(config), json.loads(json.dumps(form(config)))) == config


def read(tmp_path, text, *overrides):
    file = tmp_path / "house.toml"
    file.write_text(text, encoding="utf-8")
    return load(House, file, overrides)


def test_another_kind_loses_the_settings_of_the_former_one(tmp_path):
    text = 'street = "Gasse"\n[guest]\nkind = "Dog"\nname = "Ino"\nweight = 2\n'
    assert read(tmp_path, text, "guest.lives=3", "guest.kind=Cat").guest == Cat(lives=3)
    assert read(tmp_path, text, "guest.kind=Dog").guest == Dog(name="Ino", weight=2)
    data = {"lives": 3, "kind": "Cat"}
    set_values(data, ["name=Rex", "kind=Dog"])
    assert data == {"kind": "Dog", "name": "Rex"}
    data = {"house": {"kind": "House", "guest": {"kind": "Dog"}}}
    set_values(data, ["house.guest.kind=Cat", "house.kind=Hut"])
    assert data == {"house": {"kind": "Hut", "guest": {"kind": "Cat"}}}


def test_toml_with_overrides(tmp_path):
    house = read(
        tmp_path,
        'street = "Gasse"\nnumber = 3\nanimals = [{kind = "Cat"}, {kind = "Dog", name = "Rex"}]\n'
        '[guest]\nkind = "Dog"\nname = "Ino"\n',
        "street=Straße 3=b",
        "number = -4",
        "guest.weight=2",
        "animals.1.weight=4",
        "size=[1, 2]",
        'names=["x", "y"]',
        "network.mixer.kind=JointSoftmax",
        "heated=false",
    )
    assert house == House(
        street="Straße 3=b",
        number=-4,
        animals=(Cat(), Dog("Rex", 4.0)),
        guest=Dog("Ino", 2.0),
        size=(1.0, 2),
        names=("x", "y"),
        network=replace(COMPACT, mixer=JointSoftmax()),
        heated=False,
    )


def test_what_is_left_out_stays_as_it_is_by_default(tmp_path):
    """A network that is COMPACT by default stays so but for what is set, and needs no kind to be named again."""
    house = read(
        tmp_path, 'street = "a"\n', "network.layers=2", "network.ctc.steps=3", "network.mixer.decay.subtractor=0.5"
    )
    expected = replace(COMPACT, layers=2, ctc=CTCConfig(steps=3), mixer=Retentive(Scheduled(subtractor=0.5)))
    assert house.network == expected
    assert read(tmp_path, 'street = "a"\n', "owner.name=Ino").owner == Dog("Ino", weight=30.0)
    assert read(tmp_path, 'street = "a"\n[keeper]\n').keeper == Cat(lives=7)


def test_another_kind_starts_from_its_own_defaults(tmp_path):
    house = read(tmp_path, 'street = "a"\n', "keeper.kind=Dog", "keeper.name=Ino")
    assert house.keeper == Dog("Ino", weight=20.0)
    house = read(tmp_path, 'street = "a"\n', "network.mixer.decay.kind=Gated")
    assert house.network.mixer == Retentive(Gated(temperature=16.0))


def test_false_stands_for_nothing_where_a_field_may_be_empty(tmp_path):
    house = read(tmp_path, 'street = "a"\n', "owner=false", "network.ctc=false")
    assert house == House(street="a", owner=None, network=replace(COMPACT, ctc=None))
    assert house.heated


def test_a_list_of_settings_is_no_default_for_another():
    first = from_dict(House, {"street": "a", "animals": [{"kind": "Cat", "lives": 3}]})
    assert from_dict(House, {"animals": [{"kind": "Cat"}]}, default=first).animals == (Cat(),)


def test_defaults_are_made_anew():
    @dataclass(frozen=True)
    class Kennel:
        dog: Dog = field(default_factory=lambda: Dog("Rex"))

    assert from_dict(Kennel, {"dog": {"weight": 3}}).dog == Dog("Rex", 3.0)


MISTAKES = {
    "missing": ({}, "^missing setting 'street' of "),
    "misspelt": ({"street": "a", "numbre": 3}, "^numbre: unknown setting of House; did you mean 'number'"),
    "type": ({"street": "a", "number": "3"}, "^number: expected int, got '3'"),
    "too large": ({"guest": {"kind": "Dog", "weight": 10**400}}, "^guest.weight: its number has too many digits"),
    "too large for a hash": ({"street": "a", "number": 10**400}, "^number: its number has too many digits"),
    "bool is no int": ({"street": "a", "number": True}, "^number: expected int, got True"),
    "int is no bool": ({"street": "a", "heated": 1}, "^heated: expected bool, got 1"),
    "false is not nothing": (
        {"street": "a", "network": False},
        "^network: expected a table of NetworkConfig, got False",
    ),
    "kind": ({"street": "a", "guest": {"kind": "Cow"}}, "^guest: unknown kind 'Cow'; known: Cat, Dog$"),
    "misspelt kind": ({"street": "a", "guest": {"kind": "dog"}}, "^guest: unknown kind 'dog'; did you mean 'Dog'"),
    "no kind": ({"street": "a", "guest": {"name": "Ino"}}, "^guest: missing kind of Animal; known: Cat, Dog$"),
    "strange kind": (
        {"street": "a", "guest": {"kind": ["Dog"]}},
        r"^guest: unknown kind \['Dog'\]; did you mean 'Dog'",
    ),
    "table": (
        {"street": "a", "guest": "Dog"},
        "^guest: expected a table of Animal, got 'Dog'; give one with a kind, .* { kind = 'Cat' }; known: Cat, Dog$",
    ),
    "list": ({"street": "a", "names": "x"}, "^names: expected a list, got 'x'"),
    "one table": ({"street": "a", "animals": {"kind": "Cat"}}, r"^animals: expected a list, .* write \[\[animals\]\]$"),
    "item": ({"street": "a", "names": ["x", 2]}, r"^names\[1\]: expected str, got 2"),
    "item of a pair": ({"street": "a", "size": [1, 2.5]}, r"^size\[1\]: expected int, got 2.5"),
    "too few": ({"street": "a", "size": [1.0]}, r"^size: expected 2 values, got \[1.0\]"),
    "too many": ({"street": "a", "size": [1, 2, 3]}, r"^size: expected 2 values, got \[1, 2, 3\]"),
    "in a list": (
        {"street": "a", "animals": [{"kind": "Cat"}, {"kind": "Dog", "nmae": "x"}]},
        r"^animals\[1\].nmae: unknown setting of Dog; did you mean 'name'",
    ),
    "unlike any": ({"street": "a", "zzz": 3}, "^zzz: unknown setting of House; known: street, "),
    "value": ({"street": "a", "owner": {"weight": -1}}, "^owner: a dog weighs more than 0, not -1.0$"),
    "deep": (
        {"street": "a", "network": {"mixer": {"decay": {"schedule": "layer-wise"}}}},
        "^network.mixer.decay: unknown decay schedule 'layer-wise'; known: original",
    ),
    "other kind": (
        {"street": "a", "network": {"mixer": {"kind": "JointSoftmax", "normalize": True}}},
        "^network.mixer.normalize: unknown setting of JointSoftmax; known: fade$",
    ),
}


def test_changes_are_what_a_person_would_write():
    house = House(street="a", animals=(Cat(), Cat(3)), keeper=Cat(lives=8), owner=None)
    animals = [{"kind": "Cat"}, {"kind": "Cat", "lives": 3}]
    assert changes(house) == {"kind": "House", "street": "a", "animals": animals, "keeper": {"lives": 8}, "owner": None}
    assert changes(replace(house, network=replace(COMPACT, heads=8)))["network"] == {"heads": 8}


def test_the_essence_is_what_is_not_by_default():
    """It survives a version that knows more settings, and the trip to disk, where 30 becomes 30.0."""
    house = House(street="a", number=1, owner=Dog("Rex", weight=30), animals=(Cat(), Cat(3)))
    found = {"kind": "House", "street": "a", "animals": [{"kind": "Cat"}, {"kind": "Cat", "lives": 3.0}]}
    assert essence(house) == found
    heavy = replace(house, owner=Dog("Rex", weight=40))
    assert json.dumps(essence(heavy)) == json.dumps(essence(from_dict(House, to_dict(heavy))))
    assert essence(heavy)["owner"] == {"kind": "Dog", "name": "Rex", "weight": 40.0}


@pytest.mark.parametrize(("data", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_named_where_they_are(data, message):
    with pytest.raises(ConfigError, match=message):
        from_dict(House, data)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("number", "^--set number: expected dotted.name=value"),
        ("street.name=3", "^--set street.name=3: 'street' is a value, not a table"),
        ("animals.name=Rex", "^--set animals.name=Rex: 'animals' is a list of 1 item; 'name' is not an index from 0"),
        ("animals.1.name=Rex", "'animals' is a list of 1 item; '1' is not an index from 0"),
        (f"number={'1' * 5000}", "^--set number: its number has too many digits$"),
        ("numbre=3", r"house\.toml --set numbre=3: numbre: unknown setting of House; did you mean 'number'"),
    ],
)
def test_a_wrong_override_is_named(tmp_path, override, message):
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, 'street = "a"\nanimals = [{kind = "Cat"}]\n', override)


def test_a_file_that_cannot_be_used_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file"):
        load(House, tmp_path / "gone.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(House, tmp_path)
    with pytest.raises(ConfigError, match=r"house\.toml: not valid TOML: .*line 2"):
        read(tmp_path, 'street = "a"\nnumber = = 3')
    (tmp_path / "latin.toml").write_bytes('street = "Straße"'.encode("latin-1"))
    (tmp_path / "deep.toml").write_text("a = " + "[" * 3000)
    with pytest.raises(ConfigError, match=r"deep\.toml: not valid TOML: .*recursion"):
        load(House, tmp_path / "deep.toml")
    with pytest.raises(ConfigError, match=r"house\.toml: not valid TOML: .*digits"):
        read(tmp_path, "number = " + "1" * 5000)
    with pytest.raises(ConfigError, match="--set a: its value is nested too deeply"):
        read(tmp_path, "", "a=" + "[" * 3000)
    with pytest.raises(ConfigError, match=r"latin\.toml: not valid TOML"):
        load(House, tmp_path / "latin.toml")


def test_a_mistake_in_a_file_names_the_file(tmp_path):
    with pytest.raises(ConfigError, match=r"house\.toml: number: expected int, got 'x'"):
        read(tmp_path, 'street = "a"\nnumber = "x"\n')


class Plant:
    """A base that knows nothing yet."""


def test_two_kinds_of_one_name_are_refused():
    mosses = [make_dataclass("Moss", [], bases=(Plant,)) for _ in range(2)]
    mosses[0].__module__, mosses[1].__module__ = "wood", "wall"
    with pytest.raises(ConfigError, match="two kinds of Plant are named 'Moss', in wood and wall; rename one"):
        from_dict(Plant, {"kind": mosses[0].__name__})


class Shy:
    """Another."""


class Wet(Shy):
    """Half of a frog."""


class Green(Shy):
    """The other half."""


@dataclass(frozen=True)
class Frog(Wet, Green):
    """One kind, seen twice from above."""


def test_a_kind_with_two_bases_is_one():
    assert from_dict(Shy, {"kind": "Frog"}) == Frog()


ALL_KNOWN = """
import pkgutil, sys
from importlib import import_module
import drethtr
from drethtr.base.config import variants
from drethtr.base.plugins import load_plugins

import_module(sys.argv[1])
load_plugins()
loaded = [kind for name, module in list(sys.modules.items()) if name.startswith("drethtr.")
          for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == name]
no_settings = {"PageSource", "Source", "Supply"}  # settings name `LineSource` and `MarkedSource`
bases = [kind for kind in loaded if not getattr(kind, "_is_protocol", False) and kind.__name__ not in no_settings]
known = {base: variants(base).keys() for base in bases}
for module in pkgutil.walk_packages(drethtr.__path__, "drethtr."):
    if module.name.split(".")[1] not in {"cli", "plugins", "paper", "bench"}:
        import_module(module.name)
print(*(f"{base.__name__} {name}" for base in bases for name in variants(base).keys() - known[base]))
"""


@pytest.mark.parametrize("reader", ["drethtr.training.run", "drethtr.recognition.model.file"])
def test_who_reads_settings_knows_every_kind(reader):
    """In whatever order modules are imported; `paper` and `bench` may have kinds of their own."""
    run = subprocess.run([sys.executable, "-c", ALL_KNOWN, reader], capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_settings_saved_by_notepad_are_read(tmp_path, encoding):
    (tmp_path / "house.toml").write_bytes('street = "Straße"'.encode(encoding))
    assert load(House, tmp_path / "house.toml").street == "Straße"
