"""Training of the line detector: marked pages in, `drethtr.layout.finder.MarkedPage`, and maps to learn."""
