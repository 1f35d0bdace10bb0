"""Keyword search on transcribed lines, compared with searching the text of readings."""
