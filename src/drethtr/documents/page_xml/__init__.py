"""PAGE XML: reader, editor and writer."""
