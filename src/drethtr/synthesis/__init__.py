"""Synthetic lines and data augmentation: rendered text, recombined words, and random image transformations."""
