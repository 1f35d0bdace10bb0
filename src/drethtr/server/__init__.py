"""HTTP server for readings."""
