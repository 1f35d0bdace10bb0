"""Images of handwritten lines and pages: loading, preprocessing, cropping."""
