"""The command line: arguments, help and output.

Modules import nothing heavy at the top level; a command imports what it needs when it runs.
"""
