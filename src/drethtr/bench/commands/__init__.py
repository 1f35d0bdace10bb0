"""`drethtr bench`: measure the speed, memory and quality of drethtr on this machine."""

import typer

from drethtr.bench.commands import product, quality, races

app = typer.Typer(no_args_is_help=True)
app.add_typer(races.app)
app.add_typer(product.app)
app.add_typer(quality.app)


@app.callback()
def bench() -> None:
    """Measure the speed, memory and quality of drethtr on this machine."""
