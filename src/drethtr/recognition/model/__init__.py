"""A model on disk: its architecture as data, its weights, and adapters to it. Nothing in a file is executed."""
