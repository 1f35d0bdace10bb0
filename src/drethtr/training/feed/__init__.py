"""From samples to batches."""
