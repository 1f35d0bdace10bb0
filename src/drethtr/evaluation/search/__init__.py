"""How good the search for words is, on lines with known text."""
