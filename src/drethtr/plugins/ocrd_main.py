"""The command `ocrd-drethtr-recognize`, which is always installed but needs OCR-D to run."""

import sys

from drethtr.base.errors import MissingExtraError, require


def main() -> None:
    """Run the processor, or print what is missing."""
    try:
        require("ocrd", "ocrd")
    except MissingExtraError as error:
        sys.exit(f"ocrd-drethtr-recognize: {error}")
    from drethtr.plugins.ocrd import command

    command()
