"""Commands of `drethtr model`."""
