"""How good checking, aligning and searching are, measured on transcribed lines."""
