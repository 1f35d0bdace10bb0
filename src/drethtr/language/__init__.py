"""The n-gram language model."""
