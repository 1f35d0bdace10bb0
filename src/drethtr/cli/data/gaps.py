"""`drethtr data gaps`: find gaps between words, so that training can recombine the words of a page."""

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.cli.options import ForceResults, ReadingOptions, output_option, with_reading_options
from drethtr.cli.outputs import refuse_among_tables, refuse_ending, refuse_results
from drethtr.cli.progress import open_lines
from drethtr.cli.screen import echo
from drethtr.datasets.layouts import layout_for
from drethtr.datasets.open import all_matching, path_and_split
from drethtr.evaluation.reading import to_read
from drethtr.evaluation.word_gaps import word_gaps
from drethtr.synthesis.recombination import write_gaps


@with_reading_options()
def gaps(
    files: Annotated[list[str], typer.Argument(metavar="DATA", help="Lines to train on: Parquet, folders, patterns.")],
    output: Annotated[Path, output_option("FILE", "Output file (.parquet).")],
    force: ForceResults = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Find the gaps between words, so that training can recombine the words of a page into new lines."""
    refuse_ending(output, ".parquet")
    refuse_results(output, force=force, inputs=files)
    for source in (Path(path_and_split(name)[0]) for name in all_matching(files)):
        if source.is_dir():
            refuse_among_tables(output, source, layout_for(source))
    samples = to_read(open_lines(files))
    recognizer = reading.load()
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        found = word_gaps(recognizer, samples, bar.update)
    write_gaps(found, output)
    echo(f"{output}: {sum(map(len, found.values())):,} gaps in {len(found):,} of {len(samples):,} lines")
