"""Commands are tested as a person runs them."""

from command_line import drethtr, lines  # noqa: F401
