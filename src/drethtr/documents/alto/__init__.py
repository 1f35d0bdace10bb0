"""ALTO: reader, editor and writer."""
