"""Build the documentation as a web site: `python docs/make_site.py [FOLDER]`, by default `build/docs`.

Pages keep their paths in the repository, so that links work in both places, and so does code that they link to;
README.md comes first. A broken link to a page or heading fails the build.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from make_reference import write_reference

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"\]\((src/[^)#]+)")
"""Links from CONTRIBUTING.md to code."""

PAGES = ("*.md", "LICENSE", "NOTICE", "docs/*.md", "docs/images/*", "samples/**/*.md")


def make_site(folder: Path) -> Path:
    """Build the site in a folder; returns the folder of its HTML.

    Raises:
        CalledProcessError: if a page has a broken link.
    """
    pages = folder / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    code = CODE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for pattern in (*PAGES, *code):
        for source in ROOT.glob(pattern):
            target = pages / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    write_reference(pages / "docs" / "reference")
    shutil.copyfile(ROOT / "docs" / "zensical.toml", folder / "zensical.toml")
    subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=folder, check=True)
    return folder / "site"


if __name__ == "__main__":
    print(make_site(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "docs") / "index.html")  # noqa: T201
