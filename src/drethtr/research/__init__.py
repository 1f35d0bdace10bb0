"""Research on the paper: its tables, its authors' weights and decoding, and benchmarks against other systems."""
