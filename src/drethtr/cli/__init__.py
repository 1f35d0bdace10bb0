"""The command line: arguments, help and printing.

Modules import nothing heavy at the top; a command imports what it needs when it runs.
"""
