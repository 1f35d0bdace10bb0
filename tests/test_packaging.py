"""All kinds of packages agree with each other."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from documented import ROOT

from drethtr.base.version import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMAGE = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
LOCK = (ROOT / "packaging" / "requirements.lock").read_text(encoding="utf-8")
OCRD_TOOL = (ROOT / "src" / "drethtr" / "plugins" / "ocrd-tool.json").read_text(encoding="utf-8")
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def test_versions_are_the_same():
    assert PROJECT["version"] == __version__
    assert f'org.opencontainers.image.version="{__version__}"' in IMAGE
    assert f"  version: {__version__}\n" in RECIPE
    assert json.loads(OCRD_TOOL)["version"] == __version__  # written into the PAGE files of OCR-D


def test_licenses_are_the_same():
    assert f'org.opencontainers.image.licenses="{PROJECT["license"]}"' in IMAGE
    assert f"  license: {PROJECT['license']}\n" in RECIPE


def test_conda_installs_what_pip_installs():
    run = re.search(r"\n  run:\n((?:    - .*\n)+)", RECIPE)[1]
    needed = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    assert needed == [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]


def test_the_image_installs_the_versions_of_ci_by_their_hashes():
    entries = dict(re.findall(r"^([\w.-]+)==(\S+?)(?= |\n)", LOCK, re.MULTILINE))
    tested = dict(re.findall(r"^([\w.-]+)==(\S+)$", CONSTRAINTS, re.MULTILINE))
    needed = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert needed <= set(entries)
    assert {name: entries[name] for name in needed} == {name: tested[name] for name in needed}
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\w)", LOCK)[1:])


def test_ci_tests_with_the_same_versions_of_all_that_developers_install():
    def named(requirements):
        for requirement in requirements:
            if extras := re.match(r"drethtr\[(.+)\]$", requirement):
                for extra in extras[1].split(","):
                    yield from named(PROJECT["optional-dependencies"][extra])
            else:
                yield re.match(r"[\w-]+", requirement)[0]

    assert {*named([*PROJECT["dependencies"], "drethtr[dev]"])} <= set(re.findall(r"^([\w-]+)==", CONSTRAINTS, re.M))


def test_the_source_archive_has_what_its_tests_read():
    added = {"src", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", *PROJECT["license-files"]}
    rules = [line.split() for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()]
    archived = added | {name for kind, *names in rules if kind in ("graft", "include") for name in names}
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    named = {name for text in tests for name in re.findall(r'ROOT / "([^"]+)"', text)}
    assert {"packaging", "samples"} <= {name for name in named if (ROOT / name).exists()} <= archived


@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
def test_wheels_are_built_for_three_systems(system):
    pytest.importorskip("cibuildwheel")
    command = [sys.executable, "-m", "cibuildwheel", "--platform", system, "--print-build-identifiers", str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert built and all(name.startswith("cp311-") and "musllinux" not in name for name in built), built


def test_hadolint_finds_nothing_in_the_dockerfile():
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("needs hadolint")
    found = subprocess.run([hadolint, ROOT / "packaging" / "Dockerfile"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


def test_rattler_understands_the_recipe():
    """A build needs packages from conda-forge; everything else is checked here."""
    rattler = pytest.importorskip("rattler_build")
    recipe = rattler.Stage0Recipe.from_file(ROOT / "packaging" / "conda" / "recipe.yaml")
    variants = rattler.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]})
    [rendered] = recipe.render(variants, rattler.RenderConfig())
    found = rendered.recipe.to_dict()
    assert found["package"] == {"name": "drethtr", "version": __version__}
    for name in (*found["about"]["license_file"], *found["tests"][1]["files"]["source"]):
        assert (ROOT / name).exists(), name
