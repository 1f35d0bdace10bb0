"""Plug-ins for other programs, one module per program, found through the program's entry points."""
