"""Plug-ins for other programs: one file per program, which finds it through an entry point of its own."""
