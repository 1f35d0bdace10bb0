"""Reading millions of lines: cut into parts that any worker can read, and that are written whole or not at all."""
