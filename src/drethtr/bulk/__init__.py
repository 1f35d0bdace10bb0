"""Bulk reading: millions of lines, split into parts that any worker can read, with atomic and resumable output."""
