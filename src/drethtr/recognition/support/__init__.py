"""Whether the ink of a line supports a text that somebody else has given: evidence, and what it amounts to."""
