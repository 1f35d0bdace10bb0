"""Training: from a run file to a model."""
