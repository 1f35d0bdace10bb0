"""`drethtr demo`: a letter to try the editor with."""

from drethtr.cli.edit import NoBrowser, Port, edit


def demo(port: Port = 8010, no_browser: NoBrowser = False) -> None:
    """Try it with a letter, in your browser; the same as drethtr edit without a folder."""
    edit(port=port, no_browser=no_browser)
