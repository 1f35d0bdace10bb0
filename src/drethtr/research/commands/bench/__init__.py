"""`drethtr bench`: how fast drethtr is on this machine, and how much memory it takes."""

import typer

from drethtr.research.commands.bench import product, races

app = typer.Typer(no_args_is_help=True)
app.add_typer(races.app)
app.add_typer(product.app)


@app.callback()
def bench() -> None:
    """Measure how fast drethtr is on this machine, and how much memory it takes."""
