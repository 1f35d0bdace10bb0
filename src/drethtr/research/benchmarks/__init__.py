"""Time and memory, side by side."""
