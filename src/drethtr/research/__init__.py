"""The paper: its tables, its authors' weights and decoding, and benchmarks against rivals."""
