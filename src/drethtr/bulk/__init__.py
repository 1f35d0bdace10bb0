"""Bulk reading: millions of lines in parts that any worker can read, with atomic and resumable output."""
