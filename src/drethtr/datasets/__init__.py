"""Transcribed lines: reading and writing them, importing data sets, and checking data."""
