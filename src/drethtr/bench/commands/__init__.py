"""`drethtr bench`: measure the speed, memory and quality of drethtr on this machine."""

from typing import Any

import typer
from typer.core import TyperGroup


class Benchmarks(TyperGroup):
    """The benchmarks, which are imported only when one of them is wanted: `drethtr --help` has just a line of them."""

    def __init__(self, **options: Any) -> None:
        from drethtr.bench.commands import product, quality, races

        super().__init__(**options)
        for part in (races, product, quality):
            self.commands.update(typer.main.get_group(part.app).commands)


app = typer.Typer(cls=Benchmarks, no_args_is_help=True, add_completion=False)


@app.callback()
def bench() -> None:
    """Measure the speed, memory and quality of drethtr on this machine."""
