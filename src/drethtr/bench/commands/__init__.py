"""`drethtr bench`: measure the speed, memory and quality of drethtr on this machine."""

from typing import Any

import typer
from typer.core import TyperGroup


class Benchmarks(TyperGroup):
    """The benchmarks, imported only when one is run: `drethtr --help` needs just one line about them."""

    def __init__(self, **options: Any) -> None:
        from drethtr.bench.commands import product, quality, races

        super().__init__(**options)
        for part in (races, product, quality):
            self.commands.update(typer.main.get_group(part.app).commands)


app = typer.Typer(cls=Benchmarks, no_args_is_help=True, add_completion=False)


@app.callback()
def bench() -> None:
    """Measure the speed, memory and quality of drethtr on this machine."""
