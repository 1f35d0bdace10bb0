"""Exit codes by which other programs tell how a command ended."""

NOTHING_BETTER = 3
"""`drethtr finetune` if the model did not improve."""
