"""Training of the network that finds lines: marked pages in, `drethtr.layout.finder.MarkedPage`, and maps to learn."""
