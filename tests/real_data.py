"""Real lines and pages, which lie beside the project where they are at hand; what needs them is skipped elsewhere."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"
LINES = DATA / "lines"
"""Parquet files by set and split."""
PAGES = DATA / "pages"
"""Scans with ALTO or PAGE."""

needs_lines = pytest.mark.skipif(not LINES.is_dir(), reason=f"real lines are not in {LINES}")
needs_pages = pytest.mark.skipif(not PAGES.is_dir(), reason=f"real pages are not in {PAGES}")
