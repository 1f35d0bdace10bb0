"""`drethtr demo`: open a sample letter in the editor."""

from drethtr.cli.edit import NoBrowser, Port, edit


def demo(port: Port = 8010, no_browser: NoBrowser = False) -> None:
    """Try the editor with a sample letter, like drethtr edit without a folder."""
    edit(port=port, no_browser=no_browser)
