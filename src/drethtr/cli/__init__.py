"""The command line: arguments, help and output.

`main.py` names the commands; each is a file with its options and its report, imported when it runs. What they share
(`options`, `outputs`, `progress`, `reports`, `tables`) imports nothing heavy, and no command imports torch at its top:
help must come at once.
"""
