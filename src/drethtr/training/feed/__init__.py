"""Feed training: from samples to batches."""
