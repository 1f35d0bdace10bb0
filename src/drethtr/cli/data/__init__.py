"""Commands of `drethtr data`."""
