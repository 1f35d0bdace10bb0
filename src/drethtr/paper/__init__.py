"""The paper beside the product: its tables, its rival systems, the authors' weights and decoding."""
