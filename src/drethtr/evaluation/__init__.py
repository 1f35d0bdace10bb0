"""Measures how well lines are read."""
