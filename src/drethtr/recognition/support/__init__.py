"""Check a given text against the ink of a line: gather evidence, and turn it into probabilities."""
