"""What is packaged in several ways says the same everywhere."""

import re
import tomllib

from documented import ROOT

from drethtr.base.version import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMAGE = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8")
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def test_versions_are_the_same():
    assert PROJECT["version"] == __version__
    assert f'org.opencontainers.image.version="{__version__}"' in IMAGE
    assert f"  version: {__version__}\n" in RECIPE


def test_licenses_are_the_same():
    assert f'org.opencontainers.image.licenses="{PROJECT["license"]}"' in IMAGE
    assert f"  license: {PROJECT['license']}\n" in RECIPE


def test_conda_installs_what_pip_installs():
    run = re.search(r"\n  run:\n((?:    - .*\n)+)", RECIPE)[1]
    needed = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    assert needed == [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
