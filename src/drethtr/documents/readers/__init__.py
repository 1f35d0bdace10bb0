"""Readers of PAGE XML, ALTO and JSON, one per file."""
