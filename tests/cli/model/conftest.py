import json

import numpy as np
import pytest
from conftest import written
from PIL import Image

WORDS = ("back", "cabbage", "hidden", "log", "pinő", "good", "beach", "mice")
LINES = 36


@pytest.fixture
def data(tmp_path):
    """Lines of six pages in a table; one has text that the model cannot write in full, and one is not sure."""
    folder = tmp_path / "words"
    folder.mkdir()
    rows = []
    for number in range(LINES):
        text = f"{WORDS[number % len(WORDS)]} {WORDS[number * 5 % 7]}" + ("€" if number == 7 else "")
        Image.fromarray(np.asarray(written(text.replace("ő", "o")))).save(folder / f"{number}.png")
        rows.append({"file": f"{number}.png", "text": text, "set": "words", "page": f"page {number // 6}"})
    table = folder / "lines.jsonl"
    table.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    return table
