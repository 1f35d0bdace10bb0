"""Real lines, pages and fonts, which few have; CONTRIBUTING.md says where they are expected."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("DRETHTR_REAL_DATA", Path(__file__).parents[2] / "shared"))
LINES = SHARED / "data" / "lines"
"""Parquet files by set and split."""
PAGES = SHARED / "data" / "pages"
"""Scans with ALTO or PAGE."""
LAYOUT = SHARED / "data" / "layout"
"""Pages with lines, and `score.py`, which measures how well they are found."""
FONTS = SHARED / "fonts"
"""Handwriting fonts in TrueType."""

needs_lines = pytest.mark.skipif(not LINES.is_dir(), reason=f"real lines are not in {LINES}")
needs_pages = pytest.mark.skipif(not PAGES.is_dir(), reason=f"real pages are not in {PAGES}")
needs_layout = pytest.mark.skipif(not LAYOUT.is_dir(), reason=f"pages with lines are not in {LAYOUT}")
needs_fonts = pytest.mark.skipif(not FONTS.is_dir(), reason=f"real fonts are not in {FONTS}")
