"""Readers of PAGE XML, ALTO and JSON, one in each file."""
