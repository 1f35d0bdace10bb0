"""Commands for research, plugged into `drethtr` by entry points."""
