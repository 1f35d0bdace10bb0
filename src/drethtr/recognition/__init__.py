"""A line image in, its reading out."""
