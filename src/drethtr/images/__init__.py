"""Images of handwritten lines: loading, preparing, augmenting."""
