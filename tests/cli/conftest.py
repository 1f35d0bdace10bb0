from command_line import drethtr, lines  # noqa: F401
