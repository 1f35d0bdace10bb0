"""`drethtr bench`: measure the speed, memory and quality of drethtr on this machine."""

import typer

from drethtr.bench.commands import product, quality, races

app = typer.Typer(no_args_is_help=True, help="Measure the speed, memory and quality of drethtr on this machine.")
for part in (races, product, quality):
    app.add_typer(part.app)
