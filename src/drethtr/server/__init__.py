"""Reads handwriting over HTTP."""
