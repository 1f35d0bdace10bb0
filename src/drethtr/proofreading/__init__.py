"""Texts that somebody else has made, against the ink: laid onto the lines of scans, and checked word by word."""
