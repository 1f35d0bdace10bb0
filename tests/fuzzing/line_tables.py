"""Tables of lines: TSV, JSON Lines and Parquet."""

import json
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from PIL import Image

from drethtr.datasets.open import open_all
from fuzzing.files import ANYTHING, TEXTS, VALUES, Bytes, Target, mutated, objects
from fuzzing.scans import saved


def table_rows(kind: str) -> Bytes:
    """Almost valid tables of lines in TSV or JSON Lines."""
    cells = st.lists(VALUES, max_size=4).map("\t".join)
    entries = objects(file=TEXTS | ANYTHING, text=TEXTS | ANYTHING, page=ANYTHING, clean=ANYTHING).map(json.dumps)
    rows = cells if kind == "tsv" else entries | TEXTS
    return st.lists(rows, max_size=5).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))


def parquet() -> Bytes:
    """A Parquet file of lines."""
    file = BytesIO()
    image = {"bytes": saved(Image.new("L", (40, 20), 200), "PNG"), "path": None}
    pq.write_table(pa.Table.from_pylist([{"image": image, "text": "abc", "set": "words"}] * 3), file)
    return st.just(file.getvalue())


def use_lines(path: Path) -> None:
    """Read lines with their texts."""
    for sample in open_all([str(path)]):
        sample.line()


TARGETS = {
    "tsv": Target(".tsv", mutated(table_rows("tsv")), use_lines),
    "jsonl": Target(".jsonl", mutated(table_rows("jsonl")), use_lines),
    "parquet": Target(".parquet", mutated(parquet()), use_lines),
}
