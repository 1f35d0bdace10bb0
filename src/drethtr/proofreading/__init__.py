"""Texts that somebody else has made, against the ink: aligned with the lines of scans, and checked word by word."""
