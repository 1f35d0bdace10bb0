"""`drethtr bench`: measure the speed and memory of drethtr on this machine."""

import typer

from drethtr.research.commands.bench import product, races

app = typer.Typer(no_args_is_help=True)
app.add_typer(races.app)
app.add_typer(product.app)


@app.callback()
def bench() -> None:
    """Measure the speed and memory of drethtr on this machine."""
