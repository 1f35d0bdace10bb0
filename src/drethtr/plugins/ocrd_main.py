"""The command `ocrd-drethtr-recognize`, which comes with every installation and needs OCR-D only when it is run."""

import sys

from drethtr.base.errors import MissingExtraError, require


def main() -> None:
    """Run the processor, or say what is missing."""
    try:
        require("ocrd", "ocrd")
    except MissingExtraError as error:
        sys.exit(f"ocrd-drethtr-recognize: {error}")
    from drethtr.plugins.ocrd import command

    command()
