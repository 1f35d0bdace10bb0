"""The command line: arguments, help and output.

`main.py` names the commands; each is a file with its options and its report, imported when it runs (`commands`), with
defaults from files and variables (`settings`). The modules that they share (`options`, `outputs`, `progress`,
`reports`, `run_log`, `screen`) import nothing heavy, except `proofs`, and no command imports torch at its top: help
must come at once.
"""
