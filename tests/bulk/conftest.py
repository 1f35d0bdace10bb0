import json
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import written
from PIL import Image

from drethtr import Recognizer
from drethtr.bulk.engine import Engine
from drethtr.bulk.job import open_job
from drethtr.bulk.plan import Columns

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


class Here(Engine):
    """Reads in this process: the same work, without processes to start."""

    def run(self, parts, work) -> Iterator:
        reader = work.begin()
        return (reader.read(part) for part in parts)


@pytest.fixture
def image() -> Callable[[int], bytes]:
    """An encoded line, another one for every number."""

    def encode(number):
        file = BytesIO()
        Image.fromarray(np.asarray(written(f"{number:03} {'abcdefghij'[number % 10] * (number % 7)}"))).save(
            file, "PNG"
        )
        return file.getvalue()

    return encode


@pytest.fixture
def shard(tmp_path, image):
    """Write a Parquet file of lines, as Hugging Face has them; `bad` gives some of them other cells."""

    def write(name, numbers, bad=(), group=7, **columns):
        cells = [dict(bad).get(number, {"bytes": image(number), "path": None}) for number in numbers]
        table = pa.table({"image": pa.array(cells, IMAGE), "number": list(numbers), **columns})
        pq.write_table(table, tmp_path / name, row_group_size=group)
        return str(tmp_path / name)

    return write


@pytest.fixture
def read(tiny_path, tmp_path):
    """Read inputs in bulk with the tiny model, here; the outcomes, and the output as rows."""

    def run(*inputs, output="out", carry=(), column="", model=tiny_path, **options):
        recognizer = Recognizer.load(model)
        job = open_job(inputs, str(tmp_path / output), recognizer, Columns(column, carry), **options)
        return list(job.run(Here(), partial(Recognizer.load, model))), rows_of(tmp_path / output)

    return run


def rows_of(folder):
    """The output as any program reads it: the folder is one table."""
    return pq.read_table(folder).to_pylist() if list(folder.glob("*.parquet")) else []


def quarantined(folder):
    """All rows of the quarantine."""
    files = sorted((folder / "_quarantine").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def expected(path, images):
    """What the recognizer reads at once."""
    return [
        (reading.text, pytest.approx(reading.confidence, abs=1e-4)) for reading in Recognizer.load(path).read(images)
    ]
