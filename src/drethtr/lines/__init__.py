"""Lines of handwriting with their text: where they come from, how they are mixed, and batches of them."""
